// loader.c is the preloaded object, after preload.h. When libtorch_cpu is loaded it loads the fitting watcher.
enum {
  WAITING,
  LOADING,
  WATCHING,
  UNWATCHED
};
static int state = WAITING;

static void (*enter_thread)(void *(*run)(void *));  // the watcher's ow_thread
static void (*loaded)(void);        // the watcher's ow_loaded
static void (*call_fakes)(void);    // the watcher's ow_fakes

static const char *const library = "libtorch_cpu.so";

static int64_t contexts;  // the number of the program's present context

static int64_t context(void) { return __atomic_load_n(&contexts, __ATOMIC_ACQUIRE); }

// The functions of the object for the watcher; see channel.h.
static const struct {
  int (*dial)(void), (*high)(int fd), (*memory)(void);
  void (*tell)(const char *why);
  int64_t (*context)(void);
  int (*put)(int fd, const char *data, size_t n), (*get)(int fd, char *data, size_t n, int *passed);
  void (*stand_in)(const char *name, void *ours);
  void (*replace)(void);
} host = {dial, high, memory, tell, context, put, get, stand_in, replace};

static int load(char *path) {
  void *watcher = ask_and_open(path);
  int (*start)(const void *) = watcher ? (int (*)(const void *))dlsym(watcher, "ow_start") : NULL;
  if (start == NULL || !start(&host)) return UNWATCHED;  // it has reported why
  enter_thread = (void (*)(void *(*)(void *)))dlsym(watcher, "ow_thread");
  loaded = (void (*)(void))dlsym(watcher, "ow_loaded");
  call_fakes = (void (*)(void))dlsym(watcher, "ow_fakes");
  return WATCHING;
}

static void look(void) {
  int was = WAITING;
  char path[PATH_MAX];
  begin();
  if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) != WAITING || own.field[FOLDER] == NULL) return;
  if (!find_library(library, path)) return;
  if (!__atomic_compare_exchange_n(&state, &was, LOADING, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return;
  int now = load(path);
  __atomic_store_n(&state, now, __ATOMIC_RELEASE);
}

// A process that ends with a libtorch that was not noticed.
__attribute__((destructor)) static void ended(void) {
  char path[PATH_MAX];
  if (state == WAITING && own.field[FOLDER] != NULL && find_library(library, path)) tell("libtorch was loaded by a plain name");
}

static int watching(void) { return __atomic_load_n(&state, __ATOMIC_ACQUIRE) == WATCHING; }

static void opened(void) {
  look();
  replace();
  if (watching()) loaded();
}

struct start {
  void *(*run)(void *);
  void *arg;
};

static void *run_watched(void *p) {
  struct start s = *(struct start *)p;
  free(p);
  enter_thread(s.run);
  return s.run(s.arg);
}

// Each thread sets its own included keys.
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

// A context_file is memory shared with opassert to which a process writes its contexts. It starts with a number that
// increases when there are new findings. The descriptor is checked by its file: a program may close unknown ones.
struct context_file {
  int fd;
  pid_t pid;
  struct stat file;
  uint64_t heard;
};

static struct context_file *kept;  // the file of opassert_context; NULL while it is in use

static int same_file(int fd, const struct stat *was) {
  struct stat now;
  return fd >= 0 && fstat(fd, &now) == 0 && now.st_dev == was->st_dev && now.st_ino == was->st_ino;
}

static void close_context_file(struct context_file *f) {
  if (f != NULL && same_file(f->fd, &f->file)) close(f->fd);
  free(f);
}

// open_context_file returns the stored file, or opens it if the process has none yet.
static struct context_file *open_context_file(void) {
  struct context_file *f = __atomic_exchange_n(&kept, NULL, __ATOMIC_ACQ_REL);
  if (f != NULL && f->pid == getpid() && same_file(f->fd, &f->file)) return f;
  close_context_file(f);
  char pid[32];
  snprintf(pid, sizeof pid, "%d", (int)getpid());
  f = calloc(1, sizeof *f);
  if (f == NULL) return NULL;
  f->fd = high(shared(pid));
  f->pid = getpid();
  if (f->fd >= 0 && fstat(f->fd, &f->file) == 0) return f;
  free(f);
  return NULL;
}

// findings_since returns the findings since its last call, as JSON, which the caller
// frees; NULL if opassert can't be reached.
static char *findings_since(void) {
  char pid[32], *found = NULL;
  uint32_t head[2] = {'T', (uint32_t)snprintf(pid, sizeof pid, "%d", (int)getpid())};
  int unused = -1;
  const int fd = dial();
  int ok = fd >= 0 && put(fd, (char *)head, sizeof head) && put(fd, pid, head[1]) && get(fd, (char *)head, sizeof head, &unused) &&
           (found = malloc((size_t)head[1] + 1)) != NULL && get(fd, found, head[1], &unused);
  if (fd >= 0) close(fd);
  if (ok) {
    found[head[1]] = 0;
    return found;
  }
  free(found);
  return NULL;
}

// opassert_context is for a program that reports findings itself, as pytest does: it enters a context, whose name is
// the first line of text, followed by the command that repeats it. It returns the findings since the last one, as
// JSON, which the caller frees; NULL if there are none or opassert can't be reached.
char *opassert_context(const char *text) {
  char *entry = NULL, *found = NULL;
  uint64_t news = 0;
  const int64_t number = __atomic_add_fetch(&contexts, 1, __ATOMIC_ACQ_REL);
  struct context_file *f = open_context_file();
  const int length = f != NULL ? asprintf(&entry, "%lld\n%s", (long long)number, text) : -1;
  const int written = length >= 0 && write(f->fd, entry, (size_t)length + 1) == length + 1;
  if (length >= 0) free(entry);
  if (written && pread(f->fd, &news, sizeof news, 0) == sizeof news && news != f->heard) {
    found = findings_since();
    if (found != NULL) f->heard = news;
  }
  close_context_file(__atomic_exchange_n(&kept, f, __ATOMIC_ACQ_REL));
  return found;
}

// opassert_fakes calls the fakes of the ops called so far, instead of when the
// program ends. The caller has Python's lock.
void opassert_fakes(void) {
  if (watching()) call_fakes();
}

// opassert_watched returns whether this process is watched, or will be once libtorch is loaded.
int opassert_watched(void) {
  const int fd = dial();
  if (fd >= 0) close(fd);
  return fd >= 0 && __atomic_load_n(&state, __ATOMIC_ACQUIRE) != UNWATCHED;
}

// A program that is linked to libtorch has it from the start.
static void starts(void) { look(); }

// opassert_join is for a process that has opened the object itself, and passes the variable: it returns whether the
// process is now one of the run. As libc's symbols precede the object's, the import tables are changed instead.
int opassert_join(const char *value) {
  static const struct {
    const char *name;
    void *ours;
  } all[] = {
#define OURS(f) {#f, (void *)f},
      // clang-format off
      OURS(dlopen) OURS(pthread_create) OURS(system) OURS(popen) OURS(wordexp)
      OURS(execve) OURS(execvpe) OURS(fexecve) OURS(execveat) OURS(execv) OURS(execvp) OURS(execl) OURS(execlp) OURS(execle)
      OURS(posix_spawn) OURS(posix_spawnp) OURS(pidfd_spawn) OURS(pidfd_spawnp)
      // clang-format on
  };
  if (own.field[FOLDER] != NULL) return 0;
  scope = open_library(NULL, RTLD_LAZY);
  if (!know(value)) return 0;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (next(all[i].name) != NULL) stand_in(all[i].name, all[i].ours);
  }
  opened();
  show_begun();
  return 1;
}
