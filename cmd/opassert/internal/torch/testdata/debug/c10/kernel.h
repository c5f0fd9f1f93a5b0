// kernel.h calls kernels as PyTorch's templates do, and is one of its headers by its folder.
#pragma once

namespace c10 {

template <void (*kKernel)(float*)>
__attribute__((noinline)) void of_function(float* x) {
  kKernel(x);
}

template <class Closure>
__attribute__((noinline)) void of_lambda(float* x) {
  const Closure* closure = nullptr;
  (*closure)(x);
}

inline void store(float* x, long i) { x[i] = 4; }

}  // namespace c10
