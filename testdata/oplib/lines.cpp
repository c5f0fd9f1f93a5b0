// lines.cpp registers wrong kernels far from where they are written.
#include <ATen/ATen.h>
#include <torch/library.h>

using at::Tensor;

namespace {

Tensor by_pointer(const Tensor& self) {
  if (self.numel() > 0) self.data_ptr<float>()[0] += 1;
  return self.clone();
}

Tensor by_name(const Tensor& self) {
  if (self.numel() > 0) self.data_ptr<float>()[0] += 2;
  return self.clone();
}

Tensor past_end(const Tensor& self) {
  Tensor result = at::empty_like(self);
  float* to = result.data_ptr<float>();
  for (int64_t i = 0; i <= self.numel(); i++) {
    to[i] = 0;
  }
  return result;
}

Tensor ends(const Tensor& self) {
  volatile float* none = nullptr;
  if (self.numel() > 0) {
    *none = 4;
  }
  return self.clone();
}

}  // namespace

TORCH_LIBRARY(lines, m) {
  m.def("by_pointer(Tensor self) -> Tensor");
  m.def("by_name(Tensor self) -> Tensor");
  m.def("by_lambda(Tensor self) -> Tensor");
  m.def("past_end(Tensor self) -> Tensor");
  m.def("ends(Tensor self) -> Tensor");
}

TORCH_LIBRARY_IMPL(lines, CPU, m) {
  m.impl("by_pointer", &by_pointer);
  m.impl("by_name", TORCH_FN(by_name));
  m.impl("past_end", &past_end);
  m.impl("ends", &ends);
  m.impl("by_lambda", [](const Tensor& self) {
    if (self.numel() > 0) self.data_ptr<float>()[0] += 3;
    return self.clone();
  });
}
