// preload.h begins each object that is loaded into a program before the program's own libraries. It depends on libc
// alone, and does nothing until its target library is loaded; then it asks opassert, over a socket, for the library
// that fits that one, and loads it. exec.h, which follows, preloads the object into the programs that this one starts.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <wordexp.h>

// own is the value of $VARIABLE, FIELDS words separated by colons: the secret that starts each connection, and that
// of opassert's answer; the folder of the socket and of a copy of the object; and the object in the cache, for when
// the program has emptied that folder.
enum {
  SECRET,
  ANSWER,
  FOLDER,
  CACHED,
  FIELDS
};
static struct {
  const char *field[FIELDS];  // NULL outside a run
  char loaded[PATH_MAX];      // the object in LD_PRELOAD
  char copy[PATH_MAX];
  char text[4 * PATH_MAX];  // the variable's value
  char cut[4 * PATH_MAX];   // the same, split into words
} own;

static void begin(void);

static void *scope = RTLD_NEXT;  // the replaced functions

static void *next(const char *name) { return dlsym(scope, name); }

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

// find_library returns whether a library with a prefix is loaded, and puts its file into path.
static int find_library(const char *name, char *path) {
  struct wanted w = {name, path};
  return dl_iterate_phdr(is_wanted, &w);
}

static int put(int fd, const char *data, size_t n) {
  while (n > 0) {
    ssize_t k = send(fd, data, n, MSG_NOSIGNAL);
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0) return 0;
    data += k;
    n -= (size_t)k;
  }
  return 1;
}

// get reads n bytes, and puts a descriptor that comes with them into *passed.
static int get(int fd, char *data, size_t n, int *passed) {
  while (n > 0) {
    union {
      struct cmsghdr head;
      char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec to = {data, n};
    struct msghdr m = {.msg_iov = &to, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t k = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0) return 0;
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    if (c != NULL && c->cmsg_type == SCM_RIGHTS) memcpy(passed, CMSG_DATA(c), sizeof *passed);
    data += k;
    n -= (size_t)k;
  }
  return 1;
}

// connect_by connects to opassert by its socket's path, or by the same name in the abstract namespace. The former
// works in another network namespace, the latter in another root folder, for another user and without the folder.
static int connect_by(int abstract) {
  struct sockaddr_un to = {.sun_family = AF_UNIX};
  char *name = to.sun_path + abstract, answer[64] = "";
  int unused = -1, n = snprintf(name, sizeof to.sun_path - abstract, "%s/socket", own.field[FOLDER]);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  size_t length = strlen(own.field[ANSWER]);
  if (connect(fd, (struct sockaddr *)&to, offsetof(struct sockaddr_un, sun_path) + n + 1) == 0 &&
      put(fd, own.field[SECRET], strlen(own.field[SECRET])) && length < sizeof answer && get(fd, answer, length, &unused) &&
      strcmp(answer, own.field[ANSWER]) == 0)
    return fd;
  int why = errno;
  close(fd);
  errno = why;
  return -1;
}

// high moves a descriptor to a number that the program is unlikely to use or close: above its limit, if possible.
static int high(int fd) {
  struct rlimit limit, more;
  if (fd < 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0) return fd;
  more = limit;
  more.rlim_cur += 16;
  int up = -1;
  if (limit.rlim_cur <= 4096 && more.rlim_cur <= limit.rlim_max && setrlimit(RLIMIT_NOFILE, &more) == 0) {
    up = fcntl(fd, F_DUPFD_CLOEXEC, (int)limit.rlim_cur);
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  if (up < 0) up = fcntl(fd, F_DUPFD_CLOEXEC, 700);
  if (up < 0) return fd;
  close(fd);
  return up;
}

// dial returns a connection to opassert, or -1 and errno. If the program has no
// descriptor left, it uses one above the limit.
static int dial(void) {
  struct rlimit limit, more;
  if (own.field[FOLDER] == NULL) return -1;
  int fd = connect_by(1);
  if (fd < 0 && errno == EMFILE && getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    more = limit;
    more.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &more);
    fd = connect_by(1);
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  return fd < 0 ? connect_by(0) : fd;
}

// ask sends the request in text, puts the answer there, and a descriptor that comes with it into *passed. A frame is
// its kind and its length, then that many bytes; see preload.go.
static int ask(uint32_t kind, char *text, int *passed) {
  uint32_t head[2] = {kind, (uint32_t)strlen(text)};
  int fd = dial();
  int ok = fd >= 0 && put(fd, (char *)head, sizeof head) && put(fd, text, head[1]) && get(fd, (char *)head, sizeof head, passed) &&
           head[1] < PATH_MAX && get(fd, text, head[1], passed);
  if (ok) text[head[1]] = 0;
  if (fd >= 0) close(fd);
  return ok;
}

// shared returns a descriptor of the named memory that this process shares with opassert, or -1.
static int shared(const char *which) {
  char text[PATH_MAX];
  int file = -1;
  snprintf(text, sizeof text, "%s", which);
  return ask('M', text, &file) ? file : -1;
}

static int memory(void) { return shared(""); }

// A page that a process which can't reach opassert makes writable and not readable, as opassert reads the mappings.
static char unwatched[1 << 16] __attribute__((aligned(1 << 16))) = {1};

static void give_up(const char *why) {
  mprotect(unwatched, sizeof unwatched, PROT_WRITE);
  fprintf(stderr, "opassert: %s; process %d is not watched\n", why, (int)getpid());
}

// A page that is neither readable nor writable while the object works in dlopen, when
// a target library may be loaded and not handled yet.
static char working[1 << 16] __attribute__((aligned(1 << 16))) = {1};
static int at_work;
static __thread int at_work_here;  // in this thread

static void show_work(int now) { mprotect(working, sizeof working, now ? PROT_EXEC : PROT_READ | PROT_WRITE); }

static void work(int more) {
  at_work_here += more;
  int now = __atomic_add_fetch(&at_work, more, __ATOMIC_ACQ_REL);
  if (now == (more > 0)) show_work(now);
}

// A page shared with the object's file: mapped before the program's own code runs.
// Until then a target library may be loaded and not handled yet.
static void show_begun(void) {
  const int was = errno, fd = open(own.loaded, O_RDONLY | O_CLOEXEC);
  if (fd >= 0) {
    mmap(NULL, 1, PROT_NONE, MAP_SHARED, fd, 0);
    close(fd);
  }
  errno = was;
}

// tell reports why the process is not watched.
static void tell(const char *why) {
  char text[PATH_MAX];
  int unused = -1;
  snprintf(text, sizeof text, "!process %d (%s): %s", (int)getpid(), program_invocation_name, why);
  if (!ask('W', text, &unused)) give_up(why);
}

// ask_and_open loads the library that fits the one in path; NULL: the reason was reported to opassert, or printed.
static void *ask_and_open(char *path) {
  int file = -1;
  char by_number[32];
  if (!ask('W', path, &file)) {
    give_up("opassert is gone");
    return NULL;
  }
  void *library = path[0] == '/' ? open_library(path, RTLD_NOW | RTLD_LOCAL) : NULL;
  if (library == NULL && file >= 0) {  // in another root folder, or another user's
    snprintf(by_number, sizeof by_number, "/proc/self/fd/%d", file);
    library = open_library(by_number, RTLD_NOW | RTLD_LOCAL);
  }
  if (file >= 0) close(file);
  if (library == NULL && path[0] == '/') tell(dlerror());
  return library;
}

// opened is called when a library may have been loaded.
static void opened(void);

// starts is called after all constructors and before main.
static void starts(void);

static int (*program)(int, char **, char **);

static int start_and_run(int argc, char **argv, char **env) {
  begin();
  if (own.field[FOLDER] != NULL) {
    starts();
    show_begun();
  }
  return program(argc, argv, env);
}

int __libc_start_main(int (*entry)(int, char **, char **), int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end) {
  int (*real)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void), void (*)(void), void *) =
      (int (*)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void), void (*)(void), void *))next(
          "__libc_start_main");
  program = entry;
  return real(start_and_run, argc, argv, init, fini, rtld_fini, stack_end);
}

static void *open_and_tell(const char *file, int mode) {
  work(1);
  void *handle = open_library(file, mode);
  if (handle != NULL) opened();
  work(-1);
  return handle;
}

// A search is for a plain name that the code at an address opens.
struct search {
  const char *name;
  const void *address;
};

// may_have returns whether a file is in a folder of a path of folders, or may be.
static int may_have(const char *path, const char *object, const char *name) {
  const char *slash = strrchr(object, '/');
  for (const char *end = path; *end != 0; path = end + 1) {
    static const char *const origins[] = {"$ORIGIN", "${ORIGIN}", ""};
    const char *const *o = origins;
    char file[2 * PATH_MAX];
    end = strchrnul(path, ':');
    while (strncmp(path, *o, strlen(*o)) != 0) o++;
    path += strlen(*o);
    const int origin = **o != 0, folder = end - path;
    if (memchr(path, '$', folder) != NULL || (folder == 0 && !origin) || (origin && slash == NULL)) return 1;
    for (const char **f = (const char *[]){name, "glibc-hwcaps", NULL}; *f != NULL; f++) {
      snprintf(file, sizeof file, "%.*s%.*s/%s", origin ? (int)(slash - object) : 0, object, folder, path, *f);
      if (access(file, F_OK) == 0) return 1;
    }
  }
  return 0;
}

// is_searched returns whether a name may be found by the path of an object: of the caller, or of one with an RPATH,
// which applies to those that it has loaded too. The program's own applies to all.
static int is_searched(struct dl_phdr_info *info, size_t size, void *p) {
  (void)size;
  const struct search *s = p;
  const ElfW(Dyn) *dynamic = NULL;
  int of_caller = 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *h = &info->dlpi_phdr[i];
    const uintptr_t from = info->dlpi_addr + h->p_vaddr;
    if (h->p_type == PT_LOAD) of_caller |= (uintptr_t)s->address - from < h->p_memsz;
    if (h->p_type == PT_DYNAMIC) dynamic = (const ElfW(Dyn) *)from;
  }
  uintptr_t strings = 0, runpath = 0, rpath = 0;
  for (const ElfW(Dyn) *d = dynamic; d != NULL && d->d_tag != DT_NULL; d++) {
    if (d->d_tag == DT_STRTAB) strings = d->d_un.d_ptr + (d->d_un.d_ptr < info->dlpi_addr ? info->dlpi_addr : 0);
    if (d->d_tag == DT_RUNPATH) runpath = d->d_un.d_val;
    if (d->d_tag == DT_RPATH) rpath = d->d_un.d_val;
  }
  const uintptr_t path = runpath ? (of_caller ? runpath : 0) : (of_caller || info->dlpi_name[0] != 0 ? rpath : 0);
  return path != 0 && may_have((const char *)strings + path, info->dlpi_name, s->name);
}

// may_search returns whether a plain name may be found by the caller's path.
__attribute__((noinline)) static int may_search(const char *name, const void *caller) {
  struct search s = {name, caller};
  return dl_iterate_phdr(is_searched, &s);
}

// A plain name is searched by the path of the caller, which libc finds by the return address. If it may be there,
// this must be a jump and not a call: gcc and clang make it one from -O2 on.
void *dlopen(const char *file, int mode) {
  const int jump = file == NULL || (strchr(file, '/') == NULL && may_search(file, __builtin_return_address(0)));
  void *(*real)(const char *, int) = jump ? (void *(*)(const char *, int))next("dlopen") : open_and_tell;
  return real(file, mode);
}
