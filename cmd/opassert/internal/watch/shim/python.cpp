#include "python.h"

#include <c10/core/impl/TorchDispatchModeTLS.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <unordered_set>

#include "channel.h"
#include "confine.h"

namespace opassert::python {

c10::impl::PyInterpreter* interpreter = nullptr;

namespace {

// pyobj returns the Python object of a tensor, or null. Versions differ in where it is, and in what returns it.
template <class T>
auto pyobj(T* impl, c10::impl::PyInterpreter*, int, int) -> decltype(impl->pyobj_slot()->load_pyobj()) {
  return impl->pyobj_slot()->load_pyobj();
}
template <class T>
auto pyobj(T* impl, c10::impl::PyInterpreter* of, int, long) -> decltype((void)impl->pyobj_slot()->check_pyobj(of), (PyObject*)nullptr) {
  return impl->pyobj_slot()->check_pyobj(of).value_or(nullptr);
}
template <class T>
auto pyobj(T* impl, c10::impl::PyInterpreter* of, long, long) -> decltype((void)impl->check_pyobj(of), (PyObject*)nullptr) {
  return impl->check_pyobj(of).value_or(nullptr);
}

template <class T>
PyObject* pyobj(T*, ...) {
  return nullptr;  // a storage, in versions where it has none
}

// A Method is a PyMethodDef, of Python's stable ABI.
struct Method {
  const char* name;
  PyObject* (*call)(PyObject* self, PyObject* argument);
  int flags;
  const char* doc;
};
constexpr int NO_ARGUMENT = 4, ONE_ARGUMENT = 8;  // METH_NOARGS and METH_O

// PYTHON are the functions of the interpreter: result, name here and there, arguments.
#define PYTHON(f)                                                                                                                                          \
  f(int, ensure_, "PyGILState_Ensure", ())                                                                                                                 \
      f(void, release_, "PyGILState_Release", (int))                                                                                                       \
          f(int, locked_, "PyGILState_Check", ())                                                                                                          \
              f(PyObject*, type_, "PyObject_Type", (PyObject*))                                                                                            \
                  f(PyObject*, attribute_, "PyObject_GetAttrString", (PyObject*, const char*))                                                             \
                      f(int, set_, "PyObject_SetAttrString", (PyObject*, const char*, PyObject*))                                                          \
                          f(int, is_true_, "PyObject_IsTrue", (PyObject*))                                                                                 \
                              f(int, subclass_, "PyType_IsSubtype", (PyObject*, PyObject*))                                                                \
                                  f(PyObject*, call_, "PyObject_CallObject", (PyObject*, PyObject*))                                                       \
                                      f(PyObject*, call_method_, "PyObject_CallMethod", (PyObject*, const char*, const char*, ...))                        \
                                          f(PyObject*, function_, "PyCFunction_NewEx", (Method*, PyObject*, PyObject*))                                    \
                                              f(PyObject*, integer_, "PyLong_FromLong", (long))                                                            \
                                                  f(PyObject*, string_, "PyUnicode_FromString", (const char*))                                             \
                                                      f(PyObject*, join_, "PyUnicode_Join", (PyObject*, PyObject*))                                        \
                                                          f(const char*, utf8_, "PyUnicode_AsUTF8", (PyObject*))                                           \
                                                              f(PyObject*, dict_, "PyDict_New", ())                                                        \
                                                                  f(PyObject*, item_, "PyDict_GetItemString", (PyObject*, const char*))                    \
                                                                      f(int, put_, "PyDict_SetItemString", (PyObject*, const char*, PyObject*))            \
                                                                          f(PyObject*, modules_, "PyImport_GetModuleDict", ())                             \
                                                                              f(PyObject*, run_, "PyRun_String", (const char*, int, PyObject*, PyObject*)) \
                                                                                  f(int, pending_, "Py_AddPendingCall", (int (*)(void*), void*))           \
                                                                                      f(void, drop_, "Py_DecRef", (PyObject*))                             \
                                                                                          f(void, clear_, "PyErr_Clear", ())                               \
                                                                                              f(void, before_fork_, "PyOS_BeforeFork", ())                 \
                                                                                                  f(void, forked_parent_, "PyOS_AfterFork_Parent", ())     \
                                                                                                      f(void, forked_child_, "PyOS_AfterFork_Child", ())

#define DECLARE(result, name, exported, arguments) result(*name) arguments = nullptr;
PYTHON(DECLARE)
#undef DECLARE

std::string text(PyObject* o) {
  const char* s = o ? utf8_(o) : nullptr;
  if (s == nullptr) clear_();
  return s ? s : "";
}

// get returns f of an attribute, or the value for none.
template <class V, class F>
V get(PyObject* of, const char* name, V none, F&& f) {
  PyObject* attribute = attribute_(of, name);
  if (attribute == nullptr) return clear_(), none;
  V v = f(attribute);
  drop_(attribute);
  return v;
}

std::string name(PyObject* type) {
  auto of = [&](const char* attribute) { return get(type, attribute, std::string(), text); };
  return of("__module__") + "." + of("__qualname__");
}

// references returns the references to the Python object of an impl, which keeps it.
template <class T>
int64_t references(T* impl) {
  return references_of(pyobj(impl, interpreter, 0, 0));
}

void run_collector() {
  Lock lock;
  PyObject* module = item_(modules_(), "gc");  // which torch imports
  PyObject* freed = module ? call_method_(module, "collect", nullptr) : nullptr;
  freed ? drop_(freed) : clear_();
}

// The class may inherit the method, and it may be decorated.
constexpr const char* kMethod = R"py(
import inspect, linecache
name, own = "__torch_dispatch__", type.__dict__["__dict__"].__get__
base = next(base for base in type.__dict__["__mro__"].__get__(owner) if name in own(base))
found = own(base)[name]
code = getattr(inspect.unwrap(getattr(found, "__func__", found)), "__code__", None)
fields = [owner.__module__ + "." + owner.__qualname__, base.__module__ + "." + base.__qualname__ + "." + name, "", ""]
if code is not None:
    lines = range(code.co_firstlineno, code.co_firstlineno + 100)
    starts = (line for line in lines if linecache.getline(code.co_filename, line).lstrip().startswith("def "))
    fields[2:] = [code.co_filename, str(next(starts, code.co_firstlineno))]
method = "\x1f".join(field.replace("\n", " ").replace("\x1f", " ") for field in fields)
)py";

// type_of returns the class of an object, a borrowed reference.
PyObject* type_of(PyObject* object) {
  PyObject* type = type_(object);
  drop_(type);
  return type;
}

// type_of returns the class that answers for a tensor, or null.
PyObject* type_of(TensorImpl* impl) {
  PyObject* object = impl != nullptr && impl->is_python_dispatch() ? pyobj(impl, interpreter, 0, 0) : nullptr;
  return object != nullptr ? type_of(object) : nullptr;
}

Mutex sharing;

// shares reports whether a class is one of those with views on their bases' storages, or adds it, which it reports.
bool shares(PyObject* type, bool adds) {
  static auto& all = *new std::unordered_set<PyObject*>;  // each with a reference
  std::lock_guard<std::mutex> lock(sharing);
  return adds ? all.insert(type).second : all.count(type) > 0;
}

constexpr int kFile = 257;  // Py_file_input

// run runs code with an object as a variable, and returns the text of another variable.
std::string run(const char* code, const char* name, PyObject* object, const char* left) {
  PyObject* names = dict_();
  put_(names, name, object);
  PyObject* none = run_(code, kFile, names, names);
  const std::string result = none ? text(item_(names, left)) : "";
  if (none != nullptr) drop_(none);
  drop_(names);
  clear_();
  return result;
}

std::string method_of(PyObject* owner) { return run(kMethod, "owner", owner, "method"); }

// The loader of torch._C is on the stack, and must finish with the module first. The first weakref.finalize registers
// its exit function, for finalizers such as those of torch.library; functions registered later run before it.
constexpr const char* kHide = R"(
import atexit, sys, weakref
weakref.finalize(end, end).detach()
atexit.register(end)
def load(loader):
    execute = loader.exec_module
    def exec_module(module):
        del loader.exec_module
        execute(module)
        hide(module)
    loader.exec_module = exec_module
def find(frame):
    while frame is not None:
        spec = frame.f_locals.get("spec") if frame.f_code.co_filename.startswith("<frozen importlib") else None
        if getattr(spec, "name", None) == "torch._C":
            return load(spec.loader)
        frame = frame.f_back
find(sys._getframe())
)";

// origin asks the compiler, which records origins, or the nodes of a graph.
constexpr const char* kOrigin = R"py(
import gc, re, sys
file, line = at.rsplit(":", 1)
line, frames = int(line), []
if file.startswith("<eval_with_key>"):
    for graph in gc.get_objects():
        if issubclass(type(graph), sys.modules["torch.fx"].GraphModule):
            code = getattr(type(graph).forward, "__code__", None)
            if getattr(code, "co_filename", None) == file:
                node = list(graph.graph.nodes)[graph._lineno_map[line - code.co_firstlineno]]
                frames = re.findall('File "(.+)", line (.+), in (.+)', node.stack_trace or "")
else:
    frames = sys.modules["torch._inductor.codecache"].PyCodeCache.stack_frames_for_code(file, line) or []
    frames = [(f["filename"], f["line"], f["name"]) for f in reversed(frames)]
frames = "".join("%s\n%s\n%s\n" % frame for frame in frames)
)py";

std::string origin(const std::string& at) {
  PyObject* where = string_(at.c_str());
  const std::string frames = run(kOrigin, "at", where, "frames");
  drop_(where);
  return frames;
}

Difference (*included_keys)() = nullptr;
Difference (*excluded_keys)() = nullptr;
void (*at_end)() = nullptr;
PyObject* keyed = nullptr;  // torch._C.DispatchKey

PyObject* changed(PyObject* set, const char* how, c10::DispatchKey by) {
  if (set == nullptr || keyed == nullptr) return set;
  PyObject* key = call_method_(keyed, "__call__", "i", static_cast<int>(by));
  PyObject* other = key ? call_method_(set, how, "O", key) : nullptr;
  if (key != nullptr) drop_(key);
  if (other == nullptr) return clear_(), set;
  drop_(set);
  return other;
}

// visible returns the set of real, with the difference applied.
PyObject* visible(PyObject* real, const Difference& d) {
  PyObject* set = call_(real, nullptr);
  for (auto key : d.hidden) set = changed(set, "remove", key);
  for (auto key : d.missing) set = changed(set, "add", key);
  return set;
}

// hide_in replaces the functions that return the sets.
PyObject* hide_in(PyObject* module) {
  static Method methods[] = {
      {"_dispatch_tls_local_include_set", [](PyObject* real, PyObject*) { return visible(real, included_keys()); }, NO_ARGUMENT, nullptr},
      {"_dispatch_tls_local_exclude_set", [](PyObject* real, PyObject*) { return visible(real, excluded_keys()); }, NO_ARGUMENT, nullptr},
  };
  keyed = attribute_(module, "DispatchKey");
  for (Method& method : methods) {
    PyObject* real = attribute_(module, method.name);
    PyObject* function = real ? function_(&method, real, nullptr) : nullptr;
    if (function != nullptr) set_(module, method.name, function);
  }
  clear_();
  return string_("");
}

// mode describes an active mode in a line; see mode.go.
std::string mode(PyObject* object) {
  std::string line = name(type_of(object));
  line += get(object, "__opassert_invalidates__", std::string(), [&](PyObject* codes) {
    PyObject* space = string_(" ");
    PyObject* joined = join_(space, codes);
    std::string said = "\x1f" + text(joined);
    drop_(space);
    if (joined) drop_(joined);
    return said;
  });
  return line + "\n";
}

// 1.13 has the current mode outside the stack of outer modes.
template <class TLS>
auto current_mode(int) -> decltype(TLS::get_mode(), (PyObject*)nullptr) {
  const auto& current = TLS::get_mode();
  return current ? current->ptr(interpreter) : nullptr;
}
template <class TLS>
PyObject* current_mode(long) {
  return nullptr;
}

// apart forks this process, and confines the child for a number of seconds. It returns a pipe to read from in the
// parent, minus one to write to in the child, and 0 on failure.
long apart() {
  constexpr unsigned kSeconds = 20;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return 0;
  const pid_t child = fork();
  if (child == 0) return confine(ends[1], kSeconds) ? -ends[1] : (_exit(1), 0);
  close(ends[1]);
  return ends[0];
}

}  // namespace

bool start() {
  void* library = nullptr;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* library) {
    const char* base = info->dlpi_name ? strrchr(info->dlpi_name, '/') : nullptr;
    if (base == nullptr || strncmp(base, "/libtorch_python.so", 19) != 0) return 0;
    *static_cast<void**>(library) = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    return 1;
  },
      &library);
  if (library == nullptr) return false;
  auto get = reinterpret_cast<c10::impl::PyInterpreter* (*)()>(dlsym(library, "_Z16getPyInterpreterv"));
#define FIND(result, name, exported, arguments) name = reinterpret_cast<decltype(name)>(dlsym(RTLD_DEFAULT, exported));
  PYTHON(FIND)
#undef FIND
#define MISSING(result, name, exported, arguments) || name == nullptr
  if (get == nullptr PYTHON(MISSING)) return false;
#undef MISSING
  interpreter = get();
  if (interpreter == nullptr) return false;
  opassert::references<c10::TensorImpl> = references<c10::TensorImpl>;
  opassert::references<c10::StorageImpl> = references<c10::StorageImpl>;
  collect = run_collector;
  return true;
}

bool starts(void* (*run)(void*)) {
  Dl_info of_run, of_python;
  return ensure_ != nullptr && dladdr(reinterpret_cast<void*>(run), &of_run) && dladdr(reinterpret_cast<void*>(ensure_), &of_python) &&
         of_run.dli_fbase == of_python.dli_fbase;
}

void hide(Difference (*included)(), Difference (*excluded)(), void (*ending)()) {
  included_keys = included;
  excluded_keys = excluded;
  at_end = ending;
  if (!locked_()) return;
  static Method methods[] = {
      {"hide", [](PyObject*, PyObject* module) { return hide_in(module); }, ONE_ARGUMENT, nullptr},
      {"end", [](PyObject*, PyObject*) { return at_end(), string_(""); }, NO_ARGUMENT, nullptr},
  };
  PyObject *names = dict_(), *hide = function_(&methods[0], nullptr, nullptr), *end = function_(&methods[1], nullptr, nullptr);
  put_(names, "hide", hide);
  put_(names, "end", end);
  PyObject* none = run_(kHide, kFile, names, names);
  for (PyObject* object : {none, hide, end, names}) drop_(object);  // or null
  clear_();
}

Lock::Lock() : state_(ensure_()) {}
Lock::~Lock() { release_(state_); }

int64_t traits(TensorImpl* impl, int64_t seen, bool listed) {
  PyObject* type = seen & OA_WRAPPER_SUBCLASS ? type_of(impl) : nullptr;
  const auto says = [&](PyObject* o) { return is_true_(o) == 1; };
  return type && ((!listed && shares(type, false)) || get(type, "__opassert_reports_views__", false, says)) ? seen | OA_REPORTS_VIEWS : seen;
}

void shared(TensorImpl* view, TensorImpl* base) {
  Lock lock;
  PyObject* type = type_of(view);
  if (type != nullptr && type == type_of(base) && shares(type, true)) type_(pyobj(view, interpreter, 0, 0));
}

std::string class_of(TensorImpl* impl) {
  PyObject* object = pyobj(impl, interpreter, 0, 0);
  return object == nullptr ? "a subclass" : name(type_of(object));
}

std::string modes() {
  std::string lines;
  using TLS = c10::impl::TorchDispatchModeTLS;
  for (int64_t i = 0; i < TLS::stack_len(); i++) {
    const auto& active = TLS::get_stack_at(i);
    if (active) lines += mode(active->ptr(interpreter));
  }
  PyObject* current = current_mode<TLS>(0);
  return lines + (current ? mode(current) : "");
}

bool has_mode(const std::string& of) { return ("\n" + modes()).find("\n" + of) != std::string::npos; }

PyObject* innermost_mode() {
  using TLS = c10::impl::TorchDispatchModeTLS;
  PyObject* current = current_mode<TLS>(0);
  return current != nullptr || TLS::stack_len() == 0 ? current : TLS::get_stack_at(TLS::stack_len() - 1)->ptr(interpreter);
}

// Source: torch/csrc/utils/python_arg_parser.cpp, append_overloaded_tensor.
std::string answerer(const std::vector<TensorImpl*>& arguments, const std::vector<TensorImpl*>& results) {
  if (PyObject* mode = innermost_mode()) return method_of(type_of(mode));
  std::vector<PyObject*> classes;
  for (TensorImpl* impl : arguments) {
    PyObject* type = type_of(impl);
    if (type == nullptr || std::find(classes.begin(), classes.end(), type) != classes.end()) continue;
    classes.insert(std::find_if(classes.begin(), classes.end(), [&](PyObject* other) { return subclass_(type, other) == 1; }), type);
  }
  for (TensorImpl* impl : results) {
    auto at = std::find(classes.begin(), classes.end(), type_of(impl));
    if (at != classes.end()) return method_of(*at);
  }
  return classes.empty() ? "" : method_of(classes[0]);
}

void find_origin(const std::string& line, void (*tell)(const std::string& line, const std::string& frames)) {
  using Later = std::function<void()>;
  auto* later = new Later([=] { tell(line, origin(line)); });
  auto find = [](void* p) { return (*std::unique_ptr<Later>(static_cast<Later*>(p)))(), 0; };
  if (pending_(find, later) != 0) delete later;  // too many at once: opassert gets no origin
}

pid_t fork() {
  before_fork_();
  const pid_t child = ::fork();
  child == 0 ? forked_child_() : forked_parent_();
  return child;
}

void replay(const std::string& program, const std::string& calls, size_t first, int to) {
  static Method apart_method{"apart", [](PyObject*, PyObject*) { return integer_(apart()); }, NO_ARGUMENT, nullptr};
  PyObject* names = dict_();
  put_(names, "apart", function_(&apart_method, nullptr, nullptr));
  put_(names, "calls", string_(calls.c_str()));
  put_(names, "first", integer_(first));
  put_(names, "to", integer_(to));
  run_(program.c_str(), kFile, names, names);
}

bool has_module(const char* name) { return item_(modules_(), name) != nullptr; }

bool without_formula(const std::string& op) {
  PyObject* module = item_(modules_(), "torch._library.custom_ops");
  if (module == nullptr) return false;
  return get(module, "OPDEFS", false, [&](PyObject* all) {
    PyObject* definition = call_method_(all, "get", "s", op.c_str());
    if (definition == nullptr) return clear_(), false;
    const bool without = get(definition, "_backward_fn", false, [&](PyObject* f) { return is_true_(f) == 0; });
    drop_(definition);
    return without;
  });
}

// The table is a C++ object without members: its copy has the same functions.
Dispatch stand_in(Dispatch f) {
  constexpr size_t kSlots = 64;  // more than any version has
  static void* table[2 + kSlots];
  static void** object = table + 2;
  auto member = &c10::impl::PyInterpreterVTable::dispatch;
  uintptr_t offset;
  static_assert(sizeof member >= sizeof offset, "a pointer to a member function of the Itanium C++ ABI");
  std::memcpy(&offset, &member, sizeof offset);
  const size_t slot = (offset & ~uintptr_t(1)) / sizeof(void*);
  void** real;
  std::memcpy(&real, interpreter->vtable_, sizeof real);
  std::memcpy(table, real - 2, sizeof table);
  const auto was = reinterpret_cast<Dispatch>(real[slot]);
  table[2 + slot] = reinterpret_cast<void*>(f);
  interpreter->vtable_ = reinterpret_cast<const c10::impl::PyInterpreterVTable*>(&object);
  return was;
}

}  // namespace opassert::python
