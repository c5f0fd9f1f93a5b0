package tensor

import (
	"cmp"
	"fmt"
)

// A Form is a kind of tensor.
type Form uint8

const (
	Strided        Form = iota
	COO                 // sparse
	CSR                 // sparse, rows compressed
	CSC                 // sparse, columns compressed
	BSR                 // sparse blocks of 1 by 1, rows compressed
	BSC                 // sparse blocks of 1 by 1, columns compressed
	Mkldnn              // opaque
	Quantized           // per tensor: scale 0.1, zero point 0, or 64 for quint8
	PerChannel          // quantized per channel of the first dimension
	Nested              // Sizes[0] tensors, the last one shorter by one
	Functional          // in a functional wrapper
	Conjugate           // a lazy conjugate; the dtype is complex
	Negative            // a lazy negative
	Zero                // an efficient zero tensor: no bytes
	Inference           // made in inference mode: no version counter
	Named               // with dimension names A, B, ...
	COOUncoalesced      // sparse, with each element twice
	COOHybrid           // sparse in the first dimension only
	NestedEven          // Sizes[0] tensors of the same sizes
	Grad                // a leaf that requires grad; the dtype is floating or complex
	Subclass            // a strided tensor marked as a Python subclass
)

// Forms are the names of forms in a case; a strided tensor has none.
var Forms = []string{
	COO: "coo", CSR: "csr", CSC: "csc", BSR: "bsr", BSC: "bsc", Mkldnn: "mkldnn", Quantized: "quantized",
	PerChannel: "per-channel", Nested: "nested", Functional: "functional", Conjugate: "conj", Negative: "neg",
	Zero: "zero", Inference: "inference", Named: "named", COOUncoalesced: "coo-uncoalesced", COOHybrid: "coo-hybrid",
	NestedEven: "nested-even", Grad: "requires-grad", Subclass: "subclass",
}

// String returns the name of the form: "coo", "strided".
func (f Form) String() string {
	if int(f) >= len(Forms) {
		return fmt.Sprintf("form%d", uint8(f))
	}
	return cmp.Or(Forms[f], "strided")
}

// An Arrangement describes how the elements of a dense tensor lie in its storage.
type Arrangement uint8

const (
	Contiguous   Arrangement = iota
	Transposed               // the last two dimensions are swapped in memory
	Sliced                   // every other element of a larger storage, with an offset
	Expanded                 // stride 0 in the first dimension
	ChannelsLast             // four and five dimensions: channels innermost
	Offset                   // contiguous, after other elements of its storage
	Padded                   // each row is followed by other elements, as in a part of a matrix
	Between                  // contiguous and aligned, with other elements before and after it
)

// Arrangements are the names of arrangements in a case; a contiguous tensor has none.
var Arrangements = []string{Transposed: "transposed", Sliced: "sliced", Expanded: "expanded",
	ChannelsLast: "channels-last", Offset: "offset", Padded: "padded", Between: "between"}
