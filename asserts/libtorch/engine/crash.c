//go:build linux && cgo

// A kernel that crashes takes its worker down. Before the worker goes, it writes
// down the C stack, for the report. A fault of Go code is left to Go's run time.
#define _GNU_SOURCE
#include "crash.h"
#include "guard.h"

#include "../shim/stack.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PATIENCE = 5 };  // seconds

static const int watched[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
static struct sigaction before[NSIG];
static pid_t worker, caller;  // the process, and the thread that calls kernels

// in_program reports whether an address is in the program itself, where there
// is Go code and no kernel.
static int in_program(void *address) {
  Dl_info here, there;
  return address != NULL && dladdr((void *)watch_crashes, &here) && dladdr(address, &there) && here.dli_fbase == there.dli_fbase;
}

// write_stack writes the frames from a program counter on, or from the caller.
// What a kernel has forked keeps its own to itself.
static void write_stack(void *pc) {
  if (getpid() != worker) return;
  char prefix[sizeof worker_key + 16];
  snprintf(prefix, sizeof prefix, "%s frame ", worker_key);
  oa_write_stack(REPLIES, prefix, pc);
}

// exiting runs where a kernel calls exit, as Go's run time does not.
static void exiting(void) { write_stack(NULL); }

static void die(int sig) {
  signal(sig, SIG_DFL);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, sig);
  sigprocmask(SIG_UNBLOCK, &one, NULL);
  syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), sig);
}

static void crashed(int sig, siginfo_t *info, void *context) {
  int sent = info->si_code == SI_USER;
  if (sent && sig == SIGABRT && syscall(SYS_gettid) != caller) {
    syscall(SYS_tgkill, getpid(), caller, sig);  // to the kernel that hangs
    return;
  }
  if (sig == SIGSEGV && info->si_addr == oa_program_counter(context)) oa_return_to_caller(context);
  void *pc = oa_program_counter(context);
  if (in_program(pc) && before[sig].sa_sigaction != NULL) {
    before[sig].sa_sigaction(sig, info, context);
    return;
  }
  static volatile sig_atomic_t writing;
  if (!writing) {  // or else it crashed here once more
    writing = 1;
    signal(SIGALRM, SIG_DFL);
    alarm(PATIENCE);  // a broken process may not get to the end of this
    write_stack(pc);
  }
  die(sig);
}

void watch_crashes(void) {
  void *frame;
  backtrace(&frame, 1);  // which loads what it needs
  worker = getpid();
  caller = syscall(SYS_gettid);
  atexit(exiting);
  at_quick_exit(exiting);
  struct sigaction action = {.sa_sigaction = crashed, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
  for (size_t i = 0; i < sizeof watched / sizeof *watched; i++) sigaction(watched[i], &action, &before[watched[i]]);
}
