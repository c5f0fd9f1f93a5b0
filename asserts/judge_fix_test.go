package asserts_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
)

// Parts of a tensor are not in the schema, so no fix mentions one.
func TestFixOfWhatIsInside(t *testing.T) {
	op := opOf("f(Tensor self) -> Tensor")
	op.Args = append(op.Args, asserts.Subject{Name: "self.parts", Type: "Tensor[]", List: true, Inside: true})
	op.Results = append(op.Results, asserts.Subject{Name: "result.parts", Type: "Tensor[]", List: true, Inside: true})
	op.Checks = []asserts.Check{
		{Code: asserts.UndeclaredAlias, On: asserts.ResultRef(1), Against: asserts.ArgRef(1)},
		{Code: asserts.UndeclaredWrite, On: asserts.ArgRef(1)},
	}
	written := func(digest uint64) asserts.Observation {
		o := see(3, 4)
		o.Content = &asserts.Snapshot{DType: "float32", Nbytes: 4, Digest: digest}
		return o
	}
	verdict := asserts.Judge(op, &asserts.Seen{
		Level:   asserts.Content,
		Before:  list{see(1, 2), written(7)},
		After:   list{see(1, 2), written(8)},
		Results: list{see(5, 6), see(7, 4)},
		ArgLens: []int{1, 1}, ResultLens: []int{1, 1},
		ArgNames: [][]string{nil, {"indices"}}, ResultNames: [][]string{nil, {"values"}},
	}, asserts.Aware())
	if len(verdict.Violations) != 2 {
		t.Fatalf("%d violations, want OA007 and OA009", len(verdict.Violations))
	}
	var saw []string
	for _, v := range verdict.Violations {
		saw = append(saw, fmt.Sprint(v.Subject, ": ", v.Saw, ": ", v.Fix))
		if !v.Subject.Inside || strings.Contains(v.Fix, "->") || !strings.Contains(v.Fix, "clone") {
			t.Errorf("%v on %v, inside: %v: fix %q", v.Code, v.Subject, v.Subject.Inside, v.Fix)
		}
	}
	want := []string{
		"argument self.parts.indices: some of 4 bytes changed, digest 0000000000000007 -> 0000000000000008, version 0 -> 0: do not change self.parts.indices: work on a clone",
		"result.parts.values: result.parts.values shares StorageImpl with argument self.parts.indices: " +
			"clone result.parts.values before returning: no annotation covers the tensors inside a tensor",
	}
	if diff := cmp.Diff(want, saw); diff != "" {
		t.Error(diff)
	}
}

// A fix tells what of a tensor was written.
func TestFixOfWrites(t *testing.T) {
	one := holding("abcd")
	for want, after := range map[string]asserts.Observation{
		"write a clone of self; or annotate: ":                                  see(1, 2, holding("abce")),
		"do not call in-place ops on self, or raise its version; or annotate: ": see(1, 2, one, version(1)),
		"change the metadata of a view of self; or annotate: ":                  see(1, 2, one, shaped(func(c *asserts.Snapshot) { c.Offset = 1 })),
	} {
		op := opOf("f(Tensor self) -> ()")
		found := asserts.Judge(op, &asserts.Seen{Level: asserts.Content, Before: list{see(1, 2, one)}, After: list{after}}, asserts.Aware()).Violations
		if want += "Tensor self  ->  Tensor(a!) self"; len(found) != 1 || found[0].Fix != want {
			t.Errorf("found %v, want the fix %s", found, want)
		}
	}
}

// One inner tensor of the two is enough.
func TestFixOfOneEndInside(t *testing.T) {
	inside := asserts.Subject{Name: "x.parts", Type: "Tensor[]", Suffix: "[]", List: true, Inside: true}
	for _, inArgs := range []bool{true, false} {
		op := opOf("f(Tensor self) -> Tensor")
		seen := &asserts.Seen{Level: asserts.Identity, Before: list{see(1, 2)}, Results: list{see(5, 2)}}
		op.Checks = []asserts.Check{{Code: asserts.UndeclaredAlias, On: asserts.ResultRef(0), Against: asserts.ArgRef(0)}}
		if inArgs {
			op.Args, op.Checks[0].Against = append(op.Args, inside), asserts.ArgRef(1)
			seen.Before, seen.ArgLens = list{see(7, 8), see(1, 2)}, []int{1, 1}
		} else {
			op.Results, op.Checks[0].On = append(op.Results, inside), asserts.ResultRef(1)
			seen.Results, seen.ResultLens = list{see(7, 8), see(5, 2)}, []int{1, 1}
		}
		seen.After = seen.Before
		found := asserts.Judge(op, seen, asserts.Aware()).Violations
		if len(found) != 1 || !strings.Contains(found[0].Fix, "no annotation covers the tensors inside a tensor") {
			t.Errorf("found %v", found)
		}
	}
}

// Where custom_op makes the schema, a fix names its arguments, and no view, which it does not have.
func TestFixOfCustomOp(t *testing.T) {
	op := opOf("f(Tensor self) -> Tensor")
	op.Declared = asserts.CustomOp
	before, after := list{see(1, 2, holding("abcd"))}, list{see(1, 2, holding("abce"))}
	seen := &asserts.Seen{Level: asserts.Content, Before: before, After: after, Results: after}
	var fixes []string
	for _, v := range asserts.Judge(op, seen, asserts.Aware()).Violations {
		fixes = append(fixes, v.Fix)
	}
	slices.Sort(fixes)
	want := []string{
		"clone before returning: what torch.library.custom_op defines returns tensors that share nothing",
		`write a clone of self; or add "self" to mutates_args`,
	}
	if diff := cmp.Diff(want, fixes); diff != "" {
		t.Error(diff)
	}
}

// A fix that changes the schema says where that is, once.
func TestFixNamesTheSchema(t *testing.T) {
	for declared, where := range map[string]string{"": "", "m.def at ops.cpp:12": ", in m.def at ops.cpp:12"} {
		op := opOf("f(Tensor self) -> Tensor")
		op.Declared = declared
		before, after := list{see(1, 2, holding("abcd"))}, list{see(1, 2, holding("abce"))}
		seen := &asserts.Seen{Level: asserts.Content, Before: before, After: after, Results: after}
		var fixes []string
		for _, v := range asserts.Judge(op, seen, asserts.Aware()).Violations {
			fixes = append(fixes, v.Fix)
		}
		slices.Sort(fixes)
		want := []string{
			"clone before returning; or return a view of it and annotate: Tensor self  ->  Tensor(a) self, return Tensor  ->  Tensor(a)" + where,
			"write a clone of self; or annotate: Tensor self  ->  Tensor(a!) self" + where,
		}
		if diff := cmp.Diff(want, fixes); diff != "" {
			t.Errorf("%q: %s", declared, diff)
		}
	}
}
