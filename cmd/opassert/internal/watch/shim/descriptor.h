// descriptor.h has file descriptors of the watcher: a program may close unknown ones, and open its own files under
// their numbers.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

namespace opassert {

// A Descriptor is known by its file.
class Descriptor {
  struct stat file_;

 public:
  int fd = -1;

  void set(int now) {
    fd = now;
    if (fd >= 0 && fstat(fd, &file_) != 0) fd = -1;
  }

  // mine reports whether the number is still that of the file.
  bool mine() const {
    struct stat s;
    return fd >= 0 && fstat(fd, &s) == 0 && s.st_dev == file_.st_dev && s.st_ino == file_.st_ino;
  }

  void close() {
    if (mine()) ::close(fd);
    fd = -1;
  }
};

}  // namespace opassert
