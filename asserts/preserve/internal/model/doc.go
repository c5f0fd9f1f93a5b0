// Package model is the reference that the rules of package preserve are tested against: a [Machine] that runs the first
// protocol step by step on slots and counts that an engine supplies ([Ref], [Slot]), either as [Mended] or with
// PyTorch's old fault ([Faulty]), and checks every step. Tests play random interleavings of threads and interpreters on
// it and on a second model, which only knows references.
package model
