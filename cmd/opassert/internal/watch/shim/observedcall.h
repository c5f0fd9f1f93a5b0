// observedcall.h observes a call of an operator, and sends it to opassert unless it looks usual.
#pragma once

#include <ATen/core/stack.h>
#include <c10/util/FunctionRef.h>

#include <atomic>
#include <vector>

#include "observe.h"
#include "watched.h"

namespace opassert {

class UnboxedCall;

// A Place is a position in the dispatcher at which calls are observed.
enum Place {
  BELOW_AUTOGRAD,
  ABOVE_AUTOGRAD,
  PYTHON
};

// look_at observes a call: its arguments, run, which runs the kernel, and its results.
void look_at(const Watched& op, torch::jit::Stack& stack, Place place, c10::function_ref<void()> run);

// look_after observes the rest of a call whose arguments an unboxed kernel observed; the stack has its results.
void look_after(const Watched& op, torch::jit::Stack& stack, const UnboxedCall& call);

// An Outer is a call that is observed above autograd, while it runs, and whether it was also observed below.
struct Outer {
  static inline thread_local Outer* top = nullptr;
  const Watched* op;
  Outer* outer = top;
  bool seen = false, reported = false;

  explicit Outer(const Watched& of) : op(&of) { top = this; }
  ~Outer() { top = outer; }
};

// A Writing is in scope while an operator that writes runs.
class Writing {
  const bool writes_;
  void count() const;

 public:
  explicit Writing(const Watched& op) : writes_(op.writes) { count(); }
  ~Writing() { count(); }
};

// threads counts the program's threads, and holders those of them that can take references to tensors: those of Python,
// and others that have called an operator, which meet counts. Most programs have more threads, for computing.
extern std::atomic<int> threads, holders;
void meet();

// impl_of returns null for what is no tensor, or undefined.
inline TensorImpl* impl_of(const c10::IValue& v) {
  if (!v.isTensor()) return nullptr;
  const at::Tensor& t = v.toTensor();
  return t.defined() ? t.unsafeGetTensorImpl() : nullptr;
}

inline bool is_container(const c10::IValue& v) { return v.isList() || v.isTuple() || v.isGenericDict(); }

// each calls f with every tensor of a subject; exactly once if it is not a list.
template <class F>
void each(const c10::IValue& v, bool list, F&& f) {
  if (!list) return f(impl_of(v));
  auto item = [&](const c10::IValue& e) { each(e, is_container(e), f); };
  if (v.isList()) {
    for (const c10::IValue& e : v.toListRef()) item(e);
  } else if (v.isTuple()) {
    const auto& elements = v.toTupleRef().elements();
    for (size_t i = 0; i < elements.size(); i++) item(elements[i]);
  } else if (v.isGenericDict()) {
    auto dict = v.toGenericDict();
    for (const auto& entry : dict) item(entry.value());
  }
}

// each_argument calls f with every tensor of every argument, and its subject.
template <class F>
void each_argument(const Watched& op, const torch::jit::Stack& stack, F&& f) {
  const size_t base = stack.size() - op.args;
  for (const Subject& s : op.expected.args) {
    each(stack[base + s.index], s.list != 0, [&](TensorImpl* impl) { f(impl, s); });
  }
}

// each_result calls f with every tensor of every result, and the position of its subject.
template <class F>
void each_result(const Watched& op, const torch::jit::Stack& stack, F&& f) {
  const size_t base = stack.size() - op.returns;
  for (size_t i = 0; i < op.expected.returns.size(); i++) {
    const Subject& s = op.expected.returns[i];
    each(stack[base + s.index], s.list != 0, [&](TensorImpl* impl) { f(impl, i); });
  }
}

}  // namespace opassert
