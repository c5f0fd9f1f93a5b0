// places.cpp is a library of operators, each of which breaks one check in one
// kind of argument or return: place::OA002_list exchanges the storage of a tensor in a list.
// One kernel does what the name says, for each kind of argument and return.
#include <ATen/ATen.h>
#include <ATen/FunctionalTensorWrapper.h>
#include <ATen/NestedTensorImpl.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

namespace {

using at::Tensor;
using c10::IValue;

// first returns the first tensor of an argument, whatever holds it.
Tensor first(const IValue& v) {
  if (v.isTensor()) return v.toTensor();
  if (v.isList()) return v.toListRef().empty() ? Tensor() : first(v.toListRef()[0]);
  if (v.isTuple()) return first(v.toTupleRef().elements()[0]);
  if (v.isGenericDict()) return first(v.toGenericDict().begin()->value());
  return Tensor();
}

// innermost returns the tensor that has the bytes.
Tensor innermost(const Tensor& t) {
  if (!t.defined()) return t;
  if (at::functionalization::impl::isFunctionalTensor(t)) return at::functionalization::impl::from_functional_tensor(t);
  if (t.layout() == at::kSparse) return t._values();
  if (t.layout() == at::kSparseCsr) return t.values();
  if (auto* nested = dynamic_cast<at::native::NestedTensorImpl*>(t.unsafeGetTensorImpl())) return nested->get_buffer();
  return t;
}

// on_device returns a tensor on a device for which nothing is installed.
Tensor on_device() {
  constexpr size_t n = 32;
  c10::Device device(c10::DeviceType::PrivateUse1, 0);
  void* bytes = calloc(n, 1);
  c10::Storage storage(c10::Storage::use_byte_size_t(), n, c10::DataPtr(bytes, bytes, &free, device), nullptr, false);
  Tensor t = at::detail::make_tensor<c10::TensorImpl>(std::move(storage), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), caffe2::TypeMeta::Make<float>());
  t.unsafeGetTensorImpl()->set_sizes_contiguous({4});
  return t;
}

Tensor fresh(const Tensor& t) {
  if (!t.defined()) return at::ones({4});
  return t.device().type() == c10::DeviceType::PrivateUse1 ? on_device() : t.clone();
}

Tensor same_bytes(const Tensor& t) { return t.defined() && t.device().type() != c10::DeviceType::PrivateUse1 ? t.alias() : t; }

// another replaces the first tensor by another one.
void another(const IValue& v) {
  if (v.isList()) {
    auto list = v.toList();
    if (!list.empty()) list.set(0, at::ones({4}));
  } else if (v.isGenericDict()) {
    auto dict = v.toGenericDict();
    dict.insert_or_assign(dict.begin()->key(), at::ones({4}));
  }
}

void grow(const IValue& v) {
  if (v.isList()) {
    v.toList().push_back(at::ones({4}));
  } else if (v.isGenericDict()) {
    v.toGenericDict().insert_or_assign("another", at::ones({4}));
  }
}

void shrink(const IValue& v) {
  if (v.isList()) {
    auto list = v.toList();
    list.pop_back();
  } else if (v.isGenericDict()) {
    auto dict = v.toGenericDict();
    dict.erase(dict.begin()->key());
  }
}

void write(const Tensor& t, int64_t at) {
  const Tensor in = innermost(t);
  if (!in.defined() || !in.unsafeGetTensorImpl()->unsafe_storage() || in.is_meta()) return;
  auto* storage = in.unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl();
  auto* bytes = static_cast<char*>(const_cast<void*>(static_cast<const void*>(storage->data())));
  if (bytes != nullptr && at < int64_t(storage->nbytes())) bytes[at] ^= 1;
}

void exchange(const Tensor& t) {
  if (t.defined() && t.unsafeGetTensorImpl()->unsafe_storage()) t.unsafeGetTensorImpl()->set_storage_keep_dtype(fresh(t).storage());
}

auto& kept = *new std::vector<Tensor>;  // not freed: a tensor of numpy needs Python for that

std::vector<Tensor> keep(const Tensor& t) {
  kept.push_back(t);
  return {t};
}

Tensor keep_storage(const Tensor& t) {
  if (t.defined() && t.unsafeGetTensorImpl()->unsafe_storage()) {
    kept.push_back(at::empty({0}));
    kept.back().unsafeGetTensorImpl()->set_storage_keep_dtype(t.unsafeGetTensorImpl()->unsafe_storage());
  }
  return t;
}

float memory[4];

// again returns memory that it has returned before, under another storage.
Tensor again() {
  static auto* bytes = new float[4]();
  return at::from_blob(bytes, {4}, [](void*) {});
}

Tensor beyond(Tensor t) {
  t.unsafeGetTensorImpl()->set_sizes_contiguous({1000});
  return t;
}

// results breaks a check in what is returned, which other code does not change.
std::vector<Tensor> results(const std::string& what, const Tensor& t) {
  if (what == "OA003") return keep(fresh(t));
  if (what == "OA003_view") return keep(same_bytes(t));
  if (what == "OA004") return {fresh(t)};
  if (what == "OA005") return {keep_storage(fresh(t))};
  if (what == "OA005_static") return {at::from_blob(memory, {4})};
  if (what == "OA005_again") return {again()};
  if (what == "OA006") return {fresh(t)};
  if (what == "OA007") return {same_bytes(t)};
  if (what == "OA007_memory") {
    TORCH_CHECK(!innermost(t).is_meta(), "a meta tensor has no bytes");
    return {at::from_blob(innermost(t).data_ptr(), {4}, [t](void*) {})};
  }
  if (what == "OA008") {
    Tensor r = fresh(t);
    return {r, same_bytes(r)};
  }
  if (what == "OA017") return {beyond(fresh(t))};
  if (what == "OA017_view") return {beyond(same_bytes(t))};
  return {t};
}

// kernel does what the name says before _of_.
void kernel(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const auto& schema = op.schema();
  std::string what = schema.name().substr(schema.name().find("::") + 2);
  what = what.substr(0, what.find("_of_"));
  const IValue arg = torch::jit::peek(*stack, 0, schema.arguments().size());
  const Tensor t = first(arg);
  if (what == "OA001") another(arg);
  if (what == "OA001_grow") grow(arg);
  if (what == "OA001_shrink") shrink(arg);
  if (what == "OA002") exchange(t);
  if (what == "OA009" || what == "OA010") write(t, t.defined() && t.unsafeGetTensorImpl()->unsafe_storage() ? 4 : 0);
  if (what == "OA013" && t.defined()) t.unsafeGetTensorImpl()->set_sizes_contiguous({1});
  if (what == "OA015") {
    write(t, 0);
    if (t.defined() && !t.is_inference()) t.unsafeGetTensorImpl()->bump_version();
  }
  if (what == "OA016") kept.push_back(t);
  if (what == "OA016_storage") keep_storage(t);
  auto returned = schema.returns().empty() ? std::vector<Tensor>() : results(what, t);
  torch::jit::drop(*stack, schema.arguments().size());
  for (size_t i = 0; i < schema.returns().size(); i++) {
    if (schema.returns()[i].type()->kind() == c10::TypeKind::ListType) {
      stack->push_back(c10::List<Tensor>(c10::ArrayRef<Tensor>(returned)));
    } else {
      stack->push_back(returned[std::min(i, returned.size() - 1)]);
    }
  }
}

struct Form {
  const char *name, *plain, *written;  // null where no schema can say so
};

const Form forms[] = {
    {"plain", "Tensor x", "Tensor(a!) x"},
    {"optional", "Tensor? x", "Tensor(a!)? x"},
    {"list", "Tensor[] x", "Tensor(a!)[] x"},
    {"optionals", "Tensor?[] x", nullptr},
    {"lists", "Tensor[][] x", nullptr},
    {"dict", "Dict(str, Tensor) x", nullptr},
    {"tuple", "(Tensor, Tensor) x", nullptr},
    {"out", nullptr, "*, Tensor(a!) x"},
};

}  // namespace

TORCH_LIBRARY(place, m) {
  auto define = [&](const std::string& name, const std::string& arg, const std::string& returns) {
    m.def((name + "(" + arg + ") -> " + returns).c_str());
  };
  for (const Form& f : forms) {
    const std::string form = std::string("_of_") + f.name;
    if (f.plain != nullptr) {
      for (const char* what : {"OA001", "OA001_grow", "OA001_shrink", "OA002", "OA009", "OA016", "OA016_storage"}) define(what + form, f.plain, "()");
      define("OA007" + form, f.plain, "Tensor");
      define("OA007_memory" + form, f.plain, "Tensor");
    }
    if (f.written != nullptr) {
      for (const char* what : {"OA010", "OA015", "OA016"}) define(what + form + "_written", f.written, "()");
      if (std::string(f.name) != "out") define("OA013" + form + "_written_", f.written, "()");  // what is written into out may be reshaped
      define("OA006" + form + "_written", f.written, std::string(f.name) == "list" ? "Tensor(a!)[]" : "Tensor(a!)");
    }
  }
  for (const char* what : {"OA003", "OA005", "OA005_static", "OA005_again", "OA017"}) {
    define(std::string(what) + "_of_return", "Tensor x", "Tensor");
    define(std::string(what) + "_of_returned_list", "Tensor x", "Tensor[]");
  }
  define("OA008_of_return", "Tensor x", "(Tensor, Tensor)");
  define("OA008_of_returned_list", "Tensor x", "Tensor[]");
  for (const char* what : {"OA003_view", "OA004", "OA017_view"}) {
    define(std::string(what) + "_of_view", "Tensor(a) x", "Tensor(a)");
    define(std::string(what) + "_of_views", "Tensor(a) x", "Tensor(a)[]");
  }
  define("on_device_of_", "Tensor? x", "Tensor");
}

static const bool registered = [] {
  for (const auto& name : c10::Dispatcher::singleton().getAllOpNames()) {
    if (name.name.rfind("place::", 0) != 0) continue;
    static torch::Library lib(torch::Library::IMPL, "place", c10::nullopt, __FILE__, __LINE__);
    if (name.name == "place::on_device_of_") {
      lib.impl("on_device_of_", torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd, [](const c10::optional<Tensor>&) { return on_device(); }));
    } else {
      lib.impl(name.name.substr(7).c_str(), torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd, torch::CppFunction::makeFromBoxedFunction<&kernel>()));
      lib.impl(name.name.substr(7).c_str(), torch::dispatch(c10::DispatchKey::NestedTensorCPU, torch::CppFunction::makeFromBoxedFunction<&kernel>()));
    }
  }
  return true;
}();
