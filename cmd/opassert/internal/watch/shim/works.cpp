#include "works.h"

#include <ATen/core/Tensor.h>

#include <atomic>
#include <unordered_map>

#include "imports.h"

namespace c10d {
class Work;
// Source: torch/csrc/distributed/c10d/ProcessGroup.hpp, since 2.6. A libtorch may lack torch.distributed.
void register_work(const at::Tensor& tensor, const c10::intrusive_ptr<Work>& work) __attribute__((weak));
}  // namespace c10d

namespace opassert::works {
namespace {

Mutex mutex;
auto& registered = *new std::unordered_map<const c10::StorageImpl*, c10::weak_intrusive_ptr<c10::StorageImpl>>;
std::atomic<bool> any{false};

// register_tensor replaces libtorch's function.
void register_tensor(const at::Tensor& tensor, const c10::intrusive_ptr<c10d::Work>& work) {
  c10d::register_work(tensor, work);
  if (!tensor.has_storage()) return;
  std::lock_guard<std::mutex> lock(mutex);
  registered.emplace(tensor.storage().unsafeGetStorageImpl(), tensor.storage().getWeakStorageImpl());
  any = true;
}

}  // namespace

bool is_pending(const c10::TensorImpl* impl) {
  if (C10_LIKELY(!any.load(std::memory_order_relaxed)) || !impl->has_storage()) return false;
  std::lock_guard<std::mutex> lock(mutex);
  const auto at = registered.find(impl->unsafe_storage().unsafeGetStorageImpl());
  if (at == registered.end()) return false;
  if (at->second.weak_use_count() > 2) return true;  // ours, and one that all strong ones together have
  registered.erase(at);
  any = !registered.empty();
  return false;
}

void replace_imports() { replace_import(&c10d::register_work, &register_tensor); }

}  // namespace opassert::works
