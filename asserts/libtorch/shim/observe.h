// observe.h: the observable properties of a tensor at one moment. This is separate from calling, so
// that calls made elsewhere can be observed, too.
#pragma once

#if __has_include(<ATen/ops/empty.h>)  // before any of ATen's headers
#define AT_PER_OPERATOR_HEADERS
#endif
#include <ATen/core/Tensor.h>

#include <utility>

#include "observed.h"
#include "wire.h"

namespace opassert {

// or_else returns what f does, or a value where f throws.
template <class V, class F>
V or_else(V value, F&& f) {
  try {
    return f();
  } catch (...) {
    return value;
  }
}

// borrowed returns a tensor that shares an impl.
inline at::Tensor borrowed(const c10::TensorImpl* impl) {
  return at::Tensor(c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>::reclaim_copy(const_cast<c10::TensorImpl*>(impl)));
}

// observe writes the observation of a tensor, null being an undefined one: a head and the contents that the level
// asks for, as Observed of observed.h reads them, and behind it the tensors that it holds inside, in the same way.
// Nothing here changes a count or throws.
void observe(c10::TensorImpl* impl, oa_level level, Reply& out);

using c10::TensorImpl;
using Impl = c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;

// Use this instead of storage(), which throws if a tensor has no storage.
c10::StorageImpl* storage_of(const c10::TensorImpl* impl);

// bytes_of returns the address of a storage's bytes, null on another device, without making a
// private copy of a shared one.
const void* bytes_of(const c10::StorageImpl* storage);

// copy_on_write reports whether other storages share the bytes until one is written.
bool copy_on_write(const c10::StorageImpl* storage);

// size_of returns the number of bytes.
size_t size_of(const c10::StorageImpl* storage);

// names_of returns the names of the dimensions, "" if they have none.
std::string names_of(const c10::TensorImpl* impl);

// owner_of returns the bits of oa_flag for the owner of a storage's bytes: none for the storage,
// which owns what an allocator makes.
int64_t owner_of(const c10::StorageImpl* storage);

// own_allocator is c10's own for the CPU if another one replaces it; null if none does.
inline c10::Allocator* own_allocator = nullptr;

// is_meta calls nothing that a Python subclass may answer.
bool is_meta(const c10::TensorImpl* impl, const c10::StorageImpl* storage);

// References returns the number of references to the Python object of an impl, 0 if it has none, and less if unknown.
template <class T>
using References = int64_t (*)(T*);

// references_of returns the number of references to a Python object, 0 for null, and OA_UNCOUNTED for an immortal one.
// It reads the memory: libtorch's function takes Python's lock, which a thread that waits for this one may hold.
int64_t references_of(const void* object);

// references are null without Python.
template <class T>
inline References<T> references = nullptr;

// has_numbers reports whether sizes, strides and offset are numbers of the tensor itself. Otherwise
// they are symbols, or those of a Python class: reading these as numbers makes a compiler add a
// guard, or runs the class's code, and must not be done.
bool has_numbers(const c10::TensorImpl* impl);

// uncount subtracts from a fresh result's uses, as observe wrote them, those of autograd if it recorded inside the
// kernel: the base of a view, and a tensor saved for backward. Uses that look the same are not counted. A result that
// is not the only one may have been saved for the backward of another one.
void uncount(const c10::TensorImpl* impl, bool alone, HeadOf<Reply> seen);

// Uses are the references to a tensor and to its storage, without those of their Python objects that PyTorch has itself.
using Uses = std::pair<int64_t, int64_t>;
Uses uses(const c10::TensorImpl* impl);

// count_python counts references by Python as uses from now on, if this process is a Python's:
// since 2.10 they are not in the uses of an impl.
void count_python();

// collect has Python free what only its collector finds, unless it is null.
inline void (*collect)() = nullptr;

// kLazy are the keys of tensors that the dispatcher's fallbacks replace by plain ones, even in a list of the caller.
constexpr c10::DispatchKeySet kLazy({c10::DispatchKey::Conjugate, c10::DispatchKey::Negative, c10::DispatchKey::ZeroTensor});

// Holds prevents the addresses of the storages and the parts of tensors from being reused while a
// call is observed. It takes no reference that a kernel could count.
struct Holds {
  c10::SmallVector<c10::weak_intrusive_ptr<c10::StorageImpl>, 8> storages;
  std::vector<c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>> parts;

  void hold(c10::TensorImpl* impl);
};

}  // namespace opassert
