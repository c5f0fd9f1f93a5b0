package work

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
)

// A return without a version counter, or that requires grad, is noted if there are arguments and
// none is like that.
func TestMarkedReturns(t *testing.T) {
	type list = []asserts.Observation
	see := func(impl, storage asserts.ID, mods ...func(*asserts.Observation)) asserts.Observation {
		o := asserts.Observation{Impl: impl, Storage: storage}
		for _, m := range mods {
			m(&o)
		}
		return o
	}
	unversioned := func(o *asserts.Observation) { o.Traits = asserts.NoVersion }
	plain, inference := see(1, 2), see(3, 4, unversioned)
	ends := func(leaf bool) func(*asserts.Observation) {
		return func(o *asserts.Observation) { o.Content = &asserts.Snapshot{RequiresGrad: true, Leaf: leaf} }
	}
	leaf, graded := see(5, 6, ends(true)), see(7, 8, ends(false))
	for _, tt := range []struct {
		name            string
		before, results list
		lens            []int
		want            []int
	}{
		{"both plain", list{plain}, list{plain, see(9, 2)}, []int{1, 1}, nil},
		{"the first", list{plain}, list{inference, plain}, []int{1, 1}, []int{1}},
		{"in a list", list{plain}, list{plain, plain, inference}, []int{1, 2}, []int{2}},
		{"both", list{plain, {}}, list{inference, inference}, []int{1, 1}, []int{1, 2}},
		{"of an inference tensor", list{plain, see(9, 4, unversioned)}, list{inference, plain}, []int{1, 1}, nil},
		{"of no tensor", list{{}, {}}, list{inference, leaf}, []int{1, 1}, nil},
		{"the argument itself", list{plain}, list{see(1, 2, unversioned), plain}, []int{1, 1}, nil},
		{"a leaf", list{plain}, list{plain, leaf}, []int{1, 1}, []int{2}},
		{"a leaf of a leaf", list{plain, leaf}, list{see(9, 10, ends(true)), plain}, []int{1, 1}, nil},
		{"what autograd made", list{plain}, list{graded, plain}, []int{1, 1}, nil},
		{"one of each", list{plain}, list{plain, leaf, inference}, []int{1, 2}, []int{2, 2}},
	} {
		op := &asserts.Op{Args: make([]asserts.Subject, 2), Results: []asserts.Subject{{Index: 0}, {Index: 1, List: true}}}
		var got []int
		for _, f := range markedReturns(op, &asserts.Seen{Before: tt.before, Results: tt.results, ResultLens: tt.lens}) {
			if f.Code != asserts.AutogradKernel || f.Symptom.In(f.Code).Note == "" || !strings.HasSuffix(f.Saw, "and no argument is") && !strings.HasSuffix(f.Saw, "and no argument does") {
				t.Errorf("%s: %+v is not a note of OA014", tt.name, f)
			}
			got = append(got, f.Return)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
