package engine

import (
	"cmp"
)

// A Form says what sort of tensor it is.
type Form uint8

const (
	Strided Form = iota
	COO
	CSR
	CSC
	BSR
	BSC
	Mkldnn
	Quantized
	PerChannel // quantized by channel
	Nested
	Functional // in a functional wrapper
	Conjugate  // a lazy conjugate
	Negative   // a lazy negative
	Zero       // without storage, all zero
	Inference
	Named // with dimension names A, B, ...
	COOUncoalesced
	COOHybrid  // dense except for the first dimension
	NestedEven // of tensors of the same sizes
	Grad       // requires_grad is set
)

var Forms = []string{"", "coo", "csr", "csc", "bsr", "bsc", "mkldnn", "quantized", "per-channel", "nested", "functional",
	"conj", "neg", "zero", "inference", "named", "coo-uncoalesced", "coo-hybrid", "nested-even", "requires-grad"}

// String names the form: "coo", "strided".
func (f Form) String() string { return cmp.Or(Forms[f], "strided") }
