//go:build linux && cgo

// A kernel that crashes ends its worker, which first writes the C stack for the
// report. Faults of Go code are left to Go's run time.
#define _GNU_SOURCE
#include "crash.h"
#include "guard.h"

#include "../../../../asserts/libtorch/shim/stack.h"

static struct sigaction of_go[NSIG];

// in_program reports whether an address is in the program itself, which has Go code and no kernels.
static int in_program(void *address) {
  Dl_info here, there;
  return address != NULL && dladdr((void *)watch_crashes, &here) && dladdr(address, &there) && here.dli_fbase == there.dli_fbase;
}

static int left_to_go(int sig, siginfo_t *info, void *context) {
  if (!in_program(oa_program_counter(context)) || of_go[sig].sa_sigaction == NULL) return 0;
  of_go[sig].sa_sigaction(sig, info, context);
  return 1;
}

void watch_crashes(void) {
  static char prefix[sizeof worker_key + 16];
  snprintf(prefix, sizeof prefix, "%s frame ", worker_key);
  oa_watch_crashes(REPLIES, prefix, left_to_go);
  oa_crashes.said = (const char *(*)(void))dlsym(RTLD_DEFAULT, "oa_said");
  memcpy(of_go, oa_crashes.before, sizeof of_go);
  memset(oa_crashes.before, 0, sizeof of_go);  // a fault outside Go code ends the worker
}
