package asserts_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
)

// A shared version counter is reported like shared memory; the fix tells how to avoid it.
func TestSharedCounter(t *testing.T) {
	counter := func(n asserts.ID) mod {
		return func(o *asserts.Observation) { o.Content = &asserts.Snapshot{Counter: n} }
	}
	lying := func(n asserts.ID, start uintptr, nbytes int64) mod {
		return func(o *asserts.Observation) {
			o.Content = &asserts.Snapshot{Counter: n, Memory: start, Nbytes: nbytes}
		}
	}
	const (
		another  = "has the version counter of argument self, on another StorageImpl"
		own      = "give the result a version counter of its own, as a clone of self has"
		annotate = "clone before returning; or annotate: Tensor self  ->  Tensor(a) self, return Tensor  ->  Tensor(a)"
		view     = "clone before returning; or return a view of it and annotate: Tensor self  ->  Tensor(a) self, return Tensor  ->  Tensor(a)"
		f, two   = "f(Tensor self) -> Tensor", "f(Tensor self) -> (Tensor, Tensor)"
	)
	for _, tt := range []struct {
		name, op      string
		before, after asserts.Observation
		results       list
		want          []string
	}{
		{"apart", f, see(1, 2, counter(7)), see(1, 2, counter(7)), list{see(5, 6, counter(8))}, nil},
		{"not known", f, see(1, 2, counter(0)), see(1, 2, counter(0)), list{see(5, 6, counter(0))}, nil},
		{"not seen of the argument", f, see(1, 2), see(1, 2), list{see(5, 6, counter(7))}, nil},
		{"not seen of the return", f, see(1, 2, counter(7)), see(1, 2, counter(7)), list{see(5, 6)}, nil},
		{"an argument's", f, see(1, 2, counter(7)), see(1, 2, counter(7)), list{see(5, 6, counter(7))}, []string{"OA007 result: result " + another + ": " + own}},
		{"an argument's, and its storage", f, see(1, 2, counter(7)), see(1, 2, counter(7)), list{see(5, 2, counter(7), uses(1, 2))},
			[]string{"OA007 result: result shares StorageImpl with argument self: " + annotate}},
		{"an argument's, and its memory", f, see(1, 2, lying(7, 100, 16)), see(1, 2, lying(7, 100, 16)), list{see(5, 6, lying(7, 100, 16))},
			[]string{"OA007 result: result lies in the memory of argument self, under another StorageImpl: " + view}},
		{"of no bytes in an argument's memory", f, see(1, 2, lying(7, 100, 16)), see(1, 2, lying(7, 100, 16)), list{see(5, 6, lying(8, 108, 0))}, nil},
		{"another than that of what the argument became", f, see(1, 2, counter(7)), see(9, 8, counter(8)), list{see(1, 2, counter(7))},
			[]string{"OA001 argument self", "OA007 result: result is the TensorImpl of argument self: " + view}},
		{"another return's", two, see(1, 2, counter(7)), see(1, 2, counter(7)), list{see(5, 6, counter(8)), see(7, 8, counter(8))},
			[]string{"OA008 result1: result1 has the version counter of result0, on another StorageImpl: clone result1 before returning"}},
		{"an argument's, of two returns", two, see(1, 2, counter(7)), see(1, 2, counter(7)), list{see(5, 6, counter(7)), see(7, 8, counter(7))},
			[]string{"OA007 result0: result0 " + another + ": " + own, "OA007 result1: result1 " + another + ": " + own}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			seen := &asserts.Seen{Level: asserts.Content, Before: list{tt.before}, After: list{tt.after}, Results: tt.results}
			var got []string
			for _, v := range asserts.Judge(wholeOp(tt.op), seen, asserts.Aware()).Violations {
				line := fmt.Sprint(v.Code, " ", v.Subject)
				if v.Code == asserts.UndeclaredAlias || v.Code == asserts.OutputAlias {
					line += ": " + v.Saw + ": " + v.Fix
				}
				if (v.Symptom == asserts.Overlapping) != strings.Contains(v.Saw, "in the memory of") {
					t.Errorf("%s: the symptom is %q", v.Saw, v.Symptom)
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// No annotation covers the tensors of a Dict.
func TestFixOfADict(t *testing.T) {
	for _, ofArg := range []bool{true, false} {
		op := opOf("f(Tensor self) -> Tensor")
		if ofArg {
			op.Args[0].Type = "Dict(str, Tensor)"
		} else {
			op.Results[0].Type = "Dict(str, Tensor)"
		}
		in := list{see(1, 2)}
		found := asserts.Judge(op, &asserts.Seen{Level: asserts.Identity, Before: in, After: in, Results: list{see(5, 2, uses(1, 2))}}, asserts.Aware()).Violations
		if len(found) != 1 || !strings.HasSuffix(found[0].Fix, "no annotation covers the tensors inside a Dict(str, Tensor)") {
			t.Errorf("of the argument: %t, found %v", ofArg, found)
		}
	}
}
