// site.h finds the place of a call in the program.
#pragma once

#include <csignal>
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unwind.h>

#include <cstring>
#include <mutex>
#include <string>

#include "channel.h"

namespace opassert {

// Python's faulthandler writes the frames: its handler for a signal is called as a
// function, and the signal is left to the program. That needs no lock of Python.
// Taking the interpreter's lock would hang a program in which a kernel holds a lock
// that a thread with the interpreter's waits for.
class PythonSite {
  int signal_ = 0, fd_ = -1;
  void (*write_)(int) = nullptr;  // of the signal
  ino_t inode_ = 0;
  std::mutex mutex_;
  int (*initialized_)() = nullptr;
  void* (*thread_)() = nullptr;

  template <class F>
  static void find(F& f, const char* name) {
    f = reinterpret_cast<F>(dlsym(RTLD_DEFAULT, name));
  }

  static int memory(const Host& host) { return host.high(memfd_create("opassert", MFD_CLOEXEC)); }

  bool mine() const {
    struct stat s;
    return fd_ >= 0 && fstat(fd_, &s) == 0 && s.st_ino == inode_;
  }

  void remember() {
    struct stat s;
    inode_ = fstat(fd_, &s) == 0 ? s.st_ino : 0;
  }

  static int free_signal() {
    for (int s = SIGRTMIN + 9; s <= SIGRTMAX; s++) {
      struct sigaction now;
      if (sigaction(s, nullptr, &now) == 0 && now.sa_handler == SIG_DFL) return s;
    }
    return 0;
  }

  std::string read() const {
    std::string text(1 << 16, 0);
    ssize_t n = pread(fd_, &text[0], text.size(), 0);
    text.resize(n > 0 ? n : 0);
    return text;
  }

  void clear() const {
    if (ftruncate(fd_, 0) == 0) lseek(fd_, 0, SEEK_SET);
  }

 public:
  // start is called after libtorch was loaded, by a thread that may or may not be
  // Python's. It writes the folder of Python's own modules and the number of Python's
  // threads to facts, a line each.
  void start(const Host& host, std::string& facts) {
    int (*check)() = nullptr;
    int (*run)(const char*) = nullptr;
    find(initialized_, "Py_IsInitialized");
    find(thread_, "PyGILState_GetThisThreadState");
    find(check, "PyGILState_Check");
    find(run, "PyRun_SimpleString");
    if (!initialized_ || !initialized_() || !thread_ || !check || !run || !thread_() || !check()) return;
    fd_ = memory(host);
    remember();
    int s = free_signal();
    if (fd_ < 0 || s == 0) return;
    char code[500];
    snprintf(code, sizeof code,
             "import faulthandler as _opassert, os as _opassert_os, sys as _opassert_sys\n"
             "_opassert.register(%d, file=%d, all_threads=False)\n"
             "_opassert_os.write(%d, b'%%s\\n%%d' % (_opassert_os.path.dirname(_opassert_os.__file__).encode(), len(_opassert_sys._current_frames())))\n"
             "del _opassert, _opassert_os, _opassert_sys\n",
             s, fd_, fd_);
    struct sigaction before, handler;
    if (sigaction(s, nullptr, &before) != 0 || run(code) != 0 || sigaction(s, &before, &handler) != 0) return;
    facts = read();
    write_ = handler.sa_handler;
    signal_ = s;
  }

  // forked opens a new file under the same number for a child.
  void forked() {
    new (&mutex_) std::mutex;
    if (!mine()) return;
    int fd = memfd_create("opassert", MFD_CLOEXEC);
    if (fd < 0) return;
    dup3(fd, fd_, O_CLOEXEC);
    ::close(fd);
    remember();
  }

  bool is_python() const { return signal_ != 0 && initialized_() && thread_() != nullptr; }

  // frames returns faulthandler's output, "" if this thread runs no Python or the
  // program has closed the file.
  std::string frames() {
    if (!is_python()) return "";
    std::lock_guard<std::mutex> lock(mutex_);
    if (!mine()) return "";
    clear();
    write_(signal_);
    return read();
  }

  // place returns the frames of this thread, Python's if it runs any, after a letter
  // for their kind.
  std::string place();
};

// native_frames returns the frames of this thread, module and offset on a line;
// opassert finds the source lines.
inline std::string native_frames() {
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
    out += info.dli_fname;
    out += offset;
    out += info.dli_sname ? info.dli_sname : "";
    out += '\n';
    return _URC_NO_REASON;
  },
      &text);
  return text;
}

inline std::string PythonSite::place() {
  const std::string python = frames();
  return python.empty() ? "C" + native_frames() : "P" + python;
}

}  // namespace opassert
