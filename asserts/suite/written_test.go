package suite

import (
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts/suite/compare"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/schema"
)

// An argument is reported as never written after many calls, on tensors of several sizes, none of
// which changed it.
func TestNeverWritten(t *testing.T) {
	parsed, err := schema.ParseOp("op(Tensor x, Tensor(a!)[] y) -> ()")
	if err != nil {
		t.Fatal(err)
	}
	op := engine.Operator{Schema: parsed}
	for _, tt := range []struct {
		name         string
		calls, sizes int
		changed      int // the number of the call that changes it, from 1
		elements     int
		of           []compare.ElementRole // elements changed by every call
		want         string
	}{
		{name: "many", calls: 20, sizes: 3, elements: 1, want: "none of 20 calls, on tensors of 3 sizes, changed it"},
		{name: "few", calls: 19, sizes: 3, elements: 1},
		{name: "of few sizes", calls: 99, sizes: 2, elements: 1},
		{name: "many of few sizes", calls: 100, sizes: 1, elements: 1, want: "none of 100 calls, on tensors of 1 size, changed it"},
		{name: "changed by the last", calls: 30, sizes: 4, elements: 1, changed: 30},
		{name: "changed by the first", calls: 30, sizes: 4, elements: 1, changed: 1},
		{name: "a list counts once a call", calls: 19, sizes: 3, elements: 2},
		{name: "a whole list", calls: 20, sizes: 3, elements: 3, want: "none of 20 calls, on tensors of 3 sizes, changed it,"},
		{name: "all of a list", calls: 20, sizes: 3, elements: 3, of: []compare.ElementRole{compare.Other, compare.Last}},
		{name: "the last alone", calls: 20, sizes: 3, elements: 2, of: []compare.ElementRole{compare.Last}},
		{name: "all but the last", calls: 20, sizes: 3, elements: 3, of: []compare.ElementRole{compare.Other}, want: "none of 20 calls, on tensors of 3 sizes, changed its last element,"},
		{name: "all but the last, of few sizes", calls: 20, sizes: 2, elements: 3, of: []compare.ElementRole{compare.Other}},
		{name: "all but the last, of few", calls: 19, sizes: 3, elements: 2, of: []compare.ElementRole{compare.Other}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			all := make(writes)
			for n := range tt.calls {
				var call []compare.Write
				for i := range tt.elements {
					of := compare.Other
					switch {
					case tt.elements == 1:
						of = compare.Itself
					case i == tt.elements-1:
						of = compare.Last
					}
					call = append(call, compare.Write{Arg: 1, Of: of, Sizes: []int64{int64(n % tt.sizes)}, Changed: n+1 == tt.changed || slices.Contains(tt.of, of)})
				}
				all.add(call)
			}
			notes := all.notes(op)
			if tt.want == "" {
				if len(notes) > 0 {
					t.Errorf("noted %q", notes[0].Violation.Saw)
				}
				return
			}
			if len(notes) != 1 || !strings.HasPrefix(notes[0].Violation.Saw, tt.want) || notes[0].Violation.Note == "" || notes[0].Violation.Subject.Name != "y" {
				t.Errorf("noted %v, want %q", notes, tt.want)
			}
		})
	}
}

// An argument that calls change is reported as not written with other floating-point dtypes, unless
// it is changed with one of those, too.
func TestNeverWrittenAs(t *testing.T) {
	parsed, err := schema.ParseOp("op(Tensor(a!) y) -> ()")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name          string
		changed, left []string
		want          string
	}{
		{"two", []string{"float32"}, []string{"float16", "float64", "float16", "float64"}, "other calls change it, but none of 4 calls where it is float16 or float64"},
		{"few calls", []string{"float32"}, []string{"float16", "float64", "float64"}, ""},
		{"one", []string{"float32"}, []string{"float64", "float64", "float64", "float64"}, ""},
		{"changed before", []string{"float32", "float64"}, []string{"float64", "float16", "float64", "float16", "float64"}, ""},
		{"half of the others", []string{"float32", "float32"}, []string{"float32", "float32", "float16", "float64", "float16", "float64"}, "other calls change it, but none of 4 calls where it is float16 or float64"},
		{"fewer than half", []string{"float32"}, []string{"float32", "float32", "float16", "float64", "float16", "float64"}, ""},
		{"whole numbers", []string{"float32"}, []string{"int8", "int64", "int32", "bool"}, ""},
		{"by another dtype of none", []string{"int64"}, []string{"float32", "float64", "float16", "bfloat16"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			all := make(writes)
			for _, d := range tt.changed {
				all.add([]compare.Write{{DType: d, Sizes: []int64{2}, Changed: true}})
			}
			for _, d := range tt.left {
				all.add([]compare.Write{{DType: d, Sizes: []int64{2}}})
			}
			saw := ""
			for _, n := range all.notes(engine.Operator{Schema: parsed}) {
				saw += n.Violation.Saw
			}
			if saw != tt.want {
				t.Errorf("noted %q, want %q", saw, tt.want)
			}
		})
	}
}
