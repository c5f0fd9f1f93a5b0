//go:build linux && cgo

// A worker's guard is the first of its processes, and stays small. It notices that the run has ended, as the pipe of
// the requests has no writer then, even while the worker loads a library or hangs in a kernel. It adopts the processes
// that kernels start, even daemons, and ends them with the worker.
#define _GNU_SOURCE
#include "guard.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// The maximum number of processes of a worker's kernels, how often they are counted, and how long ending them may take.
enum {
  MOST = 256,
  TICK_MS = 50,
  ROUNDS = 1000,
  ROUND_MS = 2
};

char worker_key[64];

void take_key(void) {
  ssize_t n = read(KEY, worker_key, sizeof worker_key - 1);
  worker_key[n > 0 ? n : 0] = 0;
  close(KEY);
}

void refuse(const char *why) {
  dprintf(REPLIES, "%s fault \"a worker did not start: %s\"\n", worker_key, why);
  _exit(1);
}

void hand_key(void) {
  int ends[2];
  ssize_t n = strlen(worker_key);
  if (pipe(ends) != 0 || write(ends[1], worker_key, n) != n) _exit(1);
  close(ends[1]);
  if (ends[0] == KEY) return;
  dup2(ends[0], KEY);
  close(ends[0]);
}

void end_with(int parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // it ended before
}

int wait_for(int child) {
  for (;;) {
    int status, ended = waitpid(-1, &status, 0);  // adopted ones too
    if (ended == child) return status;
    if (ended < 0 && errno != EINTR) return -1;
  }
}

// started lists the descendants of a process, as far as there is room, and returns their number.
static int started(int process, int *list, int room) {
  char path[64];
  int n = 0;
  snprintf(path, sizeof path, "/proc/%d/task", process);
  DIR *threads = opendir(path);
  for (struct dirent *thread; threads != NULL && (thread = readdir(threads)) != NULL;) {
    snprintf(path, sizeof path, "/proc/%d/task/%.20s/children", process, thread->d_name);
    FILE *children = fopen(path, "r");
    for (int child; children != NULL && n < room && fscanf(children, "%d", &child) == 1;) {
      list[n] = child;
      n += 1 + started(child, list + n + 1, room - n - 1);
    }
    if (children != NULL) fclose(children);
  }
  if (threads != NULL) closedir(threads);
  return n;
}

void end_started(void) {
  int list[MOST];
  for (int round = 0; round < ROUNDS; round++) {
    for (int n = started(getpid(), list, MOST); n > 0; n--) kill(list[n - 1], SIGKILL);
    int ended;
    while ((ended = waitpid(-1, NULL, WNOHANG)) > 0) continue;
    if (ended < 0) return;  // none is left
    usleep(ROUND_MS * 1000);
  }
}

// end_as ends this process in the same way as another one ended.
static void end_as(int status) {
  if (!WIFSIGNALED(status)) _exit(WEXITSTATUS(status));
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  signal(WTERMSIG(status), SIG_DFL);
  raise(WTERMSIG(status));
  _exit(1);
}

static void wake(int sig) { (void)sig; }

// tasks returns the system's count of tasks, in its number of bits.
static unsigned short tasks(void) {
  struct sysinfo system;
  return sysinfo(&system) == 0 ? system.procs : 0;
}

// watch returns the status of the child, once it has ended or must end. Its descendants are counted only when the
// system has that many more tasks: reading the threads of a process in /proc delays its end by milliseconds.
static int watch(int child, const sigset_t *while_waiting) {
  static int list[MOST + 2];
  unsigned short fewest = tasks();
  const struct timespec tick = {0, TICK_MS * 1000000};
  for (;;) {
    struct pollfd run = {REQUESTS, 0, 0};
    int gone = ppoll(&run, 1, &tick, while_waiting) > 0;
    for (int status, ended; (ended = waitpid(-1, &status, WNOHANG)) > 0;) {
      if (ended == child) return status;
    }
    if (gone) return 0;
    short more = tasks() - fewest;
    if (more < 0) fewest += more;
    if (more > MOST && started(getpid(), list, MOST + 2) > MOST + 1) {  // besides the zygote and its worker
      dprintf(REPLIES, "%s died of more than %d processes\n", worker_key, MOST);
      return 0;
    }
  }
}

void guard(void) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t ended, before;
  sigemptyset(&ended);
  sigaddset(&ended, SIGCHLD);
  sigprocmask(SIG_BLOCK, &ended, &before);
  int self = getpid(), child = fork();
  if (child == 0) {
    end_with(self);
    setpgid(0, 0);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return;
  }
  if (child < 0) refuse(strerror(errno));
  signal(SIGCHLD, wake);
  setpgid(child, child);
  int status = watch(child, &before);
  kill(-child, SIGKILL);  // all at once, unless they have left the group
  end_started();
  end_as(status);
}
