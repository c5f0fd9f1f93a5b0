package asserts_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
)

// A return without a version counter is noted where some argument is there and all have one.
func TestInferenceReturns(t *testing.T) {
	plain, inference := see(1, 2), see(1, 2, traits(asserts.NoVersion))
	for _, tt := range []struct {
		name            string
		before, results list
		lens            []int
		want            []int
	}{
		{"both plain", list{plain}, list{plain, plain}, []int{1, 1}, nil},
		{"the first", list{plain}, list{inference, plain}, []int{1, 1}, []int{1}},
		{"in a list", list{plain}, list{plain, plain, inference}, []int{1, 2}, []int{2}},
		{"both", list{plain, {}}, list{inference, inference}, []int{1, 1}, []int{1, 2}},
		{"of an inference tensor", list{plain, inference}, list{inference, plain}, []int{1, 1}, nil},
		{"of no tensor", list{{}, {}}, list{inference, plain}, []int{1, 1}, nil},
	} {
		op := opOf("f(Tensor? x, Tensor? y) -> (Tensor, Tensor[])")
		var got []int
		for _, f := range asserts.InferenceReturns(op, &asserts.Seen{Before: tt.before, Results: tt.results, ResultLens: tt.lens}) {
			if f.Code != asserts.AutogradKernel || f.Note == "" {
				t.Errorf("%s: %+v is no note of OA014", tt.name, f)
			}
			got = append(got, f.Return)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
