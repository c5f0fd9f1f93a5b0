// stubs.c is the preloaded object, after preload.h. It replaces the functions by which libtorch_python hands out
// objects, and those that deallocate them and make their classes, if exported: each jumps to the hooks once these are
// loaded, and to the real function before that and in a process that is not watched. They are in the order of
// their numbers in pyobj_hooks.cpp.
// clang-format off
#define FUNCTIONS(f) \
  f(0, "_Z16THPVariable_WrapN2at10TensorBaseE") \
  f(1, "_Z16THPVariable_WrapRKN2at10TensorBaseE") \
  f(2, "_Z16THPVariable_WrapON2at10TensorBaseE") \
  f(3, "_Z16THPVariable_WrapRKN2at10TensorBaseEP11_typeobject") \
  f(4, "_Z15THPStorage_WrapN3c107StorageE") \
  f(5, "_Z25THPStorage_NewWithStorageP11_typeobjectN3c107StorageENS1_4impl19PyInterpreterStatusEb") \
  f(6, "_Z25THPStorage_NewWithStorageP11_typeobjectN3c107StorageE") \
  f(7, "_Z28THPVariable_subclass_deallocP7_object") \
  f(8, "_Z24THPVariableMetaType_initP7_objectS0_S0_")
// clang-format on

static const char *const names[] = {
#define NAME(n, name) name,
    FUNCTIONS(NAME)};
enum {
  HOOKS = sizeof names / sizeof *names
};

static const char *const python = "libtorch_python.so";

__attribute__((visibility("hidden"))) void *op_targets[HOOKS];

// op_real finds a function of libtorch_python, which Python loads RTLD_LOCAL.
void *op_real(int hook) {
  char path[PATH_MAX];
  if (!find_library(python, path)) return NULL;
  void *library = open_library(path, RTLD_LAZY | RTLD_NOLOAD);
  return library ? dlsym(library, names[hook]) : NULL;
}

__attribute__((visibility("hidden"), used)) void *op_resolve(int hook) {
  void *f = op_real(hook);
  if (f == NULL) abort();  // no library has the function
  op_targets[hook] = f;
  return f;
}

// clang-format off
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
// clang-format on
FUNCTIONS(STUB)

static void opened(void) {
  static int state;
  int was = 0;
  char path[PATH_MAX];
  begin();
  if (own.field[FOLDER] == NULL || __atomic_load_n(&state, __ATOMIC_ACQUIRE) || !find_library(python, path)) return;
  if (!__atomic_compare_exchange_n(&state, &was, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return;
  void *hooks = ask_and_open(path);
  int (*start)(int (*)(void), void (*)(const char *), void *(*)(int), void **) = hooks ? dlsym(hooks, "op_start") : NULL;
  if (start != NULL) start(memory, tell, op_real, op_targets);
}

static void starts(void) {}
