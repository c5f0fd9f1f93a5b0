//go:build linux && cgo

// A kernel that crashes takes its worker down. Before the worker goes, it writes
// down the C stack, for the report. A fault of Go code is left to Go's run time.
#define _GNU_SOURCE
#include "crash.h"
#include "guard.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { DEPTH = 96, PATIENCE = 5 };  // frames, seconds

static const int watched[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
static struct sigaction before[NSIG];
static pid_t worker, caller;  // the process, and the thread that calls kernels

static void *program_counter(void *context) {
  ucontext_t *c = context;
#if defined(__x86_64__)
  return (void *)c->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
  return (void *)c->uc_mcontext.pc;
#else
  (void)c;
  return NULL;
#endif
}

// return_to_caller takes back a call of what is not code, such as a null
// function, from whose address no stack can be read.
static void return_to_caller(void *context) {
  ucontext_t *c = context;
#if defined(__x86_64__)
  greg_t *registers = c->uc_mcontext.gregs;
  registers[REG_RIP] = *(greg_t *)registers[REG_RSP] - 1;
  registers[REG_RSP] += sizeof(greg_t);
#elif defined(__aarch64__)
  c->uc_mcontext.pc = c->uc_mcontext.regs[30] - 4;
#else
  (void)c;
#endif
}

// in_program reports whether an address is in the program itself, where there
// is Go code and no kernel.
static int in_program(void *address) {
  Dl_info here, there;
  return address != NULL && dladdr((void *)watch_crashes, &here) && dladdr(address, &there) && here.dli_fbase == there.dli_fbase;
}

static void write_frame(void *address) {
  char line[1024];
  Dl_info at;
  if (!dladdr(address, &at) || at.dli_fname == NULL) return;
  const char *slash = strrchr(at.dli_fname, '/');
  const char *file = slash == NULL ? at.dli_fname : slash + 1;
  const char *name = at.dli_sname == NULL ? "?" : at.dli_sname;
  const char *base = at.dli_sname == NULL ? at.dli_fbase : at.dli_saddr;
  int n = snprintf(line, sizeof line, "%s frame %s %#lx %.700s\n", worker_key, file, (unsigned long)((char *)address - base), name);
  if (n > 0 && write(REPLIES, line, n) < 0) _exit(1);
}

// write_stack writes the frames from a program counter on, or from the caller.
// What a kernel has forked keeps its own to itself.
static void write_stack(void *pc) {
  if (getpid() != worker) return;
  void *frames[DEPTH];
  if (pc != NULL) write_frame(pc);  // in case the stack cannot be read
  int n = backtrace(frames, DEPTH), first = 0;
  for (int i = 0; i < n; i++) {
    if (frames[i] == pc) first = i + 1;
  }
  if (first == 0) first = n < 3 ? n : 3;  // this function, its caller and the kernel's return from a signal
  for (int i = first; i < n; i++) write_frame((char *)frames[i] - 1);  // in the call, which may be a function's last code
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
  if (sig == SIGSEGV && info->si_addr == program_counter(context)) return_to_caller(context);
  void *pc = program_counter(context);
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
