package asserts_test

import (
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
)

// What is inside a tensor has no place in a schema, so no fix speaks of one.
func TestFixOfWhatIsInside(t *testing.T) {
	op := opOf("f(Tensor self) -> Tensor")
	op.Args = append(op.Args, asserts.Subject{Name: "self.parts", Type: "Tensor[]", List: true, Inside: true})
	op.Results = append(op.Results, asserts.Subject{Name: "result.parts", Type: "Tensor[]", List: true, Inside: true})
	op.Checks = []asserts.Check{
		{Code: asserts.UndeclaredAlias, On: "result.parts", Against: "self.parts"},
		{Code: asserts.UndeclaredWrite, On: "self.parts"},
	}
	written := func(digest uint64) asserts.Observation {
		o := see(3, 4)
		o.Content = &asserts.Content{DType: "float32", Nbytes: 4, Digest: digest}
		return o
	}
	verdict := asserts.Judge(op, &asserts.Seen{
		Level:   asserts.Contents,
		Before:  list{see(1, 2), written(7)},
		After:   list{see(1, 2), written(8)},
		Results: list{see(5, 6), see(7, 4)},
		ArgLens: []int{1, 1}, ResultLens: []int{1, 1},
	}, asserts.Aware())
	if len(verdict.Violations) != 2 {
		t.Fatalf("%d violations, want OA007 and OA009", len(verdict.Violations))
	}
	for _, v := range verdict.Violations {
		if !v.Subject.Inside || strings.Contains(v.Fix, "->") || !strings.Contains(v.Fix, "clone") {
			t.Errorf("%v on %v, inside: %v: fix %q", v.Code, v.Subject, v.Subject.Inside, v.Fix)
		}
	}
}
