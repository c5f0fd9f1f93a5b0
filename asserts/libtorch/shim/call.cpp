// call.cpp calls an operator, boxed, and observes its arguments and results.
#include "entry.h"
#include "device.h"

#include <ATen/FunctionalTensorWrapper.h>
#include <ATen/core/class_type.h>
#include <ATen/core/function.h>
#include <ATen/core/stack.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/custom_class_detail.h>
#include <torch/csrc/api/include/torch/version.h>
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 1)
#define AUTOGRAD_WARNS
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#endif

#include <dlfcn.h>
#include <unistd.h>

#include "aborts.h"
#include "memory.h"
#include "methods.h"
#include "operators.h"
#include "state.h"
#include "wire.h"

namespace opassert {
namespace {

using c10::IValue;
using c10::TypeKind;

// Kernels print a warning once, for a program's user; thousands of calls here would repeat them.
#if TORCH_VERSION_MAJOR >= 2
struct Quiet final : c10::WarningHandler {
  void process(const c10::Warning&) override {}
};
namespace warnings = c10::WarningUtils;
#else
struct Quiet final : c10::WarningHandler {
  void process(const c10::SourceLocation&, const std::string&, bool) override {}
};
namespace warnings = c10::Warning;
#endif

void quiet_warnings() {
  static Quiet quiet;
  warnings::set_warning_handler(&quiet);  // of this thread
}

// Tensors are the tensors of a request, each kept alive by its handle in Go.
struct Tensors {
  const int64_t* words;
  int64_t n;

  c10::TensorImpl* at(int64_t i) const {
    if (i < 0 || i >= n) throw Refusal("the request refers to a missing tensor");
    return reinterpret_cast<c10::TensorImpl*>(words[i]);
  }
};

// A Held has the positions of an argument's tensors among those of the request: one, or the
// elements of a list, a tuple or a dict.
struct Held {
  int64_t tensor = OA_NO_TENSOR;
  std::vector<IValue> keys;  // of a dict, in the order of items
  std::vector<Held> items;
};

// Containers are the lists, tuples and dicts of a call that may hold tensors. The kernel has the
// same ones, and may put other tensors into lists and dicts.
struct Containers {
  struct Row {
    int64_t argument;
    IValue value;
    Held held;
  };
  std::vector<Row> rows;

  void keep(int64_t argument, const c10::Type& type, const IValue& value, Held&& held) {
    const bool container = value.isList() || value.isTuple() || value.isGenericDict();
    if (container && holds_tensor(type)) rows.push_back({argument, value, std::move(held)});
  }
};

// Changes are a kernel's changes of containers, found when they are released. A tensor that was removed is now
// undefined. Conj, neg and zero tensors are left out: the dispatcher's fallbacks replace them by plain ones.
class Changes {
  const Tensors& tensors_;
  int64_t argument_ = 0;  // whose containers are compared

  void compare(const Held& held, const IValue& now) {
    if (held.tensor != OA_NO_TENSOR) {
      const c10::TensorImpl* was = tensors_.at(held.tensor);
      at::Tensor t = now.isTensor() ? now.toTensor() : at::Tensor();
      const bool same = (t.defined() ? t.unsafeGetTensorImpl() : nullptr) == was;
      if (!same && (was == nullptr || !was->key_set().has_any(kLazy))) put.emplace_back(held.tensor, std::move(t));
    } else if (now.isGenericDict()) {
      compare_dict(held, now.toGenericDict());
    } else if (now.isTuple()) {
      for (size_t i = 0; i < held.items.size(); i++) compare(held.items[i], now.toTupleRef().elements()[i]);
    } else {
      compare_list(held, now.isList() ? now.toListRef() : c10::ArrayRef<IValue>());
    }
  }

  void compare_list(const Held& held, c10::ArrayRef<IValue> now) {
    for (size_t i = 0; i < held.items.size(); i++) compare(held.items[i], i < now.size() ? now[i] : IValue());
    for (size_t i = held.items.size(); i < now.size(); i++) add(now[i]);
  }

  void compare_dict(const Held& held, const c10::impl::GenericDict& now) {
    auto rest = now.copy();
    for (size_t i = 0; i < held.items.size(); i++) {
      auto at = now.find(held.keys[i]);
      compare(held.items[i], at == now.end() ? IValue() : at->value());
      rest.erase(held.keys[i]);
    }
    for (const auto& entry : rest) add(entry.value());
  }

  void add(const IValue& v) {
    if (v.isTensor()) added.emplace_back(argument_, v.toTensor());
    if (v.isList()) compare_list(Held(), v.toListRef());
    if (v.isGenericDict()) compare_dict(Held(), v.toGenericDict());
    if (v.isTuple()) {
      for (size_t i = 0; i < v.toTupleRef().elements().size(); i++) add(v.toTupleRef().elements()[i]);
    }
  }

 public:
  std::vector<std::pair<int64_t, at::Tensor>> put;    // by the index of the tensor that was there
  std::vector<std::pair<int64_t, at::Tensor>> added;  // by argument

  Changes(const Tensors& tensors, Containers containers) : tensors_(tensors) {
    for (const auto& row : containers.rows) {
      argument_ = row.argument;
      compare(row.held, row.value);
    }
  }

  // at returns the tensor that is now at the position of tensor i.
  c10::TensorImpl* at(int64_t i) const {
    for (const auto& p : put) {
      if (p.first == i) return p.second.defined() ? p.second.unsafeGetTensorImpl() : nullptr;
    }
    return tensors_.at(i);
  }
};

// MadeObjects are the objects of custom classes that a call makes, in the order of the request.
// They are made before the tensors are observed, since they may keep some, and live until these
// were observed again: a tensor that a kernel puts into one is then referenced.
struct MadeObjects {
  std::vector<IValue> made;
  size_t read = 0;  // the number that was read again
};

// Reader converts the values of a request to IValues, each of the type that the schema declares for
// its argument: a boxed kernel relies on its stack.
class Reader {
  Request& in_;
  Tensors tensors_;
  const torch::jit::Stack& stack_;  // the arguments that are read
  MadeObjects& objects_;

  [[noreturn]] void mismatch(const c10::Type& want, int64_t tag) {
    throw Refusal("want " + want.str() + ", got " + tag_text(tag));
  }

  IValue object(const c10::Type& want) {
    const IValue& v = *reinterpret_cast<const IValue*>(in_.word());
    auto type = v.type();
    if (want.kind() != TypeKind::AnyType && !type->isSubtypeOf(want)) {
      throw Refusal("want " + want.str() + ", got an object of type " + type->str());
    }
    return v;
  }

  IValue same(const c10::Type& want) {
    auto i = static_cast<size_t>(in_.word());
    if (i >= stack_.size()) throw Refusal("it refers to a later argument");
    if (!stack_[i].type()->isSubtypeOf(want)) throw Refusal("want " + want.str() + ", got what argument " + std::to_string(i) + " is");
    return stack_[i];
  }

  // item reads an element of a container.
  IValue item(const c10::Type& want, Held& of) {
    Held held;
    IValue v = value(want, held);
    of.items.push_back(std::move(held));
    return v;
  }

  // list reads a list; if any type is wanted, its elements have the type of the first.
  IValue list(const c10::Type& want, Held& held) {
    int64_t n = in_.word();
    const bool any = want.kind() == TypeKind::AnyType;
    c10::TypePtr elem = any ? c10::TypePtr(c10::AnyType::get()) : want.containedType(0);
    std::vector<IValue> items;
    held.items.reserve(n);
    for (int64_t i = 0; i < n; i++) {
      items.push_back(item(*elem, held));
      if (any) elem = items[0].type();
    }
    c10::impl::GenericList list(elem);
    for (auto& v : items) list.push_back(std::move(v));
    return list;
  }

  IValue tuple(const c10::Type& want, Held& held) {
    auto types = want.containedTypes();
    int64_t n = in_.word();
    if (static_cast<size_t>(n) != types.size()) throw Refusal("want " + want.str() + ", got a tuple of " + std::to_string(n));
    std::vector<IValue> items;
    for (const auto& type : types) items.push_back(item(*type, held));
    return c10::ivalue::Tuple::create(std::move(items));
  }

  IValue dict(const c10::Type& want, Held& held) {
    int64_t n = in_.word();
    c10::impl::GenericDict dict(want.containedType(0), want.containedType(1));
    for (int64_t i = 0; i < n; i++) {
      Held none;
      held.keys.push_back(value(*want.containedType(0), none));
      if (!dict.insert(held.keys.back(), item(*want.containedType(1), held)).second) throw Refusal("a dict has a key twice");
    }
    return dict;
  }

  // made calls the constructor of a custom class.
  //
  // Source: torch/csrc/jit/python/script_init.cpp, ScriptClass::__call__.
  IValue made(const c10::Type& want) {
    std::string name = in_.text();
    c10::ClassTypePtr type = torch::getCustomClass(name);
    if (!type) throw Refusal("unknown class " + name);
    auto* init = type->findMethod("__init__");
    if (init == nullptr) throw Refusal("class " + name + " has no constructor");
    if (want.kind() != TypeKind::AnyType && !type->isSubtypeOf(want)) throw Refusal("want " + want.str() + ", got an object of type " + name);
    auto object = c10::ivalue::Object::create(c10::StrongTypePtr(nullptr, type), type->numAttributes());
    torch::jit::Stack stack = {object};
    const auto& args = init->getSchema().arguments();
    int64_t n = in_.word();
    std::string takes;
    for (size_t i = 1; i < args.size(); i++) takes += (i > 1 ? ", " : "") + args[i].type()->str() + " " + args[i].name() + (args[i].default_value() ? "=..." : "");
    auto wrong = [&](const std::string& why) { return Refusal("the constructor of " + name + " takes (" + takes + "): " + why); };
    if (static_cast<size_t>(n) + 1 > args.size()) throw wrong("got " + std::to_string(n) + " arguments");
    for (size_t i = 1; i < args.size(); i++) {
      if (static_cast<int64_t>(i) <= n) {
        try {
          Held held;
          stack.push_back(value(*args[i].type(), held));
        } catch (const Refusal& e) {
          throw wrong("of argument " + std::to_string(i) + ": " + e.message);
        }
      } else if (args[i].default_value()) {
        stack.push_back(*args[i].default_value());
      } else {
        throw wrong("got " + std::to_string(n) + " arguments");
      }
    }
    if (objects_.read < objects_.made.size()) return objects_.made[objects_.read++];
    init->run(stack);
    objects_.made.push_back(object);
    objects_.read++;
    return object;
  }

  c10::Device device() {
    auto type = static_cast<c10::DeviceType>(in_.word());
    return c10::Device(type, static_cast<c10::DeviceIndex>(in_.word()));
  }

  // any reads a value by its own type.
  IValue any(int64_t tag, const Held& held) {
    switch (tag) {
      case OA_TENSOR: {
        const c10::TensorImpl* impl = tensors_.at(held.tensor);
        return impl == nullptr ? at::Tensor() : borrowed(impl);
      }
      case OA_INT: return in_.word();
      case OA_FLOAT: return in_.bits();
      case OA_BOOL: return in_.word() != 0;
      case OA_STRING: return in_.text();
      case OA_DEVICE: return device();
      case OA_COMPLEX: {
        double re = in_.bits(), im = in_.bits();
        return c10::complex<double>(re, im);
      }
      case OA_STREAM: {
        c10::Device on = device();
        return c10::Stream(c10::Stream::UNSAFE, on, in_.word());
      }
      default: throw Refusal(std::string("want a value of any type, got ") + tag_text(tag));
    }
  }

  static bool fits(TypeKind kind, int64_t tag) {
    switch (kind) {
      case TypeKind::TensorType: return tag == OA_TENSOR;
      case TypeKind::NumberType: return tag == OA_INT || tag == OA_FLOAT || tag == OA_BOOL || tag == OA_COMPLEX;
      case TypeKind::FloatType: return tag == OA_FLOAT || tag == OA_INT;
      case TypeKind::IntType: return tag == OA_INT;
      case TypeKind::BoolType: return tag == OA_BOOL;
      case TypeKind::ComplexType: return tag == OA_COMPLEX;
      case TypeKind::StringType: return tag == OA_STRING;
      case TypeKind::DeviceObjType: return tag == OA_DEVICE;
      case TypeKind::StreamObjType: return tag == OA_STREAM;
      case TypeKind::AnyType: return true;
      default: return false;
    }
  }

 public:
  Reader(Request& in, Tensors tensors, const torch::jit::Stack& stack, MadeObjects& objects)
      : in_(in), tensors_(tensors), stack_(stack), objects_(objects) {}

  // value reads a value, and the positions of its tensors into held.
  IValue value(const c10::Type& want, Held& held) {
    int64_t tag = in_.word();
    const c10::Type* type = &want;
    if (tag == OA_TENSOR || tag == OA_NONE) held.tensor = in_.word();
    if (type->kind() == TypeKind::OptionalType) {
      if (tag == OA_NONE || (tag == OA_TENSOR && tensors_.at(held.tensor) == nullptr)) return IValue();
      type = type->containedType(0).get();
    }
    if (tag == OA_NONE && (type->kind() == TypeKind::AnyType || type->kind() == TypeKind::NoneType)) return IValue();
    if (tag == OA_OBJECT) return object(*type);
    if (tag == OA_LIST && (type->kind() == TypeKind::ListType || type->kind() == TypeKind::AnyType)) return list(*type, held);
    if (tag == OA_TUPLE && type->kind() == TypeKind::TupleType) return tuple(*type, held);
    if (tag == OA_DICT && type->kind() == TypeKind::DictType) return dict(*type, held);
    if (tag == OA_NEW) return made(*type);
    if (tag == OA_SAME) return same(*type);
    if (!fits(type->kind(), tag)) mismatch(want, tag);
    if (type->kind() == TypeKind::FloatType && tag == OA_INT) return static_cast<double>(in_.word());
    return any(tag, held);
  }

  IValue argument(const c10::Argument& arg, Held& held) {
    Request before = in_;
    if (!in_.empty() && before.word() != OA_DEFAULT) return value(*arg.type(), held);
    if (!in_.empty()) in_.word();
    const auto& value = arg.default_value();
    if (!value) throw Refusal("it has no default, so a value is needed");
    return *value;
  }
};

// read puts the arguments on a stack: those of the request, then defaults.
torch::jit::Stack read(const Operator& op, Request& in, Tensors tensors, Containers& containers, MadeObjects& objects) {
  const auto& args = op.handle.schema().arguments();
  torch::jit::Stack stack;
  stack.reserve(args.size());
  Reader reader(in, tensors, stack, objects);
  for (const auto& arg : args) {
    try {
      Held held;
      stack.push_back(reader.argument(arg, held));
      containers.keep(stack.size() - 1, *arg.type(), stack.back(), std::move(held));
    } catch (const Refusal& e) {
      throw Refusal("argument " + std::to_string(stack.size()) + " \"" + arg.name() + "\": " + e.message);
    }
  }
  if (!in.empty()) throw Refusal("more than the schema's " + std::to_string(args.size()) + " arguments");
  return stack;
}

// bare_fallback turns off the fallback of ops without a kernel for autograd: since 2.1
// it makes their results require grad, so that backward warns, once in a process.
//
// Source: torch/csrc/autograd/autograd_not_implemented_fallback.cpp;
// torch/testing/_internal/optests/autograd_registration.py sets the mode too.
void bare_fallback() {
#ifdef AUTOGRAD_WARNS
  torch::autograd::setAutogradFallbackMode(torch::autograd::AutogradFallbackMode::Nothing);
#endif
}

// LeftOut excludes dispatch keys. Keys that a kernel excludes or includes remain so: the guards of
// PyTorch 2.15 would undo that, but programs that call the kernel have none around it.
class LeftOut {
 public:
  explicit LeftOut(c10::DispatchKeySet keys) : keys_(keys - c10::impl::tls_local_dispatch_key_set().excluded_) { set(true); }
  LeftOut(const LeftOut&) = delete;
  LeftOut& operator=(const LeftOut&) = delete;
  ~LeftOut() { set(false); }

 private:
  void set(bool out) {
    auto now = c10::impl::tls_local_dispatch_key_set();
    now.excluded_ = out ? now.excluded_ | keys_ : now.excluded_ - keys_;
    c10::impl::_force_tls_local_dispatch_key_set(now);
  }

  const c10::DispatchKeySet keys_;
};

// each_written calls f with each tensor that a call writes as an argument.
template <class F>
void each_written(const Operator& op, const torch::jit::Stack& stack, F&& f) {
  for (size_t i = 0; op.write && i < stack.size(); i++) {
    const auto* alias = op.handle.schema().arguments()[i].alias_info();
    if (alias != nullptr && alias->isWrite() && stack[i].isTensor() && stack[i].toTensor().defined()) f(stack[i].toTensor());
  }
}

// hidden_writes returns the tensors that a call of one of PyTorch's ops writes on a device, if its
// kernel for ADInplaceOrView returns these whatever the device's kernel, which may be that of
// others, returns. PyTorch's kernel raises their versions.
std::vector<at::TensorImpl*> hidden_writes(const Operator& op, const torch::jit::Stack& stack) {
  std::vector<at::TensorImpl*> written;
  if (op.handle.schema().name().rfind("aten::", 0) != 0 || !op.handle.hasKernelForDispatchKey(c10::DispatchKey::ADInplaceOrView)) return written;
  bool on_device = true;
  each_written(op, stack, [&](const at::Tensor& t) {
    on_device = on_device && !(t.is_cpu() || t.is_meta() || t.is_inference());
    written.push_back(t.unsafeGetTensorImpl());
  });
  return on_device ? written : std::vector<at::TensorImpl*>();
}

// A Fork ends, when a kernel returns in a process that it forked: as a worker that process would call it again.
struct Fork {
  const pid_t caller = getpid();
  ~Fork() {
    if (getpid() != caller) _exit(0);
  }
};

// run calls the operator at the depth at which autograd calls it: a view, or one that writes, below autograd, so that
// ADInplaceOrView still tracks views and bumps versions; any other below that, since it would track views that the
// kernel makes and keep their bases alive. A composite runs from the top, and so does one with kernels only for
// autograd. On a device one that writes is called below ADInplaceOrView too, and this raises the versions.
//
// Source: tools/autograd/gen_variable_type.py, the guards of emit_body.
//
// Through autograd it calls like a program.
void run(const Operator& op, torch::jit::Stack& stack, bool autograd) {
  const Fork ends_here;
  if (autograd) bare_fallback();
  if (op.top || autograd) return op.handle.callBoxed(&stack);
  const auto hidden = hidden_writes(op, stack);
  const bool tracked = hidden.empty() && (op.view || op.write);
  LeftOut guard(tracked ? c10::autograd_dispatch_keyset : c10::autograd_dispatch_keyset_with_ADInplaceOrView);
  op.handle.callBoxed(&stack);
  for (at::TensorImpl* impl : hidden) impl->bump_version();
}

// run_marked makes a tensor that only has the mark of a Python subclass bypass the dispatch to
// Python, which is not running.
void run_marked(const Operator& op, torch::jit::Stack& stack, const Tensors& tensors, bool autograd) {
  for (int64_t i = 0; i < tensors.n; i++) {
    if (tensors.at(i) != nullptr && tensors.at(i)->is_python_dispatch()) {
      LeftOut guard(c10::python_ks);
      return run(op, stack, autograd);
    }
  }
  run(op, stack, autograd);
}

// refuse_lazy refuses a call that would crash in PyTorch itself: its fallbacks for conj and neg
// tensors read a written argument from the first return, even for an op without returns.
//
// Source: aten/src/ATen/native/MathBitsFallback.h.
void refuse_lazy(const Operator& op, const torch::jit::Stack& stack) {
  if (!op.handle.schema().returns().empty()) return;
  each_written(op, stack, [&](const at::Tensor& t) {
    for (c10::DispatchKey key : {c10::DispatchKey::Conjugate, c10::DispatchKey::Negative}) {
      if (t.key_set().has(key) && !op.handle.hasKernelForDispatchKey(key)) {
        throw std::runtime_error("PyTorch's fallback for conj and neg tensors writes no argument of an op that returns nothing");
      }
    }
  });
}

std::vector<Uses> all_uses(const Tensors& tensors, int64_t n) {
  std::vector<Uses> all;
  for (int64_t i = 0; i < n; i++) {
    if (tensors.at(i) != nullptr) all.push_back(uses(tensors.at(i)));
  }
  return all;
}

bool is_tensors(const IValue& v) {
  auto fits = [](const IValue& item) { return item.isTensor() || is_tensors(item); };
  return v.isList() && std::all_of(v.toListRef().begin(), v.toListRef().end(), fits);
}

// each calls f with each tensor of a result, also undefined ones.
template <class F>
void each(const IValue& v, F&& f) {
  if (v.isTensor()) f(v.toTensor());
  if (!is_tensors(v)) return;
  for (const IValue& item : v.toListRef()) each(item, f);
}

// settle prepares the results of a call for being observed: it writes what functional tensors still have to write,
// and has Python's collector free what nothing else refers to, if that could be why there are references.
void settle(const torch::jit::Stack& stack, bool referenced) {
  for (const IValue& v : stack) {
    each(v, [&](const at::Tensor& t) {
      if (t.defined() && collect != nullptr) referenced |= uses(t.unsafeGetTensorImpl()) > Uses(1, 1);
      if (t.defined()) at::functionalization::impl::sync(t);
    });
  }
  if (collect != nullptr && referenced) collect();
}

// observe_result writes the number of tensors and observes them in place: a copy would be counted. An op that writes
// tracks views, even those that it makes to return one.
void observe_result(const IValue& v, oa_level level, Reply& out) {
  const size_t count = out.size();
  out.word(0);
  each(v, [&](const at::Tensor& t) {
    out[count]++;
    const size_t at = out.size();
    observe(t.defined() ? t.unsafeGetTensorImpl() : nullptr, level, out);
    if (t.defined()) uncount(t.unsafeGetTensorImpl(), true, {out, at});
  });
}

// observe_arguments observes the arguments again, each at its present position.
void observe_arguments(const Tensors& tensors, int64_t count, Containers&& containers, oa_level level, Reply& out) {
  Changes changes(tensors, std::move(containers));
  for (int64_t i = 0; i < count; i++) observe(changes.at(i), level, out);
  out.word(changes.added.size());
  for (const auto& a : changes.added) {
    out.word(a.first);
    observe(a.second.defined() ? a.second.unsafeGetTensorImpl() : nullptr, level, out);
  }
}

// changed reports whether the observations of arguments after the call, which follow those before
// it, differ from these.
bool changed(Reply& out, size_t before, size_t after) {
  if (out.size() != 2 * after - before + 1) return true;
  for (size_t i = before; i < after; i++) {
    if (out[i] != out[i - before + after]) return true;
  }
  return false;
}

void write_object(IValue&& v, Reply& out) {
  std::string type = v.type()->str();
  out.word(OA_OBJECT);
  out.word(reinterpret_cast<int64_t>(new IValue(std::move(v))));
  out.text(type);
}

// write writes a result; the receiver frees its tensors and objects.
void write(IValue&& v, Reply& out) {
  if (v.isTensor()) {
    at::Tensor t = std::move(v).toTensor();
    out.word(OA_TENSOR);
    out.word(t.defined() ? reinterpret_cast<int64_t>(t.unsafeReleaseTensorImpl()) : 0);
  } else if (v.isNone()) {
    out.word(OA_NONE);
  } else if (v.isInt()) {
    out.word(OA_INT);
    out.word(v.toInt());
  } else if (v.isDouble()) {
    out.word(OA_FLOAT);
    out.bits(v.toDouble());
  } else if (v.isBool()) {
    out.word(OA_BOOL);
    out.word(v.toBool());
  } else if (v.isComplexDouble()) {
    out.word(OA_COMPLEX);
    out.bits(v.toComplexDouble().real());
    out.bits(v.toComplexDouble().imag());
  } else if (v.isString()) {
    out.word(OA_STRING);
    out.text(v.toStringRef());
  } else if (v.isDevice()) {
    out.word(OA_DEVICE);
    out.word(static_cast<int64_t>(v.toDevice().type()));
    out.word(v.toDevice().index());
  } else if (v.isList()) {
    auto items = v.toListRef();
    out.word(OA_LIST);
    out.word(items.size());
    for (const IValue& item : items) write(IValue(item), out);
  } else {
    write_object(std::move(v), out);
  }
}

}  // namespace
}  // namespace opassert

using namespace opassert;

// A request: operator, level, whether it goes through autograd, number of tensors, number of observed ones, the
// tensors, the observed ones first, and a value for each argument; omitted last arguments have their defaults. A
// reply: the observations of the tensors before, after; the number of tensors added to lists and dicts, each after
// the index of its argument; for each return the number of its tensors and their observations; then the returns
// themselves. At OA_OFF observations are left out. If the kernel throws and they differ, those of arguments remain.
//
// The order makes the counts exact: results are observed before they are moved.
void opassert::entry::call(const Crossing& in, Reply& out) {
  Request request(in.words, in.n);
  const Operator& op = *reinterpret_cast<const Operator*>(request.word());
  auto level = static_cast<oa_level>(request.word());
  bool autograd = request.word() != 0;
  int64_t held = request.word(), count = request.word();
  Tensors tensors{request.words(held), held};

  MadeObjects objects;
  if (level != OA_OFF && op.objects) {
    Request ahead = request;
    Containers ignored;
    read(op, ahead, tensors, ignored, objects);
    objects.read = 0;
  }
  Holds holds;
  std::vector<Uses> before;
  if (level != OA_OFF) {
    for (int64_t i = 0; i < count; i++) observe(tensors.at(i), level, out);
    for (int64_t i = 0; i < count; i++) holds.hold(tensors.at(i));
    if (collect != nullptr) before = all_uses(tensors, count);
  }
  Containers containers;
  torch::jit::Stack stack = read(op, request, tensors, containers, objects);
  if (level == OA_OFF) containers.rows.clear();
  refuse_lazy(op, stack);
  quiet_warnings();
  try {
    Watch watch(level != OA_OFF, op.handle, stack);
    auto call = [&] { run_marked(op, stack, tensors, autograd); };
    aborts_read ? refusable(call) : call();
    restore_processor();
    watch.returned(stack);
  } catch (...) {
    restore_processor();
    if (level >= OA_CONTENTS) {
      const size_t after = out.size();
      stack.clear();  // which holds the arguments still, as it did not before the call
      observe_arguments(tensors, count, std::move(containers), level, out);
      if (changed(out, OA_HEADER_WORDS, after)) out.wrote();
      copy_fault.clear();
    }
    throw;
  }
  if (level != OA_OFF) {
    settle(stack, collect != nullptr && all_uses(tensors, count) != before);
    observe_arguments(tensors, count, std::move(containers), level, out);
    for (const IValue& v : stack) observe_result(v, level, out);
    if (level >= OA_CONTENTS && !copy_fault.empty()) throw std::runtime_error(std::exchange(copy_fault, ""));
  }
  for (IValue& v : stack) write(std::move(v), out);
}

// object makes the arguments of a call, without making it, and replies with the first.
void opassert::entry::object(const Crossing& in, Reply& out) {
  Request request(in.words, in.n);
  const Operator& op = *reinterpret_cast<const Operator*>(request.word());
  request.words(2);  // the level, and whether the call goes through autograd
  const int64_t held = request.word();
  request.word();  // the number of observed tensors
  Tensors tensors{request.words(held), held};
  MadeObjects objects;
  Containers containers;
  write(std::move(read(op, request, tensors, containers, objects).at(0)), out);
}

// load loads a shared library, which may register operators.
void opassert::entry::load(const Crossing& in, Reply&) {
  std::setvbuf(stdout, nullptr, _IONBF, 0);  // the output of a library must show even if it ends the process
  const size_t methods = count_methods();
  void* library = dlopen(in.text().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw Refusal(dlerror());
  define_methods(methods);
  read_aborts();
  list_anew();
  remember_state(true);
}

void oa_cross(int64_t function, int64_t first, int64_t second, const int64_t* words, int64_t n, char* data, int64_t size, int64_t* answer, int64_t cap) {
#define OA_POINTER(f) entry::f,
  static constexpr void (*all[])(const Crossing&, Reply&) = {OA_FUNCTIONS(OA_POINTER)};
#undef OA_POINTER
  switch (function) {
    case OA_FN_spill: {  // moves the words of a reply that did not fit
      std::unique_ptr<std::vector<int64_t>> spilt(reinterpret_cast<std::vector<int64_t>*>(first));
      std::memcpy(answer, spilt->data(), std::min<size_t>(cap, spilt->size()) * sizeof(int64_t));
      return;
    }
    case OA_FN_release: return c10::raw::intrusive_ptr::decref(reinterpret_cast<c10::TensorImpl*>(first));
    case OA_FN_drop: delete reinterpret_cast<IValue*>(first); return;
  }
  reply(answer, cap, [&](Reply& out) { all[function]({first, second, words, n, data, size}, out); });
}
