// keys.h holds the watcher's dispatch keys, hides them from the program, and leaves them to the program if it uses
// them.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <optional>
#include <string>

namespace opassert {

using c10::DispatchKey;
using c10::DispatchKeySet;

// kBelow is the only key without a kernel of PyTorch that is below autograd and above
// the backends. In 1.13 and 2.6 it is above Python, in newer versions below.
constexpr DispatchKey kBelow = DispatchKey::Fake;

// kRegistrar is the name under which the watcher's kernels are registered.
constexpr const char* kRegistrar = "opassert";

// after returns the keys that come after one. The Python dispatcher is above all, and is called again for each.
inline DispatchKeySet after(DispatchKeySet keys, DispatchKey key) {
  return keys & (DispatchKeySet(DispatchKeySet::FULL_AFTER, key) | DispatchKeySet(DispatchKey::PythonDispatcher));
}

// The keys are kBelow and one above autograd. A thread's included set has both, and both together identify them as
// ours. If a program uses one of them, or registers something for it, the watcher moves to another key, or stops.
// Threads that still include the old pair exchange it at their next call.
namespace keys {

// claim reports whether it could claim two keys. moved is called when the key above
// autograd changes, left with the reason when none is left.
bool claim(c10::KernelFunction below, void (*moved)(), void (*left)(const std::string&));

DispatchKey above();  // the one above autograd
bool gone();          // whether the keys are the program's

// enter adds the pair to this thread's set, and removes the old pair if it changed.
void enter();

// want leaves the keys of a set to the program, retire both in this process.
void want(DispatchKeySet set);
void retire();

// ours returns our keys in a set, visible a set without them, and renewed a thread's sets with them.
DispatchKeySet ours(DispatchKeySet included);
DispatchKeySet visible(DispatchKeySet included);
c10::impl::LocalDispatchKeySet renewed(c10::impl::LocalDispatchKeySet set);

// shown returns a set for printing.
DispatchKeySet shown(DispatchKeySet set);

// registers reports whether kernels of operators for a key are ours; held returns the keys that have a fallback of
// ours.
bool registers(DispatchKey key);
DispatchKeySet held();

// fallback registers the program's fallback for a key that may have been ours.
c10::RegistrationHandleRAII fallback(c10::Dispatcher& dispatcher, DispatchKey key, c10::KernelFunction kernel, std::string debug);

// theirs is a kernel of the program for a key that some thread may still include
// because of us: it is not called there.
c10::KernelFunction theirs(DispatchKey key, c10::KernelFunction kernel);

void forked();

// excluded_by_program is whether the program excludes kBelow in this thread, whatever the dispatcher's set has.
inline thread_local std::optional<bool> excluded_by_program;

}  // namespace keys

// Excluding is in scope while the watcher has kBelow excluded, or included.
class Excluding {
  const std::optional<bool> outer_ = keys::excluded_by_program;
  const bool was_ = c10::impl::tls_is_dispatch_key_excluded(kBelow), changes_;

 public:
  explicit Excluding(bool excluded) : changes_(was_ != excluded) {
    if (!changes_) return;
    if (!outer_) keys::excluded_by_program = was_;
    c10::impl::tls_set_dispatch_key_excluded(kBelow, excluded);
  }
  ~Excluding() {
    if (!changes_) return;
    c10::impl::tls_set_dispatch_key_excluded(kBelow, was_);
    keys::excluded_by_program = outer_;
  }
};

}  // namespace opassert
