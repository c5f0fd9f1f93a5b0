// frequent.cpp registers faulty kernels for operators that programs call often, as PyTorch registers its own: the
// watcher takes the paths of its sources for theirs.
#include <torch/library.h>
#include <ATen/ATen.h>

namespace {

at::Tensor kept;

at::Tensor returns_argument(const at::Tensor& self) { return self; }

at::Tensor returns_alias(const at::Tensor& self) { return self.alias(); }

at::Tensor keeps(const at::Tensor& self) { return kept = at::empty_like(self); }

at::Tensor keeps_storage(const at::Tensor& self) {
  auto result = at::empty_like(self);
  kept = result.alias();
  return result;
}

at::Tensor copies(const at::Tensor& self, c10::SymIntArrayRef sizes) { return at::empty_symint(sizes, self.options()); }

at::Tensor& returns_other(at::Tensor& self, const at::Scalar&) {
  kept = at::empty_like(self);
  return kept;
}

at::Tensor replaces(const at::Tensor& self, const at::Tensor& other) {
  other.unsafeGetTensorImpl()->set_storage_keep_dtype(at::empty_like(other).storage());
  return at::empty_like(self);
}

at::Tensor throws(const at::Tensor&) { TORCH_CHECK(false, "no logarithm"); }

at::Tensor is_healthy(const at::Tensor& self) { return at::empty_like(self); }

}  // namespace

#line 1 "/aten/src/ATen/frequent.cpp"
TORCH_LIBRARY_IMPL(aten, CPU, m) {
  m.impl("tanh", returns_argument);
  m.impl("sigmoid", returns_alias);
  m.impl("sqrt", keeps);
  m.impl("rsqrt", keeps_storage);
  m.impl("view", copies);
  m.impl("fill_.Scalar", returns_other);
  m.impl("maximum", replaces);
  m.impl("log", throws);
  m.impl("exp", is_healthy);
}
