// Package optest runs every kernel of a generated package on generated arguments and checks each call against its
// schema, in a library's own tests of the debug build, as only that has the list of kernels:
//
//	//go:build opassert
//
//	func TestOps(t *testing.T) { optest.Run(t, ops.Kernels, vector.FromSpec) }
//	func FuzzOps(f *testing.F) { optest.Fuzz(f, ops.Kernels, vector.FromSpec) }
//
// It only needs a function that makes a tensor: see package maker. If FromSpec has the mark //opassert:make, in a file
// that is not a test, the command `opassert check` runs the same without a test.
//
// The arguments are made by the same code as those of `opassert check` for libtorch: each value class of each argument,
// adapted to a kernel's errors and panics, and each violation with the smallest call that shows it. Single classes are
// called twice, since a kernel may return a tensor that it keeps.
package optest
