// unboxed.h has kernels that observe calls without boxing their arguments, which costs as much as
// to observe them. They are for the operators that programs call most, and observe plain tensors:
// other calls go to the boxed fallback.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include "kernels.h"
#include "keys.h"
#include "observe.h"
#include "observedcall.h"
#include "watched.h"

namespace opassert {

// An UnboxedCall has the tensors of a call and their observations: with one tensor in each subject, each with a storage
// and no trait, and at most one result.
class UnboxedCall {
  static constexpr size_t kMost = 6;
  TensorImpl* impls_[kMost];  // the caller has references
  c10::StorageImpl* storages_[kMost];
  size_t n_ = 0;
  bool held_ = false;
  int64_t words_[OA_HEADER_WORDS + kMost + (2 * kMost + 1) * Observed::kHead + 2];

 public:
  // takes reports whether the calls of an operator can be such.
  static bool takes(const Expected& expected);

  UnboxedCall() {}  // leaves the arrays as they are
  UnboxedCall(const UnboxedCall&) = delete;
  ~UnboxedCall();

  template <class T>
  void add(const T&) {}
  void add(const at::Tensor& t) {
    if (n_ < kMost) impls_[n_] = t.defined() ? t.unsafeGetTensorImpl() : nullptr;
    n_++;
  }
  void add(const c10::optional<at::Tensor>& t) {
    static const at::Tensor undefined;
    add(t ? *t : undefined);
  }

  size_t size() const { return n_; }
  TensorImpl* operator[](size_t i) const { return impls_[i]; }
  bool plain() const;

  // begin observes the arguments. The addresses of their storages are not reused while the call lives.
  void begin();

  // before returns the observation of an argument.
  const int64_t* before(size_t i) const { return words_ + OA_HEADER_WORDS + n_ + i * Observed::kHead; }

  // seen returns the observations of the call, or null unless all was seen that is expected of the result, which is null
  // for a call that returns no tensor.
  const int64_t* seen(const Expected& expected, const at::Tensor* result);
};

// A Way is how a call is handled.
enum Way {
  BOXED,   // by the fallback
  INNER,   // not at all: a kernel that is observed made it
  UNBOXED  // here
};

// A Frequent is an operator of PyTorch's with an UnboxedKernel.
class Frequent {
  const c10::OperatorHandle handle_;
  std::atomic<const Watched*> op_{nullptr};
  std::atomic<int64_t> generation_{0};  // of op_

  const Watched& op();

 public:
  explicit Frequent(const c10::OperatorHandle& handle) : handle_(handle) {}

  struct Choice {
    Way way;
    const Watched* op = nullptr;  // of an UNBOXED one
  };

  // choose decides about a call, and observes the arguments of an UNBOXED one.
  Choice choose(DispatchKeySet rest, UnboxedCall& call);
};

// Running is in scope while the kernel of a call runs whose arguments were observed
// without the stack, and its result is observed.
class Running {
  const Watched& op_;
  UnboxedCall& call_;
  const Excluding guard_{true};
  const Inside inside_;
  const Writing writing_;
  bool counted_ = false;

 public:
  Running(const Watched& op, UnboxedCall& call);
  ~Running();

  // usual reports whether the call looks usual. If not, it is to be asked about.
  bool usual(const at::Tensor* result);
  void ask(torch::jit::Stack& stack);
};

// An UnboxedKernel observes the calls of an operator of a C++ signature.
template <class Signature>
class UnboxedKernel;

template <class Result, class... Args>
class UnboxedKernel<Result(Args...)> final : public c10::OperatorKernel {
  static constexpr bool kTensor = std::is_same<std::decay_t<Result>, at::Tensor>::value;
  const c10::TypedOperatorHandle<Result(Args...)> op_;
  Frequent watched_;

  static const at::Tensor* tensor(const at::Tensor& result) { return &result; }
  template <class T>
  static const at::Tensor* tensor(const T&) { return nullptr; }

 public:
  explicit UnboxedKernel(const c10::OperatorHandle& op) : op_(op.typed<Result(Args...)>()), watched_(op) {}

  Result operator()(DispatchKeySet keys, Args... args) {
    const auto rest = after(keys, kBelow);
    UnboxedCall call;
    (call.add(args), ...);
    const auto choice = watched_.choose(rest, call);
    if (choice.way == BOXED) return boxed_fallback().template call<Result, Args...>(op_, keys, std::forward<Args>(args)...);
    if (choice.way == INNER) {
      const Excluding inner(true);
      return op_.redispatch(rest, std::forward<Args>(args)...);
    }
    Running running(*choice.op, call);
    Result result = op_.redispatch(rest, std::forward<Args>(args)...);
    if (C10_LIKELY(running.usual(tensor(result)))) return result;
    torch::jit::Stack stack;
    stack.emplace_back(std::forward<Result>(result));
    running.ask(stack);
    if constexpr (std::is_reference<Result>::value || !kTensor) {
      return result;
    } else {
      return std::move(stack.back()).toTensor();
    }
  }
};

}  // namespace opassert
