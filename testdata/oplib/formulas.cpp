// formulas is a library of operators with formulas in C++: wrong ones, in the namespace
// formulas, and right ones, in the namespace derived.
#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::tensor_list;

namespace {

// Kernels call no other operators through autograd.

Tensor squared(const Tensor& x) {
  at::AutoDispatchBelowAutograd guard;
  return x * x;
}

Tensor times(const Tensor& a, const Tensor& b) {
  TORCH_CHECK(a.is_complex() == b.is_complex(), "a and b must both be real, or complex");
  at::AutoDispatchBelowAutograd guard;
  return a * b;
}

Tensor twice_exp(const Tensor& x) {
  at::AutoDispatchBelowAutograd guard;
  return x.exp() * 2;
}

Tensor rectified(const Tensor& x) {
  at::AutoDispatchBelowAutograd guard;
  return at::clamp_min(x, 0);
}

// dropped draws its mask from PyTorch's generator.
Tensor dropped(const Tensor& x, const Tensor& mask) {
  at::AutoDispatchBelowAutograd guard;
  return x * mask;
}

Tensor drawn(const Tensor& x) {
  at::AutoDispatchBelowAutograd guard;
  return at::rand_like(x) < 0.5;
}

Tensor rows(const Tensor& x, const Tensor& ids) {
  at::AutoDispatchBelowAutograd guard;
  return x * ids;
}

// Square is the formula of squared, with a factor.
template <int Factor>
struct Square : Function<Square<Factor>> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x) {
    ctx->save_for_backward({x});
    return squared(x);
  }
  static tensor_list backward(AutogradContext* ctx, tensor_list grads) { return {grads[0] * ctx->get_saved_variables()[0] * Factor}; }
};

enum Gradients {
  Both,
  Swapped,
  First,
  One,
  Three,
  Wide
};

// Times is the formula of times.
template <Gradients G>
struct Times : Function<Times<G>> {
  static Tensor forward(AutogradContext* ctx, const Tensor& a, const Tensor& b) {
    ctx->save_for_backward({a, b});
    return times(a, b);
  }
  static tensor_list backward(AutogradContext* ctx, tensor_list grads) {
    const auto saved = ctx->get_saved_variables();
    const Tensor of_a = (grads[0] * saved[1]).sum_to_size(saved[0].sizes()), of_b = (grads[0] * saved[0]).sum_to_size(saved[1].sizes());
    switch (G) {
      case Swapped: return {of_b, of_a};
      case First: return {of_a, Tensor()};
      case One: return {of_a};
      case Three: return {of_a, of_b, of_b};
      case Wide: return {of_a.unsqueeze(-1).expand({-1, 2}), of_b};
      default: return {of_a, of_b};
    }
  }
};

// TwiceExp is the formula of twice_exp. What it saves is the exponential, which it then changes in-place.
template <bool Changed>
struct TwiceExp : Function<TwiceExp<Changed>> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x) {
    Tensor y = x.exp();
    ctx->save_for_backward({y});
    return y.mul_(2);
  }
  static tensor_list backward(AutogradContext* ctx, tensor_list grads) {
    const Tensor y = ctx->get_saved_variables()[0];
    return {grads[0] * (Changed ? y * 2 : y)};
  }
};

// Relu is the formula of rectified, with the output.
struct Relu : Function<Relu> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x) {
    Tensor y = rectified(x);
    ctx->save_for_backward({y});
    return y;
  }
  static tensor_list backward(AutogradContext* ctx, tensor_list grads) { return {grads[0] * (ctx->get_saved_variables()[0] > 0)}; }
};

// Dropped is the formula of dropped, with the mask that it drew.
struct Dropped : Function<Dropped> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x) {
    const Tensor mask = drawn(x);
    ctx->save_for_backward({mask});
    return dropped(x, mask);
  }
  static tensor_list backward(AutogradContext* ctx, tensor_list grads) { return {grads[0] * ctx->get_saved_variables()[0]}; }
};

// Doubled is the formula of doubled_, which writes its argument.
template <bool Dirty>
struct Doubled : Function<Doubled<Dirty>> {
  static Tensor forward(AutogradContext* ctx, Tensor x) {
    at::AutoDispatchBelowAutograd guard;
    if (Dirty) ctx->mark_dirty({x});
    return x.mul_(2);
  }
  static tensor_list backward(AutogradContext*, tensor_list grads) { return {grads[0] * 2}; }
};

Tensor& doubled_(Tensor& x) {
  at::AutoDispatchBelowAutograd guard;
  return x.mul_(2);
}

template <bool Dirty>
Tensor& graded_doubled_(Tensor& x) {
  Doubled<Dirty>::apply(x);
  return x;
}

// Rows is the formula of rows, whose second argument has integers.
struct Rows : Function<Rows> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, const Tensor& ids) {
    ctx->save_for_backward({ids});
    return rows(x, ids);
  }
  static tensor_list backward(AutogradContext* ctx, tensor_list grads) { return {grads[0] * ctx->get_saved_variables()[0], Tensor()}; }
};

template <class F>
torch::CppFunction cpu(F kernel) {
  return torch::dispatch(c10::DispatchKey::CPU, kernel);
}

}  // namespace

TORCH_LIBRARY(formulas, m) {
  m.def("half_square(Tensor x) -> Tensor", cpu(squared));
  for (const char* name : {"swapped", "missing", "one", "three", "wide", "alone", "alone_raises"}) {
    m.def((std::string(name) + "(Tensor a, Tensor b) -> Tensor").c_str(), cpu(times));
  }
  m.def("changed(Tensor x) -> Tensor", cpu(twice_exp));
  m.def("unmarked_(Tensor(a!) x) -> Tensor(a!)", cpu(doubled_));
}

TORCH_LIBRARY_IMPL(formulas, Autograd, m) {
  m.impl("half_square", [](const Tensor& x) { return Square<1>::apply(x); });
  m.impl("swapped", [](const Tensor& a, const Tensor& b) { return Times<Swapped>::apply(a, b); });
  m.impl("missing", [](const Tensor& a, const Tensor& b) { return Times<First>::apply(a, b); });
  m.impl("one", [](const Tensor& a, const Tensor& b) { return Times<One>::apply(a, b); });
  m.impl("three", [](const Tensor& a, const Tensor& b) { return Times<Three>::apply(a, b); });
  m.impl("wide", [](const Tensor& a, const Tensor& b) { return Times<Wide>::apply(a, b); });
  m.impl("alone", [](const Tensor& a, const Tensor& b) { return b.requires_grad() ? Times<Both>::apply(a, b) : Times<Swapped>::apply(a, b); });
  m.impl("alone_raises", [](const Tensor& a, const Tensor& b) { return a.requires_grad() ? Times<Both>::apply(a, b) : Times<One>::apply(a, b); });
  m.impl("changed", [](const Tensor& x) { return TwiceExp<true>::apply(x); });
  m.impl("unmarked_", graded_doubled_<false>);
}

TORCH_LIBRARY(derived, m) {
  m.def("square(Tensor x) -> Tensor", cpu(squared));
  m.def("square_cpu(Tensor x) -> Tensor", cpu(squared));
  m.def("times(Tensor a, Tensor b) -> Tensor", cpu(times));
  m.def("twice_exp(Tensor x) -> Tensor", cpu(twice_exp));
  m.def("doubled_(Tensor(a!) x) -> Tensor(a!)", cpu(doubled_));
  m.def("no_gradient(Tensor x) -> Tensor", cpu(squared));
  m.def("relu(Tensor x) -> Tensor", cpu(rectified));
  m.def("dropped(Tensor x) -> Tensor", cpu([](const Tensor& x) { return dropped(x, drawn(x)); }));
  m.def("rows(Tensor x, Tensor ids) -> Tensor", cpu([](const Tensor& x, const Tensor& ids) {
    TORCH_CHECK(ids.scalar_type() == at::kLong, "ids must be int64");
    return rows(x, ids);
  }));
}

TORCH_LIBRARY_IMPL(derived, Autograd, m) {
  m.impl("square", [](const Tensor& x) { return Square<2>::apply(x); });
  m.impl("times", [](const Tensor& a, const Tensor& b) { return Times<Both>::apply(a, b); });
  m.impl("twice_exp", [](const Tensor& x) { return TwiceExp<false>::apply(x); });
  m.impl("doubled_", graded_doubled_<true>);
  m.impl("no_gradient", torch::autograd::autogradNotImplementedFallback());
  m.impl("relu", [](const Tensor& x) { return Relu::apply(x); });
  m.impl("dropped", [](const Tensor& x) { return Dropped::apply(x); });
  m.impl("rows", [](const Tensor& x, const Tensor& ids) { return Rows::apply(x, ids); });
}

TORCH_LIBRARY_IMPL(derived, AutogradCPU, m) {
  m.impl("square_cpu", [](const Tensor& x) { return Square<2>::apply(x); });
}
