//go:build linux && cgo

// Loading libtorch takes most of a second, and a worker may die at any case. So
// before Go's run time starts, a worker process loads it and forks itself: the
// child goes on to be the worker, the parent waits, reports how the child ended,
// and forks the next one from its own loaded libraries. It has them set up, which
// ends threads that spin, and list their operators first, which the workers find
// done.
#define _GNU_SOURCE
#include <dlfcn.h>
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

enum { REPLIES = 3 };  // ReplyFile

// The address space that Go's run time and its threads reserve, measured, and
// what a worker needs for it and for its kernels, in MiB.
enum { GO = 2048, WORKER = 2304 };

// short_of writes into text that the limit of address space is lower than what
// is needed besides what this process has, in MiB, or returns 0. Go's run time
// would end in the middle, with a dump of its own.
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

static void tell(int status) {
  if (WIFSIGNALED(status)) {
    dprintf(REPLIES, "died SIG%s\n", sigabbrev_np(WTERMSIG(status)));
  } else {
    dprintf(REPLIES, "died exit status %d\n", WEXITSTATUS(status));
  }
}

// load loads the libraries that the variable lists, one a line.
static void load(const char *variable) {
  const char *value = getenv(variable);
  char *list = strdup(value == NULL ? "" : value), *rest = NULL;
  for (char *path = strtok_r(list, "\n", &rest); path != NULL; path = strtok_r(NULL, "\n", &rest)) {
    if (dlopen(path, RTLD_NOW | RTLD_GLOBAL) == NULL) {
      fprintf(stderr, "%s (if it is a library that libtorch needs: install it, or let LD_LIBRARY_PATH name its folder)\n", dlerror());
      _exit(1);
    }
  }
  free(list);
  int64_t reply[1 << 8];
  static const char *const first[] = {"oa_start", "oa_schemas"};
  for (int i = 0; i < 2; i++) {
    void (*ask)(int64_t *, int64_t) = (void (*)(int64_t *, int64_t))dlsym(RTLD_DEFAULT, first[i]);
    if (ask != NULL) ask(reply, sizeof reply / sizeof *reply);
  }
}

// always_the_same_addresses starts a process again without random addresses,
// where it may: what a kernel that writes out of bounds hits is then the same in
// every run.
static void always_the_same_addresses(char **argv) {
  int now = personality(0xffffffff);
  if (now == -1 || now & ADDR_NO_RANDOMIZE || personality(now | ADDR_NO_RANDOMIZE) == -1) return;
  execv(argv[0], argv);
}

__attribute__((constructor)) static void watch(int argc, char **argv) {
  char text[200];
  if (getenv("OPASSERT_WORKER") == NULL) {
    if (!short_of(GO, text, sizeof text)) return;
    fprintf(stderr, "opassert: %s\n", text);
    _exit(2);
  }
  always_the_same_addresses(argv);
  load("OPASSERT_SHIM");
  if (short_of(WORKER, text, sizeof text)) {
    dprintf(REPLIES, "fault \"a worker did not start: %s\"\n", text);
    _exit(1);
  }
  for (;;) {
    pid_t worker = fork();
    if (worker == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      return;
    }
    int status = 0;
    if (worker < 0 || waitpid(worker, &status, 0) < 0) _exit(1);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) _exit(0);
    tell(status);
  }
}
