// stack.h writes the stack of a kernel that crashes, for the worker and for another process that has libtorch.
#ifndef OPASSERT_STACK_H
#define OPASSERT_STACK_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum {
  OA_DEPTH = 96,         // frames
  OA_STACK_SECONDS = 5,  // for writing them
  OA_LINE = 1024,        // characters of a line for a frame
};

static inline void* oa_program_counter(void* context) {
  ucontext_t* c = (ucontext_t*)context;
#if defined(__x86_64__)
  return (void*)c->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
  return (void*)c->uc_mcontext.pc;
#else
  (void)c;
  return NULL;
#endif
}

// return_to_caller undoes a call of an address that is not code, such as a null function, from
// which no stack can be read.
static inline void oa_return_to_caller(void* context) {
  ucontext_t* c = (ucontext_t*)context;
#if defined(__x86_64__)
  greg_t* registers = c->uc_mcontext.gregs;
  registers[REG_RIP] = *(greg_t*)registers[REG_RSP] - 1;
  registers[REG_RSP] += sizeof(greg_t);
#elif defined(__aarch64__)
  c->uc_mcontext.pc = c->uc_mcontext.regs[30] - 4;
#else
  (void)c;
#endif
}

// oa_frame_line formats a line for a frame, of at most OA_LINE characters, after a prefix, and returns its length.
static inline int oa_frame_line(char* line, const char* prefix, void* address) {
  Dl_info at;
  if (!dladdr(address, &at) || at.dli_fname == NULL) return 0;
  const char* slash = strrchr(at.dli_fname, '/');
  const char* file = slash == NULL ? at.dli_fname : slash + 1;
  const char* name = at.dli_sname == NULL ? "?" : at.dli_sname;
  const unsigned long offset = (char*)address - (char*)at.dli_fbase;
  return snprintf(line, OA_LINE, "%s%s %#lx %.500s %.300s\n", prefix, file, offset, name, at.dli_fname);
}

static inline void oa_write_frame(int to, const char* prefix, void* address) {
  char line[OA_LINE];
  int n = oa_frame_line(line, prefix, address);
  if (n > 0 && write(to, line, n) < 0) _exit(1);
}

// oa_stack reads the frames from a program counter, or from the caller, and returns their number, at most OA_DEPTH.
__attribute__((always_inline)) static inline int oa_stack(void** frames, void* pc) {
  int n = backtrace(frames, OA_DEPTH), first = 0;
  for (int i = 0; i < n; i++) {
    if (frames[i] == pc) first = i + 1;
  }
  if (first == 0) first = n < 3 ? n : 3;  // this function, its caller and the kernel's return from a signal
  for (int i = first; i < n; i++) frames[i - first] = (char*)frames[i] - 1;  // in the call, which may be a function's last code
  return n - first;
}

// oa_write_stack writes the frames from a program counter, or from the caller.
__attribute__((always_inline)) static inline void oa_write_stack(int to, const char* prefix, void* pc) {
  void* frames[OA_DEPTH];
  if (pc != NULL) oa_write_frame(to, prefix, pc);  // in case the stack cannot be read
  int n = oa_stack(frames, pc);
  for (int i = 0; i < n; i++) oa_write_frame(to, prefix, frames[i]);
}

// oa_crashes has the settings for the signals of kernels that crash.
static struct {
  int to;                                                 // the file for its stack
  const char* prefix;                                     // of each line
  int (*left)(int sig, siginfo_t* info, void* context);  // handles a signal that a kernel did not raise; may be null
  const char* (*said)(void);                              // returns what the kernel wrote to stderr; may be null
  struct sigaction before[NSIG];
  pid_t process, caller;  // the process, and the thread that calls kernels
} oa_crashes;

static const int oa_deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};

// oa_write_said writes the lines that a kernel wrote to stderr, each after "said".
static void oa_write_said(void) {
  char line[1024];
  const char* text = oa_crashes.said == NULL ? "" : oa_crashes.said();
  while (*text != 0) {
    size_t length = strcspn(text, "\n");
    int n = snprintf(line, sizeof line, "%ssaid %.*s\n", oa_crashes.prefix, (int)(length < 700 ? length : 700), text);
    if (n > 0 && write(oa_crashes.to, line, n) < 0) _exit(1);
    text += length + (text[length] != 0);
  }
}

// oa_print_stack ignores the processes that a kernel has forked.
static void oa_print_stack(void* pc) {
  if (getpid() != oa_crashes.process) return;
  oa_write_said();
  oa_write_stack(oa_crashes.to, oa_crashes.prefix, pc);
}

// oa_exiting runs if a kernel calls exit, unlike Go's run time.
static void oa_exiting(void) { oa_print_stack(NULL); }

static void oa_crashed(int sig, siginfo_t* info, void* context) {
  if (info->si_code == SI_USER && sig == SIGABRT && syscall(SYS_gettid) != oa_crashes.caller) {
    syscall(SYS_tgkill, getpid(), oa_crashes.caller, sig);  // to the kernel that hangs
    return;
  }
  if (sig == SIGSEGV && info->si_addr == oa_program_counter(context)) oa_return_to_caller(context);
  if (oa_crashes.left != NULL && oa_crashes.left(sig, info, context)) return;
  static volatile sig_atomic_t writing;
  if (!writing) {  // or else it crashed here once more
    writing = 1;
    signal(SIGALRM, SIG_DFL);
    alarm(OA_STACK_SECONDS);  // a broken process may not get to the end of this
    oa_print_stack(oa_program_counter(context));
  }
  sigaction(sig, &oa_crashes.before[sig], NULL);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, sig);
  sigprocmask(SIG_UNBLOCK, &one, NULL);
  syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), sig);
}

// oa_watch_crashes makes this process write its C stack when a kernel crashes or exits, before the
// previous handlers of signals. The thread that calls it is the one that calls kernels.
static inline void oa_watch_crashes(int to, const char* prefix, int (*left)(int, siginfo_t*, void*)) {
  void* frame;
  backtrace(&frame, 1);  // which loads the libraries that it needs
  oa_crashes.to = to;
  oa_crashes.prefix = prefix;
  oa_crashes.left = left;
  oa_crashes.process = getpid();
  oa_crashes.caller = syscall(SYS_gettid);
  atexit(oa_exiting);
  at_quick_exit(oa_exiting);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = oa_crashed;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (size_t i = 0; i < sizeof oa_deadly / sizeof *oa_deadly; i++) sigaction(oa_deadly[i], &action, &oa_crashes.before[oa_deadly[i]]);
}

#endif
