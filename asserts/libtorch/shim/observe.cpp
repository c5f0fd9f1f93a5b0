#include "observe.h"

#include <dlfcn.h>

#include <ATen/FunctionalTensorWrapper.h>
#include <ATen/NestedTensorImpl.h>
#include <ATen/SparseCsrTensorImpl.h>
#include <ATen/SparseTensorImpl.h>
#include <ATen/core/VariableHooksInterface.h>
#include <ATen/quantized/QTensorImpl.h>
#include <ATen/quantized/Quantizer.h>
#include <c10/core/ScalarTypeToTypeMeta.h>
#if __has_include(<c10/core/impl/COW.h>)
#include <c10/core/impl/COW.h>
#endif
#include <torch/csrc/api/include/torch/version.h>
#include <torch/csrc/autograd/variable.h>

#include <optional>
#include <sstream>

#include "device.h"
// Named tensors were removed in 2.13. The header may still be in /usr/include.
#if TORCH_VERSION_MAJOR == 1 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR < 13)
#define NAMED_TENSORS
#include <ATen/core/NamedTensor.h>
#endif

namespace opassert {
namespace {

using c10::DispatchKey;
using c10::DispatchKeySet;
using c10::TensorImpl;

constexpr size_t kSnapshotLimit = 64 << 10;  // asserts.SnapshotLimit

// has_parts is false for nearly all tensors without parts.
OA_INLINE bool has_parts(const TensorImpl* impl) {
  constexpr c10::DispatchKeySet special({DispatchKey::Quantized, DispatchKey::NestedTensor, DispatchKey::Functionalize});
  return !impl->unsafe_storage() || impl->key_set().has_any(special);
}

// quantizer_of returns null for a tensor that only has a quantized dtype, such as the lazy clone of a quantized one.
at::QuantizerPtr quantizer_of(TensorImpl* impl) {
  auto* quantized = impl->key_set().has(DispatchKey::Quantized) ? dynamic_cast<at::QTensorImpl*>(impl) : nullptr;
  return quantized ? quantized->quantizer() : at::QuantizerPtr();
}

// parts calls f with each tensor inside the tensor, with its role, and with the number of its uses that are ours:
// OA_UNCOUNTED for the value of a functional wrapper, whose storage may hold it, too.
template <class F>
void parts(TensorImpl* impl, F&& f) {
  if (impl->unsafe_storage()) {
    if (impl->key_set().has(DispatchKey::Functionalize)) {
      if (auto* wrapper = dynamic_cast<const at::FunctionalTensorWrapper*>(impl)) f(wrapper->value(), OA_VALUE, OA_UNCOUNTED);
    } else if (auto quantizer = quantizer_of(impl)) {
      if (auto* q = dynamic_cast<at::PerChannelAffineQuantizer*>(quantizer.get())) {
        f(q->scales(), OA_SCALES, 1);
        f(q->zero_points(), OA_ZERO_POINTS, 1);
      }
    } else if (impl->key_set().has(DispatchKey::NestedTensor)) {
      if (auto* nested = dynamic_cast<const at::native::NestedTensorImpl*>(impl)) {
#if TORCH_VERSION_MAJOR >= 2
        f(nested->get_nested_sizes(), OA_SIZES, 0);
        f(nested->get_nested_strides(), OA_STRIDES, 0);
#else
        f(nested->get_nested_size_tensor(), OA_SIZES, 0);
        f(nested->get_nested_stride_tensor(), OA_STRIDES, 0);
#endif
      }
    }
    return;
  }
  if (auto* coo = dynamic_cast<const at::SparseTensorImpl*>(impl)) {
    f(coo->indices(), OA_INDICES, 1);
    f(coo->values(), OA_VALUES, 1);
  } else if (auto* csr = dynamic_cast<const at::SparseCsrTensorImpl*>(impl)) {
    f(csr->compressed_indices(), OA_COMPRESSED_INDICES, 0);
    f(csr->plain_indices(), OA_PLAIN_INDICES, 0);
    f(csr->values(), OA_VALUES, 0);
  }
}

uint64_t turn(uint64_t x) { return (x << 29) | (x >> 35); }

// digest is not cryptographic: it must distinguish a changed storage from an unchanged one, at
// memory speed. Every step is invertible, so that one changed word always changes it.
uint64_t digest(const void* data, size_t n) {
  constexpr uint64_t k = 0x9E3779B97F4A7C15;
  constexpr size_t kLanes = 8, kStep = 8 * kLanes;  // as many as keep a multiplier busy
  uint64_t lane[kLanes];
  for (size_t j = 0; j < kLanes; j++) lane[j] = (n + j) * k;
  const char* p = static_cast<const char*>(data);
  for (; n >= kStep; p += kStep, n -= kStep) {
#pragma GCC unroll 8
    for (size_t j = 0; j < kLanes; j++) {
      uint64_t w;
      std::memcpy(&w, p + 8 * j, 8);
      lane[j] = turn((lane[j] ^ w) * k);
    }
  }
  for (size_t i = 0; i < n; i += 8) {
    uint64_t w = 0;
    std::memcpy(&w, p + i, n - i < 8 ? n - i : 8);
    lane[0] = turn((lane[0] ^ w) * k);
  }
  uint64_t h = lane[0];
  for (size_t j = 1; j < kLanes; j++) h = turn(h * k) ^ lane[j];
  h ^= h >> 32;
  return h * k;
}

int64_t dtype_of(const TensorImpl* impl) {
  return or_else(int64_t(OA_NO_DTYPE), [&] { return static_cast<int64_t>(c10::typeMetaToScalarType(impl->dtype())); });
}

// symbolic reports whether sizes are symbols. 1.13 throws if they are.
template <class T>
auto symbolic(const T* impl, int) -> decltype(impl->has_symbolic_sizes_strides()) {
  return impl->has_symbolic_sizes_strides();
}
template <class T>
bool symbolic(const T*, long) {
  return false;
}

// A nested tensor has no sizes.
c10::IntArrayRef sizes_of(const TensorImpl* impl) {
  return has_numbers(impl) ? or_else(c10::IntArrayRef(), [&] { return impl->sizes(); }) : c10::IntArrayRef();
}

bool strides_of(const TensorImpl* impl, c10::IntArrayRef& strides, int64_t& offset) {
  if (!has_numbers(impl)) return false;
  try {
    if (impl->layout() != c10::Layout::Strided) return false;
    strides = impl->strides();
    offset = impl->storage_offset();
    return true;
  } catch (...) {
    return false;  // nested, or a subclass that keeps them to itself
  }
}

// layout_of returns the layout, whether a sparse tensor is coalesced, and whether type promotion
// treats a tensor as a number. Only uncommon layouts are composed as text.
std::string_view layout_of(const TensorImpl* impl, std::string& text) {
  c10::Layout layout;
  try {
    layout = impl->layout();
  } catch (...) {
    return "";
  }
  if (impl->key_set().has(DispatchKey::NestedTensor)) return "Nested";
  if (layout == c10::Layout::Strided) return impl->is_wrapped_number() ? "Strided number" : "Strided";
  std::ostringstream stream;
  stream << layout;
  if (auto* coo = dynamic_cast<const at::SparseTensorImpl*>(impl)) stream << (coo->coalesced() ? " coalesced" : "");
  return text = stream.str();
}

// quantization_of describes a quantizer without tensors; "" for none.
std::string quantization_of(const TensorImpl* impl) {
  auto quantizer = quantizer_of(const_cast<TensorImpl*>(impl));
  if (!quantizer) return "";
  std::ostringstream text;
  text << c10::toString(quantizer->qscheme());
  if (auto* q = dynamic_cast<at::PerTensorAffineQuantizer*>(quantizer.get())) text << " " << q->scale() << " " << q->zero_point();
  return text.str();
}

// grad_of returns the TensorImpl of .grad, null for none.
const TensorImpl* grad_of(const TensorImpl* impl) {
  const auto* autograd = const_cast<TensorImpl*>(impl)->autograd_meta();
  if (autograd == nullptr) return nullptr;
  const at::Tensor& grad = autograd->grad();
  return grad.defined() ? grad.unsafeGetTensorImpl() : nullptr;
}

// memory_of returns the address of a storage's bytes, 0 if it is unknown, shared by copy-on-write, or not an address.
int64_t memory_of(const c10::StorageImpl* storage) {
  const bool addressed = OA_ADDRESSED >> static_cast<int>(storage->device_type()) & 1;
  return addressed ? reinterpret_cast<int64_t>(address_of(storage)) : 0;
}

// counter_of returns the address of a tensor's version counter, 0 for none.
//
// Source: c10/core/TensorImpl.h: a VariableVersion consists of a pointer to it.
int64_t counter_of(const TensorImpl* impl) {
  int64_t counter;
  static_assert(sizeof(c10::VariableVersion) == sizeof counter, "a VariableVersion is more than a pointer");
  std::memcpy(&counter, &impl->version_counter(), sizeof counter);
  return impl->version_counter().enabled() ? counter : 0;
}

// contents writes the fields that the content level adds; data is the readable address of the
// storage's bytes, or null.
void contents(const TensorImpl* impl, const c10::StorageImpl* storage, const void* data, oa_level level, Reply& out) {
  const c10::Device device = or_else(c10::Device(c10::DeviceType::CPU), [&] { return impl->device(); });
  const c10::IntArrayRef sizes = sizes_of(impl);
  c10::IntArrayRef strides;
  Contents c;
  c.strided = strides_of(impl, strides, c.offset);
  if (!c.strided) c.offset = 0;
  c.dtype = dtype_of(impl);
  c.device_type = static_cast<int64_t>(device.type());
  c.device_index = device.index();
  c.nbytes = storage ? size_of(storage) : 0;
  c.digest = data ? digest(data, c.nbytes) : 0;
  c.sizes = sizes.data();
  c.dims = sizes.size();
  c.strides = strides.data();
  c.bytes = data;
  c.copied = data && level == OA_CONTENTS && size_t(c.nbytes) <= kSnapshotLimit ? c.nbytes : 0;
  if (impl->key_set().has(DispatchKey::Conjugate)) c.flags |= OA_CONJ;
  if (impl->key_set().has(DispatchKey::Negative)) c.flags |= OA_NEG;
  if (or_else(false, [&] { return impl->requires_grad(); })) c.flags |= borrowed(impl).is_leaf() ? OA_GRAD | OA_LEAF : OA_GRAD;
  if (storage) c.flags |= owner_of(storage);
  const std::string names = names_of(impl), quantizer = quantization_of(impl);
  std::string layout;
  c.names = names;
  c.layout = layout_of(impl, layout);
  c.quantizer = quantizer;
  c.grad = reinterpret_cast<int64_t>(grad_of(impl));
  c.memory = storage ? memory_of(storage) : 0;
  c.counter = counter_of(impl);
  c.write(out);
}

// is_unread reports whether a storage has bytes that cannot be read. Those of a functional wrapper
// are its value's, and a zero tensor has none.
bool is_unread(const TensorImpl* impl, const c10::StorageImpl* storage) {
  return storage != nullptr && bytes_of(storage) == nullptr && size_of(storage) > 0 && !is_meta(impl, storage) && !on_device(storage) &&
         !impl->key_set().has_any(DispatchKeySet({DispatchKey::Functionalize, DispatchKey::ZeroTensor}));
}

int64_t traits_of(const TensorImpl* impl, const c10::StorageImpl* storage) {
  int64_t traits = 0;
  if (is_meta(impl, storage)) traits |= OA_META;
  if (impl->key_set().has(DispatchKey::Functionalize)) traits |= OA_FUNCTIONAL;
  if (!impl->version_counter().enabled()) traits |= OA_NO_VERSION;
  if (impl->key_set().has_any(kLazy)) traits |= OA_LAZY;
  if (is_unread(impl, storage)) traits |= OA_UNREAD;
  if (impl->is_python_dispatch()) {
    // A wrapper's storage is made around nothing. On the meta device that shows
    // of none, and what may be a wrapper is taken for one.
    bool data = storage != nullptr && (bytes_of(storage) != nullptr || on_device(storage));
    traits |= data ? OA_DIRECT_SUBCLASS : OA_WRAPPER_SUBCLASS;
  }
  return traits;
}

// objects_of returns the number of uses of a TensorImpl or a StorageImpl by its Python object. PyTorch 2.10 and newer
// have one as long as the object lives; before, a living Python object owns a use, or none, like others.
//
// Source: c10/core/impl/PyObjectSlot.h, which has load_pyobj since then, and c10/util/intrusive_ptr.h, kHasPyObject.
template <class T, class = void>
struct Objects {
  static int64_t of(const T*) { return 0; }
  static int64_t references(T*) { return 0; }
};

template <class T>
struct Objects<T, std::void_t<decltype(std::declval<T&>().pyobj_slot()->load_pyobj())>> {
  static int64_t of(const T* impl) { return const_cast<T*>(impl)->pyobj_slot()->load_pyobj() != nullptr; }

  // One reference to the object is the impl's own, while the impl has other uses.
  static int64_t references(T* impl) { return references_of(impl->pyobj_slot()->load_pyobj()); }
};

// in_python reports whether Python has a reference to a tensor that others have, too.
bool in_python(const TensorImpl* impl) { return Objects<TensorImpl>::references(const_cast<TensorImpl*>(impl)) > 1; }

// uses_of returns the number of references to an impl. Those to its Python object count, too,
// except the impl's own reference to it, which PyTorch 2.10 and newer has while there are other
// uses of the impl, and older ones have instead of the object's use.
template <class T>
int64_t uses_of(const T* impl) {
  const int64_t count = c10::raw::intrusive_ptr::use_count(const_cast<T*>(impl)), object = Objects<T>::of(impl);
  const int64_t refs = references<T> == nullptr ? 0 : references<T>(const_cast<T*>(impl));
  if (refs == OA_UNCOUNTED) return OA_UNCOUNTED;
  if (refs == 0) return count - object;
  return count - 1 + refs - (object && count > 1);
}

// record writes the words of an observation for one tensor; last is the number of its parts, or its role as a part.
void record(TensorImpl* impl, int64_t ours, int64_t last, oa_level level, Reply& out) {
  c10::StorageImpl* storage = storage_of(impl);
  int64_t impl_uses = uses_of(impl);
  if (impl_uses != OA_UNCOUNTED) impl_uses -= ours;
  int64_t storage_uses = storage ? uses_of(storage) : 0;
  if (ours == OA_UNCOUNTED) impl_uses = storage_uses = OA_UNCOUNTED;
  const auto& version = impl->version_counter();
  int64_t words[Observed::kHead] = {};
  HeadOf<decltype(words)> head{words};
  head.set_impl(reinterpret_cast<int64_t>(impl));
  head.set_storage(reinterpret_cast<int64_t>(storage));
  head.set_impl_uses(impl_uses);
  head.set_storage_uses(storage_uses);
  head.set_version(version.enabled() ? version.current_version() : 0);
  head.set_traits(traits_of(impl, storage));
  head.set_full(level >= OA_CONTENTS);
  head.set_last(last);
  std::optional<at::Tensor> copy;  // of a storage on a device
  const void* data = nullptr;
  if (storage != nullptr && (level == OA_CONTENTS || level == OA_DIGESTS)) {
    data = bytes_of(storage);
    if (data == nullptr && size_of(storage) > 0 && on_device(storage)) {
      copy = copied(storage);
      data = copy->defined() ? copy->data_ptr() : nullptr;
      if (data == nullptr) head.set_traits(head.traits() | OA_UNREAD);
    }
  }
  out.all(words);
  if (level >= OA_CONTENTS) contents(impl, storage, data, level, out);
}

}  // namespace

c10::StorageImpl* storage_of(const TensorImpl* impl) {
  return impl->unsafe_storage().unsafeGetStorageImpl();
}

const void* bytes_of(const c10::StorageImpl* storage) {
  return or_else<const void*>(nullptr, [&] { return storage->device_type() == c10::DeviceType::CPU ? storage->data() : nullptr; });
}

#if __has_include(<c10/core/impl/COW.h>)
bool copy_on_write(const c10::StorageImpl* storage) {
  return or_else(true, [&] { return c10::impl::cow::is_cow_data_ptr(storage->data_ptr()); });
}
#else
bool copy_on_write(const c10::StorageImpl*) { return false; }
#endif

size_t size_of(const c10::StorageImpl* storage) {
  return or_else(size_t(0), [&] { return storage->nbytes(); });
}

std::string names_of(const TensorImpl* impl) {
  std::string names;
#ifdef NAMED_TENSORS
  if (!at::impl::has_names(impl)) return names;
  for (const at::Dimname& name : at::impl::get_names(impl)) {
    names += (names.empty() ? "" : ", ") + std::string(name.symbol().toUnqualString());
  }
#endif
  return names;
}

int64_t owner_of(const c10::StorageImpl* storage) {
  try {
    const at::DataPtr& data = storage->data_ptr();
    if (data.get() == nullptr || storage->nbytes() == 0 || copy_on_write(storage)) return 0;
    if (data.get_context() == nullptr) return OA_UNOWNED;
    auto* allocator = c10::GetAllocator(storage->device_type());  // null for a device that has none
    auto made_by = [&](c10::Allocator* a) { return a != nullptr && data.get_deleter() == a->raw_deleter(); };
    return made_by(allocator) || made_by(own_allocator) ? 0 : OA_FOREIGN;
  } catch (...) {
    return 0;
  }
}

bool is_meta(const TensorImpl* impl, const c10::StorageImpl* storage) {
  if (storage != nullptr) return storage->device_type() == c10::DeviceType::Meta;
  return impl->key_set().has_backend(c10::BackendComponent::MetaBit);
}

bool has_numbers(const TensorImpl* impl) {
  while (impl->key_set().has(DispatchKey::Functionalize)) {  // a wrapper answers with what it wraps
    auto* wrapper = dynamic_cast<const at::FunctionalTensorWrapper*>(impl);
    if (wrapper == nullptr) break;
    impl = wrapper->value().unsafeGetTensorImpl();
  }
  return !impl->is_python_dispatch() && !symbolic(impl, 0);
}

// Source: Include/refcount.h and Include/object.h of CPython 3.9 to 3.14.
int64_t references_of(const void* object) {
  constexpr uint32_t kImmortal = 1u << 30;
  if (object == nullptr) return 0;
  static const bool free_threaded = dlsym(RTLD_DEFAULT, "_Py_DecRefShared") != nullptr;
  const char* at = static_cast<const char*>(object);
  uint32_t own;
  std::memcpy(&own, at + (free_threaded ? 12 : 0), sizeof own);
  if (own >= kImmortal) return OA_UNCOUNTED;
  int64_t shared = 0;
  if (free_threaded) std::memcpy(&shared, at + 16, sizeof shared);
  return own + (shared >> 2);
}

Uses uses(const TensorImpl* impl) {
  const c10::StorageImpl* storage = storage_of(impl);
  return {uses_of(impl), storage == nullptr ? 0 : uses_of(storage)};
}

void count_python() {
  references<TensorImpl> = Objects<TensorImpl>::references;
  references<c10::StorageImpl> = Objects<c10::StorageImpl>::references;
}

namespace {

// replayed reports whether autograd recreates a view by functions, such as the real numbers of a
// complex tensor: these hold tensors of their own.
bool replayed(const at::Tensor& view) {
  const auto* meta = torch::autograd::impl::get_view_autograd_meta(view);
  return meta->get_backward_view().has_view_fn() || (meta->has_fw_view() && !meta->shared_view_info());
}

}  // namespace

void uncount(const TensorImpl* impl, bool alone, HeadOf<Reply> seen) {
  if (impl == nullptr || impl->autograd_meta() == nullptr) return;
  const auto& hooks = *at::impl::GetVariableHooks();
  const at::Tensor t = borrowed(impl);
  if (hooks.grad_fn(t) != nullptr) {
    seen.set_storage_uses(OA_UNCOUNTED);
    if (!alone) seen.set_impl_uses(OA_UNCOUNTED);
  } else if (seen.storage_uses() > 1 && hooks.is_view(t)) {
    TensorImpl* base = hooks.base(t).unsafeGetTensorImpl();
    if (replayed(t) || storage_of(base) != storage_of(impl)) return seen.set_storage_uses(OA_UNCOUNTED);
    if (base != impl && uses_of(base) == 1 && !in_python(base)) seen.set_storage_uses(seen.storage_uses() - 1);
  }
}

void observe(TensorImpl* impl, oa_level level, Reply& out) {
  if (impl == nullptr) {
    for (size_t i = 0; i < Observed::kHead; i++) out.word(0);
    return;
  }
  if (!has_parts(impl)) {
    record(impl, 0, 0, level, out);
    return;
  }
  int64_t count = 0;
  parts(impl, [&](const at::Tensor& part, oa_part, int) { count += part.defined(); });
  record(impl, 0, count, level, out);
  parts(impl, [&](const at::Tensor& part, oa_part what, int ours) {
    if (part.defined()) record(part.unsafeGetTensorImpl(), ours, what, level, out);
  });
}

void Holds::hold(TensorImpl* impl) {
  if (impl == nullptr) return;
  if (const auto& storage = impl->unsafe_storage()) storages.push_back(storage.getWeakStorageImpl());
  if (!has_parts(impl)) return;
  opassert::parts(impl, [&](const at::Tensor& part, oa_part, int) {
    if (!part.defined()) return;
    parts.emplace_back(part.getIntrusivePtr());
    if (const auto& storage = part.unsafeGetTensorImpl()->unsafe_storage()) storages.push_back(storage.getWeakStorageImpl());
  });
}

}  // namespace opassert
