// kernels.h has the watcher's kernels, which get calls before those of the operators.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include "watched.h"

namespace opassert {

// Inside is in scope while a kernel or a fake runs.
class Inside {
  int& count_;

 public:
  static inline thread_local int own = 0;     // observed kernels of PyTorch's own operators that this thread is in
  static inline thread_local int custom = 0;  // kernels of custom operators that this thread is in
  static inline thread_local int fake = 0;    // calls that a fake answers
  static bool kernel() { return own + custom > 0; }

  explicit Inside(const Watched& op) : Inside(op.custom ? custom : own) {}
  explicit Inside(int& of) : count_(of) { count_++; }
  ~Inside() { count_--; }
};

// boxed_fallback is the kernel below autograd of all operators.
const c10::KernelFunction& boxed_fallback();

// kernel_above is the kernel above autograd of custom operators.
c10::KernelFunction kernel_above();

// see_python replaces the function that calls __torch_dispatch__.
void see_python();

}  // namespace opassert
