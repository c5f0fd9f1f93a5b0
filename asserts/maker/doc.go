// Package maker is imported by a library to declare how its tensors are made, for
// programs that run all its kernels: opassert check, and package optest in its tests.
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
// opassert check builds with the tag opassert, so a release lacks this. Package maker only imports package asserts.
//
// FromSpec refuses a tensor that the library does not have with [Unsupported]: the case then continues with a similar
// one, and the report counts the refusals. For strides and offsets that FromSpec does not support, the library's own
// view ops are used, such as narrow(Tensor(a) self, int dim, int start, int length) -> Tensor(a).
//
// Other facts about a library are [Option] values, returned by a function with the mark //opassert:options, a func()
// []maker.Option. The function that observes tensors of a foreign type is found by its mark //opassert:observe.
package maker
