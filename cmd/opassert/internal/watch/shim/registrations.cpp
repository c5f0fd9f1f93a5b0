#include "registrations.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "channel.h"
#include "kernels.h"
#include "keys.h"
#include "operators.h"
#include "unboxed.h"

namespace opassert::registrations {

std::atomic<bool> dirty{false};

namespace {

using c10::OperatorHandle;

struct New {
  c10::OperatorName name;
  int lookups = 0;
};
Mutex mutex;
auto& registered = *new std::vector<New>;

// Kernels are the watcher's kernels, by operator: those above autograd, and those of frequent ones below.
using Kernels = std::vector<std::pair<c10::OperatorName, c10::RegistrationHandleRAII>>;
auto &kernels = *new Kernels, &frequent = *new Kernels;

void add(const c10::OperatorName& name) {
  if (operators::own(name.name)) return;
  std::lock_guard<std::mutex> lock(mutex);
  registered.push_back({name});
  dirty = true;
}

struct Listener final : c10::OpRegistrationListener {
  // These run under the dispatcher's lock.
  void onOperatorRegistered(const OperatorHandle& handle) override { add(handle.operator_name()); }
  void onOperatorDeregistered(const OperatorHandle& handle) override { operators::forget(handle.operator_name()); }
};

void watch(const c10::OperatorName& name) {
  if (keys::gone()) return;
  try {
    auto handle = c10::Dispatcher::singleton().registerImpl(
        name, keys::above(), kernel_above(), c10::nullopt, nullptr, kRegistrar);
    std::lock_guard<std::mutex> lock(mutex);
    kernels.emplace_back(name, std::move(handle));
  } catch (const std::exception&) {
    // It was deregistered again.
  }
}

// settled reports whether the registrations of an operator are complete.
bool settled(New& op) {
  auto handle = c10::Dispatcher::singleton().findSchema(op.name);
  if (!handle) return true;
  constexpr int kLookups = 1000;
  const bool there = has_autograd(*handle) || handle->hasKernelForAnyDispatchKey(DispatchKeySet(DispatchKeySet::FULL)) ||
                     handle->hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutograd);
  if (there) watch(op.name);
  return there || ++op.lookups > kLookups;
}

}  // namespace

void listen() {
  static auto* keep = new c10::RegistrationHandleRAII(c10::Dispatcher::singleton().addRegistrationListener(std::make_unique<Listener>()));
  (void)keep;  // never destroyed: its destructor would unregister it
}

void look(const c10::OperatorName* just) {
  std::vector<New> now;
  {
    std::lock_guard<std::mutex> lock(mutex);
    const auto of = std::stable_partition(registered.begin(), registered.end(), [&](const New& op) { return just != nullptr && !(op.name == *just); });
    std::move(of, registered.end(), std::back_inserter(now));
    registered.erase(of, registered.end());
    dirty = !registered.empty();
  }
  if (just == nullptr || !now.empty()) channel::connect_now();  // a forked process greets opassert
  std::string names;
  std::vector<New> later;
  for (New& op : now) {
    if (op.lookups == 0) names += toString(op.name) + "\n";
    if (!settled(op)) later.push_back(op);
  }
  if (!later.empty()) {
    std::lock_guard<std::mutex> lock(mutex);
    registered.insert(registered.end(), later.begin(), later.end());
    dirty = true;
  }
  if (!names.empty()) channel::send(FRAME_NAMES, names);
}

void unwatch(const c10::OperatorName& name) {
  Kernels given_up;
  std::lock_guard<std::mutex> lock(mutex);
  const auto rest = std::stable_partition(kernels.begin(), kernels.end(), [&](const auto& kernel) { return !(kernel.first == name); });
  std::move(rest, kernels.end(), std::back_inserter(given_up));
  kernels.erase(rest, kernels.end());
}

void moved() {
  Kernels above, below;
  {
    std::lock_guard<std::mutex> lock(mutex);
    above.swap(kernels);
    if (keys::gone()) below.swap(frequent);
  }
  std::vector<c10::OperatorName> names;
  for (const auto& kernel : above) names.push_back(kernel.first);
  above.clear();
  for (const auto& name : names) watch(name);
}

template <class Signature>
void watch_frequent(std::initializer_list<const char*> names) {
  for (const std::string full : names) {
    const size_t dot = full.find('.');
    const c10::OperatorName name("aten::" + full.substr(0, dot), dot == std::string::npos ? "" : full.substr(dot + 1));
    const auto op = c10::Dispatcher::singleton().findSchema(name);
    if (!op || op->hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd)) continue;
    try {
      using Kernel = UnboxedKernel<Signature>;
      auto kernel = c10::KernelFunction::makeFromUnboxedFunctor<false, Kernel>(std::make_unique<Kernel>(*op));
      frequent.emplace_back(name, c10::Dispatcher::singleton().registerImpl(name, kBelow, std::move(kernel), c10::impl::CppSignature::make<Signature>(), nullptr, kRegistrar));
    } catch (const std::exception&) {
      // In this version it has another signature: its calls go to the fallback.
    }
  }
}

void watch_frequent() {
  using at::Scalar;
  using at::Tensor;
  using T = const Tensor&;
  using S = const Scalar&;
  using Sizes = c10::SymIntArrayRef;
  using DType = c10::optional<at::ScalarType>;
  using Layout = c10::optional<at::Layout>;
  using Device = c10::optional<at::Device>;
  using Format = c10::optional<at::MemoryFormat>;
  using Bool = c10::optional<bool>;
  watch_frequent<Tensor(T)>({"abs", "alias", "bitwise_not", "cos", "detach", "exp", "isnan", "log", "logical_not", "neg", "reciprocal", "relu", "rsqrt", "sigmoid", "silu", "sin", "sqrt", "t", "tanh"});
  watch_frequent<Tensor(T, T)>({"bmm", "div.Tensor", "eq.Tensor", "ge.Tensor", "gt.Tensor", "le.Tensor", "lt.Tensor", "maximum", "minimum", "mm", "mul.Tensor", "ne.Tensor", "sigmoid_backward", "tanh_backward"});
  watch_frequent<Tensor(T, T, S)>({"add.Tensor", "sub.Tensor", "threshold_backward"});
  watch_frequent<Tensor(T, S)>({"div.Scalar", "eq.Scalar", "ge.Scalar", "gt.Scalar", "le.Scalar", "lt.Scalar", "mul.Scalar", "ne.Scalar", "pow.Tensor_Scalar"});
  watch_frequent<Tensor(T, S, S)>({"add.Scalar", "rsub.Scalar", "sub.Scalar"});
  watch_frequent<Tensor(T, T, T, S, S)>({"addmm"});
  watch_frequent<Tensor(T, DType)>({"mean", "sum"});
  watch_frequent<Tensor(T, at::OptionalIntArrayRef, bool, DType)>({"mean.dim", "sum.dim_IntList"});
  watch_frequent<Tensor(T, int64_t)>({"unsqueeze"});
  watch_frequent<Tensor(T, int64_t, bool)>({"_log_softmax", "_softmax"});
  watch_frequent<Tensor(T, int64_t, int64_t)>({"transpose.int"});
  watch_frequent<Tensor(T, int64_t, c10::SymInt)>({"select.int"});
  watch_frequent<Tensor(T, int64_t, c10::optional<c10::SymInt>, c10::optional<c10::SymInt>, c10::SymInt)>({"slice.Tensor"});
  watch_frequent<Tensor(T, Sizes)>({"_unsafe_view", "view"});
  watch_frequent<Tensor(T, Sizes, bool)>({"expand"});
  watch_frequent<Tensor(T, at::IntArrayRef)>({"permute"});
  watch_frequent<Tensor(T, Format)>({"clone"});
  watch_frequent<Tensor(T, DType, Layout, Device, Bool, bool, Format)>({"_to_copy"});
  watch_frequent<Tensor(T, DType, Layout, Device, Bool, Format)>({"empty_like", "ones_like", "zeros_like"});
  watch_frequent<Tensor(Sizes, DType, Layout, Device, Bool)>({"ones", "rand", "randn", "zeros"});
  watch_frequent<Tensor(Sizes, DType, Layout, Device, Bool, Format)>({"empty.memory_format"});
  watch_frequent<Tensor&(Tensor&)>({"relu_", "sqrt_", "zero_"});
  watch_frequent<Tensor&(Tensor&, S)>({"div_.Scalar", "fill_.Scalar", "mul_.Scalar"});
  watch_frequent<Tensor&(Tensor&, T)>({"bitwise_and_.Tensor", "bitwise_or_.Tensor", "div_.Tensor", "mul_.Tensor"});
  watch_frequent<Tensor&(Tensor&, T, S)>({"add_.Tensor", "lerp_.Scalar", "sub_.Tensor"});
  watch_frequent<Tensor&(Tensor&, T, T, S)>({"addcdiv_", "addcmul_"});
  watch_frequent<Tensor&(Tensor&, T, bool)>({"copy_"});
  watch_frequent<Scalar(T)>({"_local_scalar_dense"});
}

}  // namespace opassert::registrations
