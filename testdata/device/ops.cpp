// ops.cpp has kernels for a device whose memory the CPU may not touch: those of the
// namespace broken break their schemas, one way each, those of whole do not.
#include <ATen/ATen.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/library.h>

namespace {

using at::Tensor;
using at::TensorList;

Tensor bytes_of(const Tensor& t) {
  return at::empty({0}, t.options().dtype(at::kByte)).set_(t.storage(), 0, {int64_t(t.storage().nbytes())}, {1});
}

// poke changes a byte of a tensor's storage, and no version.
void poke(const Tensor& t, int64_t at) {
  at::AutoDispatchBelowADInplaceOrView silent;
  const int64_t n = t.storage().nbytes();
  if (n == 0 || t.numel() == 0) return;
  Tensor byte = bytes_of(t).narrow(0, at < 0 ? n + at : at, 1);
  byte.copy_(byte.cpu().bitwise_not());
}

// fresh computes on the CPU and returns what has no part in its argument.
Tensor fresh(const Tensor& t) { return t.detach().cpu().clone().to(t.device()); }

Tensor first(TensorList all) { return all.empty() ? Tensor() : fresh(all[0]); }

const Tensor& keep(const Tensor& t) {
  static std::mutex mutex;
  static auto* kept = new std::vector<Tensor>;  // the device is gone before what is static
  std::lock_guard<std::mutex> lock(mutex);
  if (kept->size() > 8) kept->erase(kept->begin());
  kept->push_back(t);
  return t;
}

Tensor strided_view(const Tensor& x) {
  at::AutoDispatchBelowADInplaceOrView silent;
  return x.as_strided(x.sizes(), x.strides(), x.storage_offset());
}

}  // namespace

TORCH_LIBRARY(broken, m) {
  m.def("writes(Tensor x) -> Tensor");
  m.def("writes_last_byte(Tensor x) -> Tensor");
  m.def("writes_second(Tensor x, Tensor y) -> Tensor");
  m.def("writes_list(Tensor[] x) -> Tensor");
  m.def("writes_optional(Tensor x, Tensor? y=None) -> Tensor");
  m.def("writes_padding(Tensor x) -> Tensor");
  m.def("writes_other(Tensor(a!) x, Tensor y) -> ()");
  m.def("writes_beside(Tensor(a!) x) -> ()");
  m.def("keeps_version(Tensor(a!) x) -> ()");
  m.def("returns_input(Tensor x) -> Tensor");
  m.def("returns_view(Tensor x) -> Tensor");
  m.def("returns_memory(Tensor x) -> Tensor");
  m.def("copies_view(Tensor(a) x) -> Tensor(a)");
  m.def("same_twice(Tensor x) -> (Tensor, Tensor)");
  m.def("keeps_result(Tensor x) -> Tensor");
  m.def("keeps_storage(Tensor x) -> Tensor");
  m.def("keeps_argument(Tensor x) -> Tensor");
  m.def("swaps_storage(Tensor x) -> Tensor");
  m.def("returns_other_(Tensor(a!) x) -> Tensor(a!)");
  m.def("resizes_(Tensor(a!) x) -> Tensor(a!)");
  m.def("strides(Tensor x) -> Tensor");
}

TORCH_LIBRARY_IMPL(broken, PrivateUse1, m) {
  m.impl("writes", [](const Tensor& x) { poke(x, x.storage_offset() * x.itemsize()); return fresh(x); });
  m.impl("writes_last_byte", [](const Tensor& x) { poke(x, -1); return fresh(x); });
  m.impl("writes_second", [](const Tensor& x, const Tensor& y) { poke(y, 0); return fresh(x); });
  m.impl("writes_list", [](TensorList x) { if (!x.empty()) poke(x[x.size() - 1], 0); return first(x); });
  m.impl("writes_optional", [](const Tensor& x, const std::optional<Tensor>& y) { if (y && y->defined()) poke(*y, 0); return fresh(x); });
  m.impl("writes_padding", [](const Tensor& x) {
    if (x.is_contiguous() && x.storage_offset() == 0 && x.storage().nbytes() > x.nbytes()) poke(x, x.nbytes());
    return fresh(x);
  });
  m.impl("writes_other", [](Tensor& x, const Tensor& y) { x.copy_(fresh(x)); poke(y, 0); });
  m.impl("writes_beside", [](Tensor& x) {
    x.copy_(fresh(x));
    x.unsafeGetTensorImpl()->bump_version();
    if (x.is_contiguous() && x.storage_offset() > 0) poke(x, 0);
    if (x.is_contiguous() && x.storage_offset() == 0 && x.storage().nbytes() > x.nbytes()) poke(x, -1);
  });
  m.impl("keeps_version", [](Tensor& x) { poke(x, x.storage_offset() * x.itemsize()); });
  m.impl("returns_input", [](const Tensor& x) { return x; });
  m.impl("returns_view", [](const Tensor& x) { return strided_view(x); });
  m.impl("returns_memory", [](const Tensor& x) {
    at::Storage storage(c10::Storage::use_byte_size_t(), x.storage().nbytes(), c10::DataPtr(x.storage().data_ptr().get(), x.device()), nullptr, false);
    return at::empty({0}, x.options()).set_(storage, x.storage_offset(), x.sizes(), x.strides());
  });
  m.impl("copies_view", [](const Tensor& x) { return fresh(x); });
  m.impl("same_twice", [](const Tensor& x) { Tensor y = fresh(x); return std::make_tuple(y, y); });
  m.impl("keeps_result", [](const Tensor& x) { return keep(fresh(x)); });
  m.impl("keeps_storage", [](const Tensor& x) { Tensor y = fresh(x); keep(strided_view(y)); return y; });
  m.impl("keeps_argument", [](const Tensor& x) { keep(x); return fresh(x); });
  m.impl("swaps_storage", [](const Tensor& x) {
    at::AutoDispatchBelowADInplaceOrView silent;
    const_cast<Tensor&>(x).set_(fresh(x).storage(), 0, x.sizes(), fresh(x).strides());
    return fresh(x);
  });
  m.impl("returns_other_", [](Tensor& x) { x.copy_(fresh(x)); return fresh(x); });
  m.impl("strides", [](const Tensor& x) { return x.dim() == 2 ? fresh(x.t().contiguous()).t() : fresh(x); });
  m.impl("resizes_", [](Tensor& x) -> Tensor& { return x.unsqueeze_(0); });
}

// What the kernels for the device are held against.
TORCH_LIBRARY_IMPL(broken, CPU, m) {
  m.impl("strides", [](const Tensor& x) { return x.clone(at::MemoryFormat::Contiguous); });
}

TORCH_LIBRARY(whole, m) {
  m.def("reads(Tensor x) -> Tensor");
  m.def("reads_padding(Tensor x) -> Tensor");
  m.def("reads_second(Tensor x, Tensor y) -> Tensor");
  m.def("reads_list(Tensor[] x) -> Tensor");
  m.def("reads_optional(Tensor x, Tensor? y=None) -> Tensor");
  m.def("writes_and_restores(Tensor x) -> Tensor");
  m.def("reads_other(Tensor(a!) x, Tensor y) -> ()");
  m.def("writes(Tensor(a!) x) -> ()");
  m.def("writes_both(Tensor(a!) x, Tensor(b!) y) -> ()");
  m.def("writes_list(Tensor(a!)[] x) -> ()");
  m.def("writes_nothing(Tensor(a!) x) -> ()");
  m.def("returns_view(Tensor(a) x) -> Tensor(a)");
  m.def("returns_views(Tensor(a) x) -> Tensor(a)[]");
  m.def("returns_two(Tensor x) -> (Tensor, Tensor)");
  m.def("returns_list(Tensor x) -> Tensor[]");
  m.def("returns_undefined(Tensor x) -> (Tensor, Tensor)");
  m.def("returns_number(Tensor x) -> int");
  m.def("adds_(Tensor(a!) x) -> Tensor(a!)");
  m.def("finds(Tensor x) -> Tensor");
  m.def("reads.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)");
  m.def("strides(Tensor x) -> Tensor");
  m.def("makes(Tensor x, *, Device device) -> Tensor");
}

TORCH_LIBRARY_IMPL(whole, CPU, m) {
  m.impl("finds", [](const Tensor& x) { return x.nonzero(); });
  m.impl("strides", [](const Tensor& x) { return x.clone(at::MemoryFormat::Contiguous); });
}

TORCH_LIBRARY_IMPL(whole, PrivateUse1, m) {
  m.impl("reads", [](const Tensor& x) { return fresh(x); });
  m.impl("reads_padding", [](const Tensor& x) { bytes_of(x).cpu(); return fresh(x); });
  m.impl("reads_second", [](const Tensor& x, const Tensor& y) { y.cpu(); return fresh(x); });
  m.impl("reads_list", [](TensorList x) { return first(x); });
  m.impl("reads_optional", [](const Tensor& x, const std::optional<Tensor>& y) { return fresh(y && y->defined() ? *y : x); });
  m.impl("writes_and_restores", [](const Tensor& x) { poke(x, 0); poke(x, 0); return fresh(x); });
  m.impl("reads_other", [](Tensor& x, const Tensor& y) { y.cpu(); x.copy_(fresh(x)); });
  m.impl("writes", [](Tensor& x) { x.copy_(x.cpu().logical_not()); });
  m.impl("writes_both", [](Tensor& x, Tensor& y) { x.copy_(x.cpu().logical_not()); y.copy_(y.cpu().logical_not()); });
  m.impl("writes_list", [](TensorList x) { for (const Tensor& t : x) t.copy_(t.cpu().logical_not()); });
  m.impl("writes_nothing", [](Tensor&) {});
  m.impl("returns_view", [](const Tensor& x) { return strided_view(x); });
  m.impl("returns_views", [](const Tensor& x) { return std::vector<Tensor>{strided_view(x), strided_view(x)}; });
  m.impl("returns_two", [](const Tensor& x) { return std::make_tuple(fresh(x), fresh(x)); });
  m.impl("returns_list", [](const Tensor& x) { return std::vector<Tensor>{fresh(x), fresh(x)}; });
  m.impl("returns_undefined", [](const Tensor& x) { return std::make_tuple(fresh(x), Tensor()); });
  m.impl("returns_number", [](const Tensor& x) { return x.dim(); });
  m.impl("adds_", [](Tensor& x) -> Tensor& { return x.copy_(x.cpu().logical_not()); });
  m.impl("finds", [](const Tensor& x) { return x.cpu().nonzero().to(x.device()); });
  m.impl("reads.out", [](const Tensor& x, Tensor& out) -> Tensor& { out.resize_(x.sizes()); return out.copy_(fresh(x)); });
  m.impl("strides", [](const Tensor& x) { return x.cpu().clone(at::MemoryFormat::Contiguous).to(x.device()); });
  m.impl("makes", [](const Tensor& x, at::Device device) { return at::ones({8}).to(device); });
}
