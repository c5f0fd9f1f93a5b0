// memory.h: the memory of tensors, between pages that can't be touched. A kernel
// that touches one is noted, and goes on: the page is opened for the call.
//
// Memory ends, or begins, where a page does. What is left of its pages has a pattern,
// which is looked at after the call. Memory that is freed is closed before the next call, and
// stays so until a thousand others were taken. Arguments that a call does not write are
// read-only in it.
#pragma once

#include <ATen/core/ivalue.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <vector>

#include "observe.h"

namespace opassert {

// Aligned makes memory allocated meanwhile begin at a multiple of so many bytes, not of
// the 64 of c10's own allocator.
class Aligned {
  size_t before_;

 public:
  explicit Aligned(size_t bytes);
  ~Aligned();
};

// While a Watch lives, the memory that a kernel touches is noted.
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

  // returned notes whose memory is that of a return.
  OA_INLINE void returned(const torch::jit::Stack& returns) {
    if (on_) note(returns);
  }
};

}  // namespace opassert
