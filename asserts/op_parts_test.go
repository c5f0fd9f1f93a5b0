package asserts_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/dev/must"
)

// An observation without added parts stays unchanged.
func TestWithNoParts(t *testing.T) {
	var o asserts.Observation
	if o.With(); o.Content != nil {
		t.Errorf("its content is %v", o.Content)
	}
}

func TestWithParts(t *testing.T) {
	op := &asserts.Op{
		Name:    "test::op",
		Args:    []asserts.Subject{{Name: "self", Type: "Tensor"}, {Index: 1, Name: "out", Type: "Tensor(a!)?", Suffix: "?", Before: []string{"a"}, Write: true}},
		Results: []asserts.Subject{{Name: "result", Type: "Tensor[]", Suffix: "[]", List: true}, {Index: 1, Name: "other", Type: "Tensor"}},
		Checks: []asserts.Check{
			{Code: asserts.InputImpl, On: 1},
			{Code: asserts.UndeclaredWrite, On: 1},
			{Code: asserts.FreshStorage, On: -1},
			{Code: asserts.UndeclaredAlias, On: -1, Against: 1},
			{Code: asserts.OutputAlias, On: -1, Against: -1},
			{Code: asserts.OutputAlias, On: -2, Against: -1},
			{Code: asserts.FreshImpl, On: -2},
		},
		Waived: []asserts.Code{asserts.FreshImpl},
	}
	got := asserts.WithParts(op)
	must.Do(t, got.Validate())
	if diff := cmp.Diff([]asserts.Subject{
		op.Args[0], op.Args[1],
		{Index: 0, Name: "self.parts", Type: "Tensor[]", Suffix: "[]", List: true, Inside: true},
		{Index: 1, Name: "out.parts", Type: "Tensor(a!)[]", Suffix: "[]", Before: []string{"a"}, List: true, Write: true, Inside: true},
	}, got.Args); diff != "" {
		t.Errorf("arguments:\n%s", diff)
	}
	self, result, other := asserts.ArgRef(2), asserts.ResultRef(2), asserts.ResultRef(3)
	if diff := cmp.Diff([]asserts.Check{
		op.Checks[0],
		op.Checks[1], {Code: asserts.UndeclaredWrite, On: self},
		op.Checks[2], {Code: asserts.FreshStorage, On: result},
		op.Checks[3], {Code: asserts.UndeclaredAlias, On: result, Against: 1}, {Code: asserts.UndeclaredAlias, On: result, Against: self}, {Code: asserts.UndeclaredAlias, On: -1, Against: self},
		op.Checks[4], {Code: asserts.OutputAlias, On: result, Against: result},
		op.Checks[5], {Code: asserts.OutputAlias, On: other, Against: -1}, {Code: asserts.OutputAlias, On: other, Against: result}, {Code: asserts.OutputAlias, On: -2, Against: result},
	}, got.Checks); diff != "" {
		t.Errorf("checks:\n%s", diff)
	}
	if len(op.Args) != 2 || len(op.Checks) != 7 || op.Checks[6].Code != asserts.FreshImpl {
		t.Error("the op itself was changed")
	}
}

// The parts of a view may be those of its base; the parts of an argument that has a view are
// checked like those of others.
func TestWithPartsOfView(t *testing.T) {
	op := wholeOp("f(Tensor(a) self) -> Tensor(a)")
	for _, c := range asserts.WithParts(op).Checks {
		if c.On == asserts.ResultRef(1) && c.Against == 0 {
			t.Errorf("%v is planned for parts of a view", c.Code)
		}
	}
	if slices.Contains(asserts.WithParts(op).Checks, asserts.Check{Code: asserts.ViewStorage, On: asserts.ResultRef(1), Against: asserts.ArgRef(0)}) {
		t.Error("parts of a view must share its base's storage")
	}
	ofTwo := asserts.WithParts(wholeOp("f(Tensor(a) self, Tensor other) -> Tensor(a)")).Checks
	if !slices.Contains(ofTwo, asserts.Check{Code: asserts.UndeclaredAlias, On: asserts.ResultRef(1), Against: asserts.ArgRef(1)}) {
		t.Error("parts of a view may be another argument")
	}
	if !slices.Contains(asserts.WithParts(op).Checks, asserts.Check{Code: asserts.UndeclaredWrite, On: asserts.ArgRef(1)}) {
		t.Error("parts of the base may be written")
	}
}

// OA006 covers a written return, except for tensors newly put into it: these are compared with the
// arguments without its alias set, once.
func TestWithPartsOfWritten(t *testing.T) {
	op := wholeOp("f_(Tensor(a!) self, Tensor other, Tensor(a) view) -> (Tensor(a!), Tensor)")
	arg, part := asserts.ArgRef, func(i int) asserts.Ref { return asserts.ArgRef(3 + i) }
	against := func(op *asserts.Op) (refs []asserts.Ref) {
		for _, c := range asserts.WithParts(op).Checks {
			if c.Code == asserts.UndeclaredAlias && c.On == asserts.ResultRef(2) {
				refs = append(refs, c.Against)
			}
		}
		return refs
	}
	if diff := cmp.Diff([]asserts.Ref{arg(1), part(1)}, against(op)); diff != "" {
		t.Errorf("held against:\n%s", diff)
	}
	fresh := 0
	for _, c := range asserts.WithParts(op).Checks {
		if c == (asserts.Check{Code: asserts.UndeclaredAlias, On: asserts.ResultRef(3), Against: arg(1)}) {
			fresh++
		}
	}
	if fresh != 1 {
		t.Errorf("parts of the fresh return are compared with other %d times", fresh)
	}
	op.Checks = slices.DeleteFunc(op.Plan(), func(c asserts.Check) bool { return c.Code == asserts.ReturnedSelf })
	if refs := against(op); refs != nil {
		t.Errorf("without OA006 compared with %v", refs)
	}
}

// A tensor put into a written one may belong to another argument; those that it held before, by
// TensorImpl or StorageImpl, are its own.
func TestHungIntoWritten(t *testing.T) {
	const schema = "f_(Tensor(a!) self, Tensor other) -> Tensor(a!)"
	self := func(part asserts.Observation) list { return list{see(1, 2, holdingParts(part))} }
	for _, test := range []judgement{
		{
			name: "another's", schema: schema,
			before: append(self(see(3, 4)), see(21, 22)), after: append(self(see(9, 22)), see(21, 22)), results: self(see(9, 22)),
			skips: "OA009", want: []string{"OA007 result.parts.a / argument other: result.parts.a shares StorageImpl with argument other"},
		},
		{
			name: "its own, which another shares", schema: schema,
			before: append(self(see(3, 4)), see(21, 4)), after: append(self(see(9, 4)), see(21, 4)), results: self(see(9, 4)),
			skips: "OA009",
		},
		{
			name: "a view of what an argument was put on", schema: "f(Tensor(a) self, Tensor other) -> Tensor(a)",
			before: list{see(1, 2), see(21, 22)}, after: list{see(1, 22), see(21, 22)}, results: list{see(5, 22)},
			want: []string{"OA002 argument self / argument other: argument self was on StorageImpl #2 before the call and is on #22 after it, the StorageImpl of argument other"},
		},
	} {
		t.Run(test.name, test.test)
	}
}

// A written return is the written argument, if several have its alias set.
func TestReturnedSelfOfSeveral(t *testing.T) {
	tests := []judgement{
		{name: "the written one", schema: "f(Tensor(a) x, Tensor(a!) y) -> Tensor(a!)", before: list{see(1, 2), see(3, 4)}, results: list{see(3, 4)}},
		{
			name: "the read one", schema: "f(Tensor(a) x, Tensor(a!) y) -> Tensor(a!)", before: list{see(1, 2), see(3, 4)}, results: list{see(1, 2)},
			want: []string{"OA006 result / argument y: result is the TensorImpl of argument x, not of argument y"},
		},
		{name: "the first of two written", schema: "f(Tensor(a!) x, Tensor(a!) y) -> Tensor(a!)", before: list{see(1, 2), see(3, 4)}, results: list{see(1, 2)}},
		{name: "the second of two written", schema: "f(Tensor(a!) x, Tensor(a!) y) -> Tensor(a!)", before: list{see(1, 2), see(3, 4)}, results: list{see(3, 4)}},
		{
			name: "none written, and neither", schema: "f(Tensor(a) x, Tensor(a) y) -> Tensor(a!)", before: list{see(1, 2), see(3, 4)}, results: list{see(5, 6)},
			want: []string{"OA006 result / argument x: result is TensorImpl #5, argument x is #1"},
		},
		{name: "none written", schema: "f(Tensor(a) x, Tensor(a) y) -> Tensor(a!)", before: list{see(1, 2), see(3, 4)}, results: list{see(3, 4)}},
		{
			name: "neither", schema: "f(Tensor(a!) x, Tensor(a!) y) -> Tensor(a!)", before: list{see(1, 2), see(3, 4)}, results: list{see(5, 6)},
			want: []string{"OA006 result / argument x: result is TensorImpl #5, argument x is #1"},
		},
		{name: "anything", schema: "f(Tensor(a -> *) x, Tensor y) -> Tensor(*)", before: list{see(1, 2), see(3, 4)}, results: list{see(5, 4, uses(1, 2))}},
		{name: "a set, or anything", schema: "f(Tensor(a) x, Tensor y) -> Tensor(a|*)", before: list{see(1, 2), see(3, 4)}, results: list{see(5, 6)}},
		{
			name: "what escapes is not a licence for a fresh return", schema: "f(Tensor(a -> *) x) -> Tensor", before: list{see(1, 2)}, results: list{see(5, 2, uses(1, 2))},
			want: []string{"OA007 result / argument x: result shares StorageImpl with argument x"},
		},
		{
			name: "two returns of one name", schema: "f(Tensor self) -> (Tensor x, Tensor x)", before: list{see(1, 2)}, results: list{see(3, 4), see(1, 2)},
			want: []string{"OA007 result x@1 / argument self: result x@1 is the TensorImpl of argument self"},
		},
		{
			name: "anything beside a fresh one", schema: "f(Tensor self) -> (Tensor, Tensor(*))", before: list{see(1, 2)}, results: list{see(3, 4, uses(1, 2)), see(5, 4, uses(1, 2))},
			want: []string{"OA005 result0 / result1: result0 shares StorageImpl with result1, use_count is 2"},
		},
	}
	tests = append(tests,
		judgement{
			name: "a fresh one behind anything", schema: "f(Tensor self) -> (Tensor(*), Tensor)", before: list{see(1, 2)}, results: list{see(5, 4, uses(1, 2)), see(3, 4, uses(1, 2))},
			want: []string{"OA005 result1 / result0: result1 shares StorageImpl with result0, use_count is 2"},
		},
		judgement{name: "no view of no tensor", schema: "f(Tensor(a)? self) -> Tensor(a)", before: list{undefined}, results: list{undefined}},
		judgement{name: "no view of a tensor without storage", schema: "f(Tensor(a) self) -> Tensor(a)", before: list{see(1, 0)}, results: list{undefined}, skips: "OA002 OA004 OA009"},
	)
	for _, test := range tests {
		t.Run(test.name, test.test)
	}
}

// holdingParts is a tensor with inner tensors named a, b, ...
func holdingParts(parts ...asserts.Observation) mod {
	return func(o *asserts.Observation) {
		o.Content = &asserts.Snapshot{DType: "uint8", Device: "cpu"}
		for i, p := range parts {
			o.Content.Parts = append(o.Content.Parts, asserts.Part{Name: string(rune('a' + i)), Observation: p})
		}
	}
}

// Parts have their names in reports, in a list after the element's number, and violations of a
// tensor are not repeated for its parts.
func TestParts(t *testing.T) {
	a, b := see(11, 12, holding("xy")), see(13, 14, holding("xy"))
	written := see(11, 12, holding("zy"))
	one, two := see(1, 2, holdingParts(a)), see(1, 2, holdingParts(a, b))
	for _, test := range []judgement{
		{
			name: "one came", schema: "f(Tensor self) -> Tensor", before: list{one}, after: list{two}, results: list{see(5, 14, uses(1, 2))},
			want: []string{"OA007 result / argument self.parts.b: result shares StorageImpl with argument self.parts.b"},
		},
		{
			name: "one went", schema: "f(Tensor self) -> Tensor", before: list{two}, after: list{one}, results: list{see(5, 14, uses(1, 2))},
			want: []string{"OA007 result / argument self.parts.b: result shares StorageImpl with argument self.parts.b"},
		},
		{
			name: "in a list", schema: "f(Tensor[] ts) -> ()", before: list{see(3, 4, holdingParts(b)), one}, after: list{see(3, 4, holdingParts(b)), see(1, 2, holdingParts(written))}, args: []int{2},
			want: []string{"OA009 argument ts.parts.1.a: 1 of 2 bytes changed, version 0 -> 0"},
		},
		{
			name: "in a list of one", schema: "f(Tensor[] ts) -> ()", before: list{one}, after: list{see(1, 2, holdingParts(written))}, args: []int{1},
			want: []string{"OA009 argument ts.parts.a: 1 of 2 bytes changed, version 0 -> 0"},
		},
	} {
		t.Run(test.name, test.test)
	}
}

// Only use counts show the holders of a tensor or part: if they are unknown, that is a skip of the
// checks that need them, and of no other.
func TestWithoutCounts(t *testing.T) {
	uncounted := uses(asserts.NotCounted, asserts.NotCounted)
	const impl, storage = asserts.FreshImpl, asserts.FreshStorage
	for _, tt := range []struct {
		name        string
		part, whole asserts.Observation
		skipped     []asserts.Code
		found       bool
	}{
		{"known", see(7, 8), see(5, 6), nil, false},
		{"not known", see(7, 8, uncounted), see(5, 6), []asserts.Code{impl, storage}, false},
		{"the tensor's not known", see(7, 8), see(5, 6, uncounted), []asserts.Code{impl, storage}, false},
		{"the argument's storage", see(7, 2, uncounted), see(5, 6), nil, true},
		{"the argument", see(1, 2, uncounted), see(5, 6), nil, true},
		{"the tensor's storage", see(7, 6, uncounted), see(5, 6), []asserts.Code{impl, storage}, false},
		{"the tensor", see(5, 6, uncounted), see(5, 6), []asserts.Code{storage}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			holdingParts(tt.part)(&tt.whole)
			j := judgement{schema: "f(Tensor self) -> Tensor", before: list{see(1, 2, holding("ab"))}, results: list{tt.whole}}
			op, seen := j.call()
			verdict := asserts.Judge(op, seen, asserts.Aware())
			want := []asserts.Skip(nil)
			for _, code := range tt.skipped {
				want = append(want, asserts.Skip{Code: code, Reason: "uses not counted", Count: 1})
			}
			if diff := cmp.Diff(want, verdict.Skips); diff != "" || len(verdict.Violations) > 0 != tt.found {
				t.Errorf("%v, skips (-want +got):\n%s", verdict.Violations, diff)
			}
			for _, code := range []asserts.Code{impl, storage} {
				want := 2
				if slices.Contains(tt.skipped, code) {
					want = 1
				}
				if got := verdict.Judged[code]; got != want {
					t.Errorf("%v judged of %d tensors, want %d", code, got, want)
				}
			}
		})
	}
}

// A part that is a further storage of its tensor is checked like the tensor's own: an argument
// keeps it, a view shares it, and a write changes only its elements.
func TestFurtherStorages(t *testing.T) {
	padded := func(text string) mod {
		return func(o *asserts.Observation) {
			holding(text)(o)
			o.Content.Sizes, o.Content.Strides = []int64{2, 2}, []int64{3, 1}
		}
	}
	with := func(parts ...asserts.Observation) list { return list{see(1, 2, holdingParts(parts...))} }
	view := func(parts ...asserts.Observation) list { return list{see(5, 2, holdingParts(parts...))} }
	a, b := see(12, 12, holding("xy")), see(14, 14, holding("xy"))
	beside := []asserts.Check{{Code: asserts.WriteBeside, On: asserts.ArgRef(0)}}
	const inPlace, aView = "f_(Tensor(a!) self) -> Tensor(a!)", "f(Tensor(a) self) -> Tensor(a)"
	for _, test := range []judgement{
		{name: "kept", schema: inPlace, before: with(a, b), results: with(a, b)},
		{
			name: "another in its place", schema: inPlace, before: with(a, b), after: with(a, see(15, 15, holding("xy"))), results: with(a, see(15, 15, holding("xy"))),
			want: []string{"OA002 argument self.parts.b: argument self.parts.b was on StorageImpl #14 before the call and is on #15 after it"},
		},
		{
			name: "gone", schema: inPlace, before: with(a, b), after: with(a), results: with(a),
			want: []string{"OA002 argument self.parts.b: argument self.parts.b was on StorageImpl #14 before the call and is on none after it"},
		},
		{name: "come", schema: inPlace, before: with(a), after: with(a, b), results: with(a, b)},
		{name: "another tensor in its place", schema: inPlace, before: with(see(11, 12, holding("xy"))), after: with(see(13, 14, holding("xy"))), results: with(see(13, 14, holding("xy")))},
		{name: "shared by a view", schema: aView, before: with(a, b), results: view(a, b)},
		{
			name: "copied by a view", schema: aView, before: with(a, b), results: view(a, see(15, 15, holding("xy"))),
			want: []string{"OA004 result.parts.b / argument self.parts.b: result.parts.b is on StorageImpl #15, argument self.parts.b is on #14"},
		},
		{name: "left out by a view", schema: aView, before: with(a, b), results: view(a)},
		{name: "added by a view", schema: aView, before: with(a), results: view(a, b)},
		{name: "a tensor of a view's own", schema: aView, before: with(see(11, 12, holding("xy"))), results: view(see(13, 14, holding("xy")))},
		{name: "written", schema: inPlace, more: beside, before: with(see(12, 12, padded("ab-cd"))), after: with(see(12, 12, padded("AB-CD"))), results: with(see(12, 12, padded("AB-CD")))},
		{
			name: "written beside", schema: inPlace, more: beside, before: with(see(12, 12, padded("ab-cd"))), after: with(see(12, 12, padded("AB+CD"))), results: with(see(12, 12, padded("AB+CD"))),
			want: []string{"OA015 argument self.parts.a: 1 bytes changed that no written argument covers"},
		},
		{name: "written beside in a tensor", schema: inPlace, more: beside, before: with(see(11, 12, padded("ab-cd"))), after: with(see(11, 12, padded("AB+CD"))), results: with(see(11, 12, padded("AB+CD")))},
	} {
		t.Run(test.name, test.test)
	}
}
