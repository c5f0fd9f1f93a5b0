// stack.h writes the stack of a kernel that crashes, for the worker and for the
// process that has libtorch in its place.
#ifndef OPASSERT_STACK_H
#define OPASSERT_STACK_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

enum { OA_DEPTH = 96 };  // frames

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

// return_to_caller takes back a call of what is not code, such as a null
// function, from whose address no stack can be read.
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

// oa_write_frame writes a line for a frame, as a prefix has it begin.
static inline void oa_write_frame(int to, const char* prefix, void* address) {
  char line[1024];
  Dl_info at;
  if (!dladdr(address, &at) || at.dli_fname == NULL) return;
  const char* slash = strrchr(at.dli_fname, '/');
  const char* file = slash == NULL ? at.dli_fname : slash + 1;
  const char* name = at.dli_sname == NULL ? "?" : at.dli_sname;
  const char* base = (const char*)(at.dli_sname == NULL ? at.dli_fbase : at.dli_saddr);
  int n = snprintf(line, sizeof line, "%s%s %#lx %.700s\n", prefix, file, (unsigned long)((char*)address - base), name);
  if (n > 0 && write(to, line, n) < 0) _exit(1);
}

// oa_write_stack writes the frames from a program counter on, or from the caller.
__attribute__((always_inline)) static inline void oa_write_stack(int to, const char* prefix, void* pc) {
  void* frames[OA_DEPTH];
  if (pc != NULL) oa_write_frame(to, prefix, pc);  // in case the stack cannot be read
  int n = backtrace(frames, OA_DEPTH), first = 0;
  for (int i = 0; i < n; i++) {
    if (frames[i] == pc) first = i + 1;
  }
  if (first == 0) first = n < 3 ? n : 3;  // this function, its caller and the kernel's return from a signal
  for (int i = first; i < n; i++) oa_write_frame(to, prefix, (char*)frames[i] - 1);  // in the call, which may be a function's last code
}

#endif
