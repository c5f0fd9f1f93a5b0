package work

import (
	"github.com/opassert/opassert/asserts/suite/compare"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/tensor"
)

// A trap is a property of a tensor with which writes to it may be lost.
type trap struct {
	name   string
	set    func(all []*sample.TensorSpec, outs []bool)
	may    func(w compare.Write, out bool) bool // whether a written tensor can have it
	is     func(w compare.Write) bool           // whether a tensor of the changed call has it
	fix    string
	breaks string
}

var traps = [...]trap{{
	name:   "where it is transposed",
	set:    func(all []*sample.TensorSpec, _ []bool) { transpose(all) },
	may:    func(w compare.Write, _ bool) bool { return len(w.Sizes) > 1 },
	is:     func(w compare.Write) bool { return w.Strided },
	fix:    "write through the tensor's strides, or copy the result back: contiguous() and reshape() return a copy of such a tensor, and writes to it are lost",
	breaks: "a transposed, sliced or channels-last tensor keeps its old value, without an error",
}, {
	name:   "where its sizes are not the result's",
	set:    grow,
	may:    func(_ compare.Write, out bool) bool { return out },
	is:     func(compare.Write) bool { return true },
	fix:    "resize it, or refuse it",
	breaks: "it keeps its old value, and is returned as the result, without an error",
}}

func transpose(all []*sample.TensorSpec) {
	for _, t := range matrices(all) {
		t.Arrangement = tensor.Transposed
	}
}

// grow makes tensors for results one-dimensional, with an element more.
func grow(all []*sample.TensorSpec, outs []bool) {
	for i, t := range all {
		if outs[i] {
			t.Sizes, t.Arrangement = []int64{tensor.Numel(t.Sizes) + 1}, tensor.Contiguous
		}
	}
}

// A trial is the result of an op's calls with a trap.
type trial struct {
	reached map[int]bool // arguments that a call changed
	refused int          // number of calls
}
