package engine

import "github.com/opassert/opassert/internal/tensor"

// A Form is a sort of tensor.
type Form = tensor.Form

const (
	Strided        = tensor.Strided
	COO            = tensor.COO
	CSR            = tensor.CSR
	CSC            = tensor.CSC
	BSR            = tensor.BSR
	BSC            = tensor.BSC
	Mkldnn         = tensor.Mkldnn
	Quantized      = tensor.Quantized
	PerChannel     = tensor.PerChannel // quantized by channel
	Nested         = tensor.Nested
	Functional     = tensor.Functional // in a functional wrapper
	Conjugate      = tensor.Conjugate  // a lazy conjugate
	Negative       = tensor.Negative   // a lazy negative
	Zero           = tensor.Zero       // without storage, all zero
	Inference      = tensor.Inference
	Named          = tensor.Named // with dimension names A, B, ...
	COOUncoalesced = tensor.COOUncoalesced
	COOHybrid      = tensor.COOHybrid  // dense except for the first dimension
	NestedEven     = tensor.NestedEven // of tensors of the same sizes
	Grad           = tensor.Grad       // requires_grad is set
)
