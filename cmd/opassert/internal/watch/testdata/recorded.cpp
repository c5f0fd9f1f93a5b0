// recorded.cpp is a library with an operator whose arguments cannot be guessed.
#include <ATen/ATen.h>
#include <torch/library.h>

namespace {

using at::Tensor;

Tensor resample(const Tensor& x, c10::string_view mode, at::IntArrayRef steps, double scale, const c10::List<c10::optional<Tensor>>& masks,
                c10::optional<at::ScalarType> into, bool exact) {
  const bool wanted = x.dim() == 3 && x.size(1) == 5 && x.scalar_type() == at::kDouble && x.stride(2) != 1 && mode == "lanczos'3, [a]" &&
                      steps.size() == 2 && steps[0] == 7 && scale == 0.125 && masks.size() == 2 && into == at::kBFloat16 && exact;
  TORCH_CHECK(wanted, "no");
  return x;  // its schema says that it returns a new tensor
}
Tensor many(const Tensor& x) { return x.clone(); }

}  // namespace

TORCH_LIBRARY(recorded, m) {
  m.def("resample(Tensor x, str mode, int[] steps, float scale, Tensor?[] masks, *, ScalarType? into=None, bool exact=False) -> Tensor");
  m.def("many(Tensor x) -> Tensor");
}

TORCH_LIBRARY_IMPL(recorded, CPU, m) {
  m.impl("resample", resample);
  m.impl("many", many);
}
