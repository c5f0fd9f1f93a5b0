// Package preserve states and checks how a host language keeps objects for impls with reference counts of their own.
//
// A binding represents a TensorImpl or a StorageImpl as an object of its host language. Both sides count references
// separately, and yet the object must stay the same as long as the impl lives, since users set attributes on it.
// PyTorch has two protocols for that.
//
// The first, up to 2.9:
//
//   - the object owns the impl, and the impl's slot points back without owning;
//   - when the object's last reference is released while others hold the impl,
//     ownership flips: the impl owns the object, which is preserved;
//   - when the object is used again, ownership flips back: it is resurrected;
//   - otherwise it is deallocated, and only then do finalizers run.
//
// A slot is tagged with the interpreter whose object it holds. A hermetic context makes objects of its own that never
// enter a slot and are never preserved. A strong reference made from a weak one must flip a preserved object back
// first. An object that would be preserved stays when the garbage collector finds it, and so does what it refers to.
//
// The second, since 2.10 (pytorch/pytorch#167564), works without a global lock, too:
//
//   - the object always owns the impl, and the impl's slot points back;
//   - the impl is marked to have an object, and holds one counted reference to
//     it while the impl has other references: it takes that when its own count
//     goes from one to two, and releases it when it goes from two to one;
//   - so an object whose last reference is released is its impl's last holder. Nothing
//     is preserved or resurrected, and weak references and the garbage collector
//     need no special rules: a shared impl's reference counts like one from outside.
//
// A slot still has its interpreter's tag in 2.12, and hermetic contexts have
// their own objects; in 2.15 both are gone. [ProtocolOf] returns that of a version.
//
// # Contents
//
// [Code] lists the invariants, OA101 to OA109, and [Protocol.Next] is the state machine of one object. Package trace
// tracks the objects of a PyTorch, live or from the text log of an instrumented one.
//
// A Go library tracks its handles with a [Registry]: it reports when one is made, used and released.
//
//	var handles = preserve.NewRegistry("regex.Regexp")
//
//	func Compile(expr string) (*Regexp, error) {
//		...
//		return &Regexp{c: c, token: handles.Made(C.sizeof_regex_t)}, nil
//	}
//
//	func (re *Regexp) Close() error {
//		if err := handles.Release(re.token); err != nil {
//			return err // with the stacks that made it, released it, and released it again
//		}
//		...
//	}
//
// Its users' tests, and its own, then find the handles that were not released, with go test -tags opassert:
//
//	func TestMatch(t *testing.T) {
//		preserve.CheckLeaks(t)
//		...
//	}
//
//	OA107 leak  3 handles of regex.Regexp, 192 bytes
//	  rule    no object and no impl outlives its last reference
//	  breaks  the impl's memory is never given back
//	  fix     release the handle, or let it become unreachable
//	  made by
//	    example.com/regex.Compile
//	        regex/regex.go:20
//	    example.com/search.load
//	        search/load.go:41
//	    ...
//
// The tensors of asserts/libtorch are tracked, too.
//
// Sources: torch/csrc/autograd/python_variable.cpp (THPVariable_Wrap, THPVariable_tryResurrect,
// THPVariable_subclass_dealloc), torch/csrc/Storage.cpp (THPStorage_Wrap, THPStorage_tryPreserve,
// THPStorage_isPreservable), c10/core/impl/PyObjectSlot.h, c10/core/impl/HermeticPyObjectTLS.h, and for the second
// protocol c10/util/intrusive_ptr.h (kHasPyObject, incref_pyobject) and torch/csrc/utils/pyobject_preservation.h.
package preserve
