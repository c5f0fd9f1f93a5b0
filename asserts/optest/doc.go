// Package optest runs every kernel of a generated package on generated
// arguments and holds each call against its schema, in a library's own tests:
//
//	func TestOps(t *testing.T) { optest.Run(t, ops.Kernels, vector.FromSpec) }
//	func FuzzOps(f *testing.F) { optest.Fuzz(f, ops.Kernels, vector.FromSpec) }
//
// All it needs to know is how the library makes a tensor:
//
//	//opassert:make
//	func FromSpec(s optest.Spec) (*Vector, error) {
//		data, err := optest.Elements[float64](s, 1)
//		return New(data...), err
//	}
//
// With that mark, in a file that is no test, the command `opassert check` runs the
// same without a test. Options of Run are then those that the function beside it
// with the mark //opassert:options returns, a func() []optest.Option; the function
// with the mark //opassert:observe is found.
//
// What the library does not have it says with [Unsupported]: the case then goes
// on with a tensor that it has, and the test's log counts what was left out.
//
// The arguments are those that `opassert check` makes for libtorch, by the same
// code: each value class of each argument, adapted to what a kernel's errors and
// panics say, and each violation with the smallest call that shows it. No build
// tag is needed, as the kernels are called around their wrappers.
package optest
