// keys.h holds the watcher's dispatch keys, hides them from the program, and leaves
// them to the program if it uses them.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace opassert {

using c10::DispatchKey;
using c10::DispatchKeySet;

// kBelow is the only key without a kernel of PyTorch that is below autograd and above
// the backends. In 1.13 and 2.6 it is above Python, in newer versions below.
constexpr DispatchKey kBelow = DispatchKey::Fake;

// kAbove are such keys above autograd, of which one is held: operators that are not
// PyTorch's own are seen there if they decompose, or have a kernel for autograd that
// may bypass kBelow.
constexpr DispatchKey kAbove[] = {DispatchKey::TESTING_ONLY_GenericMode, DispatchKey::TESTING_ONLY_GenericWrapper, DispatchKey::DeferredInit};
constexpr int kAboves = sizeof kAbove / sizeof *kAbove;

// kRegistrar is the name under which the watcher's kernels are registered.
constexpr const char* kRegistrar = "opassert";

// after returns the keys that come after one. The Python dispatcher is above all, and
// is called again for each.
inline DispatchKeySet after(DispatchKeySet keys, DispatchKey key) {
  return keys & (DispatchKeySet(DispatchKeySet::FULL_AFTER, key) | DispatchKeySet(DispatchKey::PythonDispatcher));
}

// Keys are these two. A thread's included set has both, and both together identify
// them as ours. If a program uses one of them, or registers something for it, the
// watcher moves to another key, or stops. Threads that still include the old pair
// exchange it at their next call.
class Keys {
 public:
  // claim reports whether it could claim two keys. moved is called when the key above
  // autograd changes, left with the reason when none is left.
  bool claim(c10::KernelFunction below, std::function<void()> moved, std::function<void(const char*)> left) {
    moved_ = std::move(moved);
    left_ = std::move(left);
    return unused(kBelow) && take(kBelow, std::move(below)) && next();
  }

  DispatchKey above() const { return kAbove[at_]; }
  bool gone() const { return gone_; }

  // visible returns a set without our keys.
  DispatchKeySet visible(DispatchKeySet included) const { return included - ours(included); }

  // ours returns our keys in a set.
  DispatchKeySet ours(DispatchKeySet included) const {
    for (int i = at_; i >= 0; i--) {
      if (included.isSupersetOf(pair(i))) return pair(i);
    }
    return DispatchKeySet();
  }

  // shown returns a set for printing: that of a call has our remaining keys. One with
  // all of kSelf was not made for a call.
  DispatchKeySet shown(DispatchKeySet set) const {
    constexpr DispatchKeySet kSelf({DispatchKey::Conjugate, DispatchKey::Negative, DispatchKey::ZeroTensor});
    return gone_ || !set.has(kBelow) || set.isSupersetOf(kSelf) ? set : set - pair(at_);
  }

  // registers reports whether kernels of operators for a key are ours.
  bool registers(DispatchKey key) const { return !gone_ && (key == above() || key == kBelow); }

  // holds returns the keys that have a fallback of ours.
  DispatchKeySet holds() {
    std::lock_guard<std::recursive_mutex> lock(mutex_);
    DispatchKeySet keys;
    for (const auto& held : held_) {
      if (held.second != nullptr) keys = keys.add(held.first);
    }
    return keys;
  }

  // enter adds the pair to this thread's set, and removes the old pair if it changed.
  void enter() {
    static thread_local int64_t entered = -1;
    const int64_t now = moves_.load(std::memory_order_relaxed);
    if (C10_LIKELY(entered == now)) return;
    entered = now;
    c10::impl::_force_tls_local_dispatch_key_set(renewed(c10::impl::tls_local_dispatch_key_set()));
  }

  c10::impl::LocalDispatchKeySet renewed(c10::impl::LocalDispatchKeySet set) const {
    set.included_ = visible(set.included_);
    if (!gone_) set.included_ = set.included_ | pair(at_);
    return set;
  }

  // want leaves the keys of a set to the program.
  void want(DispatchKeySet set) {
    if (gone_ || !(set.has(kBelow) || set.has(above()))) return;
    std::lock_guard<std::recursive_mutex> lock(mutex_);
    if (!gone_ && set.has(above())) {
      const DispatchKey was = above();
      if (!next()) leave("the program uses every dispatch key that opassert can see calls at");
      release(was);
    }
    if (!gone_ && set.has(kBelow)) {
      leave("the program uses the dispatch key Fake, where opassert sees calls");
      release(kBelow);
    }
    enter();
  }

  // fallback registers the program's fallback for a key that may have been ours.
  c10::RegistrationHandleRAII fallback(c10::Dispatcher& dispatcher, DispatchKey key, c10::KernelFunction kernel, std::string debug) {
    want(DispatchKeySet(key));
    std::lock_guard<std::recursive_mutex> lock(mutex_);
    if (held_.count(key) == 0) return dispatcher.registerFallback(key, std::move(kernel), std::move(debug));
    held_[key].reset();
    try {
      auto handle = std::make_shared<c10::RegistrationHandleRAII>(dispatcher.registerFallback(key, theirs(key, std::move(kernel)), std::move(debug)));
      return c10::RegistrationHandleRAII([this, key, handle]() mutable {
        handle.reset();
        take(key, none(key));
      });
    } catch (...) {
      take(key, none(key));
      throw;
    }
  }

  // theirs is a kernel of the program for a key that some thread may still include
  // because of us: it is not called there.
  c10::KernelFunction theirs(DispatchKey key, c10::KernelFunction kernel) {
    if (held_.count(key) == 0 || kernel.isFallthrough()) return kernel;
    return c10::KernelFunction::makeFromBoxedFunctor(std::make_unique<Theirs>(*this, key, std::move(kernel)));
  }

  // none is called for a key for which the program has registered nothing.
  c10::KernelFunction none(DispatchKey key) { return theirs(key, c10::KernelFunction()); }

  // retire releases both keys in this process.
  void retire() {
    gone_ = true;
    moves_++;
    enter();
  }

  void forked() { new (&mutex_) std::recursive_mutex; }

 private:
  class Theirs final : public c10::OperatorKernel {
    Keys& keys_;
    const DispatchKey key_;
    const c10::KernelFunction kernel_;  // invalid: they have none

   public:
    Theirs(Keys& keys, DispatchKey key, c10::KernelFunction kernel) : keys_(keys), key_(key), kernel_(std::move(kernel)) {}

    void operator()(const c10::OperatorHandle& op, DispatchKeySet keys, torch::jit::Stack* stack) {
      if (!keys_.ours(c10::impl::tls_local_dispatch_key_set().included_).has(key_)) {
        TORCH_CHECK_NOT_IMPLEMENTED(kernel_.isValid(), "Could not run '", op.operator_name(), "' with arguments from the '", key_, "' backend.");
        return kernel_.callBoxed(op, keys, stack);
      }
      keys_.enter();
      auto rest = after(keys, key_);
      if (!keys_.gone() && op.hasKernelForDispatchKey(keys_.above())) rest = rest.add(keys_.above());
      op.redispatchBoxed(rest, stack);
    }
  };

  std::recursive_mutex mutex_;
  std::atomic<int> at_{-1};
  std::atomic<bool> gone_{false};
  std::atomic<int64_t> moves_{0};
  std::function<void()> moved_;
  std::function<void(const char*)> left_;
  std::map<DispatchKey, std::unique_ptr<c10::RegistrationHandleRAII>> held_;  // null: the program has it

  static DispatchKeySet pair(int i) { return DispatchKeySet(kBelow) | DispatchKeySet(kAbove[i]); }

  // take registers our fallback, and reports whether the key had none: PyTorch
  // rejects a second one.
  bool take(DispatchKey key, c10::KernelFunction kernel) {
    try {
      auto handle = c10::Dispatcher::singleton().registerFallback(key, std::move(kernel), kRegistrar);
      held_[key] = std::make_unique<c10::RegistrationHandleRAII>(std::move(handle));
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }

  static bool unused(DispatchKey key) { return c10::Dispatcher::singleton().getRegistrationsForDispatchKey(key).empty(); }

  // next reports whether there is a key above autograd to move to.
  bool next() {
    for (int i = at_ + 1; i < kAboves; i++) {
      if (!unused(kAbove[i]) || !take(kAbove[i], c10::KernelFunction::makeFallthrough())) continue;
      at_ = i;
      moves_++;
      moved_();
      return true;
    }
    return false;
  }

  // release leaves a key to the program. Threads in calls include another key at
  // their next one, which it waits for: for a moment nothing is registered.
  void release(DispatchKey key) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    held_[key].reset();
    take(key, none(key));
  }

  void leave(const char* why) {
    gone_ = true;
    moves_++;
    moved_();
    left_(why);
  }
};

Keys& our_keys = *new Keys;  // not destroyed at exit

}  // namespace opassert
