//go:build linux && cgo

// Loading libtorch takes most of a second, and a worker may die at any case. So
// before Go's run time starts, a worker process loads it and forks itself: the
// child goes on to be the worker, the parent waits, reports how the child ended,
// and forks the next one from its own loaded libraries.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REPLIES = 3 };  // ReplyFile

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
}

__attribute__((constructor)) static void watch(void) {
  if (getenv("OPASSERT_WORKER") == NULL) return;
  load("OPASSERT_SHIM");
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
