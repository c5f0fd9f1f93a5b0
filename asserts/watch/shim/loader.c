// loader.c is the preloaded object. It depends on libc alone, and does nothing
// until libtorch_cpu is in the process. Then it asks opassert, over the socket
// in the folder $OPASSERT_RUN, for the watcher that fits this libtorch, and
// loads that.
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

enum { WAITING, LOADING, WATCHING, UNWATCHED };
static int state = WAITING;

static void (*enter_thread)(void);  // the watcher's ow_thread
static void (*loaded)(void);        // the watcher's ow_loaded

static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }

static int find_torch(struct dl_phdr_info *info, size_t size, void *path) {
  (void)size;
  const char *base = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
  if (base == NULL || strncmp(base, "/libtorch_cpu.so", 16) != 0) return 0;
  return realpath(info->dlpi_name, path) != NULL;
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
// kind and its length, then that many bytes; see protocol.go.
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

// trouble tells opassert, and the user where opassert is gone.
static void trouble(const char *folder, const char *what) {
  char text[PATH_MAX];
  snprintf(text, sizeof text, "!%s", what);
  if (!ask(folder, text)) fprintf(stderr, "opassert: %s; process %d is not watched\n", what, (int)getpid());
}

static int load(const char *folder, char *path) {
  if (!ask(folder, path)) {
    fprintf(stderr, "opassert: opassert is gone; process %d is not watched\n", (int)getpid());
    return UNWATCHED;
  }
  if (path[0] != '/') return UNWATCHED;  // opassert has told why
  void *watcher = ((void *(*)(const char *, int))next("dlopen"))(path, RTLD_NOW | RTLD_LOCAL);
  if (watcher == NULL) {
    trouble(folder, dlerror());
    return UNWATCHED;
  }
  int (*start)(const char *) = (int (*)(const char *))dlsym(watcher, "ow_start");
  if (start == NULL || !start(folder)) return UNWATCHED;  // it has told why
  enter_thread = (void (*)(void))dlsym(watcher, "ow_thread");
  loaded = (void (*)(void))dlsym(watcher, "ow_loaded");
  return WATCHING;
}

static void look(void) {
  int was = WAITING;
  char path[PATH_MAX];
  const char *folder = getenv("OPASSERT_RUN");
  if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) != WAITING || folder == NULL) return;
  if (!dl_iterate_phdr(find_torch, path)) return;
  if (!__atomic_compare_exchange_n(&state, &was, LOADING, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return;
  int now = load(folder, path);
  __atomic_store_n(&state, now, __ATOMIC_RELEASE);
}

static int watching(void) { return __atomic_load_n(&state, __ATOMIC_ACQUIRE) == WATCHING; }

static void *dlopen_and_look(const char *file, int mode) {
  void *handle = ((void *(*)(const char *, int))next("dlopen"))(file, mode);
  if (handle != NULL) {
    look();
    if (watching()) loaded();
  }
  return handle;
}

// A plain name is searched by the RUNPATH of the caller, whom libc knows by the
// return address: so this has to be a jump and not a call, which is what gcc
// and clang make of it from -O2 on. Python and torch.ops.load_library pass paths.
void *dlopen(const char *file, int mode) {
  void *(*real)(const char *, int) =
      file == NULL || strchr(file, '/') == NULL ? (void *(*)(const char *, int))next("dlopen") : dlopen_and_look;
  return real(file, mode);
}

struct start {
  void *(*run)(void *);
  void *arg;
};

static void *run_watched(void *p) {
  struct start s = *(struct start *)p;
  free(p);
  enter_thread();
  return s.run(s.arg);
}

// What a thread's dispatcher includes is the thread's own, so each is told.
int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg) {
  int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
      (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))next("pthread_create");
  look();
  struct start *s = watching() ? malloc(sizeof *s) : NULL;
  if (s == NULL) return real(thread, attr, run, arg);
  *s = (struct start){run, arg};
  int failed = real(thread, attr, run_watched, s);
  if (failed) free(s);
  return failed;
}

static int (*program)(int, char **, char **);

static int look_and_run(int argc, char **argv, char **env) {
  look();
  return program(argc, argv, env);
}

// A program that is linked to libtorch has it from the start: it is looked for
// after all constructors and before main.
int __libc_start_main(int (*entry)(int, char **, char **), int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end) {
  int (*real)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void), void (*)(void), void *) =
      (int (*)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void), void (*)(void), void *))next(
          "__libc_start_main");
  program = entry;
  return real(look_and_run, argc, argv, init, fini, rtld_fini, stack_end);
}
