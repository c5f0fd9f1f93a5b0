#include "kernels.h"

#include <c10/core/impl/TorchDispatchModeTLS.h>

#include <algorithm>
#include <optional>

#include "backward.h"
#include "keys.h"
#include "observedcall.h"
#include "others.h"
#include "python.h"
#include "registrations.h"
#include "unboxed.h"

namespace opassert {
namespace {

using c10::OperatorHandle;
using torch::jit::Stack;

template <class F>
bool any_argument(const Watched& op, const Stack& stack, F&& f) {
  bool any = false;
  each_argument(op, stack, [&](TensorImpl* impl, const Subject&) { any = any || (impl != nullptr && f(impl)); });
  return any;
}

// by_fake reports whether a fake answers a call, while a compiler traces. It is called before a call of Python.
bool by_fake(const Watched& op, const Stack& stack) {
  python::Lock lock;
  return python::has_mode(python::kFakeMode) || any_argument(op, stack, [](TensorImpl* impl) { return impl->is_python_dispatch() && python::class_of(impl) == python::kFakeTensor; });
}

// in_fake reports whether a call is made by a fake, which only has shapes.
bool in_fake(const Watched& op, const Stack& stack) {
  return !any_argument(op, stack, [](TensorImpl* impl) { return !is_meta(impl, storage_of(impl)); });
}

// calls_python reports whether a call will reach Python.
bool calls_python(const Watched& op, const Stack& stack) {
  if (python::interpreter == nullptr) return false;
  return c10::impl::TorchDispatchModeTLS::stack_len() > 0 || any_argument(op, stack, [](TensorImpl* impl) { return impl->is_python_dispatch(); });
}

void fallback(const OperatorHandle& handle, DispatchKeySet keys, Stack* stack) {
  const auto rest = after(keys, kBelow);
  keys::enter();
  if (C10_UNLIKELY(keys::gone())) return handle.redispatchBoxed(rest, stack);
  if (rest.has(DispatchKey::Python)) return handle.redispatchBoxed(rest, stack);  // observed where Python is called
  if (C10_UNLIKELY(registrations::dirty.load(std::memory_order_relaxed))) registrations::look();
  const Watched& op = operators::find(handle).serving(rest, *stack);
  // Calls by PyTorch's own kernels are of PyTorch's operators, and are checked only if
  // they may have kernels of others. Calls by custom kernels are watched if they are of
  // custom operators; PyTorch's may run there with view tracking on.
  std::optional<Excluding> guard;
  if (!op.custom && !others::run(rest)) guard.emplace(true);
  if (!op.watched || op.decomposes || (!op.custom && Inside::kernel())) return handle.redispatchBoxed(rest, stack);
  if (C10_UNLIKELY(Inside::fake > 0) && in_fake(op, *stack)) return handle.redispatchBoxed(rest, stack);
  if (op.unboxed && op.expected.args.empty() && op.expected.returns.empty()) {  // there is nothing to observe
    UnboxedCall none;
    Running running(op, none);
    handle.redispatchBoxed(rest, stack);
    running.usual(nullptr);
    return;
  }
  Inside inside(op);
  look_at(op, *stack, BELOW_AUTOGRAD, [&] { handle.redispatchBoxed(rest, stack); });
  if (op.followed) Followed::recorded(op, *stack);
}

void above(const OperatorHandle& handle, DispatchKeySet keys, Stack* stack) {
  const auto rest = after(keys, keys::above());
  const Watched& op = operators::find(handle);
  if (!op.watched) return handle.redispatchBoxed(rest, stack);
  const Followed followed(handle, op, *stack);
  if (!op.autograd || (!op.decomposes && calls_python(op, *stack) && by_fake(op, *stack))) {
    handle.redispatchBoxed(rest, stack);
    return followed.returned();
  }
  const Outer here(op);
  look_at(op, *stack, ABOVE_AUTOGRAD, [&] { handle.redispatchBoxed(rest, stack); });
  followed.returned();
}

python::Dispatch dispatch_to_python;

// dispatch replaces the call of __torch_dispatch__. Below it all keys above Python
// are excluded, in some versions also ours.
void dispatch(const c10::impl::PyInterpreterVTable* table, const OperatorHandle& handle, Stack* stack) {
  const Watched& op = operators::find(handle);
  if (!op.watched || keys::gone() || Inside::own + Inside::fake > 0 || (!op.custom && Inside::custom > 0)) return dispatch_to_python(table, handle, stack);
  if (by_fake(op, *stack)) {
    op.counts->count(&Counts::faked);
    Inside inside(Inside::fake);
    return dispatch_to_python(table, handle, stack);
  }
  look_at(op, *stack, PYTHON, [&] {
    Excluding below(false);
    dispatch_to_python(table, handle, stack);
  });
}

}  // namespace

const c10::KernelFunction& boxed_fallback() {
  static const auto kernel = c10::KernelFunction::makeFromBoxedFunction<&fallback>();
  return kernel;
}

c10::KernelFunction kernel_above() { return c10::KernelFunction::makeFromBoxedFunction<&above>(); }

void see_python() { dispatch_to_python = python::stand_in(&dispatch); }

}  // namespace opassert
