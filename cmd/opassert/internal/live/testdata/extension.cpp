// extension.cpp has what programs under test use of C++: an autograd function,
// and what embedders of several interpreters tell PyTorch.
#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>
#if __has_include(<c10/core/impl/HermeticPyObjectTLS.h>)
#include <c10/core/impl/HermeticPyObjectTLS.h>
#endif

struct Square : torch::autograd::Function<Square> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x) {
    ctx->save_for_backward({x});
    return x.mul(x);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    return {grads[0].mul(ctx->get_saved_variables()[0]).mul(2)};
  }
};

at::Tensor square(const at::Tensor& x) { return Square::apply(x); }

bool several_interpreters() {
#if __has_include(<c10/core/impl/HermeticPyObjectTLS.h>)
  c10::impl::HermeticPyObjectTLS::init_state();
  return true;
#else
  return false;
#endif
}

TORCH_LIBRARY(live, m) {
  m.def("square(Tensor x) -> Tensor");
  m.impl("square", c10::DispatchKey::CompositeImplicitAutograd, TORCH_FN(square));
  m.def("several_interpreters", several_interpreters);
}
