// Package optest runs every kernel of a generated package on generated
// arguments and holds each call against its schema, in a library's own tests:
//
//	func TestOps(t *testing.T) { optest.Run(t, ops.Kernels, vector.FromSpec) }
//	func FuzzOps(f *testing.F) { optest.Fuzz(f, ops.Kernels, vector.FromSpec) }
//
// All it needs to know is how the library makes a tensor: see package maker. Where
// FromSpec has the mark //opassert:make, in a file that is not a test, the command
// `opassert check` runs the same without a test.
//
// The arguments are those that `opassert check` makes for libtorch, by the same
// code: each value class of each argument, adapted to what a kernel's errors and
// panics say, and each violation with the smallest call that shows it. Each class alone is
// called twice, for a kernel may return what it keeps. No build tag is needed, as the
// kernels are called around their wrappers.
package optest
