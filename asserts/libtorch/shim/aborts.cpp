// aborts.cpp leaves a call whose kernel aborts by a jump: its frames are not unwound, so what they
// own is leaked, and the thread's state is restored.
#include "aborts.h"

#include <ATen/Parallel.h>
#include <ATen/ThreadLocalState.h>

#include <fcntl.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/sendfile.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>

#include "shim.h"
#include "stack.h"

namespace opassert {
namespace {

// kTerminated is the line that std::terminate() writes without an exception.
constexpr char kTerminated[] = "terminate called without an active exception";

// kLogger begins the names of c10::MessageLogger's functions: CHECK() calls abort() there.
constexpr char kLogger[] = "_ZN3c1013MessageLogger";

// kTold is the number of calls of a case after which a note says that they write to stderr: a
// text may be written once.
constexpr int kTold = 3;

// Captured stores in memory what is written to stderr. Signal handlers end it.
class Captured {
  static constexpr off_t kLongest = 1 << 12;
  const int memory_ = memfd_create("stderr", MFD_CLOEXEC), stderr_ = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
  bool on_ = false;

 public:
  char text[kLongest + 1] = "";  // the end of what was written
  char line[200] = "";           // the first one of the last text that counts
  int calls = 0;                 // that wrote such a text, since the last call of logged

  void begin() {
    text[0] = 0;
    on_ = memory_ >= 0 && stderr_ >= 0 && dup2(memory_, STDERR_FILENO) >= 0;
  }

  // end restores stderr, and reads the text.
  void end() {
    if (!std::exchange(on_, false)) return;
    dup2(stderr_, STDERR_FILENO);
    const off_t n = lseek(memory_, 0, SEEK_CUR);
    if (n <= 0) return;
    ssize_t length = std::max<ssize_t>(0, pread(memory_, text, std::min(n, kLongest), std::max<off_t>(0, n - kLongest)));
    const auto trim = [&] {
      while (length > 0 && strchr(" \n", text[length - 1]) != nullptr) length--;
      text[length] = 0;
    };
    trim();
    constexpr ssize_t last = sizeof kTerminated - 1;
    if (length > last && strcmp(text + length - last, kTerminated) == 0) length -= last, trim();
    if (ftruncate(memory_, 0) == 0) lseek(memory_, 0, SEEK_SET);
  }

  bool wrote(size_t more) const { return on_ && lseek(memory_, 0, SEEK_CUR) > off_t(more); }

  // pass ends it, and writes the text to stderr. Warnings, which programs filter, and the text of a
  // call that throws are not counted.
  void pass() {
    const bool was = on_;
    end();
    if (was && text[0] != 0 && strstr(text, "Warning: ") == nullptr && std::uncaught_exceptions() == 0) {
      const size_t n = std::min(strcspn(text, "\n"), sizeof line - 1);
      memcpy(line, text, n);
      line[n] = 0;
      calls++;
    }
    if (was && text[0] != 0 && write(stderr_, text, strlen(text)) > 0 && write(stderr_, "\n", 1) < 0) return;
  }
};

// Printed counts what is written to stdout between begin and end, which passes it on. The contents of buffers are
// written before both, but not if a signal handler ends it, which may have interrupted a write.
class Printed {
  const int memory_ = memfd_create("stdout", MFD_CLOEXEC), stdout_ = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
  bool on_ = false;

 public:
  int64_t bytes = 0;  // since the last call of printed

  void begin() {
    flush();
    on_ = memory_ >= 0 && stdout_ >= 0 && dup2(memory_, STDOUT_FILENO) >= 0;
  }

  static void flush() {
    std::cout.flush();
    std::fflush(stdout);
  }

  void end() {
    if (!std::exchange(on_, false)) return;
    dup2(stdout_, STDOUT_FILENO);
    const off_t n = lseek(memory_, 0, SEEK_CUR);
    if (n <= 0) return;
    bytes += n;
    for (off_t at = 0; at < n && sendfile(stdout_, memory_, &at, n - at) > 0;) {}
    if (ftruncate(memory_, 0) == 0) lseek(memory_, 0, SEEK_SET);
  }
};

Captured* captured = nullptr;
Printed* output = nullptr;
thread_local sigjmp_buf* landing = nullptr;
struct sigaction before[NSIG];

bool named(const Dl_info& at, std::initializer_list<const char*> prefixes) {
  const char* slash = strrchr(at.dli_fname, '/');
  const char* file = slash == nullptr ? at.dli_fname : slash + 1;
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const char* p) { return strncmp(file, p, strlen(p)) == 0; });
}

// refused reports whether the frames are those of a kernel that wrote a message and called abort()
// or std::terminate() itself, or abort() by assert().
bool refused() {
  void* frames[OA_DEPTH];
  Dl_info at, own;
  if (at::in_parallel_region() || !dladdr(reinterpret_cast<void*>(read_aborts), &own)) return false;
  bool aborts = false, caller = false, in_libc = false, asserts = false, in_libstdcpp = false, terminates = false;
  const int n = backtrace(frames, OA_DEPTH);
  for (int i = 3; i < n && dladdr(static_cast<char*>(frames[i]) - 1, &at) && at.dli_fname != nullptr; i++) {
    if (aborts && at.dli_fbase == own.dli_fbase) return caller && captured->wrote(terminates ? sizeof kTerminated : 0);
    if (named(at, {"python", "libpython"})) return false;
    const auto is = [&](const char* name) { return at.dli_sname != nullptr && strcmp(at.dli_sname, name) == 0; };
    if (aborts && !caller && named(at, {"libc.so"})) {
      in_libc = true;
      asserts = asserts || is("__assert_fail");
      continue;
    }
    if (aborts && !caller && named(at, {"libstdc++.so"}) && !std::current_exception()) {
      in_libstdcpp = true;
      terminates = is("_ZSt9terminatev");
      continue;
    }
    if (in_libc && !asserts || in_libstdcpp && !terminates) return false;
    if (aborts && !caller && at.dli_sname != nullptr && strncmp(at.dli_sname, kLogger, sizeof kLogger - 1) == 0) continue;
    if (aborts && !caller && named(at, {"libstdc++.so", OA_LIBRARIES})) return false;
    caller = caller || aborts;
    aborts = aborts || is("abort");
  }
  return false;
}

void deadly(int sig, siginfo_t* info, void* context) {
  if (sig == SIGABRT && landing != nullptr && refused()) siglongjmp(*std::exchange(landing, nullptr), 1);
  captured->pass();
  if (output != nullptr) output->end();
  if (before[sig].sa_flags & SA_SIGINFO) return before[sig].sa_sigaction(sig, info, context);
  sigaction(sig, &before[sig], nullptr);  // the signal recurs, and is handled by that
}

void exiting() {
  captured->pass();
  if (output != nullptr) output->end();
}

}  // namespace

void read_aborts() {
  if (std::exchange(aborts_read, true)) return;
  captured = new Captured;
  std::atexit(exiting);
  std::at_quick_exit(exiting);
  struct sigaction action = {};
  action.sa_sigaction = deadly;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (int sig : oa_deadly) sigaction(sig, &action, &before[sig]);
}

int64_t printed() {
  if (output == nullptr) output = new Printed;
  return std::exchange(output->bytes, 0);
}

const char* logged() { return aborts_read && std::exchange(captured->calls, 0) >= kTold ? captured->line : ""; }

void refusable(const std::function<void()>& call) {
  const at::ThreadLocalState state;
  sigjmp_buf here;
  if (sigsetjmp(here, 1) != 0) {
    captured->end();
    if (output != nullptr) output->end();
    at::ThreadLocalState::setThreadLocalState(state);
    throw std::runtime_error(captured->text);
  }
  struct Watched {
    explicit Watched(sigjmp_buf* here) {
      landing = here;
      captured->begin();
      if (output != nullptr) output->begin();
    }
    ~Watched() {
      landing = nullptr;
      if (output != nullptr) {
        Printed::flush();
        output->end();
      }
      captured->pass();
    }
  } watched(&here);
  call();
}

}  // namespace opassert

const char* oa_said(void) { return opassert::aborts_read ? opassert::captured->text : ""; }

const char* oa_logged(void) { return opassert::logged(); }
