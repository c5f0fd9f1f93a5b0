//go:build libtorch

// A process that links libtorch takes most of a second to start, and a worker
// may die at any case. So before Go's run time starts, a worker process forks
// itself: the child goes on to be the worker, the parent waits, tells how the
// child ended, and forks the next one from its own loaded libraries.
#define _GNU_SOURCE
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

__attribute__((constructor)) static void watch(void) {
  if (getenv("OPASSERT_WORKER") == NULL) return;
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
