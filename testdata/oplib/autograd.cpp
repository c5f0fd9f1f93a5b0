// autograd is a library of operators without a kernel for autograd, those of
// the namespace ungraded, and of operators that need none, of graded. Calls
// through autograd tell them apart.
#include <ATen/ATen.h>
#include <torch/library.h>

using at::Tensor;
using at::TensorList;

namespace {

template <class F>
torch::CppFunction cpu(F kernel) {
  return torch::dispatch(c10::DispatchKey::CPU, kernel);
}

// twice computes as a kernel does that knows no other operators.
Tensor twice(const Tensor& self) {
  at::AutoDispatchBelowAutograd guard;
  return self * 2;
}

bool whole(const Tensor& t) { return at::isIntegralType(t.scalar_type(), /*includeBool=*/true); }

}  // namespace

TORCH_LIBRARY(ungraded, m) {
  m.def("twice(Tensor self) -> Tensor", cpu(twice));
  m.def("calls_autograd(Tensor self) -> Tensor", cpu([](const Tensor& self) { return self * 2; }));
  m.def("all(Tensor[] tensors) -> Tensor[]", cpu([](TensorList tensors) {
    std::vector<Tensor> all;
    for (const Tensor& t : tensors) all.push_back(twice(t));
    return all;
  }));
}

TORCH_LIBRARY(graded, m) {
  m.def("twice(Tensor self) -> Tensor", cpu(twice));
  m.impl("twice", torch::dispatch(c10::DispatchKey::Autograd, [](const Tensor& self) { return self * 2; }));
  m.def("alone(Tensor self) -> Tensor", torch::dispatch(c10::DispatchKey::Autograd, [](const Tensor& self) {
    const_cast<Tensor&>(self).fill_(7);  // which the schema does not say
    return self * 2;
  }));
  m.def("composite(Tensor self) -> Tensor", [](const Tensor& self) { return self * 2; });
  m.def("rank(Tensor self) -> Tensor", cpu([](const Tensor& self) { return at::full({}, self.dim(), at::kLong); }));
  m.def("of_whole(Tensor self) -> Tensor", cpu([](const Tensor& self) {
    TORCH_CHECK(whole(self), "expected integers");
    return self.to(at::kDouble);
  }));
  m.def("zero_(Tensor(a!) self) -> Tensor(a!)", cpu([](Tensor& self) -> Tensor& { return self.zero_(); }));
}
