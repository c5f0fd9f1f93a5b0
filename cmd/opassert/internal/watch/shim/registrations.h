// registrations.h follows the registrations of operators, collects custom ones, and
// handles them once their kernels are registered.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <atomic>

namespace opassert::registrations {

extern std::atomic<bool> dirty;  // there are operators to look at

// listen is called for all registrations, also later ones.
void listen();

// look looks at the new operators, or just at the one of which something was registered.
void look(const c10::OperatorName* just = nullptr);

// unwatch removes the watcher's kernels of an operator.
void unwatch(const c10::OperatorName& name);

// watch_frequent registers kernels for operators that programs call most.
void watch_frequent();

// moved registers the watcher's kernels again, for another key.
void moved();

}  // namespace opassert::registrations
