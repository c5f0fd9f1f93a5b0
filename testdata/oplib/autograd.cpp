// autograd is a library of operators whose results have no gradients, in the namespace
// ungraded, and of correct operators, in graded. Calls through autograd distinguish
// them, except for the last operator of ungraded.
#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/library.h>

using at::Tensor;
using at::TensorList;

namespace {

template <class F>
torch::CppFunction cpu(F kernel) {
  return torch::dispatch(c10::DispatchKey::CPU, kernel);
}

template <class F>
torch::CppFunction autograd(F kernel) {
  return torch::dispatch(c10::DispatchKey::Autograd, kernel);
}

// twice computes like a kernel that calls no other operators.
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
  m.def("bias(Tensor ids, Tensor? bias=None) -> Tensor", cpu([](const Tensor& ids, const c10::optional<Tensor>& bias) {
    return twice(bias ? *bias : at::zeros_like(ids, at::kFloat));
  }));
  m.def("sorted(Tensor self) -> (Tensor values, Tensor indices)", cpu([](const Tensor& self) {
    at::AutoDispatchBelowAutograd guard;
    return self.sort();
  }));
  m.def("flat(Tensor(a) self) -> Tensor(a)", cpu([](const Tensor& self) {
    at::AutoDispatchBelowADInplaceOrView guard;
    return self.view(-1);
  }));
  m.def("scale_(Tensor(a!) self, Tensor by) -> Tensor(a!)", cpu([](Tensor& self, const Tensor& by) -> Tensor& {
    at::AutoDispatchBelowAutograd guard;
    return self.mul_(by);
  }));
  m.def("twice.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", cpu([](const Tensor& self, Tensor& out) -> Tensor& {
    at::AutoDispatchBelowAutograd guard;
    return out.copy_(twice(self));
  }));
  m.def("leaf(Tensor self) -> Tensor", cpu(twice));
  m.impl("leaf", autograd([](const Tensor& self) { return twice(self).set_requires_grad(self.requires_grad()); }));

  m.def("forgets(Tensor self) -> Tensor", cpu(twice));
  m.impl("forgets", autograd(twice));
}

TORCH_LIBRARY(graded, m) {
  m.def("twice(Tensor self) -> Tensor", cpu(twice));
  m.impl("twice", autograd([](const Tensor& self) { return self * 2; }));
  m.def("alone(Tensor self) -> Tensor", autograd([](const Tensor& self) {
    const_cast<Tensor&>(self).fill_(7);  // not declared by the schema
    return self * 2;
  }));
  m.def("of_backend(Tensor self) -> Tensor", cpu(twice));
  m.impl("of_backend", torch::dispatch(c10::DispatchKey::AutogradCPU, [](const Tensor& self) { return self * 2; }));
  m.def("no_gradient(Tensor self) -> Tensor", cpu(twice));
  m.def("with_sign(Tensor self) -> (Tensor, Tensor)", cpu([](const Tensor& self) { return std::make_tuple(twice(self), self.sign()); }));
  m.impl("with_sign", autograd([](const Tensor& self) { return std::make_tuple(self * 2, self.sign().detach()); }));
  m.def("flat(Tensor(a) self) -> Tensor(a)", [](const Tensor& self) { return self.view(-1); });
  m.def("whole_parts(Tensor[] tensors) -> Tensor[]", cpu([](TensorList tensors) {
    std::vector<Tensor> all;
    for (const Tensor& t : tensors) all.push_back(t.to(at::kLong, /*non_blocking=*/false, /*copy=*/true));
    return all;
  }));
  m.def("zeros(int n) -> Tensor", torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd, [](int64_t n) { return at::zeros({n}); }));
  m.def("composite(Tensor self) -> Tensor", [](const Tensor& self) { return self * 2; });
  m.def("rank(Tensor self) -> Tensor", cpu([](const Tensor& self) { return at::full({}, self.dim(), at::kLong); }));
  m.def("of_whole(Tensor self) -> Tensor", cpu([](const Tensor& self) {
    TORCH_CHECK(whole(self), "expected integers");
    return self.to(at::kDouble);
  }));
  m.def("zero_(Tensor(a!) self) -> Tensor(a!)", cpu([](Tensor& self) -> Tensor& { return self.zero_(); }));
}

TORCH_LIBRARY_IMPL(graded, Autograd, m) { m.impl("no_gradient", torch::autograd::autogradNotImplementedFallback()); }
