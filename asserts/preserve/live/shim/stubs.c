// stubs.c is the preloaded object. It depends on libc alone. It stands in for
// the functions by which libtorch_python hands out objects: each is a jump to
// the tap, once that is loaded, and to the real function before that and in a
// process that is not watched. The tap is loaded when libtorch_python is there.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

// In the order of enum Hook in tap.cpp.
static const char *const names[] = {
    "_Z16THPVariable_WrapN2at10TensorBaseE",
    "_Z16THPVariable_WrapRKN2at10TensorBaseE",
    "_Z16THPVariable_WrapON2at10TensorBaseE",
    "_Z16THPVariable_WrapRKN2at10TensorBaseEP11_typeobject",
    "_Z15THPStorage_WrapN3c107StorageE",
    "_Z25THPStorage_NewWithStorageP11_typeobjectN3c107StorageENS1_4impl19PyInterpreterStatusEb",
    "_Z25THPStorage_NewWithStorageP11_typeobjectN3c107StorageE",
};
enum { HOOKS = sizeof names / sizeof *names };

__attribute__((visibility("hidden"))) void *op_targets[HOOKS];

static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }

static int find_python(struct dl_phdr_info *info, size_t size, void *path) {
  (void)size;
  const char *base = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
  if (base == NULL || strncmp(base, "/libtorch_python.so", 19) != 0) return 0;
  snprintf(path, PATH_MAX, "%s", info->dlpi_name);
  return 1;
}

// op_real finds a function in libtorch_python, which Python loads RTLD_LOCAL.
void *op_real(int hook) {
  char path[PATH_MAX];
  if (!dl_iterate_phdr(find_python, path)) return NULL;
  void *library = ((void *(*)(const char *, int))next("dlopen"))(path, RTLD_LAZY | RTLD_NOLOAD);
  return library ? dlsym(library, names[hook]) : NULL;
}

__attribute__((visibility("hidden"), used)) void *op_resolve(int hook) {
  void *f = op_real(hook);
  if (f == NULL) abort();  // somebody called what no library has
  op_targets[hook] = f;
  return f;
}

#if defined(__x86_64__)
#define STUB(n, name)                                                                     \
  __asm__(".globl " name "\n.type " name ", @function\n" name ":\n"                       \
          "  movq op_targets+8*" #n "(%rip), %rax\n  testq %rax, %rax\n  jnz 1f\n"         \
          "  pushq %rdi\n  pushq %rsi\n  pushq %rdx\n  pushq %rcx\n  pushq %r8\n"           \
          "  movl $" #n ", %edi\n  call op_resolve\n"                                       \
          "  popq %r8\n  popq %rcx\n  popq %rdx\n  popq %rsi\n  popq %rdi\n1:\n  jmp *%rax\n");
#elif defined(__aarch64__)
#define STUB(n, name)                                                                       \
  __asm__(".globl " name "\n.type " name ", %function\n" name ":\n"                         \
          "  adrp x16, op_targets\n  add x16, x16, :lo12:op_targets\n  ldr x16, [x16, 8*" #n "]\n" \
          "  cbnz x16, 1f\n  stp x29, x30, [sp, -80]!\n  stp x0, x1, [sp, 16]\n  stp x2, x3, [sp, 32]\n" \
          "  str x8, [sp, 48]\n  mov w0, " #n "\n  bl op_resolve\n  mov x16, x0\n"           \
          "  ldr x8, [sp, 48]\n  ldp x2, x3, [sp, 32]\n  ldp x0, x1, [sp, 16]\n  ldp x29, x30, [sp], 80\n1:\n  br x16\n");
#endif
STUB(0, "_Z16THPVariable_WrapN2at10TensorBaseE")
STUB(1, "_Z16THPVariable_WrapRKN2at10TensorBaseE")
STUB(2, "_Z16THPVariable_WrapON2at10TensorBaseE")
STUB(3, "_Z16THPVariable_WrapRKN2at10TensorBaseEP11_typeobject")
STUB(4, "_Z15THPStorage_WrapN3c107StorageE")
STUB(5, "_Z25THPStorage_NewWithStorageP11_typeobjectN3c107StorageENS1_4impl19PyInterpreterStatusEb")
STUB(6, "_Z25THPStorage_NewWithStorageP11_typeobjectN3c107StorageE")

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

// ask sends a line and puts the answer, another line, in its place.
static int ask(const char *folder, char *text) {
  struct sockaddr_un to = {.sun_family = AF_UNIX};
  snprintf(to.sun_path, sizeof to.sun_path, "%s/socket", folder);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  strcat(text, "\n");
  int ok = fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0 && all(fd, text, strlen(text), 1);
  size_t n = 0;
  while (ok && n < PATH_MAX - 2 && recv(fd, text + n, 1, 0) == 1 && text[n] != '\n') n++;
  text[n] = 0;
  if (fd >= 0) close(fd);
  return ok;
}

static void load(const char *folder, char *path) {
  if (!ask(folder, path) || path[0] != '/') return;  // opassert has told why
  void *tap = ((void *(*)(const char *, int))next("dlopen"))(path, RTLD_NOW | RTLD_LOCAL);
  int (*start)(const char *, void *(*)(int), void **) = tap ? dlsym(tap, "op_start") : NULL;
  if (start != NULL && start(folder, op_real, op_targets)) return;
  snprintf(path, PATH_MAX, "!%s", tap ? "the tap did not start" : dlerror());
  ask(folder, path);
}

static void look(void) {
  static int state;
  int was = 0;
  char path[PATH_MAX + 2];
  const char *folder = getenv("OPASSERT_PRESERVE");
  if (folder == NULL || __atomic_load_n(&state, __ATOMIC_ACQUIRE) || !dl_iterate_phdr(find_python, path)) return;
  if (__atomic_compare_exchange_n(&state, &was, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) load(folder, path);
}

static void *dlopen_and_look(const char *file, int mode) {
  void *handle = ((void *(*)(const char *, int))next("dlopen"))(file, mode);
  if (handle != NULL) look();
  return handle;
}

// A plain name is searched by the RUNPATH of the caller, whom libc knows by the
// return address: so this has to be a jump and not a call.
void *dlopen(const char *file, int mode) {
  void *(*real)(const char *, int) =
      file == NULL || strchr(file, '/') == NULL ? (void *(*)(const char *, int))next("dlopen") : dlopen_and_look;
  return real(file, mode);
}
