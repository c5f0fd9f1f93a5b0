// observe.h: what can be seen of a tensor at one moment. This stands apart
// from calling, so that another front can observe calls that it does not make.
#pragma once

#include <ATen/core/Tensor.h>

#include "observed.h"
#include "wire.h"

namespace opassert {

// observe writes what is seen of a tensor, null being an undefined one: a head and
// the contents that the level asks for, as Observed of observed.h reads them, and
// behind it the tensors that it holds inside, in the same way. Nothing here changes
// a count or throws.
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
void uncount(const c10::TensorImpl* impl, bool alone, HeadOf<Reply> seen);

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
