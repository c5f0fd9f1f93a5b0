// exec.h adds the object to every program that this one starts, and hides it: the environment that a program sees
// does not have it, and each function of libc that starts a program adds it to that one's.
#define ENTRY VARIABLE "="

static int (*real_execve)(const char *, char *const *, char *const *);
static int (*real_execvpe)(const char *, char *const *, char *const *);
static int (*real_fexecve)(int, char *const *, char *const *);
static int (*real_execveat)(int, const char *, char *const *, char *const *, int);

static const char preload[] = "LD_PRELOAD=";

static int is(const char *entry, const char *name) { return strncmp(entry, name, strlen(name)) == 0; }

static size_t entries(char *const *env) {
  size_t n = 0;
  while (env != NULL && env[n] != NULL) n++;
  return n;
}

// room returns the maximum length of LD_PRELOAD.
static size_t room(char *const *env) {
  size_t n = sizeof preload + PATH_MAX;
  for (; env != NULL && *env != NULL; env++) {
    if (is(*env, preload)) n += strlen(*env);
  }
  return n;
}

static int ours(const char *word, size_t n) {
  const char *const names[] = {own.loaded, own.field[CACHED], own.copy};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (n == strlen(names[i]) && strncmp(word, names[i], n) == 0) return 1;
  }
  return 0;
}

// add_others appends the entries of a list other than the object, and returns the end.
static char *add_others(char *to, const char *list) {
  const int first = to[-1] == '=';
  char *end = to;
  while (*list != 0) {
    size_t n = strcspn(list, " :");
    if (n > 0 && !ours(list, n)) {
      if (!first || end != to) *end++ = ':';
      memcpy(end, list, n);
      end += n;
    }
    list += n + (list[n] != 0);
  }
  *end = 0;
  return end;
}

// without writes an environment without the object to mine, with LD_PRELOAD in list,
// unless it is empty, and returns its length.
static size_t without(char *const *env, char **mine, char *list) {
  size_t n = 0;
  for (; env != NULL && *env != NULL; env++) {
    if (is(*env, ENTRY)) continue;
    mine[n] = *env;
    if (is(*env, preload)) {
      memcpy(list, preload, sizeof preload);
      char *names = list + sizeof preload - 1;
      const char *was = *env + sizeof preload - 1;
      if (add_others(names, was) == names && *was != 0) continue;
      mine[n] = list;
    }
    n++;
  }
  mine[n] = NULL;
  return n;
}

// usable reports whether the loader finds the object under a name, which must not contain separators.
static int usable(const char *file) { return *file != 0 && strpbrk(file, " :") == NULL && faccessat(AT_FDCWD, file, R_OK, AT_EACCESS) == 0; }

// with writes an environment with the object to mine, which has room for two more
// entries. An inaccessible object is left out, so that the loader prints no error.
static void with(char *const *env, char **mine, char *list) {
  size_t n = without(env, mine, list), i = 0;
  const int was = errno;
  const char *file = usable(own.field[CACHED]) ? own.field[CACHED] : (usable(own.copy) ? own.copy : NULL);
  errno = was;
  if (file == NULL) return;
  while (i < n && !is(mine[i], preload)) i++;
  char others[i < n ? strlen(mine[i]) + 1 : 1];
  strcpy(others, i < n ? mine[i] + sizeof preload - 1 : "");
  strcpy(list, preload);
  strcat(list, file);
  add_others(list + strlen(list), others);
  mine[i] = list;
  n += i == n;
  mine[n] = own.text;
  mine[n + 1] = NULL;
}

// TRY returns the result of a call with the environment e: env with the object, or if that is too long the program's
// own, with which the call works unwatched too.
#define TRY(failed, call, env)                                      \
  begin();                                                          \
  char *mine[own.field[0] ? entries(env) + 3 : 1], list[room(env)]; \
  char *const *e = env;                                             \
  if (own.field[0] != NULL) with(env, mine, list), e = mine;        \
  int result = call;                                                \
  if ((failed) == E2BIG && e != (env)) e = env, result = call;      \
  return result

int execve(const char *path, char *const argv[], char *const env[]) { TRY(errno, real_execve(path, argv, e), env); }

int execvpe(const char *file, char *const argv[], char *const env[]) { TRY(errno, real_execvpe(file, argv, e), env); }

int fexecve(int fd, char *const argv[], char *const env[]) { TRY(errno, real_fexecve(fd, argv, e), env); }

int execveat(int dir, const char *path, char *const argv[], char *const env[], int flags) {
  TRY(errno, real_execveat(dir, path, argv, e, flags), env);
}

// SPAWN defines one of the functions that start a child. If libc lacks it, it fails as with an old kernel.
#define SPAWN(name, id)                                                                                           \
  int name(id *child, const char *file, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attr, \
           char *const argv[], char *const env[]) {                                                               \
    int (*real)(id *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const *, \
                char *const *) = next(#name);                                                                     \
    if (real == NULL) return ENOSYS;                                                                              \
    TRY(result, real(child, file, actions, attr, argv, e), env);                                                  \
  }
SPAWN(posix_spawn, pid_t)
SPAWN(posix_spawnp, pid_t)
SPAWN(pidfd_spawn, int)
SPAWN(pidfd_spawnp, int)

int execv(const char *path, char *const argv[]) { return execve(path, argv, environ); }
int execvp(const char *file, char *const argv[]) { return execvpe(file, argv, environ); }

// COLLECT declares argv from the arguments that begin with first, and leaves the following ones in rest.
#define COLLECT(first)                                                        \
  va_list rest;                                                               \
  size_t n = 1;                                                               \
  va_start(rest, first);                                                      \
  for (const char *a = first; a != NULL; n++) a = va_arg(rest, const char *); \
  va_end(rest);                                                               \
  char *argv[n];                                                              \
  va_start(rest, first);                                                      \
  argv[0] = (char *)first;                                                    \
  for (size_t i = 1; i < n; i++) argv[i] = va_arg(rest, char *);

int execl(const char *path, const char *arg, ...) {
  COLLECT(arg)
  va_end(rest);
  return execv(path, argv);
}

int execlp(const char *file, const char *arg, ...) {
  COLLECT(arg)
  va_end(rest);
  return execvp(file, argv);
}

int execle(const char *path, const char *arg, ...) {
  COLLECT(arg)
  char *const *env = va_arg(rest, char *const *);
  va_end(rest);
  return execve(path, argv, env);
}

// hide removes the object from the environment that the program sees. The copy on the stack stays, for programs that
// read it there and start programs without libc, such as Go's.
static void hide(void) {
  char **mine = malloc((entries(environ) + 1) * sizeof *mine);
  char *list = malloc(room(environ));
  if (mine == NULL || list == NULL) return;
  without(environ, mine, list);
  environ = mine;
}

// lend puts the object into the environment while libc starts a shell with it. The
// old strings stay, as another thread may still read them.
static pthread_mutex_t lending = PTHREAD_MUTEX_INITIALIZER;
static int lent;
static char **before, **during;

static void lend(void) {
  pthread_mutex_lock(&lending);
  if (lent++ == 0) {
    static size_t known;
    size_t n = entries(environ);
    static char **copy;
    if (copy == NULL || n != known || memcmp(copy, environ, n * sizeof *copy) != 0) {
      copy = malloc((n + 1) * sizeof *copy);
      during = malloc((n + 3) * sizeof *during);
      char *list = malloc(room(environ));
      if (copy == NULL || during == NULL || list == NULL) abort();
      memcpy(copy, environ, n * sizeof *copy);
      with(environ, during, list);
      known = n;
    }
    before = environ;
    environ = during;
  }
  pthread_mutex_unlock(&lending);
}

static void take_back(void) {
  const int was = errno;
  pthread_mutex_lock(&lending);
  if (--lent == 0) {
    if (environ == during) environ = before;
    else hide();  // the program has changed it
  }
  pthread_mutex_unlock(&lending);
  errno = was;
}

// A forked child has one thread, and the state of the others at any point.
static void forked(void) {
  pthread_mutex_init(&lending, NULL);
  pthread_mutex_init(&imports.lock, NULL);
  if (lent > 0 && environ == during) environ = before;
  lent = 0;
  if (at_work != at_work_here) show_work(at_work = at_work_here);
}

// LEND defines a function that returns the result of libc's own.
#define LEND(type, name, params, args)          \
  type name params {                            \
    type(*real) params = next(#name);           \
    begin();                                    \
    if (own.field[0] == NULL) return real args; \
    lend();                                     \
    type result = real args;                    \
    take_back();                                \
    return result;                              \
  }
LEND(int, system, (const char *command), (command))
LEND(FILE *, popen, (const char *command, const char *mode), (command, mode))
LEND(int, wordexp, (const char *words, wordexp_t *to, int flags), (words, to, flags))

// split splits the variable's text into its fields.
static int split(void) {
  char *rest = own.cut;
  for (int i = 0; i < FIELDS; i++) {
    own.field[i] = i + 1 < FIELDS ? strsep(&rest, ":") : rest;
    if (rest == NULL) return 0;
  }
  return 1;
}

// know finds the real functions and reads the variable; it reports whether this is a process of a run.
static int know(const char *value) {
  Dl_info self;
  real_execve = next("execve");
  real_execvpe = next("execvpe");
  real_fexecve = next("fexecve");
  real_execveat = next("execveat");
  if (value == NULL || strlen(value) > sizeof own.cut - sizeof ENTRY || !dladdr(unwatched, &self)) return 0;
  strcpy(own.cut, value);
  snprintf(own.text, sizeof own.text, "%s%s", ENTRY, value);
  snprintf(own.loaded, sizeof own.loaded, "%s", self.dli_fname);
  if (!split()) {
    memset(&own, 0, sizeof own);
    return 0;
  }
  snprintf(own.copy, sizeof own.copy, "%s/object.so", own.field[FOLDER]);
  pthread_atfork(NULL, NULL, forked);
  return 1;
}

// begin initialises the object. Constructors of other libraries may call the replaced
// functions before the object's own constructor runs.
__attribute__((constructor)) static void begin(void) {
  static int begun;
  if (begun) return;
  begun = 1;
  if (know(getenv(VARIABLE))) hide();
}
