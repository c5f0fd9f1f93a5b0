// python.h has the watcher's uses of Python: the classes of tensors and of modes, and
// the calls of __torch_dispatch__. It finds the functions of the process's
// interpreter by name, and does nothing without one.
#pragma once

#include <c10/core/impl/PyInterpreter.h>
#include <c10/core/impl/TorchDispatchModeTLS.h>
#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "confine.h"

namespace opassert {

using PyObject = ::PyObject;

// pyobj returns the Python object of a tensor, or null. Versions differ in where it
// is stored, and in the function that returns it.
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
enum {
  NO_ARGUMENT = 4,   // METH_NOARGS
  ONE_ARGUMENT = 8,  // METH_O
};

constexpr const char* kFakeMode = "torch._subclasses.fake_tensor.FakeTensorMode";
constexpr const char* kFakeTensor = "torch._subclasses.fake_tensor.FakeTensor";

// A Difference is that between a thread's keys and those that the program sees.
struct Difference {
  c10::DispatchKeySet hidden, missing;
};

// A Python is the interpreter in the process.
class Python {
  template <class F>
  bool find(F& f, const char* name) {
    f = reinterpret_cast<F>(dlsym(RTLD_DEFAULT, name));
    return f != nullptr;
  }

  int (*ensure_)() = nullptr;
  void (*release_)(int) = nullptr;
  PyObject* (*type_)(PyObject*) = nullptr;
  PyObject* (*attribute_)(PyObject*, const char*) = nullptr;
  int (*is_true_)(PyObject*) = nullptr;
  const char* (*utf8_)(PyObject*) = nullptr;
  PyObject* (*join_)(PyObject*, PyObject*) = nullptr;
  PyObject* (*string_)(const char*) = nullptr;
  void (*drop_)(PyObject*) = nullptr;
  void (*clear_)() = nullptr;
  int (*locked_)() = nullptr;
  PyObject* (*dict_)() = nullptr;
  PyObject* (*modules_)() = nullptr;
  int (*put_)(PyObject*, const char*, PyObject*) = nullptr;
  PyObject* (*run_)(const char*, int, PyObject*, PyObject*) = nullptr;
  PyObject* (*integer_)(long) = nullptr;
  void (*before_fork_)() = nullptr;
  void (*forked_parent_)() = nullptr;
  void (*forked_child_)() = nullptr;
  PyObject* (*function_)(Method*, PyObject*, PyObject*) = nullptr;
  PyObject* (*call_)(PyObject*, PyObject*) = nullptr;
  PyObject* (*call_method_)(PyObject*, const char*, const char*, ...) = nullptr;
  int (*set_)(PyObject*, const char*, PyObject*) = nullptr;
  bool free_threaded_ = false;
  PyObject* (*item_)(PyObject*, const char*) = nullptr;
  int (*pending_)(int (*)(void*), void*) = nullptr;
  int (*subclass_)(PyObject*, PyObject*) = nullptr;

  std::string text(PyObject* o) {
    const char* s = o ? utf8_(o) : nullptr;
    if (s == nullptr) clear_();
    return s ? s : "";
  }

  // get returns f of an attribute, or the value for none.
  template <class V, class F>
  V get(PyObject* of, const char* name, V none, F&& f) {
    PyObject* attribute = attribute_(of, name);
    if (attribute == nullptr) {
      clear_();
      return none;
    }
    V v = f(attribute);
    drop_(attribute);
    return v;
  }

  std::string name(PyObject* type) {
    auto of = [&](const char* attribute) {
      return get(type, attribute, std::string(), [&](PyObject* o) { return text(o); });
    };
    return of("__module__") + "." + of("__qualname__");
  }

 public:
  c10::impl::PyInterpreter* interpreter = nullptr;

  // references returns the number of references to the Python object of an impl, 0
  // without one, and OA_UNCOUNTED for an immortal one. It reads the memory:
  // libtorch's function takes Python's lock, which a thread that waits for this one
  // may hold. Holding the impl keeps the object.
  //
  // Source: Include/refcount.h and Include/object.h of CPython 3.9 to 3.14.
  template <class T>
  int64_t references(T* impl) {
    constexpr uint32_t kImmortal = 1u << 30;
    PyObject* object = pyobj(impl, interpreter, 0, 0);
    if (object == nullptr) return 0;
    const char* at = reinterpret_cast<const char*>(object);
    uint32_t own;
    std::memcpy(&own, at + (free_threaded_ ? 12 : 0), sizeof own);
    if (own >= kImmortal) return OA_UNCOUNTED;
    int64_t shared = 0;
    if (free_threaded_) std::memcpy(&shared, at + 16, sizeof shared);
    return own + (shared >> 2);
  }

  // Lock holds Python's lock. It is taken only where Python is about to be called
  // anyway, or just was.
  struct Lock {
    Python& python;
    int state;
    explicit Lock(Python& p) : python(p), state(p.ensure_()) {}
    ~Lock() { python.release_(state); }
  };

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
    if (get == nullptr || !find(ensure_, "PyGILState_Ensure") || !find(release_, "PyGILState_Release") || !find(type_, "PyObject_Type") ||
        !find(attribute_, "PyObject_GetAttrString") || !find(is_true_, "PyObject_IsTrue") || !find(utf8_, "PyUnicode_AsUTF8") ||
        !find(join_, "PyUnicode_Join") || !find(string_, "PyUnicode_FromString") || !find(drop_, "Py_DecRef") || !find(clear_, "PyErr_Clear") ||
        !find(locked_, "PyGILState_Check") || !find(dict_, "PyDict_New") || !find(modules_, "PyImport_GetModuleDict") || !find(put_, "PyDict_SetItemString") || !find(run_, "PyRun_String") ||
        !find(function_, "PyCFunction_NewEx") || !find(call_, "PyObject_CallObject") || !find(call_method_, "PyObject_CallMethod") ||
        !find(set_, "PyObject_SetAttrString") || !find(item_, "PyDict_GetItemString") || !find(pending_, "Py_AddPendingCall") ||
        !find(subclass_, "PyType_IsSubtype") || !find(integer_, "PyLong_FromLong") || !find(before_fork_, "PyOS_BeforeFork") ||
        !find(forked_parent_, "PyOS_AfterFork_Parent") || !find(forked_child_, "PyOS_AfterFork_Child")) {
      return false;
    }
    const char* (*version)() = nullptr;
    free_threaded_ = find(version, "Py_GetVersion") && strstr(version(), "free-threading") != nullptr;
    interpreter = get();
    return interpreter != nullptr;
  }

  // starts reports whether a thread with a start function is Python's.
  bool starts(void* (*run)(void*)) const {
    Dl_info of_run, of_python;
    return ensure_ != nullptr && dladdr(reinterpret_cast<void*>(run), &of_run) && dladdr(reinterpret_cast<void*>(ensure_), &of_python) &&
           of_run.dli_fbase == of_python.dli_fbase;
  }

  // hide makes torch._C return this thread's included and excluded keys with the
  // differences that these functions return, and Python call ending when the program
  // ends. It is called while the interpreter loads torch._C, before anything else can
  // use it.
  void hide(Difference (*included)(), Difference (*excluded)(), void (*ending)()) {
    included_ = included;
    excluded_ = excluded;
    ending_ = ending;
    if (!locked_()) return;
    static Method methods[] = {
        {"hide", [](PyObject*, PyObject* module) { return self_->hide_in(module); }, ONE_ARGUMENT, nullptr},
        {"end", [](PyObject*, PyObject*) { return self_->ending_(), self_->string_(""); }, NO_ARGUMENT, nullptr},
    };
    self_ = this;
    PyObject *names = dict_(), *hide = function_(&methods[0], nullptr, nullptr), *end = function_(&methods[1], nullptr, nullptr);
    put_(names, "hide", hide);
    put_(names, "end", end);
    PyObject* none = run_(kHide, 257 /* Py_file_input */, names, names);
    for (PyObject* object : {none, hide, end, names}) {
      if (object != nullptr) drop_(object);
    }
    clear_();
  }

  // traits returns a tensor's traits with those of its class, which observe can't know.
  int64_t traits(TensorImpl* impl, int64_t seen) {
    PyObject* object = pyobj(impl, interpreter, 0, 0);
    if (object == nullptr) return seen;
    PyObject* type = type_(object);
    if (get(type, "__opassert_reports_views__", false, [&](PyObject* o) { return is_true_(o) == 1; })) seen |= OA_REPORTS_VIEWS;
    drop_(type);
    return seen;
  }

  std::string class_of(TensorImpl* impl) {
    PyObject* object = pyobj(impl, interpreter, 0, 0);
    if (object == nullptr) return "a subclass";
    PyObject* type = type_(object);
    std::string of = name(type);
    drop_(type);
    return of;
  }

  // mode describes an active mode in a line; see mode.go.
  std::string mode(PyObject* object) {
    PyObject* type = type_(object);
    std::string line = name(type);
    line += get(object, "__opassert_invalidates__", std::string(), [&](PyObject* codes) {
      PyObject* space = string_(" ");
      PyObject* joined = join_(space, codes);
      std::string said = "\x1f" + text(joined);
      drop_(space);
      if (joined) drop_(joined);
      return said;
    });
    drop_(type);
    return line + "\n";
  }

  // modes describes all active modes, outermost first.
  std::string modes() {
    std::string lines;
    using TLS = c10::impl::TorchDispatchModeTLS;
    for (int64_t i = 0; i < TLS::stack_len(); i++) {
      const auto& mode = TLS::get_stack_at(i);
      if (mode) lines += this->mode(mode->ptr(interpreter));
    }
    return lines + current_mode<TLS>(0);
  }

  // answerer describes the class that answers a call: the class, the class and name
  // of the called method, and its place. It is the innermost mode, or else the class
  // of an argument, in PyTorch's order; of several, which may decline, that of a
  // result. "" if no class does.
  //
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

  // innermost_mode returns the mode that is called first, or null.
  PyObject* innermost_mode() { return innermost<c10::impl::TorchDispatchModeTLS>(0); }

  // A Line is a line of generated code of PyTorch's compiler, FILE:NUMBER. tell gets
  // its origin in the program: lines of file, number and function for each frame,
  // outermost first.
  struct Line {
    Python& python;
    std::string at;
    void (*tell)(const std::string& at, const std::string& frames);
  };

  // find_origin makes Python's main thread look it up at the next opportunity: an
  // observed call does not hold Python's lock, and must not wait for it.
  void find_origin(Line line) {
    auto* later = new Line(std::move(line));
    auto find = [](void* p) {
      std::unique_ptr<Line> line(static_cast<Line*>(p));
      line->tell(line->at, line->python.origin(line->at));
      return 0;
    };
    if (pending_(find, later) != 0) delete later;  // too many at once: opassert gets no origin
  }

  // fork is called with Python's lock, and leaves it to both processes.
  pid_t fork() {
    before_fork_();
    const pid_t child = ::fork();
    child == 0 ? forked_child_() : forked_parent_();
    return child;
  }

  // apart forks this process, and confines the child for a number of seconds. It
  // returns a pipe to read from in the parent, minus one to write to in the child,
  // and 0 on failure.
  static long apart() {
    constexpr unsigned kSeconds = 20;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return 0;
    const pid_t child = self_->fork();
    if (child == 0) return confine(ends[1], kSeconds) ? -ends[1] : (_exit(1), 0);
    close(ends[1]);
    return ends[0];
  }

  // replay runs the program that calls fakes, and kernels for the CPU in forks: see
  // replay.py.
  void replay(const std::string& program, const std::string& calls, size_t first, int to) {
    static Method apart_method{"apart", [](PyObject*, PyObject*) { return self_->integer_(apart()); }, NO_ARGUMENT, nullptr};
    PyObject* names = dict_();
    put_(names, "apart", function_(&apart_method, nullptr, nullptr));
    put_(names, "calls", string_(calls.c_str()));
    put_(names, "first", integer_(first));
    put_(names, "to", integer_(to));
    run_(program.c_str(), 257 /* Py_file_input */, names, names);
  }

  bool has_module(const char* name) { return item_(modules_(), name) != nullptr; }

  // without_formula reports whether an operator was made by torch.library.custom_op
  // and has no formula for autograd.
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

  // has_mode reports whether a mode of a class is active.
  bool has_mode(const std::string& of) { return ("\n" + modes()).find("\n" + of) != std::string::npos; }

 private:
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

  // run runs code with an object as a variable, and returns the text of another variable.
  std::string run(const char* code, const char* name, PyObject* object, const char* left) {
    PyObject* names = dict_();
    put_(names, name, object);
    PyObject* none = run_(code, 257 /* Py_file_input */, names, names);
    const std::string result = none ? text(item_(names, left)) : "";
    if (none != nullptr) drop_(none);
    drop_(names);
    clear_();
    return result;
  }

  std::string method_of(PyObject* owner) { return run(kMethod, "owner", owner, "method"); }

  // The class may inherit the method, and it may be decorated.
  static constexpr const char* kMethod = R"py(
import linecache
name, fields = "__torch_dispatch__", [owner.__module__ + "." + owner.__qualname__, "", "", ""]
for base in type.__dict__["__mro__"].__get__(owner):
    found = type.__dict__["__dict__"].__get__(base).get(name)
    if found is None:
        continue
    found = getattr(found, "__func__", found)
    while hasattr(found, "__wrapped__"):
        found = found.__wrapped__
    fields[1] = base.__module__ + "." + base.__qualname__ + "." + name
    code = getattr(found, "__code__", None)
    if code is not None:
        lines = range(code.co_firstlineno, code.co_firstlineno + 100)
        starts = (line for line in lines if linecache.getline(code.co_filename, line).lstrip().startswith("def "))
        fields[2:] = [code.co_filename, str(next(starts, code.co_firstlineno))]
    break
method = "\x1f".join(field.replace("\n", " ").replace("\x1f", " ") for field in fields)
)py";

  static inline Python* self_;
  Difference (*included_)() = nullptr;
  Difference (*excluded_)() = nullptr;
  void (*ending_)() = nullptr;

  // The loader of torch._C is on the stack, and must finish with the module first.
  // The first weakref.finalize registers its exit function, for finalizers such as
  // those of torch.library; functions registered later run before it.
  static constexpr const char* kHide = R"(
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
  static constexpr const char* kOrigin = R"py(
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

  // hide_in replaces the functions that return the sets.
  PyObject* hide_in(PyObject* module) {
    static Method methods[] = {
        {"_dispatch_tls_local_include_set", [](PyObject* real, PyObject*) { return self_->visible(real, self_->included_()); }, NO_ARGUMENT, nullptr},
        {"_dispatch_tls_local_exclude_set", [](PyObject* real, PyObject*) { return self_->visible(real, self_->excluded_()); }, NO_ARGUMENT, nullptr},
    };
    keyed_ = attribute_(module, "DispatchKey");
    for (Method& method : methods) {
      PyObject* real = attribute_(module, method.name);
      PyObject* function = real ? function_(&method, real, nullptr) : nullptr;
      if (function != nullptr) set_(module, method.name, function);
    }
    clear_();
    return string_("");
  }

  PyObject* keyed_ = nullptr;  // torch._C.DispatchKey

  // visible returns the set of real, with the difference applied.
  PyObject* visible(PyObject* real, const Difference& d) {
    PyObject* set = call_(real, nullptr);
    for (auto key : d.hidden) set = changed(set, "remove", key);
    for (auto key : d.missing) set = changed(set, "add", key);
    return set;
  }

  PyObject* changed(PyObject* set, const char* how, c10::DispatchKey by) {
    if (set == nullptr || keyed_ == nullptr) return set;
    PyObject* key = call_method_(keyed_, "__call__", "i", static_cast<int>(by));
    PyObject* other = key ? call_method_(set, how, "O", key) : nullptr;
    if (key != nullptr) drop_(key);
    if (other == nullptr) return clear_(), set;
    drop_(set);
    return other;
  }

  // 1.13 has the current mode outside the stack of outer modes.
  template <class TLS>
  auto current_mode(int) -> decltype(TLS::get_mode(), std::string()) {
    const auto& mode = TLS::get_mode();
    return mode ? this->mode(mode->ptr(interpreter)) : "";
  }
  template <class TLS>
  std::string current_mode(long) {
    return "";
  }

  template <class TLS>
  auto innermost(int) -> decltype(TLS::get_mode(), (PyObject*)nullptr) {
    const auto& mode = TLS::get_mode();
    return mode ? mode->ptr(interpreter) : nullptr;
  }
  template <class TLS>
  PyObject* innermost(long) {
    return TLS::stack_len() > 0 ? TLS::get_stack_at(TLS::stack_len() - 1)->ptr(interpreter) : nullptr;
  }
};

// stand_in replaces the function that calls __torch_dispatch__ by f, in the table
// through which libtorch calls Python, and returns the old one. The table is a C++
// object without members: its copy has the same functions.
template <class F>
F stand_in(c10::impl::PyInterpreter* interpreter, F f) {
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
  F was = reinterpret_cast<F>(real[slot]);
  table[2 + slot] = reinterpret_cast<void*>(f);
  interpreter->vtable_ = reinterpret_cast<const c10::impl::PyInterpreterVTable*>(&object);
  return was;
}

}  // namespace opassert
