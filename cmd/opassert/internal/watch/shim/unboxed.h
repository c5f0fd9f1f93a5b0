// unboxed.h has kernels that observe calls without boxing their arguments, which costs as much as
// to observe them. They are for the operators that programs call most, and observe plain tensors:
// other calls go to the boxed fallback.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include "keys.h"
#include "observe.h"
#include "usual.h"

namespace opassert {

// kPlain are the keys of plain tensors.
inline const uint64_t kPlain = DispatchKeySet({DispatchKey::CPU, DispatchKey::AutogradCPU, DispatchKey::AutocastCPU, DispatchKey::ADInplaceOrView}).raw_repr();

// is_plain reports whether a tensor has bytes on the CPU and no trait.
inline bool is_plain(const TensorImpl* impl) {
  return (impl->key_set().raw_repr() & ~kPlain) == 0 && impl->unsafe_storage() && impl->version_counter().enabled() && bytes_of(storage_of(impl)) != nullptr;
}

// An UnboxedCall has the tensors of a call, and what was observed of them before it.
class UnboxedCall {
  static constexpr size_t kMost = IdentityCall::kMost;
  TensorImpl* impls_[kMost];  // the caller has references
  Same before_[kMost];
  size_t n_ = 0;
  bool held_ = false;
  int64_t words_[OA_HEADER_WORDS + kMost * Observed::kHead];  // the observations of them

  static Same same(const TensorImpl* impl) {
    if (impl == nullptr) return {};
    return {reinterpret_cast<int64_t>(impl), reinterpret_cast<int64_t>(storage_of(impl))};
  }

  static auto* storage(const Same& of) { return reinterpret_cast<c10::StorageImpl*>(of.storage); }

 public:
  UnboxedCall() {}  // leaves the arrays as they are
  UnboxedCall(const UnboxedCall&) = delete;
  ~UnboxedCall() {
    for (size_t i = 0; held_ && i < n_; i++) {
      if (before_[i].storage != 0) c10::raw::weak_intrusive_ptr::decref(storage(before_[i]));
    }
  }

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

  bool plain() const {
    return std::all_of(impls_, impls_ + n_, [](const TensorImpl* impl) { return impl == nullptr || is_plain(impl); });
  }

  // begin observes the arguments. The addresses of their storages are not reused while
  // the call lives.
  void begin() {
    held_ = true;
    Reply out(words_, std::size(words_));
    for (size_t i = 0; i < n_; i++) {
      before_[i] = same(impls_[i]);
      if (before_[i].storage != 0) c10::raw::weak_intrusive_ptr::incref(storage(before_[i]));
      observe(impls_[i], OA_IDENTITY, out);
    }
  }

  const int64_t* words() const { return words_ + OA_HEADER_WORDS; }

  // usual reports whether the call is certainly usual; result is null for one that
  // returns no tensor. If so, unheld has the checks that were judged on none.
  bool usual(const Expected& expected, const at::Tensor* result, int64_t& unheld) const {
    Same after[kMost];
    for (size_t i = 0; i < n_; i++) after[i] = same(impls_[i]);
    int64_t words[OA_HEADER_WORDS + Observed::kHead];
    if (expected.returns.empty()) result = nullptr;  // a plan without checks has no subjects
    if (!plain() || (result != nullptr && !see(*result, expected.returns[0], words))) return false;
    const IdentityCall call(expected, before_, after, result == nullptr ? nullptr : words + OA_HEADER_WORDS);
    unheld = call.unheld();
    return call.usual();
  }

 private:
  // see observes the result, and reports whether all was seen that is expected of it:
  // autograd may hold one that it knows.
  static bool see(const at::Tensor& result, const Subject& of, int64_t (&words)[OA_HEADER_WORDS + Observed::kHead]) {
    TensorImpl* impl = result.defined() ? result.unsafeGetTensorImpl() : nullptr;
    if (impl == nullptr || !is_plain(impl)) return false;
    Reply out(words, std::size(words));
    observe(impl, OA_IDENTITY, out);
    const Observed seen{words + OA_HEADER_WORDS};
    const bool fresh = of.checks & (needs::one_holder | needs::own_storage);
    return !fresh || (impl->autograd_meta() == nullptr && seen.impl_uses() != OA_UNCOUNTED && seen.storage_uses() != OA_UNCOUNTED);
  }
};

// A Way is how a call is handled.
enum Way {
  BOXED,   // by the fallback
  INNER,   // not at all: a kernel that is observed made it
  UNBOXED  // here
};

// An UnboxedKernel observes the calls of an operator of a C++ signature, as Watcher says.
template <class Watcher, class Signature>
class UnboxedKernel;

template <class Watcher, class Result, class... Args>
class UnboxedKernel<Watcher, Result(Args...)> final : public c10::OperatorKernel {
  static constexpr bool kTensor = std::is_same<std::decay_t<Result>, at::Tensor>::value;
  const c10::TypedOperatorHandle<Result(Args...)> op_;
  Watcher watcher_;

  static const at::Tensor* tensor(const at::Tensor& result) { return &result; }
  template <class T>
  static const at::Tensor* tensor(const T&) { return nullptr; }

 public:
  explicit UnboxedKernel(const c10::OperatorHandle& op) : op_(op.typed<Result(Args...)>()), watcher_(op) {}

  Result operator()(DispatchKeySet keys, Args... args) {
    const auto rest = after(keys, kBelow);
    UnboxedCall call;
    (call.add(args), ...);
    const auto choice = watcher_.choose(rest, call);
    if (choice.way == BOXED) return Watcher::boxed().template call<Result, Args...>(op_, keys, std::forward<Args>(args)...);
    if (choice.way == INNER) {
      typename Watcher::Inner inner;
      return op_.redispatch(rest, std::forward<Args>(args)...);
    }
    typename Watcher::Running running(*choice.op, call);
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
