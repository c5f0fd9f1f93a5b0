// Package preserve states and checks how a host language keeps one object per
// impl.
//
// A binding hands a TensorImpl or a StorageImpl to its host language as an
// object. Both sides are counted, separately, and yet the object must stay the
// same as long as the impl lives: people hang attributes on it. The protocol
// is PyTorch's:
//
//   - the object owns the impl, and the impl's slot points back without owning;
//   - when the object's last reference goes while others hold the impl,
//     ownership flips: the impl owns the object, which is preserved;
//   - when the object is asked for again, ownership flips back: it is
//     resurrected;
//   - otherwise it is deallocated, and only then do finalizers run.
//
// A slot is tagged with the interpreter whose object it holds. A hermetic
// context makes objects of its own that never enter a slot and are never
// preserved. A strong reference made from a weak one must flip a preserved
// object back first. An object that would be preserved is a root for the
// collector.
//
// # What is here
//
// [Code] lists the invariants, OA101 to OA109. [State] is the state machine of
// one object: what may follow what. [Machine] runs the protocol on slots and
// counts that an engine supplies ([Ref], [Slot]), either as [Mended] or with
// PyTorch's old fault ([Faulty]), and watches every step. [Registry] applies
// the same rules to the Go handles of an engine; [CheckLeaks] is its front in
// tests. Package trace reads the text log of an instrumented PyTorch.
//
// Sources: torch/csrc/autograd/python_variable.cpp (THPVariable_Wrap,
// THPVariable_tryResurrect, THPVariable_subclass_dealloc),
// torch/csrc/Storage.cpp (THPStorage_Wrap, THPStorage_tryPreserve,
// THPStorage_isPreservable), c10/core/impl/PyObjectSlot.h,
// c10/core/impl/HermeticPyObjectTLS.h.
package preserve
