// watched.h has opassert's answers about operators.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "counts.h"
#include "frames.h"
#include "usual.h"

namespace opassert {

// A Watched is an operator with opassert's answer about it.
struct Watched {
  Expected expected;
  int64_t number = 0;
  bool decomposes = false;  // seen above autograd
  bool in_python = false;   // a kernel is Python's: its calls take Python's lock
  bool custom = false;      // of a namespace that is not PyTorch's, or with a kernel that is not
  bool sampled = false;     // of one that is: contents of some calls are observed
  bool watched = false;     // its calls are sent to opassert
  bool recorded = false;    // its arguments go into a file of cases
  bool content = false;
  bool fakes = false;     // the fake is called too
  bool autograd = false;  // it has a kernel for autograd, or decomposes
  bool followed = false;  // its results are followed until a backward reaches one
  bool writes = false;
  bool unboxed = false;                                       // its calls with plain tensors are observed unboxed
  mutable std::atomic<bool> formula{false}, reported{false};  // it has a formula; a missing one was reported
  mutable std::atomic<bool> not_copied{false};                // a backend threw when copying bytes, as reported to opassert
  const c10::FunctionSchema* schema = nullptr;
  size_t args = 0, returns = 0;  // of the schema
  Counts* counts = nullptr;
  std::vector<c10::DispatchKey> others_keys;  // whose kernels are not PyTorch's, of an operator that is
  std::unique_ptr<const Watched> others;      // the answer about those

  // serving returns the answer about the kernel that a call gets to.
  const Watched& serving(c10::DispatchKeySet keys, const torch::jit::Stack& stack) const;
};

extern Settings settings;  // of the run

namespace operators {

extern std::string& own_namespaces;  // PyTorch's, with spaces around each

// own reports whether an operator is in a namespace of PyTorch.
bool own(const std::string& name);

// generation increases when an operator is deregistered, as its schema's address may be reused.
extern std::atomic<int64_t> generation;

// find returns opassert's answer about an operator, and asks for that about a new one.
const Watched& find(const c10::OperatorHandle& handle);
void forget(const c10::OperatorName& name);

}  // namespace operators
}  // namespace opassert
