package faults

import (
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/testbed/c10"
)

// Calls returns every fault of a call, in the order of the checks.
func Calls() []Planted {
	return slices.DeleteFunc(All(), func(f Planted) bool { return f.Schema != "" })
}

// All returns every fault, in the order of the checks.
func All() []Planted {
	var all []Planted
	for code := range asserts.AllCodes.All() {
		p := plants[code]
		for _, a := range p.acts {
			all = append(all, a.faults(code)...)
		}
		if p.more != nil {
			all = append(all, p.more()...)
		}
	}
	return all
}

var f32 = c10.TensorOptions{DType: c10.Float32}

func vector(values ...float64) *c10.Tensor {
	return c10.FromFloats(values, []int64{int64(len(values))}, f32)
}

func four() *c10.Tensor { return vector(1, -2, 3, -4) }

// A Silent is a call that nearly breaks a rule, and must not be reported.
type Silent struct {
	Op   string
	Args func() []any
	Why  string // why there is nothing to report
}

// AllSilent returns calls that must not be reported: the healthy twins of the faults, and others.
func AllSilent() []Silent { return append(twins(), closeCalls()...) }

func closeCalls() []Silent {
	one := func() []any { return alone(four()) }
	two := func() []any { return second(four()) }
	sameStorage := func() []any {
		x, y := four(), four()
		y.SetStorage(x)
		return []any{x, y}
	}
	return []Silent{
		{"fault::adds_", func() []any { return related(four()) }, "a read argument shares storage with the written one"},
		{"fault::adds_", func() []any { x := four(); return []any{x, x} }, "the written argument is also the read one"},
		{"fault::adds_.list", func() []any { x := four(); return []any{x, []*c10.Tensor{nil, x.Alias(), x}} },
			"elements of a read list share storage with the written argument"},
		{"fault::writes_through", sameStorage, "one of two written arguments on one storage was written, with a " +
			"version bump"},
		{"fault::writes_through", two, "an argument that may be written is not"},
		{"fault::healthy.running", func() []any { return []any{four(), (*c10.Tensor)(nil)} },
			"an optional argument is not given"},
		{"fault::healthy.running_list", func() []any { return []any{four(), []*c10.Tensor{nil, nil}} },
			"no element of a list is given"},
		{"fault::adds_", func() []any { return []any{half(), vector(1, 2)} },
			"a view is written, and nothing of its storage beside it"},
		{"fault::caches_copy", one, "the kept tensor is a copy of the argument"},
		{"fault::returns_empty", one, "there is work to do"},
		{"fault::returns_unchanged", func() []any { return append(one(), int64(2)) }, "there is work to do"},
		{"fault::copies_on_meta_view.tuple", one, "on CPU both returns are views"},
		{"fault::writes_in_training", func() []any { return append(two(), false) }, "outside training nothing is written"},
	}
}
