// operators.h: the data of an operator that a call needs. Its address identifies the operator in
// Go; it is never freed.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <memory>
#include <string>

namespace opassert {

struct Operator {
  c10::OperatorHandle handle;
  bool composite;  // CompositeImplicitAutograd, and nothing of its own for the CPU: runs by calling others
  bool top;        // the same, or it has no kernel below autograd for CPU tensors nor for another device: calls begin at autograd's
  bool view;       // a return is annotated
  bool write;      // an argument is annotated (a!)
  bool objects;    // an argument may be an object of a custom class
};

// describe returns the known properties of an operator.
std::unique_ptr<Operator> describe(const c10::OperatorHandle& handle);

// has_autograd reports whether an operator has a kernel for autograd, of all backends or of one, or decomposes.
bool has_autograd(const c10::OperatorHandle& handle);

// listed returns the records of an operator, in the format of schemas.cpp. A record ends with RS, its fields with US.
std::string listed(const Operator& op);
constexpr char RS = '\x1e', US = '\x1f';

// list_anew makes oa_schemas list the operators again, since there may be more.
void list_anew();

std::string double_text(double v);

}  // namespace opassert
