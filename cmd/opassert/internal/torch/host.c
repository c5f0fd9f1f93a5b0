//go:build linux && cgo

// For kernels in Python, libtorch is not loaded here: the zygote starts the user's Python with the files of host, which
// forks a process for each worker, and the worker calls the functions of shim.h there. The packets of the host are
// words separated by tabs: "load QUOTED", "fault QUOTED", "op NAME FILE LINE", "ready", and for each worker, requested
// by sending the files for its calls and its stack, "pid PID" and "ended STATUS".
#define _GNU_SOURCE
#include "host.h"
#include "guard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

enum {
  PACKET = 1 << 14,
  ABOVE = 64,
  PATIENCE_MS = 5000
};

static int control, host_pid;
static char *added;  // the host's lines about ops
static size_t added_size;

// away moves a descriptor to an unused number.
static int away(int file) {
  int moved = fcntl(file, F_DUPFD_CLOEXEC, ABOVE);
  if (moved < 0) refuse(strerror(errno));
  close(file);
  return moved;
}

static void become_host(const char *python, int socket, int parent) {
  char number[16];
  end_with(parent);
  snprintf(number, sizeof number, "%d", socket);
  setenv("OPASSERT_CONTROL", number, 1);
  fcntl(socket, F_SETFD, 0);
  int none = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(none, REQUESTS);
  dup2(none, REPLIES);
  dup2(none, KEY);
  execlp(python, python, "-c", getenv("OPASSERT_HOST"), NULL);
  fprintf(stderr, "%s: %s\n", python, strerror(errno));
  _exit(127);
}

// receive reads a packet, and reports whether one came before the host ended, or before patience ms, unless that is -1.
static int receive(char *packet, int patience) {
  struct pollfd there = {control, POLLIN, 0};
  if (poll(&there, 1, patience) != 1) return 0;
  ssize_t n = recv(control, packet, PACKET - 1, 0);
  packet[n > 0 ? n : 0] = 0;
  return n > 0;
}

static const char *after(const char *packet, const char *word) {
  size_t n = strlen(word);
  return strncmp(packet, word, n) == 0 && packet[n] == '\t' ? packet + n + 1 : NULL;
}

static void add(const char *op) {
  size_t n = strlen(op);
  added = realloc(added, added_size + n + 2);
  if (added == NULL) refuse("out of memory");
  memcpy(added + added_size, op, n);
  memcpy(added + added_size + n, "\n", 2);
  added_size += n + 1;
}

const char *added_ops(void) { return added == NULL ? "" : added; }

// gone reports that the host has ended, and how.
static void gone(void) {
  int status = wait_for(host_pid);
  report_end(status);
  _exit(1);
}

void start_host(const char *python) {
  int ends[2], self = getpid();
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) refuse(strerror(errno));
  control = away(ends[0]);
  ends[1] = away(ends[1]);
  host_pid = fork();
  if (host_pid == 0) become_host(python, ends[1], self);
  close(ends[1]);
  char packet[PACKET];
  while (receive(packet, -1)) {
    const char *module = after(packet, "load"), *op = after(packet, "op"), *fault = after(packet, "fault");
    if (module != NULL) dprintf(REPLIES, "%s load %s\n", worker_key, module);
    if (op != NULL) add(op);
    if (fault != NULL) dprintf(REPLIES, "%s fault %s\n", worker_key, fault);
    if (strcmp(packet, "ready") == 0) return;
  }
  gone();
}

// send_files asks the host for a server.
static int send_files(int calls, int stack) {
  int files[2] = {calls, stack};
  char text[] = "serve", room[CMSG_SPACE(sizeof files)] = {0};
  struct iovec word = {text, sizeof text - 1};
  struct msghdr m = {.msg_iov = &word, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  struct cmsghdr *rights = CMSG_FIRSTHDR(&m);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof files);
  memcpy(CMSG_DATA(rights), files, sizeof files);
  return sendmsg(control, &m, MSG_NOSIGNAL) > 0;
}

struct server ask_server(void) {
  struct server s;
  int calls[2], stack[2];
  char packet[PACKET], number[16];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, calls) != 0 || pipe2(stack, O_CLOEXEC) != 0) refuse(strerror(errno));
  s.calls = away(calls[0]);
  s.stack = away(stack[0]);
  if (!send_files(calls[1], stack[1]) || !receive(packet, -1)) gone();
  close(calls[1]);
  close(stack[1]);
  s.pid = after(packet, "pid") == NULL ? 0 : atoi(after(packet, "pid"));
  snprintf(number, sizeof number, "%d", s.calls);
  setenv("OPASSERT_CALLS", number, 1);
  snprintf(number, sizeof number, "%d", s.pid);
  setenv("OPASSERT_SERVER", number, 1);
  return s;
}

int server_ended(int worker) {
  int file = syscall(SYS_pidfd_open, worker, 0);
  struct pollfd first[] = {{file, POLLIN, 0}, {control, POLLIN, 0}};
  if (file < 0) return 0;
  while (poll(first, 2, -1) < 0 && errno == EINTR) continue;
  close(file);
  return first[0].revents == 0;
}

void leave_server(struct server s) {
  close(s.stack);
  close(control);
}

// say_stack forwards the stack that a server wrote before it ended.
static void say_stack(int stack) {
  struct pollfd there = {stack, POLLIN, 0};
  char line[PACKET];
  FILE *in = fdopen(stack, "r");
  fcntl(stack, F_SETFL, O_NONBLOCK);
  while (in != NULL && poll(&there, 1, 0) == 1 && fgets(line, sizeof line, in) != NULL) {
    dprintf(REPLIES, "%s frame %s", worker_key, line);
  }
  fclose(in);
}

int end_server(struct server s, int asked) {
  char packet[PACKET] = "";
  close(s.calls);
  if (!asked) kill(s.pid, SIGKILL);
  if (!receive(packet, PATIENCE_MS)) {
    kill(s.pid, SIGKILL);
    if (!receive(packet, PATIENCE_MS)) gone();
  }
  if (asked) {
    say_stack(s.stack);
  } else {
    close(s.stack);
  }
  const char *status = after(packet, "ended");
  return status == NULL ? 0 : atoi(status);
}
