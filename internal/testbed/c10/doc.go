// Package c10 is the embedded engine: a model, in plain Go, of ownership in PyTorch's core library of the same name.
//
// A [Tensor] is a handle. It owns one strong reference to a TensorImpl, which owns one to a StorageImpl; both carry use
// counts. Views are new TensorImpls on the same StorageImpl and share its base's version counter. Sparse tensors have
// no StorageImpl, meta tensors have one without bytes, a wrapper subclass holds another tensor. The checks of package
// asserts observe all of this.
//
// Handles are not garbage collected: the caller of a constructor, a view or Retain calls Release when done, as a
// destructor would. Using a handle after Release, or releasing it twice, panics. A handle that is dropped without
// Release keeps its counts, as a leak in C++ does.
//
// Kernels take and return *Tensor; nil is an undefined tensor. An in-place kernel returns the handle that was passed.
// Writing elements does not touch the version counter: a kernel that changes an argument calls [Tensor.MarkWritten]
// once, as PyTorch's generated ADInplaceOrView code does.
//
// Use counts and version counters are atomic, so handles of one tensor may
// live on several goroutines. One handle is for one goroutine at a time.
//
// Package kernels has its kernels, samples calls of each of them, and faults kernels that each break one rule.
package c10
