// operators.h: what a call needs to know of an operator. Its address is the
// operator's name on Go's side; it is never freed.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

namespace opassert {

struct Operator {
  c10::OperatorHandle handle;
  bool composite;  // CompositeImplicitAutograd, and nothing of its own for the CPU: runs by calling others
  bool top;        // the same, or no kernel below autograd runs on CPU tensors: calls begin at autograd's
  bool view;       // a return is annotated
  bool write;      // an argument is annotated (a!)
};

}  // namespace opassert
