// observe.h: what can be seen of a tensor at one moment. This stands apart
// from calling, so that another front can observe calls that it does not make.
#pragma once

#include <ATen/core/Tensor.h>

#include "wire.h"

namespace opassert {

// observe writes what is seen of a tensor, null being an undefined one:
//
//   TensorImpl, StorageImpl
//   TensorImpl uses | StorageImpl uses << 32
//   version | traits << 32 | has contents << 48 | parts << 56
//   contents, if any: dtype, device type, device index, offset, storage bytes,
//   digest, dimensions, sizes, strides (none: 0, else 1 and the strides), copy,
//   oa_metadata, names of dimensions, layout, quantizer, .grad, where the bytes
//   are (0: not known, or shared by copy-on-write), version counter (0: none)
//   each part in the same way, except that what it is, an oa_part, stands instead of
//   the number of parts
//
// The parts are the tensors that a tensor holds inside. Nothing here changes a
// count or throws.
void observe(c10::TensorImpl* impl, oa_level level, Reply& out);

using Impl = c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;

// has_numbers reports whether sizes, strides and offset are numbers that a tensor
// has itself. Others have symbols for them, or a Python class: whoever asks these
// for a number changes what a compiler takes to be known, or runs the class's
// code. So nobody does.
bool has_numbers(const c10::TensorImpl* impl);

// uncount takes out of a fresh result's uses, as observe wrote them, what
// autograd holds of it where it recorded inside the kernel: the base of a view,
// and what a backward saves. What can't be distinguished is not counted. A
// result that is not alone may be what another one's backward saved.
void uncount(const c10::TensorImpl* impl, bool alone, int64_t& uses);

// kLazy are the keys of tensors for which the dispatcher's fallbacks put plain
// ones, also into a list that the caller has.
constexpr c10::DispatchKeySet kLazy({c10::DispatchKey::Conjugate, c10::DispatchKey::Negative, c10::DispatchKey::ZeroTensor});

// Holds keeps the storages and the parts of tensors from being freed, so that
// no address is used twice while a call is observed.
struct Holds {
  c10::SmallVector<c10::Storage, 8> storages;
  std::vector<at::Tensor> parts;

  void hold(c10::TensorImpl* impl);
  void release();
};

}  // namespace opassert
