// observe.h: what can be seen of a tensor at one moment. This stands apart
// from calling, so that another front can observe calls that it does not make.
#pragma once

#if __has_include(<ATen/ops/empty.h>)  // before any of ATen's headers
#define AT_PER_OPERATOR_HEADERS
#endif
#include <ATen/core/Tensor.h>

#include "observed.h"
#include "wire.h"

namespace opassert {

// observe writes the observation of a tensor, null being an undefined one: a head and
// the contents that the level asks for, as Observed of observed.h reads them, and
// behind it the tensors that it holds inside, in the same way. Nothing here changes
// a count or throws.
void observe(c10::TensorImpl* impl, oa_level level, Reply& out);

using c10::TensorImpl;
using Impl = c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;

// A storage is asked for without storage(), which throws where a tensor has no storage.
c10::StorageImpl* storage_of(const c10::TensorImpl* impl);

// bytes_of returns where the bytes of a storage are, null for a storage on
// another device, and without asking for a private copy of a shared one.
const void* bytes_of(const c10::StorageImpl* storage);

// copy_on_write reports whether other storages share the bytes until one is
// written.
bool copy_on_write(const c10::StorageImpl* storage);

// size_of returns how many there are.
size_t size_of(const c10::StorageImpl* storage);

// names_of returns the names of the dimensions, "" where they have none.
std::string names_of(const c10::TensorImpl* impl);

// owner_of returns which bits of oa_flag say who frees the bytes of a storage:
// none where that is the storage alone, as of all that an allocator makes.
int64_t owner_of(const c10::StorageImpl* storage);

// own_allocator is c10's own for the CPU where another one serves in its place; null
// as long as it serves itself.
inline c10::Allocator* own_allocator = nullptr;

// is_meta asks nothing that a Python subclass may answer.
bool is_meta(const c10::TensorImpl* impl, const c10::StorageImpl* storage);

// References returns how many references the Python object of an impl has, 0
// where it has none, and less where that is not known.
template <class T>
using References = int64_t (*)(T*);

// references are null without Python.
template <class T>
inline References<T> references = nullptr;

// has_numbers reports whether sizes, strides and offset are numbers that a tensor
// has itself. Others have symbols for them, or a Python class: asking these for a
// number makes a compiler add a guard, or runs the class's code. Never ask.
bool has_numbers(const c10::TensorImpl* impl);

// uncount subtracts from a fresh result's uses, as observe wrote them, those of
// autograd where it recorded inside the kernel: the base of a view, and a tensor
// saved for backward. Uses that look alike are not counted. A result that
// is not alone may have been saved for the backward of another one.
void uncount(const c10::TensorImpl* impl, bool alone, HeadOf<Reply> seen);

// count_python has what Python keeps count as a use from now on, where this process
// is a Python's: since 2.10 they are not in the uses of an impl.
void count_python();

// kLazy are the keys of tensors for which the dispatcher's fallbacks put plain
// ones, also into a list that the caller has.
constexpr c10::DispatchKeySet kLazy({c10::DispatchKey::Conjugate, c10::DispatchKey::Negative, c10::DispatchKey::ZeroTensor});

// Holds keeps the addresses of the storages and the parts of tensors from being used
// twice while a call is observed. It takes no reference that a kernel could count.
struct Holds {
  c10::SmallVector<c10::weak_intrusive_ptr<c10::StorageImpl>, 8> storages;
  std::vector<c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>> parts;

  void hold(c10::TensorImpl* impl);
};

}  // namespace opassert
