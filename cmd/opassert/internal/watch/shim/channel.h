// channel.h is the watcher's side of the socket; protocol.go has the other.
#pragma once

#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include "frames.h"

namespace opassert {

// A Host is the functions of the preloaded object for the watcher; see preload.h.
struct Host {
  int (*dial)();               // a connection to opassert, or -1 and errno
  int (*high)(int fd);         // moves a descriptor to a number that programs rarely use
  int (*memory)();             // a descriptor of the counts, or -1
  void (*tell)(const char*);  // reports why the process is not watched
  int64_t (*context)();        // the number of the program's present context
  void (*stand_in)(const char* name, void* ours);  // registers a replacement of a function, which
  void (*replace)();                               // applies to all import tables
};

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

// A Channel sends one request at a time to opassert, over a connection of the
// process. It is not locked while a tensor is copied or dropped. If opassert has
// ended, the process continues unwatched.
class Channel {
  std::mutex mutex_;
  int fd_ = -1;
  bool inherited_ = false;  // the connection is a parent's: its descriptor is reused, as the program may have no other
  ino_t inode_ = 0;  // of the socket: a program may close unknown descriptors
  pid_t pid_ = getpid();
  bool gone_ = false;

  bool mine() const {
    struct stat s;
    return fd_ >= 0 && fstat(fd_, &s) == 0 && S_ISSOCK(s.st_mode) && s.st_ino == inode_;
  }

  void drop() {
    if (mine()) ::close(fd_);
    fd_ = -1;
    inherited_ = false;
  }

  bool open() {
    if (mine() && !inherited_) return true;
    drop();
    const int fd = host.dial();
    if (fd < 0) return false;
    fd_ = host.high(fd);
    struct stat s;
    inode_ = fstat(fd_, &s) == 0 ? s.st_ino : 0;
    return greet();
  }

  // greet sends the process's data; opassert answers with the settings.
  bool greet() {
    const char* rank = nullptr;
    for (const char* name : {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID", "LOCAL_RANK"}) {
      if (rank == nullptr) rank = getenv(name);
    }
    std::string hello = std::to_string(getpid()) + "\n" + std::to_string(getppid()) + "\n" + (rank ? rank : "") + "\n" + about;
    return put(FRAME_HELLO, hello.data(), hello.size()) && get(settings);
  }

  bool put(uint32_t kind, const void* data, size_t n) {
    uint32_t head[2] = {kind, static_cast<uint32_t>(n)};
    return all(head, sizeof head) && all(data, n);
  }

  bool all(const void* data, size_t n) {
    const char* p = static_cast<const char*>(data);
    while (n > 0) {
      ssize_t k = send(fd_, p, n, MSG_NOSIGNAL);
      if (k < 0 && errno == EINTR) continue;
      if (k <= 0) return false;
      p += k;
      n -= k;
    }
    return true;
  }

  bool fill(void* data, size_t n) {
    char* p = static_cast<char*>(data);
    while (n > 0) {
      ssize_t k = recv(fd_, p, n, 0);
      if (k < 0 && errno == EINTR) continue;
      if (k <= 0) return false;
      p += k;
      n -= k;
    }
    return true;
  }

  bool give_up() {
    const int why = errno;
    drop();
    gone_ = true;
    if (lost != nullptr) lost->add(why);
    return false;
  }

  bool get(std::string& reply) {
    uint32_t head[2];
    if (!fill(head, sizeof head)) return false;
    reply.resize(head[1]);
    return fill(&reply[0], reply.size());
  }

 public:
  Host host{};
  Lost* lost = nullptr;  // the processes that can't reach opassert
  std::string about;     // sent with the greeting: versions, folder of Python's modules
  std::string settings;  // opassert's answer

  // connect reports whether opassert can be reached.
  bool connect_now() {
    if (pid_ != getpid()) forked();  // by a system call, and not by libc
    std::lock_guard<std::mutex> lock(mutex_);
    return !gone_ && (open() || give_up());
  }

  // ask reports whether opassert answered.
  bool ask(uint32_t kind, const void* data, size_t n, std::string& reply) {
    if (pid_ != getpid()) forked();
    std::lock_guard<std::mutex> lock(mutex_);
    return !gone_ && ((open() && put(kind, data, n) && get(reply)) || give_up());
  }

  // forked is called in the child: the connection is its parent's.
  void forked() {
    new (&mutex_) std::mutex;
    pid_ = getpid();
    inherited_ = true;
  }

  // close is for a fork that is hidden from opassert.
  void close() { gone_ = true; }
};

}  // namespace opassert
