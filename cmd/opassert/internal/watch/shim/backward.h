// backward.h reports the operators without a formula for autograd that a program's backward reaches.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include "observe.h"
#include "watched.h"

namespace opassert {

// Followed is a result of a custom operator that autograd records: it reports a
// missing formula when a backward reaches it.
class Followed {
  const c10::OperatorHandle& handle_;
  const Watched& op_;
  const torch::jit::Stack& stack_;
  c10::SmallVector<TensorImpl*, 8> arguments_;
  bool records_ = false;

  int64_t backward() const;
  void follow(TensorImpl* impl, size_t result, int64_t backward, const std::string& frames) const;

 public:
  Followed(const c10::OperatorHandle& handle, const Watched& op, const torch::jit::Stack& stack);

  void returned() const;

  // recorded notes a call below autograd whose kernel returned a tensor that requires grad.
  static void recorded(const Watched& op, const torch::jit::Stack& stack);
};

}  // namespace opassert
