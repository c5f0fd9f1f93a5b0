#include "device.h"

#include <ATen/Context.h>
#include <ATen/EmptyTensor.h>
#include <ATen/core/LegacyTypeDispatch.h>
#if __has_include(<ATen/ops/empty.h>)
#include <ATen/ops/empty.h>
#else
#include <ATen/Functions.h>
#endif
#if __has_include(<c10/core/CachingDeviceAllocator.h>)
#include <c10/core/CachingDeviceAllocator.h>
#endif
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

namespace c10 {
struct DeviceAllocator;  // of 2.9 and later
}

namespace opassert {
namespace {

using c10::impl::DeviceGuardImplInterface;

// While a Plain is in scope, calls go to the kernels of backends directly.
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

// captures reports whether the work of a device is recorded instead of done. A PyTorch without this
// function has graphs only for CUDA and HIP.
template <class T>
auto captures(const T* backend, c10::Device device, int) -> decltype(backend->isStreamCapturing(backend->getStream(device))) {
  return backend->isStreamCapturing(backend->getStream(device));
}
template <class T>
bool captures(const T*, c10::Device device, long) {
  return device.is_cuda() || device.is_hip();
}

// finish waits for the streams of a device. If a backend can't, its copy waits.
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

// A Filled is the allocator of a type of devices, whose memory contains a byte until it is written.
struct Filled final : c10::Allocator {
  c10::Allocator* own = nullptr;
  unsigned char byte = 0;
  mutable bool serves = false;

  // Which of the two is the one of the base differs by version.
  c10::DataPtr allocate(size_t n) { return static_cast<const Filled*>(this)->allocate(n); }
  c10::DataPtr allocate(size_t n) const {
    serves = true;
    c10::DataPtr memory = own->allocate(n);
    if (n > 0) fill(memory, n);
    return memory;
  }
  c10::DeleterFnPtr raw_deleter() const override { return own->raw_deleter(); }
  void copy_data(void* to, const void* from, std::size_t n) const { copy_data(own, to, from, n, 0); }

  // An allocator of 2.1 and before has no such function.
  template <class A>
  static auto copy_data(const A* own, void* to, const void* from, size_t n, int) -> decltype(own->copy_data(to, from, n)) {
    own->copy_data(to, from, n);
  }
  template <class A>
  static void copy_data(const A*, void*, const void*, size_t, long) {}

  void fill(const c10::DataPtr& memory, size_t n) const {
    if (memory.device().is_cpu()) {
      std::memset(memory.get(), byte, n);
      return;
    }
    static thread_local bool filling = false;  // the copy allocates too
    if (std::exchange(filling, true)) return;
    const std::unique_ptr<bool, void (*)(bool*)> filled(&filling, [](bool* was) { *was = false; });
    Plain plain;
    c10::DeviceGuard guard(memory.device());
    c10::Storage storage(c10::Storage::use_byte_size_t(), n, c10::DataPtr(memory.get(), memory.device()), nullptr, false);
    at::Tensor there = at::empty({0}, at::TensorOptions(at::kByte).device(memory.device())).set_(storage, 0, {int64_t(n)}, {1});
    at::Tensor here = at::detail::empty_cpu({int64_t(std::min(n, kFilled))}, at::kByte);
    std::memset(here.data_ptr(), byte, here.numel());
    for (size_t at = 0; at < n; at += kFilled) {
      const int64_t part = std::min(n - at, kFilled);
      there.narrow(0, at, part).copy_(here.narrow(0, 0, part));
    }
  }

  static constexpr size_t kFilled = 1 << 20;  // bytes at a time
};

// caches reports whether an allocator reuses memory, and its type has a function for it.
template <class A>
auto caches(c10::Allocator* allocator, int) -> decltype(sizeof(A), bool()) {
  return dynamic_cast<A*>(allocator) != nullptr;
}
template <class A>
bool caches(c10::Allocator*, long) {
  return false;
}

}  // namespace

bool fill(c10::DeviceType type, unsigned char byte) {
  static auto& all = *new std::map<c10::DeviceType, Filled>;
  Filled* filled = &all[type];
  filled->byte = byte;
  if (filled->own != nullptr) return filled->serves;
  filled->own = c10::GetAllocator(type);
  if (filled->own == nullptr || caches<c10::DeviceAllocator>(filled->own, 0)) return false;
  c10::SetAllocator(type, filled, UINT8_MAX);
  at::empty({1}, at::TensorOptions(at::kByte).device(type));
  if (!filled->serves) c10::SetAllocator(type, filled->own, UINT8_MAX);
  return filled->serves;
}

const void* address_of(const c10::StorageImpl* storage) {
  return or_else<const void*>(nullptr, [&] { return copy_on_write(storage) ? nullptr : storage->data_ptr().get(); });
}

bool on_device(const c10::StorageImpl* storage) {
  const auto type = storage->device_type();
  return type != c10::DeviceType::CPU && type != c10::DeviceType::Meta && address_of(storage) != nullptr;
}

// ready initializes a device that is initialized lazily. Before 2.6 each type had a function of its own.
template <class Context>
auto ready(Context& context, c10::DeviceType type, int) -> decltype(context.lazyInitDevice(type), void()) {
  context.lazyInitDevice(type);
}
template <class Context>
void ready(Context& context, c10::DeviceType type, long) {
  if (type == c10::DeviceType::CUDA) context.lazyInitCUDA();
}

// indices names the devices of a type by their indices.
std::string indices(const std::string& type, int64_t count) {
  if (count == 0) return "there is no device of that type here";
  if (count == 1) return "the only device of that type is " + type + ":0";
  return "the devices of that type are " + type + ":0 to " + type + ":" + std::to_string(count - 1);
}

c10::Device found(const std::string& name) {
  const std::string brought = c10::DeviceTypeName(c10::DeviceType::PrivateUse1, true);
  const std::string brings = brought == "privateuseone" ? "; name the package that brings it with -module, as in check -device openreg -module torch_openreg"
                                                        : "; the one that a package brought is " + brought;
  const std::string type = name.substr(0, name.find(':'));
  c10::Device device(c10::DeviceType::Meta);
  try {
    device = c10::Device(name);
  } catch (const c10::Error& e) {
    throw Refusal("PyTorch has no device of that name" + brings);
  }
  if (device.type() == c10::DeviceType::Meta || !c10::impl::hasDeviceGuardImpl(device.type())) throw Refusal("no loaded library has kernels for it" + brings);
  const auto* backend = c10::impl::getDeviceGuardImpl(device.type());
  const int64_t count = backend->deviceCount();
  // A Device has eight bits for its index, and drops what is above them.
  const int64_t index = device.has_index() ? std::strtoll(name.c_str() + type.size() + 1, nullptr, 10) : 0;
  if (index >= count) throw Refusal(indices(type, count));
  ready(at::globalContext(), device.type(), 0);
  return device.has_index() ? device : backend->getDevice();
}

at::Tensor moved(const at::TensorOptions& options, c10::Storage storage, int64_t n, const char* data, int64_t ndata, c10::IntArrayRef sizes,
                 c10::IntArrayRef strides, int64_t offset) {
  at::AutoDispatchBelowADInplaceOrView plain;
  if (!storage) {
    at::Tensor here = at::detail::empty_cpu({n}, at::kByte), there = at::empty({n}, options.dtype(at::kByte));
    if (n > 0) {
      std::memset(here.data_ptr(), 0, n);
      std::memcpy(here.data_ptr(), data, ndata);
      there.copy_(here);
    }
    storage = there.storage();
  }
  return at::empty({0}, options).set_(storage, offset, sizes, strides);
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
