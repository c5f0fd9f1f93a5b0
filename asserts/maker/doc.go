// Package maker is imported by a library to declare how its tensors are made, for
// those who run all its kernels: opassert check, and package optest in its tests.
//
//	//go:build opassert
//
//	package vector
//
//	//opassert:make
//	func FromSpec(s maker.Spec) (*Vector, error) {
//		data, err := maker.Elements[float64](s, 1)
//		return New(data...), err
//	}
//
// opassert check builds with the tag opassert, so that the release build has
// nothing of this. Package maker itself imports package asserts alone.
//
// FromSpec refuses a tensor that the library does not have with [Unsupported]: the case then goes
// on with one that it has, and the report counts the refusals. Strides
// and offsets that FromSpec lacks are had from the library's own view ops, such as
// narrow(Tensor(a) self, int dim, int start, int length) -> Tensor(a).
//
// Other facts about a library are [Option] values, which the function beside it
// with the mark //opassert:options returns, a func() []maker.Option. The function
// that observes tensors of a foreign type, with the mark //opassert:observe, is found.
package maker
