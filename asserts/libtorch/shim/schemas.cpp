// schemas.cpp lists the operators of the dispatcher.
#include "entry.h"
#include "observe.h"

#include <ATen/core/enum_tag.h>

#include <algorithm>
#include <iomanip>
#include <map>
#include <mutex>
#include <sstream>

#include "operators.h"
#include "wire.h"

namespace opassert {
namespace {

using c10::Argument;
using c10::DispatchKey;

// The listing is one string. Records end with RS, their fields with US:
//
//   op, address, name, overload, dispatch keys with a kernel, flags, tags, where it is registered, kernel_of
//   arg, name, type, default, flags, kind      (of the op above it)
//   ret, name, type, kind
//
// Lists are separated by spaces. Types are printed as native_functions.yaml spells them. Kinds are those of kind_of.
// at::Tag has no names at run time, and other members in each version: the compiler's own spelling of a template
// argument names them.
template <at::Tag T>
std::string tag_spelling() {
  return __PRETTY_FUNCTION__;
}

template <int... I>
const std::vector<std::string>& tag_spellings(std::integer_sequence<int, I...>) {
  static const std::vector<std::string> all = {tag_spelling<static_cast<at::Tag>(I)>()...};
  return all;
}

std::string tag_name(at::Tag tag) {
  const auto& all = tag_spellings(std::make_integer_sequence<int, 64>());
  size_t i = static_cast<size_t>(tag);
  const std::string s = i < all.size() ? all[i] : "";
  size_t from = s.find("Tag::");  // of at, in newer versions of torch::headeronly
  if (from == std::string::npos) return "";
  from += 5;
  size_t to = s.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789", from);
  return s.substr(from, to - from);
}

// listed_keys returns the dispatch keys whose kernels are listed: those of each backend, with
// autograd's, and those that serve several.
const std::vector<std::pair<DispatchKey, std::string>>& listed_keys() {
  static const auto all = [] {
    std::vector<std::pair<DispatchKey, std::string>> keys;
    auto add = [&](DispatchKey key) { keys.emplace_back(key, c10::toString(key)); };
    for (DispatchKey key : {DispatchKey::CompositeImplicitAutograd, DispatchKey::CompositeExplicitAutograd,
                            DispatchKey::CompositeExplicitAutogradNonFunctional, DispatchKey::MkldnnCPU, DispatchKey::ZeroTensor,
                            DispatchKey::SparseCsrCPU, DispatchKey::SparseCsrCUDA}) {
      add(key);
    }
    const int last = static_cast<int>(DispatchKey::EndOfRuntimeBackendKeys);
    for (int k = static_cast<int>(DispatchKey::EndOfFunctionalityKeys) + 1; k <= last; k++) {
      const auto key = static_cast<DispatchKey>(k);
      const std::string name = c10::toString(key);
      const bool listed = std::any_of(keys.begin(), keys.end(), [&](const auto& other) { return other.second == name; });
      if (!listed && name.find("UNKNOWN") == std::string::npos && name != "Undefined") add(key);
    }
    return keys;
  }();
  return all;
}

// Dispatch keys of the sorts of CPU tensors.
constexpr DispatchKey kRuns[] = {
    DispatchKey::CPU,
    DispatchKey::MkldnnCPU,
    DispatchKey::NestedTensorCPU,
    DispatchKey::QuantizedCPU,
    DispatchKey::SparseCPU,
    DispatchKey::SparseCsrCPU,
};

// kind_of returns how a type holds tensors: "t" a tensor, "l" a list of them, "L" a list of lists,
// "c" a tuple or a dict, or a list of these, each with "?" if optional; "" for none, "x" if the
// tensors cannot be observed, such as those of a tuple or a dict in a result.
std::string kind_of(const c10::Type& type) {
  switch (type.kind()) {
    case c10::TypeKind::TensorType:
      return "t";
    case c10::TypeKind::OptionalType: {
      std::string k = kind_of(*type.containedType(0));
      return k.empty() || k == "x" ? k : k + "?";
    }
    case c10::TypeKind::ListType: {
      std::string k = kind_of(*type.containedType(0));
      if (k == "t" || k == "t?") return "l";
      if (k == "l" || k == "l?" || k == "L" || k == "L?") return "L";
      if (k == "c" || k == "c?") return "c";
      return k.empty() ? "" : "x";
    }
    case c10::TypeKind::DictType:
    case c10::TypeKind::TupleType: {
      std::string k;
      auto types = type.containedTypes();
      for (const auto& elem : types) {
        std::string inner = kind_of(*elem);
        if (!inner.empty() && k != "c") k = inner == "x" ? "x" : "c";
      }
      return k;
    }
    case c10::TypeKind::AnyType:
    case c10::TypeKind::FutureType:
      return "x";
    default:
      return "";
  }
}

std::string type_text(const Argument& arg) {
  std::ostringstream out;
  c10::TypePtr type = arg.real_type();
  const c10::AliasInfo* alias = arg.alias_info();
  bool optional = type->kind() == c10::TypeKind::OptionalType;
  if (optional) type = type->containedType(0);
  if (type->kind() == c10::TypeKind::ListType) {
    c10::TypePtr elem = type->containedType(0);
    out << elem->str();
    if (alias != nullptr && !alias->containedTypes().empty()) out << alias->containedTypes()[0];
    out << "[";
    if (arg.N()) out << *arg.N();
    out << "]";
  } else {
    out << type->str();
  }
  if (alias != nullptr && !alias->beforeSets().empty()) out << *alias;
  if (optional) out << "?";
  return out.str();
}

// The names of numbers that a default value has for an enumerator.
std::string scalar_type_text(int64_t value) {
  switch (static_cast<c10::ScalarType>(value)) {
    case c10::ScalarType::Long: return "long";
    case c10::ScalarType::Float: return "float";
    case c10::ScalarType::Int: return "int";
    case c10::ScalarType::Bool: return "bool";
    case c10::ScalarType::QInt8: return "qint8";
    case c10::ScalarType::QUInt8: return "quint8";
    default: return std::to_string(value);
  }
}

std::string memory_format_text(int64_t value) {
  switch (static_cast<c10::MemoryFormat>(value)) {
    case c10::MemoryFormat::Contiguous: return "contiguous_format";
    case c10::MemoryFormat::Preserve: return "preserve_format";
    case c10::MemoryFormat::ChannelsLast: return "channels_last";
    default: return std::to_string(value);
  }
}

std::string value_text(const c10::IValue& v, const c10::Type& type);

std::string list_text(const c10::IValue& v, const Argument* arg, const c10::Type& elem) {
  auto list = v.toListRef();
  bool same = !list.empty();
  std::string all;
  for (const auto& item : list) {
    std::string text = value_text(item, elem);
    same = same && text == value_text(list[0], elem);
    all += all.empty() ? text : "," + text;
  }
  // A sized list with one value throughout is spelled as that value.
  if (same && arg->N() && size_t(*arg->N()) == list.size()) return value_text(list[0], elem);
  return "[" + all + "]";
}

std::string value_text(const c10::IValue& v, const c10::Type& type) {
  if (v.isNone()) return "None";
  if (type.kind() == c10::TypeKind::OptionalType) return value_text(v, *type.containedType(0));
  if (v.isBool()) return v.toBool() ? "True" : "False";
  if (v.isDouble()) return double_text(v.toDouble());
  if (v.isInt()) {
    if (type.str() == "ScalarType") return scalar_type_text(v.toInt());
    if (type.str() == "MemoryFormat") return memory_format_text(v.toInt());
    return std::to_string(v.toInt());
  }
  std::ostringstream out;
  v.isString() ? out << std::quoted(v.toStringRef()) : out << v;
  return out.str();
}

std::string default_text(const Argument& arg) {
  const auto& value = arg.default_value();
  if (!value) return "";
  const c10::Type* type = arg.real_type().get();
  if (value->isList()) {
    if (type->kind() == c10::TypeKind::OptionalType) type = type->containedType(0).get();
    return list_text(*value, &arg, *type->containedType(0));
  }
  return value_text(*value, *type);
}

// kernel_of returns the function that an operator's kernel for CPU tensors was made of, or one with it in its name.
const void* kernel_of(const c10::OperatorHandle& handle) {
  if (!handle.hasComputedKernelForDispatchKey(DispatchKey::CPU)) return nullptr;
  const auto& entry = reinterpret_cast<const c10::impl::OperatorEntry&>(handle.operator_name());  // its first member
  const auto* boxed = reinterpret_cast<const void* const*>(&entry.lookup(c10::DispatchKeySet(DispatchKey::CPU)));
  const auto* functor = static_cast<const c10::OperatorKernel*>(boxed[0]);
  const bool pointer = functor != nullptr && strstr(typeid(*functor).name(), "RuntimeFunctor_IPF") != nullptr;
  return pointer ? *reinterpret_cast<const void* const*>(functor + 1) : boxed[1];
}

class Listing {
  std::string text_;

  void field(const std::string& s) {
    text_ += s;
    text_ += US;
  }

 public:
  void op(const Operator& op) {
    const auto& name = op.handle.operator_name();
    field("op");
    field(std::to_string(reinterpret_cast<int64_t>(&op)));
    field(name.name);
    field(name.overload_name);
    std::string keys, tags;
    for (const auto& key : listed_keys()) {
      if (op.handle.hasKernelForDispatchKey(key.first)) keys += key.second + " ";
    }
    field(keys);
    std::string flags = op.composite ? "composite " : "";
    if (op.top) flags += "top ";
    for (DispatchKey key : kRuns) {
      if (op.handle.hasComputedKernelForDispatchKey(key)) flags += std::string("on:") + c10::toString(key) + " ";
    }
    if (has_autograd(op.handle)) flags += "autograd ";
    if (op.handle.hasKernelForDispatchKey(DispatchKey::ADInplaceOrView)) flags += "raises ";
    if (op.handle.hasComputedKernelForDispatchKey(DispatchKey::Meta)) flags += "meta ";
    if (op.handle.schema().is_vararg()) flags += "vararg ";
    if (op.handle.schema().is_varret()) flags += "varret ";
    field(flags);
    for (at::Tag tag : op.handle.getTags()) tags += tag_name(tag) + " ";
    field(tags);
    field(op.handle.debug());
    field(std::to_string(reinterpret_cast<uintptr_t>(kernel_of(op.handle))));
    text_ += RS;
    for (const Argument& arg : op.handle.schema().arguments()) {
      field("arg");
      field(arg.name());
      field(type_text(arg));
      field(default_text(arg));
      std::string flags;
      if (arg.kwarg_only()) flags += "kwarg ";
      if (arg.alias_info() != nullptr && arg.alias_info()->isWrite()) flags += "write ";
      field(flags);
      field(kind_of(*arg.type()));
      text_ += RS;
    }
    for (const Argument& ret : op.handle.schema().returns()) {
      field("ret");
      field(ret.name());
      field(type_text(ret));
      field(kind_of(*ret.type()));
      text_ += RS;
    }
  }

  const std::string& text() const { return text_; }
};

// find returns the operator of a name, at its earlier address, or null.
const Operator* find(const c10::OperatorName& name) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, std::string>, std::unique_ptr<Operator>> known;
  std::lock_guard<std::mutex> lock(mutex);
  auto handle = c10::Dispatcher::singleton().findSchema(name);
  if (!handle) return nullptr;
  auto& op = known[{name.name, name.overload_name}];
  if (op == nullptr) op = describe(*handle);
  return op.get();
}

// named splits a name such as "aten::add.Tensor".
c10::OperatorName named(const std::string& text) {
  const size_t dot = text.find('.', text.rfind(':') + 1);
  return {text.substr(0, dot), dot == std::string::npos ? "" : text.substr(dot + 1)};
}

// runs_below reports whether an operator has a kernel below autograd for CPU tensors, or for those of another device.
bool runs_below(const c10::OperatorHandle& handle) {
  return std::any_of(std::begin(kRuns), std::end(kRuns), [&](DispatchKey key) { return handle.hasComputedKernelForDispatchKey(key); }) ||
         std::any_of(listed_keys().begin(), listed_keys().end(), [&](const auto& key) {
    const std::string& name = key.second;
    const bool below = name.find("Autograd") == std::string::npos && name.find("Meta") == std::string::npos;
    return below && handle.hasKernelForDispatchKey(key.first);
  });
}

bool may_be_object(const c10::Type& type) {
  if (type.kind() == c10::TypeKind::ClassType || type.kind() == c10::TypeKind::AnyType) return true;
  const auto inner = type.containedTypes();
  return std::any_of(inner.begin(), inner.end(), [](const auto& t) { return may_be_object(*t); });
}

}  // namespace

std::string double_text(double d) {
  char s[40];
  for (int digits = 1; digits <= 17; digits++) {
    snprintf(s, sizeof s, "%.*g", digits, d);
    if (strtod(s, nullptr) == d) break;
  }
  std::string text = s;
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

bool has_autograd(const c10::OperatorHandle& handle) {
  const c10::DispatchKeySet keys = c10::getRuntimeDispatchKeySet(DispatchKey::Autograd);
  auto has = [&](DispatchKey key) { return handle.hasKernelForDispatchKey(key); };
  return has(DispatchKey::CompositeImplicitAutograd) || has(DispatchKey::Autograd) || std::any_of(keys.begin(), keys.end(), has);
}

std::unique_ptr<Operator> describe(const c10::OperatorHandle& handle) {
  auto op = std::make_unique<Operator>(Operator{handle, false, false, false, false, false});
  op->composite = handle.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd) && !handle.hasKernelForDispatchKey(DispatchKey::CPU);
  op->top = op->composite || (has_autograd(handle) && !runs_below(handle));
  for (const Argument& ret : handle.schema().returns()) op->view |= ret.alias_info() != nullptr;
  for (const Argument& arg : handle.schema().arguments()) {
    op->write |= arg.alias_info() != nullptr && arg.alias_info()->isWrite();
    op->objects |= may_be_object(*arg.type());
  }
  return op;
}

std::string listed(const Operator& op) {
  Listing listing;
  listing.op(op);
  return listing.text();
}

}  // namespace opassert

using namespace opassert;

static struct {
  std::mutex mutex;
  std::string text;  // the last listing; "" when it may have changed
} oa_listed;

// schemas replies with one string that lists every operator with a schema, or that of a name,
// "aten::add.Tensor", in the format of schemas.cpp.
void opassert::entry::schemas(const Crossing& in, Reply& out) {
  if (in.size > 0) {
    const Operator* op = find(named(in.text()));
    return out.text(op == nullptr ? "" : listed(*op));
  }
  std::lock_guard<std::mutex> lock(oa_listed.mutex);
  if (oa_listed.text.empty()) {
    for (const auto& each : c10::Dispatcher::singleton().getAllOpNames()) {
      if (const Operator* op = find(each)) oa_listed.text += listed(*op);
    }
  }
  out.text(oa_listed.text);
}

void opassert::list_anew() {
  std::lock_guard<std::mutex> lock(oa_listed.mutex);
  oa_listed.text.clear();
}
