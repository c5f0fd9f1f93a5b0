#include "keys.h"

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

namespace opassert::keys {
namespace {

// kAbove are keys like kBelow above autograd, of which one is held: operators that are not PyTorch's own are seen
// there if they decompose, or have a kernel for autograd that may bypass kBelow.
constexpr DispatchKey kAbove[] = {DispatchKey::TESTING_ONLY_GenericMode, DispatchKey::TESTING_ONLY_GenericWrapper, DispatchKey::DeferredInit};
constexpr int kAboves = sizeof kAbove / sizeof *kAbove;

std::recursive_mutex mutex;
std::atomic<int> chosen{-1};  // of kAbove
std::atomic<bool> left{false};
std::atomic<int64_t> moves{0};
void (*tell_moved)();
void (*tell_left)(const std::string&);
auto& fallbacks = *new std::map<DispatchKey, std::unique_ptr<c10::RegistrationHandleRAII>>;  // null: the program has it

DispatchKeySet pair(int i) { return DispatchKeySet(kBelow) | DispatchKeySet(kAbove[i]); }

class Theirs final : public c10::OperatorKernel {
  const DispatchKey key_;
  const c10::KernelFunction kernel_;  // invalid: they have none

 public:
  Theirs(DispatchKey key, c10::KernelFunction kernel) : key_(key), kernel_(std::move(kernel)) {}

  void operator()(const c10::OperatorHandle& op, DispatchKeySet keys, torch::jit::Stack* stack) {
    if (!ours(c10::impl::tls_local_dispatch_key_set().included_).has(key_)) {
      TORCH_CHECK_NOT_IMPLEMENTED(kernel_.isValid(), "Could not run '", op.operator_name(), "' with arguments from the '", key_, "' backend.");
      return kernel_.callBoxed(op, keys, stack);
    }
    enter();
    auto rest = after(keys, key_);
    if (!gone() && op.hasKernelForDispatchKey(above())) rest = rest.add(above());
    op.redispatchBoxed(rest, stack);
  }
};

// none is called for a key for which the program has registered nothing.
c10::KernelFunction none(DispatchKey key) { return theirs(key, c10::KernelFunction()); }

// take registers our fallback, and reports whether the key had none: PyTorch rejects a second one.
bool take(DispatchKey key, c10::KernelFunction kernel) {
  try {
    auto handle = c10::Dispatcher::singleton().registerFallback(key, std::move(kernel), kRegistrar);
    fallbacks[key] = std::make_unique<c10::RegistrationHandleRAII>(std::move(handle));
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

bool unused(DispatchKey key) { return c10::Dispatcher::singleton().getRegistrationsForDispatchKey(key).empty(); }

// next reports whether there is a key above autograd to move to.
bool next() {
  for (int i = chosen + 1; i < kAboves; i++) {
    if (!unused(kAbove[i]) || !take(kAbove[i], c10::KernelFunction::makeFallthrough())) continue;
    chosen = i;
    moves++;
    tell_moved();
    return true;
  }
  return false;
}

// release leaves a key to the program. Threads in calls include another key at
// their next one, which it waits for: for a moment nothing is registered.
void release(DispatchKey key) {
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  fallbacks[key].reset();
  take(key, none(key));
}

void leave(const char* why) {
  left = true;
  moves++;
  tell_moved();
  tell_left(why);
}

}  // namespace

bool claim(c10::KernelFunction below, void (*moved)(), void (*gone)(const std::string&)) {
  tell_moved = moved;
  tell_left = gone;
  return unused(kBelow) && take(kBelow, std::move(below)) && next();
}

DispatchKey above() { return kAbove[chosen]; }

bool gone() { return left; }

void enter() {
  static thread_local int64_t entered = -1;
  const int64_t now = moves.load(std::memory_order_relaxed);
  if (C10_LIKELY(entered == now)) return;
  entered = now;
  c10::impl::_force_tls_local_dispatch_key_set(renewed(c10::impl::tls_local_dispatch_key_set()));
}

void want(DispatchKeySet set) {
  if (left || !(set.has(kBelow) || set.has(above()))) return;
  std::lock_guard<std::recursive_mutex> lock(mutex);
  if (!left && set.has(above())) {
    const DispatchKey was = above();
    if (!next()) leave("the program uses every dispatch key that opassert can see calls at");
    release(was);
  }
  if (!left && set.has(kBelow)) {
    leave("the program uses the dispatch key Fake, where opassert sees calls");
    release(kBelow);
  }
  enter();
}

void retire() {
  left = true;
  moves++;
  enter();
}

DispatchKeySet ours(DispatchKeySet included) {
  for (int i = chosen; i >= 0; i--) {
    if (included.isSupersetOf(pair(i))) return pair(i);
  }
  return DispatchKeySet();
}

DispatchKeySet visible(DispatchKeySet included) { return included - ours(included); }

c10::impl::LocalDispatchKeySet renewed(c10::impl::LocalDispatchKeySet set) {
  set.included_ = visible(set.included_);
  if (!left) set.included_ = set.included_ | pair(chosen);
  return set;
}

// The set of a call has our remaining keys. One with all of kSelf was not made for a call.
DispatchKeySet shown(DispatchKeySet set) {
  constexpr DispatchKeySet kSelf({DispatchKey::Conjugate, DispatchKey::Negative, DispatchKey::ZeroTensor});
  return left || !set.has(kBelow) || set.isSupersetOf(kSelf) ? set : set - pair(chosen);
}

bool registers(DispatchKey key) { return !left && (key == above() || key == kBelow); }

DispatchKeySet held() {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  DispatchKeySet all;
  for (const auto& f : fallbacks) {
    if (f.second != nullptr) all = all.add(f.first);
  }
  return all;
}

c10::RegistrationHandleRAII fallback(c10::Dispatcher& dispatcher, DispatchKey key, c10::KernelFunction kernel, std::string debug) {
  want(DispatchKeySet(key));
  std::lock_guard<std::recursive_mutex> lock(mutex);
  if (fallbacks.count(key) == 0) return dispatcher.registerFallback(key, std::move(kernel), std::move(debug));
  fallbacks[key].reset();
  try {
    auto handle = std::make_shared<c10::RegistrationHandleRAII>(dispatcher.registerFallback(key, theirs(key, std::move(kernel)), std::move(debug)));
    return c10::RegistrationHandleRAII([key, handle]() mutable {
      handle.reset();
      take(key, none(key));
    });
  } catch (...) {
    take(key, none(key));
    throw;
  }
}

c10::KernelFunction theirs(DispatchKey key, c10::KernelFunction kernel) {
  if (fallbacks.count(key) == 0 || kernel.isFallthrough()) return kernel;
  return c10::KernelFunction::makeFromBoxedFunctor(std::make_unique<Theirs>(key, std::move(kernel)));
}

void forked() { new (&mutex) std::recursive_mutex; }

}  // namespace opassert::keys
