#include "site.h"

#include <csignal>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unwind.h>

#include <cstring>

#include "channel.h"
#include "descriptor.h"

namespace opassert::site {
namespace {

// Python's faulthandler writes the frames: its handler for a signal is called as a function, and the signal is left
// to the program. That needs no lock of Python. Taking the interpreter's lock would hang a program in which a kernel
// holds a lock that a thread with the interpreter's waits for.
int number = 0;  // of the signal
void (*write_frames)(int) = nullptr;
Descriptor file;
Mutex mutex;
int (*initialized)() = nullptr;
void* (*thread_state)() = nullptr;

template <class F>
void find(F& f, const char* name) {
  f = reinterpret_cast<F>(dlsym(RTLD_DEFAULT, name));
}

int free_signal() {
  for (int s = SIGRTMIN + 9; s <= SIGRTMAX; s++) {
    struct sigaction now;
    if (sigaction(s, nullptr, &now) == 0 && now.sa_handler == SIG_DFL) return s;
  }
  return 0;
}

std::string read_file() {
  std::string text(1 << 16, 0);
  const ssize_t n = pread(file.fd, &text[0], text.size(), 0);
  text.resize(n > 0 ? n : 0);
  return text;
}

// python_frames returns faulthandler's output, "" if this thread runs no Python or the program has closed the file.
std::string python_frames() {
  if (number == 0 || !initialized() || thread_state() == nullptr) return "";
  std::lock_guard<std::mutex> lock(mutex);
  if (!file.mine()) return "";
  if (ftruncate(file.fd, 0) == 0) lseek(file.fd, 0, SEEK_SET);
  write_frames(number);
  return read_file();
}

// native_frames returns the frames of this thread, module and offset on a line; opassert finds the source lines.
std::string native_frames() {
  std::string text;
  _Unwind_Backtrace(
      [](_Unwind_Context* at, void* text) {
    auto* ip = reinterpret_cast<char*>(_Unwind_GetIP(at));
    Dl_info info;
    auto& out = *static_cast<std::string*>(text);
    if (out.size() > 16000) return _URC_END_OF_STACK;
    if (ip == nullptr || !dladdr(ip - 1, &info) || info.dli_fname == nullptr) return _URC_NO_REASON;
    char offset[32];
    snprintf(offset, sizeof offset, "+0x%zx ", static_cast<size_t>(ip - 1 - static_cast<char*>(info.dli_fbase)));
    out += std::string(info.dli_fname) + offset + (info.dli_sname ? info.dli_sname : "") + '\n';
    return _URC_NO_REASON;
  },
      &text);
  return text;
}

}  // namespace

void start(std::string& facts) {
  int (*check)() = nullptr;
  int (*run)(const char*) = nullptr;
  find(initialized, "Py_IsInitialized");
  find(thread_state, "PyGILState_GetThisThreadState");
  find(check, "PyGILState_Check");
  find(run, "PyRun_SimpleString");
  if (!initialized || !initialized() || !thread_state || !check || !run || !thread_state() || !check()) return;
  file.set(host.high(memfd_create("opassert", MFD_CLOEXEC)));
  const int s = free_signal();
  if (file.fd < 0 || s == 0) return;
  char code[500];
  snprintf(code, sizeof code,
           "import faulthandler as _opassert, os as _opassert_os, sys as _opassert_sys\n"
           "_opassert.register(%d, file=%d, all_threads=False)\n"
           "_opassert_os.write(%d, b'%%s\\n%%d' % (_opassert_os.path.dirname(_opassert_os.__file__).encode(), len(_opassert_sys._current_frames())))\n"
           "del _opassert, _opassert_os, _opassert_sys\n",
           s, file.fd, file.fd);
  struct sigaction before, handler;
  if (sigaction(s, nullptr, &before) != 0 || run(code) != 0 || sigaction(s, &before, &handler) != 0) return;
  facts = read_file();
  write_frames = handler.sa_handler;
  number = s;
}

std::string place() {
  const std::string python = python_frames();
  return python.empty() ? "C" + native_frames() : "P" + python;
}

void forked() {
  if (!file.mine()) return;
  const int fd = memfd_create("opassert", MFD_CLOEXEC);  // a new file under the same number
  if (fd < 0) return;
  dup3(fd, file.fd, O_CLOEXEC);
  ::close(fd);
  file.set(file.fd);
}

}  // namespace opassert::site
