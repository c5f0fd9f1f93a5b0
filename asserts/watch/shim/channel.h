// channel.h is the watcher's side of the socket; protocol.go has the other.
#pragma once

#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

namespace opassert {

// A Channel carries one question at a time to opassert, over a connection of
// the process. Nobody holds it while a tensor is copied or dropped, and a
// process whose opassert is gone does without.
class Channel {
  std::mutex mutex_;
  int fd_ = -1;
  ino_t inode_ = 0;  // of the socket: a program may close what it does not know
  bool gone_ = false;

  bool mine() const {
    struct stat s;
    return fd_ >= 0 && fstat(fd_, &s) == 0 && S_ISSOCK(s.st_mode) && s.st_ino == inode_;
  }

  bool open() {
    if (mine()) return true;
    fd_ = -1;
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    snprintf(to.sun_path, sizeof to.sun_path, "%s/socket", folder.c_str());
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return false;
    if (connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) {
      ::close(fd);
      return false;
    }
    fd_ = high(fd);
    struct stat s;
    inode_ = fstat(fd_, &s) == 0 ? s.st_ino : 0;
    return greet();
  }

  // greet says which process this is; opassert answers with the settings.
  bool greet() {
    const char* rank = nullptr;
    for (const char* name : {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID", "LOCAL_RANK"}) {
      if (rank == nullptr) rank = getenv(name);
    }
    std::string hello = std::to_string(getpid()) + "\n" + std::to_string(getppid()) + "\n" + (rank ? rank : "") + "\n" + about;
    return put('H', hello.data(), hello.size()) && get(settings);
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

  bool get(std::string& reply) {
    uint32_t head[2];
    if (!fill(head, sizeof head)) return false;
    reply.resize(head[1]);
    return fill(&reply[0], reply.size());
  }

 public:
  std::string folder;    // of the socket
  std::string about;     // sent with the greeting: versions, where Python's modules are
  std::string settings;  // what opassert answered

  // high moves a descriptor out of the way of those that programs count on.
  static int high(int fd) {
    int up = fcntl(fd, F_DUPFD_CLOEXEC, 700);
    if (up < 0) return fd;
    ::close(fd);
    return up;
  }

  // connect reports whether opassert is there.
  bool connect_now() {
    std::lock_guard<std::mutex> lock(mutex_);
    return !gone_ && open();
  }

  // ask reports whether opassert answered.
  bool ask(uint32_t kind, const void* data, size_t n, std::string& reply) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (gone_) return false;
    if (open() && put(kind, data, n) && get(reply)) return true;
    if (mine()) ::close(fd_);
    fd_ = -1;
    gone_ = true;
    return false;
  }

  // forked is for the child: the connection is its parent's.
  void forked() {
    new (&mutex_) std::mutex;
    if (mine()) ::close(fd_);
    fd_ = -1;
  }

  bool gone() const { return gone_; }
};

}  // namespace opassert
