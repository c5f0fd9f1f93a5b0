// seeded.cpp is a library of operators, each of which breaks one promise of its
// schema; those of the namespace sound keep theirs.
#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>
#include <torch/csrc/autograd/custom_function.h>

#include <vector>

namespace {

using at::Tensor;
using at::TensorList;

std::vector<Tensor> kept;

Tensor returns_input(const Tensor& self) { return self; }
Tensor shares_storage(const Tensor& self) { return self.detach().view(-1); }
Tensor copies_view(const Tensor& self) { return self.clone(); }
Tensor& returns_other(Tensor& self) {
  static Tensor other = at::zeros({1});
  return other;
}
std::tuple<Tensor, Tensor> same_twice(const Tensor& self) {
  Tensor t = at::empty_like(self);
  return {t, t};
}
std::vector<Tensor> sharing_list(const Tensor& self) {
  Tensor t = at::empty_like(self);
  return {t, t.alias()};
}
Tensor keeps_result(const Tensor& self) {
  Tensor t = at::empty_like(self);
  kept.assign({t});
  return t;
}
Tensor keeps_storage(const Tensor& self) {
  Tensor t = at::empty_like(self);
  kept.assign({at::empty({0}, t.options()).set_(t.storage())});
  return t;
}
Tensor swaps_storage(const Tensor& self) {
  const_cast<Tensor&>(self).unsafeGetTensorImpl()->set_storage_keep_dtype(self.clone().storage());
  return at::empty_like(self);
}
Tensor writes_input(const Tensor& self) {
  static_cast<float*>(self.data_ptr())[0] += 1;
  return at::empty_like(self);
}
Tensor throws_late(const Tensor& self) {
  writes_input(self);
  TORCH_CHECK(false, "the sizes do not fit");
}
Tensor& sound_throws(Tensor& self) {
  self.add_(1);
  TORCH_CHECK(false, "the sizes do not fit");
}
Tensor& forgets_version(Tensor& self) {
  static_cast<float*>(self.data_ptr())[0] += 1;
  return self;
}
Tensor shortcut(const Tensor& self) { return self; }
Tensor composite_input(const Tensor& self, bool same) { return same ? self : self.mul(2); }

Tensor sound_view(const Tensor& self) { return self.view(-1); }
Tensor sound_fresh(const Tensor& self) { return self.mul(2).view(-1); }
Tensor sound_exp(const Tensor& self) { return self.exp(); }
std::tuple<Tensor, Tensor> sound_two(const Tensor& self) {
  Tensor t = self.exp();
  return {t, t.sin()};
}
Tensor& sound_add(Tensor& self) { return self.add_(1); }
std::vector<Tensor> sound_split(const Tensor& self) { return {self.mul(1), self.mul(2)}; }
Tensor sound_outer(const Tensor& self) {
  static auto inner = c10::Dispatcher::singleton().findSchemaOrThrow("bad::inner", "").typed<Tensor(const Tensor&)>();
  return inner.call(self).mul(2);
}

// Wrong in its backward: the gradient shares memory with the saved tensor.
struct Square : torch::autograd::Function<Square> {
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& self) {
    at::AutoDispatchBelowADInplaceOrView guard;
    context->save_for_backward({self});
    static auto op = c10::Dispatcher::singleton().findSchemaOrThrow("sound::square", "").typed<Tensor(const Tensor&)>();
    return op.call(self);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context, torch::autograd::variable_list grads) {
    static auto op = c10::Dispatcher::singleton().findSchemaOrThrow("bad::square_backward", "").typed<Tensor(const Tensor&, const Tensor&)>();
    return {op.call(grads[0], context->get_saved_variables()[0])};
  }
};
Tensor square(const Tensor& self) { return self.mul(self); }
Tensor square_autograd(const Tensor& self) { return Square::apply(self); }
Tensor square_backward(const Tensor& grad, const Tensor& self) { return self.alias(); }

}  // namespace

TORCH_LIBRARY(bad, m) {
  m.def("returns_input(Tensor self) -> Tensor");
  m.def("inner(Tensor self) -> Tensor");
  m.def("shares_storage(Tensor self) -> Tensor");
  m.def("copies_view(Tensor(a) self) -> Tensor(a)");
  m.def("returns_other(Tensor(a!) self) -> Tensor(a!)");
  m.def("same_twice(Tensor self) -> (Tensor, Tensor)");
  m.def("sharing_list(Tensor self) -> Tensor[]");
  m.def("keeps_result(Tensor self) -> Tensor");
  m.def("keeps_storage(Tensor self) -> Tensor");
  m.def("swaps_storage(Tensor self) -> Tensor");
  m.def("writes_input(Tensor self) -> Tensor");
  m.def("throws_late(Tensor self) -> Tensor");
  m.def("forgets_version(Tensor(a!) self) -> Tensor(a!)");
  m.def("composite_input(Tensor self, bool same) -> Tensor", composite_input);
  m.def("square_backward(Tensor grad, Tensor self) -> Tensor");
  m.def("around(Tensor self) -> Tensor");
  m.def("shortcut(Tensor self) -> Tensor");
  m.def("never(Tensor self) -> Tensor");
}

TORCH_LIBRARY_IMPL(bad, CompositeExplicitAutograd, m) {
  m.impl("returns_input", returns_input);
  m.impl("inner", returns_input);
  m.impl("shares_storage", shares_storage);
  m.impl("copies_view", copies_view);
  m.impl("returns_other", returns_other);
  m.impl("same_twice", same_twice);
  m.impl("sharing_list", sharing_list);
  m.impl("keeps_result", keeps_result);
  m.impl("keeps_storage", keeps_storage);
  m.impl("swaps_storage", swaps_storage);
  m.impl("writes_input", writes_input);
  m.impl("throws_late", throws_late);
  m.impl("forgets_version", forgets_version);
  m.impl("square_backward", square_backward);
}

// Kernels for autograd that never call those of the backend.
TORCH_LIBRARY_IMPL(bad, AutogradCPU, m) {
  m.impl("around", shortcut);
  m.impl("shortcut", shortcut);
}
TORCH_LIBRARY_IMPL(bad, CPU, m) { m.impl("shortcut", sound_exp); }

TORCH_LIBRARY(sound, m) {
  m.def("view(Tensor(a) self) -> Tensor(a)");
  m.def("fresh(Tensor self) -> Tensor");
  m.def("exp(Tensor self) -> Tensor");
  m.def("two(Tensor self) -> (Tensor, Tensor)");
  m.def("add(Tensor(a!) self) -> Tensor(a!)");
  m.def("split(Tensor self) -> Tensor[]");
  m.def("outer(Tensor self) -> Tensor");
  m.def("square(Tensor self) -> Tensor");
  m.def("throws(Tensor(a!) self) -> Tensor(a!)");
}

TORCH_LIBRARY_IMPL(sound, CPU, m) {
  m.impl("view", sound_view);
  m.impl("fresh", sound_fresh);
  m.impl("exp", sound_exp);
  m.impl("two", sound_two);
  m.impl("add", sound_add);
  m.impl("split", sound_split);
  m.impl("outer", sound_outer);
  m.impl("square", square);
  m.impl("throws", sound_throws);
}

TORCH_LIBRARY_IMPL(sound, Autograd, m) { m.impl("square", square_autograd); }
