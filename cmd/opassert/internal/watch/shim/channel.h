// channel.h is the watcher's side of the socket; protocol.go has the other.
#pragma once

#include <c10/util/Exception.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <utility>

#include "frames.h"

namespace opassert {

// A Host is the functions of the preloaded object for the watcher; see loader.c.
struct Host {
  int (*dial)();              // a connection to opassert, or -1 and errno
  int (*high)(int fd);        // moves a descriptor to a number that programs rarely use
  int (*memory)();            // a descriptor of the counts, or -1
  void (*tell)(const char*);  // reports why the process is not watched
  int64_t (*context)();       // the number of the program's present context
  int (*put)(int fd, const char* data, size_t n);
  int (*get)(int fd, char* data, size_t n, int* passed);
  void (*stand_in)(const char* name, void* ours);  // registers a replacement of a function, which
  void (*replace)();                               // applies to all import tables
};
extern Host host;

// Lost are the processes that could not reach opassert, in shared memory: a forked
// child can write to it even if it can't open files.
struct Lost {
  std::atomic<int64_t> number;
  struct {
    std::atomic<int64_t> pid, error;
  } process[255];

  void add(int error) {
    const int64_t n = number.fetch_add(1);
    if (n >= 255) return;
    process[n].error = error;
    process[n].pid = getpid();
  }
};

// A Mutex is free in a forked process, whatever thread of the parent's had it.
struct Mutex : std::mutex {
  static inline Mutex* last = nullptr;
  Mutex* const before = std::exchange(last, this);
};

// The channel sends one request at a time to opassert, over a connection of the process. It is not locked while a
// tensor is copied or dropped. If opassert has ended, the process continues unwatched.
namespace channel {

extern Lost* lost;             // may be null
extern std::string& about;     // sent with the greeting: versions, folder of Python's modules
extern std::string& settings;  // opassert's answer

// connect_now reports whether opassert can be reached.
bool connect_now();

// ask reports whether opassert answered, send whether it got what has no answer.
bool ask(uint32_t kind, const std::string& request, std::string& reply);
bool send(uint32_t kind, const std::string& text);

// forked is called in the child: the connection is its parent's.
void forked();

// close is for a fork that is hidden from opassert.
void close();

}  // namespace channel

// words_of returns the words of a record of frames.h.
template <class Record>
std::string words_of(const Record& record) {
  return {reinterpret_cast<const char*>(&record), sizeof record};
}

// not_watched tells opassert why something is not watched.
void not_watched(const std::string& why);

// tried reports whether f did not throw. Exceptions go to opassert, and not to the program.
template <class F>
bool tried(const char* what, F&& f) {
  try {
    f();
    return true;
  } catch (const c10::Error& e) {
    not_watched(std::string(what) + ": " + e.what_without_backtrace());
  } catch (const std::exception& e) {
    not_watched(std::string(what) + ": " + e.what());
  }
  return false;
}

}  // namespace opassert
