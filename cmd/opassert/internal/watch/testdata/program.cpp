// program.cpp is a program linked to libtorch, with an operator of its own that
// breaks its promise.
#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <thread>

static at::Tensor broken(const at::Tensor& self) { return self; }

TORCH_LIBRARY(bad, m) { m.def("broken(Tensor self) -> Tensor"); }
TORCH_LIBRARY_IMPL(bad, CPU, m) { m.impl("broken", broken); }

__attribute__((noinline)) void faulty() {
  static auto op = c10::Dispatcher::singleton().findSchemaOrThrow("bad::broken", "").typed<at::Tensor(const at::Tensor&)>();
  op.call(at::ones({3}));  // OA007
}

int main() {
  faulty();
  std::thread(faulty).join();
  at::ones({2}).add_(1);
  return 0;
}
