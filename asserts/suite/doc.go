// Package suite runs many ops and holds every call against what its schema
// promises.
//
//	operators ──► generate ──► make ──► call and observe ──► judge ──► result
//	                 ▲                        │
//	                 └──────── adapt ◄── what the kernel's error said
//
// A [Case] is one call as plain data. Case N of an op is a function of the
// schema, the seed and N, and of what the op's own errors said on the way; so
// the number alone runs it again. Cases run in worker processes: a crash, a
// hang or running out of memory is a result of its own and does not affect other cases.
//
// What runs the kernels is an [Engine], and what they are held against a
// [Plan]; both are handed in. The suite knows no library: the packages
// asserts/libtorch/engine and asserts/c10/engine have one each.
package suite
