#include "device.h"

#include <ATen/EmptyTensor.h>
#if __has_include(<ATen/ops/empty.h>)
#include <ATen/ops/empty.h>
#else
#include <ATen/Functions.h>
#endif
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

namespace opassert {
namespace {

using c10::impl::DeviceGuardImplInterface;

// Plain is in scope while calls go to the kernels of backends at once.
class Plain {
  const c10::impl::LocalDispatchKeySet outer_ = c10::impl::tls_local_dispatch_key_set();

 public:
  Plain() {
    auto plain = outer_;
    plain.included_ = c10::default_included_set;
    plain.excluded_ = c10::default_excluded_set | c10::autograd_dispatch_keyset_with_ADInplaceOrView;
    c10::impl::_force_tls_local_dispatch_key_set(plain);
  }
  ~Plain() { c10::impl::_force_tls_local_dispatch_key_set(outer_); }
};

// captures reports whether the work of a device is recorded instead of done. A
// PyTorch that cannot say so has graphs for CUDA alone, and HIP, which has its name.
template <class T>
auto captures(const T* backend, c10::Device device, int) -> decltype(backend->isStreamCapturing(backend->getStream(device))) {
  return backend->isStreamCapturing(backend->getStream(device));
}
template <class T>
bool captures(const T*, c10::Device device, long) {
  return device.is_cuda() || device.is_hip();
}

// finish waits for the streams of a device. What a backend can't wait for, its copy does.
template <class T>
auto finish(const T* backend, c10::Device device, int) -> decltype(backend->synchronizeDevice(device.index())) {
  try {
    backend->synchronizeDevice(device.index());
  } catch (const std::exception&) {
  }
}
template <class T>
void finish(const T*, c10::Device, long) {}

at::Tensor copy(const c10::StorageImpl* storage) {
  const c10::Device device = storage->device();
  const auto* backend = c10::impl::getDeviceGuardImpl(device.type());
  if (captures(backend, device, 0)) return at::Tensor();
  Plain plain;
  c10::DeviceGuard guard(device);
  finish(backend, device, 0);
  const int64_t n = size_of(storage);
  auto counted = c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(const_cast<c10::StorageImpl*>(storage));
  at::Tensor there = at::empty({0}, at::TensorOptions(at::kByte).device(device));
  there.set_(c10::Storage(std::move(counted)), 0, {n}, {1});
  at::Tensor here = at::detail::empty_cpu({n}, at::kByte);
  here.copy_(there);
  return here;
}

}  // namespace

const void* address_of(const c10::StorageImpl* storage) {
  try {
    return copy_on_write(storage) ? nullptr : storage->data_ptr().get();
  } catch (...) {
    return nullptr;
  }
}

bool on_device(const c10::StorageImpl* storage) {
  const auto type = storage->device_type();
  return type != c10::DeviceType::CPU && type != c10::DeviceType::Meta && address_of(storage) != nullptr;
}

at::Tensor copied(const c10::StorageImpl* storage) {
  try {
    return copy(storage);
  } catch (const c10::Error& e) {
    copy_fault = e.what_without_backtrace();
  } catch (const std::exception& e) {
    copy_fault = e.what();
  } catch (...) {
    copy_fault = "an exception that is not a std::exception";
  }
  copy_fault = "the bytes of a tensor on " + storage->device().str() + " cannot be copied to the CPU: " + copy_fault;
  return at::Tensor();
}

}  // namespace opassert
