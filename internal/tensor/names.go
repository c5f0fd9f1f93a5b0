package tensor

import "slices"

// Names are the names of a PyTorch enumeration, by number; "" is a number without a name.
type Names []string

// Number returns the number of a name.
func (n Names) Number(name string) (int64, bool) {
	i := slices.Index(n, name)
	return int64(i), i >= 0 && name != ""
}

// Numbers of layouts and of memory formats.
const (
	LayoutStrided = iota
	LayoutSparse
	LayoutSparseCsr
	LayoutMkldnn
	LayoutSparseCsc
	LayoutSparseBsr
	LayoutSparseBsc
)

const (
	ContiguousFormat = iota
	PreserveFormat
	FormatChannelsLast
	FormatChannelsLast3d
)

var (
	// Source: c10/core/Layout.h.
	Layouts = Names{
		LayoutStrided: "strided", LayoutSparse: "sparse_coo", LayoutSparseCsr: "sparse_csr", LayoutMkldnn: "mkldnn",
		LayoutSparseCsc: "sparse_csc", LayoutSparseBsr: "sparse_bsr", LayoutSparseBsc: "sparse_bsc",
	}

	// Source: c10/core/MemoryFormat.h.
	MemoryFormats = Names{
		ContiguousFormat: "contiguous_format", PreserveFormat: "preserve_format",
		FormatChannelsLast: "channels_last", FormatChannelsLast3d: "channels_last_3d",
	}

	// Source: c10/core/QScheme.h.
	QSchemes = Names{"per_tensor_affine", "per_channel_affine"}
)
