// oplib is a small operator library, as an author writes one. Its first
// operators keep what their schemas promise. Each of the others breaks one
// promise, in a way that real kernels do; expect.yaml lists which, with
// the findings of opassert.
#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/SparseTensorUtils.h>
#include <torch/library.h>

#include <chrono>
#include <cstring>
#include <limits>
#include <thread>

using at::Tensor;
using at::TensorList;

namespace {

// -- Operators that keep their promises.

Tensor scale(const Tensor& self, double factor) { return at::mul(self, factor); }

Tensor& scale_(Tensor& self, double factor) { return self.mul_(factor); }

Tensor& scale_out(const Tensor& self, double factor, Tensor& out) {
  return at::mul_out(out, self, at::scalar_tensor(factor, self.options()));
}

Tensor first(const Tensor& self) { return self.narrow(0, 0, std::min<int64_t>(1, self.size(0))); }

std::vector<Tensor> rows(const Tensor& self) { return self.unbind(0); }

std::tuple<Tensor, Tensor> sum_and_size(TensorList tensors) {
  TORCH_CHECK(!tensors.empty(), "expected a non-empty list of tensors");
  Tensor sum = tensors[0].clone();
  for (const Tensor& t : tensors.slice(1)) sum = sum + t;
  return {sum, at::full({}, int64_t(tensors.size()), at::kLong)};
}

// -- An input is returned, or shared.

// A fast path for a factor of 1 returns the input.
Tensor scale_fast(const Tensor& self, double factor) { return factor == 1 ? self : at::mul(self, factor); }

// A view that the schema does not declare.
Tensor row(const Tensor& self, int64_t index) { return self.select(0, index); }

// The values are new, the indices are shared with the input.
Tensor sparse_scale(const Tensor& self, double factor) {
  return at::_sparse_coo_tensor_unsafe(self._indices(), self._values() * factor, self.sizes());
}

// -- A declared view is not one.

// reshape copies tensors that are not contiguous.
Tensor flat(const Tensor& self) { return self.reshape({-1}); }

// A last chunk that is shorter is padded, into a copy.
std::vector<Tensor> chunks(const Tensor& self, int64_t size) {
  auto parts = self.split(size, 0);
  if (parts.back().size(0) < size) {
    Tensor padded = at::zeros_like(parts[0]);
    padded.narrow(0, 0, parts.back().size(0)).copy_(parts.back());
    parts.back() = padded;
  }
  return parts;
}

// -- Outputs share memory.

// Both results are in one buffer.
std::tuple<Tensor, Tensor> sin_cos(const Tensor& self) {
  Tensor both = at::stack({self.sin(), self.cos()});
  return {both.select(0, 0), both.select(0, 1)};
}

// Windows of one buffer overlap.
std::vector<Tensor> windows(const Tensor& self) {
  Tensor copy = self.clone();
  std::vector<Tensor> all;
  for (int64_t i = 0; i + 2 <= copy.size(0); i++) all.push_back(copy.narrow(0, i, 2));
  return all;
}

// -- A caller's list is changed.

// The list is worked on in place: it is the caller's.
Tensor total(c10::List<Tensor> tensors) {
  for (size_t i = 0; i < tensors.size(); i++) tensors.set(i, Tensor(tensors[i]).to(at::kDouble, false, true));
  Tensor sum = at::zeros({}, at::kDouble);
  for (size_t i = 0; i < tensors.size(); i++) sum = sum + Tensor(tensors[i]).sum();
  return sum;
}

// Missing tensors are filled in, and the others are clamped.
Tensor pick(const Tensor& self, const c10::List<c10::optional<Tensor>>& indices) {
  auto list = indices;
  for (size_t i = 0; i < list.size(); i++) {
    c10::optional<Tensor> index = list.get(i);
    if (index.has_value() && index->defined()) list.set(i, at::clamp(*index, 0));
  }
  return self.clone();
}

// -- An argument is written, and the schema does not declare it.

// The buffer lacks its (a!).
Tensor accumulate(const Tensor& self, const Tensor& buffer) {
  const_cast<Tensor&>(buffer).add_(self);
  return self.clone();
}

// The bytes stay, the sizes of the input change.
Tensor as_column(const Tensor& self) { return self.unsqueeze_(-1).clone(); }

// The name is in-place, and the schema is not.
Tensor double_(const Tensor& self) { return self.mul_(2).clone(); }

// A flag of the caller's tensor is set.
Tensor train(const Tensor& self) {
  if (at::isFloatingType(self.scalar_type())) self.unsafeGetTensorImpl()->set_requires_grad(true);
  return at::ones_like(self);
}

// The bytes stay, and are read as their negatives.
Tensor flip_sign(const Tensor& self) {
  if (self.is_floating_point()) self._set_neg(!self.is_neg());
  return at::zeros(self.sizes());
}

// The values stay, and the version rises.
Tensor touch(const Tensor& self) {
  self.unsafeGetTensorImpl()->bump_version();
  return self.clone();
}

// -- In-place and out= that go wrong.

// Another tensor over the same bytes is returned.
Tensor negate_(Tensor& self) { return self.neg_().view(self.sizes()); }

// The reference is rebound: the caller's tensor does not change.
Tensor& grow_(Tensor& self) {
  self = at::cat({self, self});
  return self;
}

// The caller's tensor gets another storage.
Tensor& replace_(Tensor& self, const Tensor& source) {
  self.set_(source.clone());
  return self;
}

// An out of the wrong size is ignored, and a new tensor is returned.
Tensor stretch_out(const Tensor& self, Tensor& out) {
  if (!out.sizes().equals(self.sizes())) return self * 2;
  return out.copy_(self).mul_(2);
}

// The out argument is resized and filled, without raising its version.
Tensor& ones_into(const Tensor& self, Tensor& out) {
  at::AutoDispatchBelowADInplaceOrView guard;
  out.resize_(self.sizes());
  return out.fill_(1);
}

// -- The meta kernel differs.

Tensor pad_even(const Tensor& self) {
  if (self.size(0) % 2 == 0) return self.clone();
  return at::cat({self, at::zeros_like(self.narrow(0, 0, 1))});
}

Tensor pad_even_meta(const Tensor& self) { return at::empty_like(self); }

// -- A kernel without a dispatch key that calls others has to keep the promises too.

Tensor scale_once(const Tensor& self, bool again) { return again ? self * 2 : self; }

Tensor halve(const Tensor& self) { return (self / 2).view(self.sizes()); }

// -- Operators that do not return.

Tensor crash(const Tensor& self) {
  volatile int* nowhere = nullptr;
  *nowhere = 1;
  return self.clone();
}

Tensor hang(const Tensor& self) {
  for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
  return self.clone();
}

Tensor complain(const Tensor& self) {
  TORCH_CHECK(false, "complain: there is always something");
  return self;
}

Tensor complain_oddly(const Tensor& self) {
  if (self.defined()) throw 42;
  return self;
}

}  // namespace

TORCH_LIBRARY(oplib, m) {
  m.def("scale(Tensor self, float factor) -> Tensor");
  m.def("scale_(Tensor(a!) self, float factor) -> Tensor(a!)");
  m.def("scale.out(Tensor self, float factor, *, Tensor(a!) out) -> Tensor(a!)");
  m.def("first(Tensor(a) self) -> Tensor(a)");
  m.def("rows(Tensor(a -> *) self) -> Tensor(a)[]");
  m.def("sum_and_size(Tensor[] tensors) -> (Tensor, Tensor)");

  m.def("scale_fast(Tensor self, float factor=1.0) -> Tensor");
  m.def("row(Tensor self, int index) -> Tensor");
  m.def("sparse_scale(Tensor self, float factor) -> Tensor");
  m.def("flat(Tensor(a) self) -> Tensor(a)");
  m.def("chunks(Tensor(a -> *) self, int size) -> Tensor(a)[]");
  m.def("sin_cos(Tensor self) -> (Tensor, Tensor)");
  m.def("windows(Tensor self) -> Tensor[]");
  m.def("total(Tensor[] tensors) -> Tensor");
  m.def("pick(Tensor self, Tensor?[] indices) -> Tensor");
  m.def("accumulate(Tensor self, Tensor buffer) -> Tensor");
  m.def("as_column(Tensor self) -> Tensor");
  m.def("train(Tensor self) -> Tensor");
  m.def("flip_sign(Tensor self) -> Tensor");
  m.def("touch(Tensor self) -> Tensor");
  m.def("double_(Tensor self) -> Tensor");
  m.def("negate_(Tensor(a!) self) -> Tensor(a!)");
  m.def("grow_(Tensor(a!) self) -> Tensor(a!)");
  m.def("replace_(Tensor(a!) self, Tensor source) -> Tensor(a!)");
  m.def("stretch.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)");
  m.def("ones_into.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)");
  m.def("pad_even(Tensor self) -> Tensor");
  m.def("scale_once(Tensor self, bool again=True) -> Tensor", scale_once);
  m.def("halve(Tensor self) -> Tensor", halve);

  m.def("crash(Tensor self) -> Tensor");
  m.def("hang(Tensor self) -> Tensor");
  m.def("complain(Tensor self) -> Tensor");
  m.def("complain_oddly(Tensor self) -> Tensor");
}

TORCH_LIBRARY_IMPL(oplib, CPU, m) {
  m.impl("scale", scale);
  m.impl("scale_", scale_);
  m.impl("scale.out", scale_out);
  m.impl("first", first);
  m.impl("rows", rows);
  m.impl("sum_and_size", sum_and_size);

  m.impl("scale_fast", scale_fast);
  m.impl("row", row);
  m.impl("flat", flat);
  m.impl("chunks", chunks);
  m.impl("sin_cos", sin_cos);
  m.impl("windows", windows);
  m.impl("total", total);
  m.impl("pick", pick);
  m.impl("accumulate", accumulate);
  m.impl("as_column", as_column);
  m.impl("train", train);
  m.impl("flip_sign", flip_sign);
  m.impl("touch", touch);
  m.impl("double_", double_);
  m.impl("negate_", negate_);
  m.impl("grow_", grow_);
  m.impl("replace_", replace_);
  m.impl("stretch.out", stretch_out);
  m.impl("ones_into.out", ones_into);
  m.impl("pad_even", pad_even);

  m.impl("crash", crash);
  m.impl("hang", hang);
  m.impl("complain", complain);
  m.impl("complain_oddly", complain_oddly);
}

TORCH_LIBRARY_IMPL(oplib, SparseCPU, m) { m.impl("sparse_scale", sparse_scale); }

// Faults that are an act on a tensor, at each of its placements; and faults in other
// properties of a tensor than its bytes.
namespace {

template <class F>
torch::CppFunction cpu(F kernel) {
  return torch::dispatch(c10::DispatchKey::CPU, kernel);
}

using Optional = c10::optional<Tensor>;
bool given(const Optional& t) { return t.has_value() && t->defined(); }
Tensor& writable(const Tensor& t) { return const_cast<Tensor&>(t); }

void zero_bytes(const Tensor& t) {
  if (t.is_contiguous()) std::memset(t.data_ptr(), 0, t.nbytes());
}

// zero_storage zeroes more than the tensor if that is a view.
void zero_storage(const Tensor& t) {
  std::memset(t.unsafeGetTensorImpl()->unsafe_storage().data_ptr().get(), 0, t.storage().nbytes());
  t.unsafeGetTensorImpl()->bump_version();
}

// keep holds a tensor until it is given another one.
void keep(const Tensor& t) {
  static thread_local Tensor kept;
  kept = t;
}

// over is another storage over the bytes of a tensor.
Tensor over(const Tensor& t) { return at::from_blob(t.data_ptr(), t.sizes(), t.strides(), t.options()); }

// room is the number of bytes from the beginning of a tensor to the end of its storage.
size_t room(const Tensor& t) { return t.storage().nbytes() - t.storage_offset() * t.element_size(); }

// buffer is a tensor of the sizes of another one, in memory that all calls share.
Tensor buffer(const Tensor& like) {
  static std::vector<char> bytes(1 << 22);
  TORCH_CHECK(like.nbytes() <= bytes.size(), "expected a smaller tensor");
  return at::from_blob(bytes.data(), like.sizes(), like.options());
}

Tensor counting_with(const Tensor& other, Tensor t) {
  const auto& counter = other.unsafeGetTensorImpl()->version_counter();
  if (counter.enabled()) t.unsafeGetTensorImpl()->set_version_counter(counter);
  return t;
}

Tensor longer(Tensor t) {
  if (t.dim() == 1) t.unsafeGetTensorImpl()->set_sizes_contiguous({2 * t.size(0)});
  return t;
}

// The acts on an argument that is only read, or on one that is written.
using Act = void (*)(Tensor&);

// read places an act on an argument without (a!).
void read(torch::Library& m, const std::string& name, Act act) {
  m.def((name + "(Tensor self) -> Tensor").c_str(), cpu([act](const Tensor& self) { return act(writable(self)), self.clone(); }));
  m.def((name + "_list(Tensor[] tensors) -> ()").c_str(), cpu([act](TensorList tensors) { for (const Tensor& t : tensors) act(writable(t)); }));
  m.def((name + "_given(Tensor self, Tensor? given=None) -> Tensor").c_str(), cpu([act](const Tensor& self, const Optional& t) {
    Tensor result = self.clone();
    if (given(t)) act(writable(*t));
    return result;
  }));
}

// written places an act on an argument with (a!).
void written(torch::Library& m, const std::string& name, Act act) {
  m.def((name + "_(Tensor(a!) self) -> Tensor(a!)").c_str(), cpu([act](Tensor& self) -> Tensor& { return act(self), self; }));
  m.def((name + "_list_(Tensor(a!)[] self) -> ()").c_str(), cpu([act](TensorList self) { for (const Tensor& t : self) act(writable(t)); }));
  m.def((name + "_given(Tensor self, Tensor(a!)? given=None) -> Tensor").c_str(), cpu([act](const Tensor& self, const Optional& t) {
    Tensor result = self.clone();
    if (given(t)) act(writable(*t));
    return result;
  }));
}

// returned places an act on a return. The tensor is a copy of the argument.
void returned(torch::Library& m, const std::string& name, Tensor (*act)(const Tensor&)) {
  m.def((name + "(Tensor self) -> Tensor").c_str(), cpu([act](const Tensor& self) { return act(self.contiguous().clone()); }));
  m.def((name + "_list(Tensor self) -> Tensor[]").c_str(), cpu([act](const Tensor& self) { return std::vector<Tensor>{self.clone(), act(self.contiguous().clone())}; }));
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(oplib, m) {
  // Healthy twins of the acts.
  read(m, "look", [](Tensor& t) { keep(t.clone()); });
  written(m, "zero", [](Tensor& t) { t.zero_(); });
  returned(m, "copy", [](const Tensor& t) -> Tensor { return t; });

#include "acts.h"

  // The others.
  m.def("own_memory(Tensor self) -> Tensor", cpu([](const Tensor& self) {
    Tensor copy = self.contiguous().clone();
    return at::from_blob(copy.data_ptr(), copy.sizes(), [copy](void*) {}, copy.options());
  }));

  // An input is returned, or shared.
  m.def("sorted(Tensor[] tensors) -> Tensor[]", cpu([](TensorList tensors) { return tensors.vec(); }));
  m.def("raw_view(Tensor self) -> Tensor", cpu([](const Tensor& self) {
    return self.use_count() > 1 ? over(self) : self.clone();  // a tensor made dense for the call has one use
  }));
  m.def("two_views(Tensor self) -> (Tensor, Tensor)", cpu([](const Tensor& self) {
    Tensor copy = self.contiguous().clone();
    auto hold = [copy](void*) {};
    return std::make_tuple(at::from_blob(copy.data_ptr(), copy.sizes(), hold, copy.options()),
                           at::from_blob(copy.data_ptr(), copy.sizes(), hold, copy.options()));
  }));
  m.def("negate_all_(Tensor(a!)[] self) -> Tensor(a!)[]", cpu([](TensorList self) {
    std::vector<Tensor> all;
    for (const Tensor& t : self) all.push_back(writable(t).zero_().view(t.sizes()));
    return all;
  }));

  // A reference is kept.
  m.def("count(Tensor(a!) state) -> Tensor", cpu([](const Tensor& self) { return writable(self).zero_(), at::ones({2, 3}).t(); }));
  m.def("memo_count(Tensor(a!) state) -> Tensor", cpu([](const Tensor& self) {
    Tensor counts = at::ones({2, 3});
    return writable(self).zero_(), keep(counts), counts.t();
  }));

  // Properties of an argument besides its bytes.
  m.def("set_grad(Tensor self) -> ()", cpu([](const Tensor& self) { if (at::isFloatingType(self.scalar_type())) writable(self).mutable_grad() = at::ones_like(self); }));
  m.def("as_number(Tensor self) -> ()", cpu([](const Tensor& self) { if (self.dim() == 0) self.unsafeGetTensorImpl()->set_wrapped_number(true); }));
  m.def("relocate(Tensor self) -> ()", cpu([](const Tensor& self) {
    c10::StorageImpl* storage = self.storage().unsafeGetStorageImpl();
    if (storage->nbytes() == 0) return;
    auto bytes = c10::GetAllocator(c10::kCPU)->allocate(storage->nbytes());
    std::memcpy(bytes.get(), self.storage().data_ptr().get(), storage->nbytes());
    storage->set_data_ptr(std::move(bytes));
  }));
  m.def("mark_coalesced(Tensor self) -> ()", torch::dispatch(c10::DispatchKey::SparseCPU, [](const Tensor& self) { writable(self)._coalesced_(!self.is_coalesced()); }));
  m.def("adopt_(Tensor(a!) self, Tensor other) -> Tensor(a!)", torch::dispatch(c10::DispatchKey::SparseCPU, [](Tensor& self, const Tensor& other) -> Tensor& {
    TORCH_CHECK(self.sizes().equals(other.sizes()), "expected tensors of the same size");
    at::sparse::get_sparse_impl(self)->set_indices_and_values_unsafe(other._indices().clone(), other._values());
    return self;
  }));
  m.def("pad_list(Tensor[] tensors, Tensor[] others) -> ()", cpu([](c10::List<Tensor> tensors, TensorList) {
    if (tensors.size() % 2) tensors.push_back(at::zeros({1}));
  }));

  m.def("write_rows.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", cpu([](const Tensor& self, Tensor& out) -> Tensor& {
    out.resize_(self.sizes()).zero_();
    std::memset(out.data_ptr(), 1, room(out));
    return out;
  }));

  // One version counter for tensors that are independent.
  m.def("clone_twice(Tensor self) -> (Tensor, Tensor)", cpu([](const Tensor& self) {
    Tensor clone = self.clone();
    return std::make_tuple(clone, counting_with(clone, self.clone()));
  }));
  m.def("clone_of(Tensor self) -> Tensor", cpu([](const Tensor& self) { return counting_with(self, self.clone()); }));

  // An empty list is filled for the caller.
  m.def("default_list(Tensor self, Tensor[] tensors) -> Tensor", cpu([](const Tensor& self, c10::List<Tensor> tensors) {
    if (tensors.empty()) tensors.push_back(at::zeros({1}));
    return self.clone();
  }));

  // The bias of a convolution is scaled if there are groups.
  m.def("grouped_conv2d(Tensor input, Tensor weight, Tensor? bias=None, int groups=1) -> Tensor", cpu([](const Tensor& input, const Tensor& weight, const Optional& bias, int64_t groups) {
    Tensor result = at::convolution(input, weight, bias, {1, 1}, {0, 0}, {1, 1}, false, {0, 0}, groups);
    if (groups > 1 && given(bias)) bias->mul_(0.5);
    return result;
  }));

  // The meta kernel reads a value, so it always throws; the other one throws for some arguments.
  m.def("sized(Tensor self) -> Tensor", cpu([](const Tensor& self) { return self.clone(); }));
  m.def("sized_up(Tensor self) -> Tensor", cpu([](const Tensor& self) { return self.clone(); }));

  // The meta kernel makes fewer tensors.
  m.def("split_even(Tensor self) -> Tensor[]", cpu([](const Tensor& self) { return std::vector<Tensor>{self.clone(), self.clone()}; }));
}

TORCH_LIBRARY_IMPL(oplib, Meta, m) {
  m.impl("sized", [](const Tensor& self) { return at::empty({self.sum().item<int64_t>()}, self.options()); });
  m.impl("sized_up", [](const Tensor& self) {
    TORCH_CHECK(self.dim() != 1, "one dimension is not planned for");
    return at::empty_like(self);
  });
  m.impl("split_even", [](const Tensor& self) { return std::vector<Tensor>{at::empty_like(self)}; });
}

TORCH_LIBRARY_IMPL(oplib, Meta, m) {
  m.impl("scale", scale);
  m.impl("scale_", scale_);
  m.impl("first", first);
  m.impl("rows", rows);
  m.impl("pad_even", pad_even_meta);
}
