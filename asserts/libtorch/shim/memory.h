// memory.h: the memory of tensors, between pages without access. An access of a kernel to one is
// recorded, and the kernel continues: the page is opened for the call.
//
// Memory ends, or begins, at a page boundary. The rest of its pages has a pattern, which is
// compared after the call. Freed memory is closed before the next call, until a thousand other
// blocks were allocated. Arguments that a call does not write are read-only in it.
#pragma once

#include <ATen/core/ivalue.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <vector>

#include "observe.h"

namespace opassert {

// Aligned makes memory allocated meanwhile begin at a multiple of a number of bytes, not of the 64
// of c10's own allocator, unless arguments are to be aligned as by that: what a kernel reads after
// the end of an argument is seen only where the argument ends at a page.
class Aligned {
  size_t before_;

 public:
  explicit Aligned(size_t bytes);
  ~Aligned();
};

// While a Watch exists, illegal accesses of a kernel are recorded.
class Watch {
  const bool on_;

  void begin(const c10::FunctionSchema& schema, const torch::jit::Stack& arguments);
  void note(const torch::jit::Stack& returns);
  void end();

 public:
  // The arguments are those of the operator.
  OA_INLINE Watch(bool on, const c10::OperatorHandle& op, const torch::jit::Stack& arguments) : on_(on && own_allocator != nullptr) {
    if (on_) begin(op.schema(), arguments);
  }
  OA_INLINE ~Watch() {
    if (on_) end();
  }

  // returned records the memory of a return.
  OA_INLINE void returned(const torch::jit::Stack& returns) {
    if (on_) note(returns);
  }
};

}  // namespace opassert
