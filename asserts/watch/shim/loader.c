// loader.c is the preloaded object, after preload.h. When libtorch_cpu is in the
// process it loads the watcher that fits it.
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

static int64_t contexts;  // that the program has said to be in

static int64_t context(void) { return __atomic_load_n(&contexts, __ATOMIC_ACQUIRE); }

// What the watcher needs of the object; see channel.h.
static const struct {
  int (*dial)(void), (*high)(int fd), (*memory)(void);
  void (*tell)(const char *why);
  int64_t (*context)(void);
  void (*stand_in)(const char *name, void *ours);
  void (*replace)(void);
} host = {dial, high, memory, tell, context, stand_in, replace};

static int load(char *path) {
  void *watcher = ask_and_open(path);
  int (*start)(const void *) = watcher ? (int (*)(const void *))dlsym(watcher, "ow_start") : NULL;
  if (start == NULL || !start(&host)) return UNWATCHED;  // it has said why
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

// A process that ends with a libtorch that was not looked for.
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

// What a thread's dispatcher includes is the thread's own, so each thread sets it.
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

// A line is a connection of the process, and the file that it is: a program may close
// descriptors that it does not know.
struct line {
  int fd;
  pid_t pid;
  ino_t file;
};

static struct line *kept;  // by opassert_context; NULL while it is in use

static ino_t file_of(int fd) {
  struct stat s;
  return fd >= 0 && fstat(fd, &s) == 0 && S_ISSOCK(s.st_mode) ? s.st_ino : 0;
}

static void hang_up(struct line *line) {
  if (line != NULL && line->file != 0 && file_of(line->fd) == line->file) close(line->fd);
  free(line);
}

// pick_up returns the line that is kept, or a new one.
static struct line *pick_up(void) {
  struct line *line = __atomic_exchange_n(&kept, NULL, __ATOMIC_ACQ_REL);
  if (line != NULL && line->pid == getpid() && file_of(line->fd) == line->file) return line;
  hang_up(line);
  line = malloc(sizeof *line);
  if (line == NULL) return NULL;
  line->fd = high(dial());
  line->pid = getpid();
  line->file = file_of(line->fd);
  return line;
}

// opassert_context is for a program that reports findings itself, as pytest does: from
// now on it is in a context, which text names in one line before the command that
// repeats it. It returns the findings since the last one, as JSON, which the caller
// frees; NULL where opassert can't be reached.
char *opassert_context(const char *text) {
  uint32_t head[2] = {'T', 0};
  char *frame = NULL, *found = NULL;
  int unused = -1;
  struct line *line = pick_up();
  const int fd = line != NULL ? line->fd : -1;
  const int64_t number = __atomic_add_fetch(&contexts, 1, __ATOMIC_ACQ_REL);
  const int length = asprintf(&frame, "%d\n%lld\n%s", (int)getpid(), (long long)number, text);
  head[1] = (uint32_t)length;
  int ok = fd >= 0 && length >= 0 && put(fd, (char *)head, sizeof head) && put(fd, frame, head[1]) && get(fd, (char *)head, sizeof head, &unused) &&
           (found = malloc((size_t)head[1] + 1)) != NULL && get(fd, found, head[1], &unused);
  if (length >= 0) free(frame);
  if (ok) {
    found[head[1]] = 0;
    hang_up(__atomic_exchange_n(&kept, line, __ATOMIC_ACQ_REL));
    return found;
  }
  free(found);
  hang_up(line);
  return NULL;
}

// opassert_fakes calls the fakes of the ops that were called until now, as is done else
// when the program ends. The caller has Python's lock.
void opassert_fakes(void) {
  if (watching()) call_fakes();
}

// A program that is linked to libtorch has it from the start.
static void starts(void) { look(); }

// opassert_join is for a process that has opened the object itself and passes what else is
// in the variable: whether it is one of the run from now on. In the order of symbols libc's
// functions come before the object's, which go into the tables of imports instead.
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
  replace();
  starts();
  show_begun();
  return 1;
}
