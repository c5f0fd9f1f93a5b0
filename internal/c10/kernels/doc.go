// Package kernels has kernels for the embedded engine, written as an op author
// would write them: ordinary functions, each marked with the op of ops.yaml
// that it is for. Together they have every shape of schema that there is: an
// op whose arguments and returns are those of another is here where it treats
// them otherwise.
//
// The arithmetic is simple: values are computed as float64 and converted to
// the type of the result. Where values are only moved (clone, cat, index, ...)
// they are moved bit for bit.
//
// Kernels own the tensors that they make. A temporary is released, a new return has one
// reference, and an in-place or out= kernel returns the handle that it was given, after
// MarkWritten.
package kernels
