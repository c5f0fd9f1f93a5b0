package asserts_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
)

// On calls through autograd, a return of an op without a kernel for autograd is reported if an
// argument requires grad, and a leaf of any op; no other check is judged.
func TestAutogradKernel(t *testing.T) {
	of := func(dtype string, grad bool) mod {
		return func(o *asserts.Observation) { o.Content = &asserts.Snapshot{DType: dtype, RequiresGrad: grad} }
	}
	leaf := func(o *asserts.Observation) {
		o.Content = &asserts.Snapshot{DType: "float32", RequiresGrad: true, Leaf: true}
	}
	self := see(1, 2, of("float32", true))
	const nothing = "the op's kernel for autograd, or its decomposition, has no gradient"
	const withoutKernel = "an argument requires grad, result does not, and the op has no kernel for autograd"
	for _, tt := range []struct {
		name, op    string
		self        asserts.Observation
		out, result asserts.Observation
		kernel      bool // for autograd
		policy      *asserts.Policy
		saw, reason string
		judged      int
	}{
		{name: "no kernel", self: self, result: see(5, 6, uses(2, 2), of("float32", false)), saw: withoutKernel, judged: 1},
		{name: "called into autograd", self: self, result: see(5, 6, of("float32", true)), saw: "result requires grad through the ops that a backend's kernel calls", judged: 1},
		{name: "a kernel", self: self, result: see(5, 6, uses(2, 2), of("float32", true)), kernel: true, judged: 1},
		{name: "nothing requires grad", self: see(1, 2, of("float32", false)), result: see(5, 6, of("float32", false)), reason: "no argument requires grad"},
		{name: "no grad known", self: see(1, 2), result: see(5, 6, of("float32", false)), reason: "no argument requires grad"},
		{name: "integers", self: self, result: see(5, 6, of("int64", false)), reason: "a tensor of its dtype can't require grad"},
		{name: "not observed", self: self, result: see(5, 6), reason: "contents not observed"},
		{name: "undefined", self: self, result: undefined},
		{name: "the argument", self: self, result: self, reason: "it is an argument, and not written"},
		{name: "a view", op: "f(Tensor(a) self) -> Tensor(a)", self: self, result: see(5, 2, of("float32", false)), saw: withoutKernel, judged: 1},
		{name: "written", op: "f(Tensor self, Tensor(a!) out) -> Tensor(a!)", self: self, out: see(5, 6, of("float32", false)), result: see(5, 6, of("float32", false)), saw: withoutKernel, judged: 1},
		{name: "written with a kernel", op: "f(Tensor self, Tensor(a!) out) -> Tensor(a!)", kernel: true, self: self, out: see(5, 6, of("float32", false)), result: see(5, 6, of("float32", true)), judged: 1},
		{name: "written before", op: "f(Tensor self, Tensor(a!) out) -> Tensor(a!)", kernel: true, self: self, out: see(5, 6, leaf), result: see(5, 6, leaf), reason: "the argument that is written required grad before the call"},
		{name: "itself as a view", op: "f(Tensor(a) self) -> Tensor(a)", self: self, result: self, reason: "it is an argument, and not written"},
		{name: "a kernel without a gradient", self: self, result: see(5, 6, of("float32", false)), kernel: true, reason: nothing},
		{name: "a leaf", self: self, result: see(5, 6, leaf), saw: "result is a leaf that requires grad", judged: 1},
		{name: "a leaf of a kernel", self: self, result: see(5, 6, leaf), kernel: true, saw: "result is a leaf that requires grad", judged: 1},
		{name: "a leaf from nothing", self: see(1, 2, of("int64", false)), result: see(5, 6, leaf), kernel: true, reason: "no argument requires grad"},
		{name: "skipped", self: self, result: see(5, 6, of("float32", false)), reason: "plain", policy: asserts.Aware().With(
			asserts.Row{Trait: asserts.ReportsViews, Skip: asserts.CodesOf(asserts.AutogradKernel), Reason: "plain"})},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.op == "" {
				tt.op = "f(Tensor self) -> Tensor"
			}
			if tt.policy == nil {
				tt.policy = asserts.Aware()
			}
			if tt.reason == "plain" {
				tt.result.Traits = asserts.ReportsViews
			}
			op := wholeOp(tt.op)
			op.Autograd = tt.kernel
			verdict := asserts.Judge(op, &asserts.Seen{Level: asserts.Content, Alone: true, Autograd: true, Before: list{tt.self, tt.out}[:len(op.Args)], After: list{tt.self, tt.out}[:len(op.Args)], Results: list{tt.result}}, tt.policy)
			var saw, skipped []string
			for _, v := range verdict.Violations {
				saw = append(saw, fmt.Sprint(v.Code, " ", v.Saw))
				fix := "register a kernel at the dispatch key Autograd"
				if v.After.Content.Leaf {
					fix = "return autograd's result"
				}
				if !strings.HasPrefix(v.Fix, fix) {
					t.Errorf("fix %q, want %q", v.Fix, fix)
				}
			}
			for _, s := range verdict.Skips {
				skipped = append(skipped, fmt.Sprint(s.Code, " ", s.Reason))
			}
			if got := strings.Join(saw, "\n"); tt.saw == "" && got != "" || tt.saw != "" && !strings.HasPrefix(got, "OA014 "+tt.saw) {
				t.Errorf("saw %q, want %q", got, tt.saw)
			}
			if got := strings.TrimPrefix(strings.Join(skipped, "\n"), "OA014 "); got != tt.reason {
				t.Errorf("skipped %q, want %q", got, tt.reason)
			}
			if verdict.Judged[asserts.AutogradKernel] != tt.judged {
				t.Errorf("judged %d, want %d", verdict.Judged[asserts.AutogradKernel], tt.judged)
			}
		})
	}
}

// Without the check in the plan, no return is judged or skipped through autograd.
func TestAutogradKernelNotPlanned(t *testing.T) {
	op := wholeOp("f(Tensor self) -> Tensor")
	op.Checks = []asserts.Check{{Code: asserts.InputImpl, On: 1}}
	grad := func(o *asserts.Observation) { o.Content = &asserts.Snapshot{DType: "float32", RequiresGrad: true} }
	args := list{see(1, 2, grad)}
	verdict := asserts.Judge(op, &asserts.Seen{Level: asserts.Content, Autograd: true, Before: args, After: args, Results: list{see(5, 6, grad)}}, asserts.Aware())
	if n := verdict.Judged[asserts.AutogradKernel]; n > 0 || len(verdict.Violations)+len(verdict.Skips) > 0 {
		t.Errorf("judged %d times, violations %v, skips %v", n, verdict.Violations, verdict.Skips)
	}
}

// OA016 is judged only outside of autograd, if no other op runs meanwhile, and if it is planned.
func TestWhenKeptArgumentsAreJudged(t *testing.T) {
	judged := func(change func(*asserts.Op, *asserts.Seen)) int {
		op, seen := wholeOp("f(Tensor self) -> ()"), &asserts.Seen{Level: asserts.Content, Alone: true, Before: list{see(1, 2)}, After: list{see(1, 2, uses(2, 1))}}
		change(op, seen)
		verdict := asserts.Judge(op, seen, asserts.Aware())
		return verdict.Judged[asserts.KeptArgument]
	}
	for name, tt := range map[string]struct {
		change func(*asserts.Op, *asserts.Seen)
		want   int
	}{
		"alone":            {func(*asserts.Op, *asserts.Seen) {}, 1},
		"not alone":        {func(_ *asserts.Op, s *asserts.Seen) { s.Alone = false }, 0},
		"through autograd": {func(_ *asserts.Op, s *asserts.Seen) { s.Autograd = true }, 0},
		"not planned":      {func(op *asserts.Op, _ *asserts.Seen) { op.Checks = []asserts.Check{{Code: asserts.InputImpl, On: 1}} }, 0},
	} {
		if got := judged(tt.change); got != tt.want {
			t.Errorf("%s: judged %d, want %d", name, got, tt.want)
		}
	}
}

// A violation of a tensor is not repeated for its parts, unless it differs or is of another tensor;
// waived checks are not counted as skipped.
func TestSaidOnce(t *testing.T) {
	content := func(o asserts.Observation, offset int64, dirty byte) asserts.Observation {
		part := see(11, 12, holding(string([]byte{dirty})))
		o.Content = &asserts.Snapshot{DType: "uint8", Offset: offset, Parts: []asserts.Part{{Name: "a", Observation: part}}}
		return o
	}
	for _, tt := range []struct {
		name          string
		before, after list
		want          []string
	}{
		{"both", list{content(see(1, 2), 0, 0), see(3, 4)}, list{content(see(1, 2), 1, 1), see(3, 4)}, []string{"OA009 argument self"}},
		{"another thing", list{content(see(1, 2), 0, 0), see(3, 4)}, list{content(see(1, 2, uses(2, 1)), 0, 1), see(3, 4)}, []string{"OA016 argument self", "OA009 argument self.parts.a"}},
		{"another tensor", list{content(see(1, 2), 0, 0), see(3, 4, holding("a"))}, list{content(see(1, 2), 0, 1), see(3, 4, holding("b"))}, []string{"OA009 argument self.parts.a", "OA009 argument other"}},
	} {
		op := wholeOp("f(Tensor self, Tensor other) -> ()")
		verdict := asserts.Judge(op, &asserts.Seen{Level: asserts.Content, Alone: true, Before: tt.before, After: tt.after}, asserts.Aware())
		var got []string
		for _, v := range verdict.Violations {
			got = append(got, fmt.Sprint(v.Code, " ", v.Subject))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
	op := wholeOp("f(Tensor self) -> ()")
	op.Waived = []asserts.Code{asserts.InputStorage}
	verdict := asserts.Judge(op, &asserts.Seen{Level: asserts.Identity, Before: list{see(1, 0)}, After: list{see(1, 0)}}, asserts.Aware())
	if len(verdict.Skips) > 0 {
		t.Errorf("skips %v", verdict.Skips)
	}
}
