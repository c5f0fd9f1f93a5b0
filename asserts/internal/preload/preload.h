// preload.h begins each object that is loaded into a program before the
// program's own libraries. It depends on libc alone, and does nothing until a
// library is there that opassert looks into; then it asks opassert, over the
// socket in a folder, for the library that fits that one, and loads it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }

static void *open_library(const char *file, int mode) { return ((void *(*)(const char *, int))next("dlopen"))(file, mode); }

struct wanted {
  const char *name;
  char *path;
};

static int is_wanted(struct dl_phdr_info *info, size_t size, void *p) {
  (void)size;
  struct wanted *w = p;
  const char *base = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
  return base != NULL && strncmp(base + 1, w->name, strlen(w->name)) == 0 && realpath(info->dlpi_name, w->path) != NULL;
}

// find_library returns whether a library is loaded whose name begins so, and
// puts its file into path.
static int find_library(const char *name, char *path) {
  struct wanted w = {name, path};
  return dl_iterate_phdr(is_wanted, &w);
}

static int all(int fd, char *data, size_t n, int writing) {
  while (n > 0) {
    ssize_t k = writing ? send(fd, data, n, MSG_NOSIGNAL) : recv(fd, data, n, 0);
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0) return 0;
    data += k;
    n -= (size_t)k;
  }
  return 1;
}

// ask sends what it is asked in text and puts the answer there. A frame is its
// kind and its length, then that many bytes; see preload.go.
static int ask(const char *folder, char *text) {
  struct sockaddr_un to = {.sun_family = AF_UNIX};
  snprintf(to.sun_path, sizeof to.sun_path, "%s/socket", folder);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  uint32_t head[2] = {'W', (uint32_t)strlen(text)};
  int ok = fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0 && all(fd, (char *)head, sizeof head, 1) &&
           all(fd, text, head[1], 1) && all(fd, (char *)head, sizeof head, 0) && head[1] < PATH_MAX && all(fd, text, head[1], 0);
  if (ok) text[head[1]] = 0;
  if (fd >= 0) close(fd);
  return ok;
}

// ask_and_open loads the library that fits the one in path; NULL: opassert knows
// why not, or the user where opassert is gone.
static void *ask_and_open(const char *folder, char *path) {
  if (!ask(folder, path)) {
    fprintf(stderr, "opassert: opassert is gone; process %d is not watched\n", (int)getpid());
    return NULL;
  }
  void *library = path[0] == '/' ? open_library(path, RTLD_NOW | RTLD_LOCAL) : NULL;
  if (library != NULL || path[0] != '/') return library;
  const char *why = dlerror();
  snprintf(path, PATH_MAX, "!%s", why);
  if (!ask(folder, path)) fprintf(stderr, "opassert: %s; process %d is not watched\n", why, (int)getpid());
  return NULL;
}

// opened is what an object does when a library may have come into the program.
static void opened(void);

static void *open_and_tell(const char *file, int mode) {
  void *handle = open_library(file, mode);
  if (handle != NULL) opened();
  return handle;
}

// A plain name is searched by the RUNPATH of the caller, whom libc knows by the
// return address: so this has to be a jump and not a call, which is what gcc
// and clang make of it from -O2 on. Python and torch.ops.load_library pass paths.
void *dlopen(const char *file, int mode) {
  void *(*real)(const char *, int) =
      file == NULL || strchr(file, '/') == NULL ? (void *(*)(const char *, int))next("dlopen") : open_and_tell;
  return real(file, mode);
}
