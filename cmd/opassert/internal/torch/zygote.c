//go:build linux && cgo

// Loading libtorch takes most of a second, and a worker may die at any case. So before Go's run time starts, a worker
// process loads it and forks itself: the child becomes the worker, the parent waits, reports how the child ended, and
// forks the next one from its own loaded libraries. It has them set up, which ends threads that spin, and list their
// operators first, which the workers find done.
#define _GNU_SOURCE
#include "../../../../asserts/libtorch/shim/remote.h"
#include "guard.h"
#include "host.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

// The address space that Go's run time and its threads reserve, measured, and
// what a worker needs for it and for its kernels, in MiB.
static const unsigned long GO = 2048, WORKER = 2304;

// short_of writes a message to text if the limit of address space, in MiB, is too low for the additional need, and else
// returns 0. Go's run time would crash later, with a dump.
static int short_of(unsigned long more, char *text, size_t size) {
  unsigned long pages = 0;
  struct rlimit limit;
  FILE *statm = fopen("/proc/self/statm", "r");
  if (statm != NULL) {
    if (fscanf(statm, "%lu", &pages) != 1) pages = 0;
    fclose(statm);
  }
  unsigned long need = (pages * sysconf(_SC_PAGESIZE) >> 10) + (more << 10);
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >> 10 >= need) return 0;
  return snprintf(text, size, "%lu MiB of address space are too few: raise the limit with ulimit -v %lu or more", (unsigned long)(limit.rlim_cur >> 20), need);
}

// short_of_files is short_of for files that may be open: Go's run time needs some before it can say what is wrong.
static int short_of_files(char *text, size_t size) {
  const rlim_t needed = 32;
  struct rlimit limit;
  int next = open("/dev/null", O_RDONLY);  // not a copy of a file that may be closed
  int unlimited = getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_max == RLIM_INFINITY;
  if (next >= 0) close(next);
  if (unlimited || (next >= 0 && limit.rlim_max >= next + needed)) return 0;
  return snprintf(text, size, "%lu open files are too few: raise the limit with ulimit -n 64 or more", (unsigned long)limit.rlim_max);
}

void report_end(int status) {
  if (WIFSIGNALED(status)) {
    dprintf(REPLIES, "%s died SIG%s\n", worker_key, sigabbrev_np(WTERMSIG(status)));
  } else {
    dprintf(REPLIES, "%s died exit status %d\n", worker_key, WEXITSTATUS(status));
  }
}

// load loads the libraries that the variable lists, one a line.
static void load(const char *variable) {
  const char *value = getenv(variable);
  char *list = strdup(value == NULL ? "" : value), *rest = NULL;
  for (char *path = strtok_r(list, "\n", &rest); path != NULL; path = strtok_r(NULL, "\n", &rest)) {
    if (dlopen(path, RTLD_NOW | RTLD_GLOBAL) == NULL) {
      fprintf(stderr, "%s (if libtorch needs this library: install it, or add its folder to LD_LIBRARY_PATH)\n", dlerror());
      _exit(1);
    }
  }
  free(list);
  int64_t reply[1 << 8];
  __typeof__(oa_cross) *cross = (__typeof__(oa_cross) *)dlsym(RTLD_DEFAULT, "oa_cross");
  for (int f = OA_FN_start; cross != NULL && f <= OA_FN_schemas; f++) cross(f, 0, 0, NULL, 0, NULL, 0, reply, sizeof reply / sizeof *reply);
}

// always_the_same_addresses restarts a process without random addresses, if allowed:
// an out-of-bounds write then hits the same memory in every run.
static void always_the_same_addresses(char **argv) {
  int now = personality(0xffffffff);
  if (now == -1 || now & ADDR_NO_RANDOMIZE || personality(now | ADDR_NO_RANDOMIZE) == -1) return;
  execv(argv[0], argv);
}

// become executes the program that the arguments name, if the worker is not this one.
static void become(char **argv) {
  if (getenv("OPASSERT_PROGRAM") == NULL) return;
  unsetenv("OPASSERT_PROGRAM");
  hand_key();
  execv(argv[1], argv + 1);
  refuse(strerror(errno));
}

// The delay of timers in a worker, in ns. Go's run time looks each 20 µs for a kernel that keeps
// its processor, which no other goroutine waits for; threads inherit the delay.
static const unsigned long DELAY = 5000000;

// asked reports whether the run may still have requests.
static int asked(void) {
  struct pollfd run = {REQUESTS, 0, 0};
  return poll(&run, 1, 0) == 0;
}

__attribute__((constructor)) static void start(int argc, char **argv) {
  char text[200];
  if (getenv("OPASSERT_WORKER") == NULL) {
    if (!short_of(GO, text, sizeof text) && !short_of_files(text, sizeof text)) return;
    fprintf(stderr, "opassert: %s\n", text);
    _exit(2);
  }
  always_the_same_addresses(argv);
  take_key();
  guard();
  become(argv);
  const char *python = getenv("OPASSERT_PYTHON");
  if (python != NULL) {
    start_host(python);
  } else {
    load("OPASSERT_SHIM");
  }
  if (short_of(WORKER, text, sizeof text)) refuse(text);
  do {
    struct server server;
    if (python != NULL) server = ask_server();
    int self = getpid(), worker = fork();
    if (worker == 0) {
      end_with(self);
      hand_key();
      if (python != NULL) leave_server(server);
      prctl(PR_SET_TIMERSLACK, DELAY);
      return;
    }
    int lost = python != NULL && worker > 0 && server_ended(worker);
    if (lost) kill(worker, SIGKILL);
    int status = worker < 0 ? -1 : wait_for(worker);
    if (status < 0) refuse(strerror(errno));
    if (python == NULL) {
      end_started();
    } else {
      lost = lost || (WIFEXITED(status) && WEXITSTATUS(status) == OA_LOST);
      int ended = end_server(server, lost);
      if (lost) status = ended;
    }
    report_end(status);
  } while (asked());
  _exit(0);
}
