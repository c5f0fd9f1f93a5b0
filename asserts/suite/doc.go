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
// hang or a want of memory is a result of its own and takes nothing with it.
//
// What runs the kernels is an [Engine]. The suite neither knows nor links
// libtorch; the command does, with the build tag libtorch.
package suite
