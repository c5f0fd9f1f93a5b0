package asserts_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/allowlist"
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/gen/plan"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/internal/usual"
	"github.com/opassert/opassert/schema"
)

var planner = sync.OnceValues(func() (*plan.Planner, error) { return plan.NewPlanner("full", nil, allowlist.Where{}) })

// tabled are the checks that these tests' tables cover.
const tabled = asserts.Codes(1<<12 - 2)

// opOf makes an op with every check of the tables that its schema calls for.
func opOf(text string) *asserts.Op {
	op := wholeOp(text)
	op.Checks = slices.DeleteFunc(op.Checks, func(c asserts.Check) bool { return !tabled.Has(c.Code) })
	return op
}

// wholeOp makes an op with every check that its schema calls for, and tags. Checks whose usual
// facts are Asked are new, and have tests of their own.
func wholeOp(text string, tags ...string) *asserts.Op {
	op, err := schema.ParseDispatcher("aten::" + text)
	if err != nil {
		panic(err)
	}
	p, err := planner()
	if err != nil {
		panic(err)
	}
	op.Tags = tags
	planned := p.Plan(op).Asserts(asserts.Meta)
	planned.Checks = slices.DeleteFunc(planned.Plan(), func(c asserts.Check) bool { return c.Code.Usual().Has(usual.Asked) })
	return &planned
}

// A mod changes an observation.
type mod func(*asserts.Observation)

// see is a tensor with these numbers as impl and storage, and one reference to each.
func see(impl, storage asserts.ID, mods ...mod) asserts.Observation {
	o := asserts.Observation{Impl: impl, Storage: storage, ImplUses: 1, StorageUses: 1}
	for _, m := range mods {
		m(&o)
	}
	return o
}

var undefined = asserts.Observation{}

func uses(impl, storage int32) mod {
	return func(o *asserts.Observation) { o.ImplUses, o.StorageUses = impl, storage }
}

func traits(t asserts.Traits) mod {
	return func(o *asserts.Observation) { o.Traits = t }
}

func version(n uint32) mod {
	return func(o *asserts.Observation) { o.Version = n }
}

// holding makes the tensor a vector of these bytes.
func holding(bytes string) mod {
	return func(o *asserts.Observation) {
		o.Content = &asserts.Snapshot{
			DType: "uint8", Device: "cpu", Sizes: []int64{int64(len(bytes))}, Strides: []int64{1},
			Nbytes: int64(len(bytes)), Digest: digest(bytes), Bytes: []byte(bytes),
		}
	}
}

func digest(bytes string) uint64 {
	d := uint64(14695981039346656037)
	for _, b := range []byte(bytes) {
		d = (d ^ uint64(b)) * 1099511628211
	}
	return d
}

// shaped changes the metadata set by holding.
func shaped(change func(*asserts.Snapshot)) mod {
	return func(o *asserts.Observation) { change(o.Content) }
}

type list = []asserts.Observation

// A judgement is a call and the violations that the judge should report.
type judgement struct {
	name    string
	schema  string
	before  list
	after   list // nil: before
	results list
	args    []int // lengths, nil without lists
	returns []int
	modes   []asserts.Mode
	policy  *asserts.Policy
	drop    string          // checks left out of the plan: "OA007", or "OA007/self"
	more    []asserts.Check // added to the plan
	skips   string          // checks skipped for some tensor
	want    []string
}

func (j *judgement) call() (*asserts.Op, *asserts.Seen) {
	op := opOf(j.schema)
	if j.drop != "" {
		var left []asserts.Check
		for _, c := range op.Checks {
			pair := c.Code.String()
			if against := op.Subject(c.Against); against != nil {
				pair += "/" + against.Name
			}
			if drop := strings.Fields(j.drop); !slices.Contains(drop, c.Code.String()) && !slices.Contains(drop, pair) {
				left = append(left, c)
			}
		}
		op.Checks = left
	}
	op.Checks = append(op.Checks, j.more...)
	after := j.after
	if after == nil {
		after = j.before
	}
	return op, &asserts.Seen{
		Level: asserts.Content, Before: j.before, After: after, Results: j.results,
		ArgLens: j.args, ResultLens: j.returns, Modes: j.modes,
	}
}

// said returns a violation in a line: code, subject, the place it is compared with, and the
// evidence.
func said(v *asserts.Violation) string {
	line := fmt.Sprintf("%v %v", v.Code, v.Subject)
	if v.Against.Name != "" {
		line += " / " + v.Against.String()
	}
	if v.Symptom != "" {
		line += " (" + string(v.Symptom) + ")"
	}
	return line + ": " + v.Saw
}

// A planned check is judged, skipped, or unheld.
func TestUnheld(t *testing.T) {
	const text = "f(Tensor(a!)? x, Tensor y) -> Tensor(a!)?"
	waived := wholeOp(text)
	waived.Waived = []asserts.Code{asserts.ReturnedSelf}
	one := healthyCall(wholeOp(text))
	none := healthyCall(wholeOp(text))
	none.Before[0], none.After[0], none.Results[0] = undefined, undefined, undefined
	for _, seen := range []*asserts.Seen{one, none} {
		seen.Alone = true
	}
	identity, through, meta := *none, *none, *one
	meta.Level = asserts.Meta // not judged on one call
	identity.Level, through.Autograd = asserts.Identity, true
	moved := healthyCall(wholeOp(text))
	moved.Alone = true
	moved.After[0].Impl, moved.Results[0].Impl = 99, 99
	for _, tt := range []struct {
		name string
		op   *asserts.Op
		seen *asserts.Seen
		want string
	}{
		{"all there", wholeOp(text), one, ""},
		{"none of what it writes", wholeOp(text), none, "OA006 OA010 OA013 OA015 OA017"},
		{"waived", waived, none, "OA010 OA013 OA015 OA017"},
		{"at the identity level", wholeOp(text), &identity, "OA006"},
		{"at the meta level", wholeOp(text), &meta, ""},
		{"through autograd", wholeOp(text), &through, "OA014"},
		{"reported by another", wholeOp(text), moved, "OA010 OA013"},
	} {
		verdict := asserts.Judge(tt.op, tt.seen, asserts.Aware())
		var unheld asserts.Codes
		for _, s := range verdict.Unheld(tt.op, tt.seen) {
			unheld |= asserts.CodesOf(s.Code)
		}
		if unheld.String() != tt.want {
			t.Errorf("%s: %v, want %s", tt.name, unheld, tt.want)
		}
	}
}

func (j *judgement) test(t *testing.T) {
	op, seen := j.call()
	must.Do(t, op.Validate())
	policy := j.policy
	if policy == nil {
		policy = asserts.Aware()
	}
	verdict := asserts.Judge(op, seen, policy)
	var skipped asserts.Codes
	for _, s := range verdict.Skips {
		if s.Reason != "contents not observed" { // most of these calls have no contents
			skipped |= asserts.CodesOf(s.Code)
		}
	}
	if skipped.String() != j.skips {
		t.Errorf("skipped %q, want %q", skipped, j.skips)
	}
	var got []string
	for _, v := range verdict.Violations {
		got = append(got, said(v))
		if v.Op != op.Name || v.Schema != op.Schema || v.Fix == "" {
			t.Errorf("violation without op, schema or fix: %+v", v)
		}
	}
	if diff := cmp.Diff(j.want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// Of eight bytes that all change, which ones does a written view cover?
func TestCover(t *testing.T) {
	for _, test := range []struct {
		name, dtype    string
		sizes, strides []int64
		offset         int64
		want           string // number of bytes outside of all views; "" if unknown
	}{
		{"every second", "uint8", []int64{2}, []int64{2}, 1, "6"},
		{"bool", "bool", []int64{2}, []int64{2}, 1, "6"},
		{"two bytes each", "float16", []int64{2}, []int64{1}, 1, "4"},
		{"two dimensions", "uint8", []int64{2, 2}, []int64{4, 1}, 0, "4"},
		{"none", "uint8", []int64{0}, []int64{1}, 0, "8"},
		{"expanded", "uint8", []int64{70000}, []int64{0}, 0, "7"},
		{"overlapping", "uint8", []int64{70000}, []int64{1}, 1, ""},
		{"no strides", "uint8", []int64{8}, nil, 0, ""},
		{"dtype of no size", "qint", []int64{1}, []int64{1}, 0, ""},
		{"dtype of half bytes", "uint12", []int64{1}, []int64{1}, 0, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			view := shaped(func(c *asserts.Snapshot) {
				c.DType, c.Sizes, c.Strides, c.Offset = test.dtype, test.sizes, test.strides, test.offset
			})
			j := judgement{
				schema: "f(Tensor base, Tensor(a!) view) -> ()", skips: "OA009",
				before: list{see(1, 2, holding("abcdefgh")), see(3, 2, holding("abcdefgh"), view)},
				after:  list{see(1, 2, holding("ABCDEFGH"), version(1)), see(3, 2, holding("ABCDEFGH"), version(1), view)},
			}
			if test.want != "" {
				j.want = []string{"OA009 argument base: " + test.want + " bytes changed that no written argument covers, version 0 -> 1"}
			}
			j.test(t)
		})
	}
}

func TestJudgeArguments(t *testing.T) {
	one := holding("abcd")
	tests := []judgement{
		// OA001
		{
			name: "impl of a tensor", schema: "f(Tensor self) -> ()",
			before: list{see(1, 2)}, after: list{see(3, 4)},
			want: []string{"OA001 argument self: argument self was TensorImpl #1 before the call and is #3 after it"},
		},
		{
			name: "impl alone", schema: "f(Tensor(a!) self) -> ()",
			before: list{see(1, 2)}, after: list{see(3, 2)},
			want: []string{"OA001 argument self: argument self was TensorImpl #1 before the call and is #3 after it"},
		},
		{
			name: "impl of an optional", schema: "f(Tensor self, Tensor? w) -> ()",
			before: list{see(1, 2), see(3, 4)}, after: list{see(1, 2), undefined},
			want: []string{"OA001 argument w: argument w was TensorImpl #3 before the call and is none after it"},
		},
		{
			name: "impl of a list element", schema: "f(Tensor[] ts, Tensor other) -> ()", args: []int{3, 1},
			before: list{see(1, 2), see(3, 4), see(5, 6), see(7, 8)},
			after:  list{see(1, 2), see(7, 8), see(5, 6), see(7, 8)},
			want:   []string{"OA001 argument ts[1] / argument other: argument ts[1] was TensorImpl #3 before the call and is #7 after it, the TensorImpl of argument other"},
		},
		{
			name: "element of an optional list filled in", schema: "f(Tensor?[] ts) -> ()", args: []int{2},
			before: list{see(1, 2), undefined}, after: list{see(1, 2), see(3, 4)},
			want: []string{"OA001 argument ts[1]: argument ts[1] was TensorImpl none before the call and is #3 after it"},
		},
		{
			name: "element of an optional list dropped", schema: "f(Tensor?[] ts) -> ()", args: []int{2},
			before: list{see(1, 2), see(3, 4)}, after: list{undefined, see(3, 4)},
			want: []string{"OA001 argument ts[0]: argument ts[0] was TensorImpl #1 before the call and is none after it"},
		},
		{
			name: "elements swapped", schema: "f(Tensor[] ts) -> ()", args: []int{2},
			before: list{see(1, 2), see(3, 4)}, after: list{see(3, 4), see(1, 2)},
			want: []string{
				"OA001 argument ts[0] / argument ts[1]: argument ts[0] was TensorImpl #1 before the call and is #3 after it, the TensorImpl of argument ts[1]",
				"OA001 argument ts[1] / argument ts[0]: argument ts[1] was TensorImpl #3 before the call and is #1 after it, the TensorImpl of argument ts[0]",
			},
		},
		{
			name: "one handle passed twice, replaced", schema: "f(Tensor self, Tensor other) -> ()",
			before: list{see(1, 2), see(1, 2)}, after: list{see(3, 4), see(3, 4)},
			want: []string{"OA001 argument self: argument self was TensorImpl #1 before the call and is #3 after it"},
		},
		{
			name: "the result put into the caller's list", schema: "f(Tensor[] ts) -> Tensor", args: []int{1},
			before: list{see(1, 2)}, after: list{see(3, 4, uses(2, 1))}, results: list{see(3, 4, uses(2, 1))},
			want: []string{"OA001 argument ts[0] / result: argument ts[0] was TensorImpl #1 before the call and is #3 after it, the TensorImpl of result"},
		},
		{
			name: "an undefined argument that the op may fill in", schema: "f(Tensor(a!) out) -> ()",
			before: list{undefined}, after: list{see(1, 2)},
		},
		{name: "undefined arguments", schema: "f(Tensor? w, Tensor?[] ts) -> Tensor", args: []int{1, 2}, before: list{undefined, undefined, undefined}, results: list{undefined}},

		// OA002
		{
			name: "storage of a tensor", schema: "f(Tensor(a!) self) -> Tensor(a!)",
			before: list{see(1, 2, one)}, after: list{see(1, 9, holding("xxxxxx"))}, results: list{see(1, 9)},
			want: []string{"OA002 argument self: argument self was on StorageImpl #2 before the call and is on #9 after it"},
		},
		{
			name: "released by the op", schema: "f(Tensor self) -> ()",
			before: list{see(1, 2, one)}, after: list{see(1, 0, uses(0, 0))},
			want: []string{"OA002 argument self: argument self was on StorageImpl #2 before the call and is on none after it: it was released once too often, use_count 1 -> 0"},
		},
		{
			name: "counted neither before nor after", schema: "f(Tensor self) -> ()",
			before: list{see(1, 2, one, uses(0, 0))}, after: list{see(1, 9, one, uses(0, 0))},
			want: []string{"OA002 argument self: argument self was on StorageImpl #2 before the call and is on #9 after it"},
		},
		{
			name: "storage of an optional", schema: "f(Tensor? w) -> ()",
			before: list{see(1, 2, one)}, after: list{see(1, 9, one)},
			want: []string{"OA002 argument w: argument w was on StorageImpl #2 before the call and is on #9 after it"},
		},
		{
			name: "storage of one list element", schema: "f(Tensor[] ts) -> ()", args: []int{3},
			before: list{see(1, 2), see(3, 4), see(5, 6)}, after: list{see(1, 2), see(3, 4), see(5, 9)},
			want: []string{"OA002 argument ts[2]: argument ts[2] was on StorageImpl #6 before the call and is on #9 after it"},
		},
		{
			name: "storage of an optional list element", schema: "f(Tensor?[] ts) -> ()", args: []int{2},
			before: list{undefined, see(3, 4)}, after: list{undefined, see(3, 9)},
			want: []string{"OA002 argument ts[1]: argument ts[1] was on StorageImpl #4 before the call and is on #9 after it"},
		},
		{
			name: "storage of an out argument", schema: "f(Tensor self, Tensor(a!) out) -> Tensor(a!)",
			before: list{see(1, 2), see(3, 4)}, after: list{see(1, 2), see(3, 9)}, results: list{see(3, 9)},
			want: []string{"OA002 argument out: argument out was on StorageImpl #4 before the call and is on #9 after it"},
		},
		{
			name: "storage lost", schema: "f(Tensor self) -> ()",
			before: list{see(1, 2, one)}, after: list{see(1, 0)},
			want: []string{"OA002 argument self: argument self was on StorageImpl #2 before the call and is on none after it"},
		},
		{
			name: "released too often", schema: "f(Tensor self) -> ()", before: list{see(1, 2)}, after: list{see(1, 0, uses(0, 0))},
			want: []string{"OA002 argument self: argument self was on StorageImpl #2 before the call and is on none after it: it was released once too often, use_count 1 -> 0"},
		},
		{
			name: "storage taken by the result", schema: "f(Tensor self) -> Tensor",
			before: list{see(1, 2)}, after: list{see(1, 9)}, results: list{see(3, 2)},
			want: []string{"OA002 argument self: argument self was on StorageImpl #2 before the call and is on #9 after it"},
		},
		{
			name: "storage of the result", schema: "f(Tensor self) -> Tensor",
			before: list{see(1, 2)}, after: list{see(1, 9, uses(1, 2))}, results: list{see(3, 9, uses(1, 2))},
			want: []string{"OA002 argument self / result: argument self was on StorageImpl #2 before the call and is on #9 after it, the StorageImpl of result"},
		},
		{
			name: "one tensor passed twice, storage replaced", schema: "f(Tensor(a!) self, Tensor other) -> Tensor(a!)",
			before: list{see(1, 2), see(1, 2)}, after: list{see(1, 9), see(1, 9)}, results: list{see(1, 9)},
			want: []string{"OA002 argument self: argument self was on StorageImpl #2 before the call and is on #9 after it"},
		},
		{
			name: "out= resized", schema: "f(Tensor self, Tensor(a!) out) -> Tensor(a!)",
			before:  list{see(1, 2, one), see(3, 4, holding(""))},
			after:   list{see(1, 2, one), see(3, 4, holding("wxyz"), version(1))},
			results: list{see(3, 4)},
		},
		{
			name: "set_, whose plan has no OA002", skips: "OA009", schema: "f(Tensor(a!) self, Tensor source) -> Tensor(a!)", drop: "OA002",
			before:  list{see(1, 2, one), see(3, 4, holding("wxyz"))},
			after:   list{see(1, 4, holding("wxyz")), see(3, 4, holding("wxyz"))},
			results: list{see(1, 4)},
		},

		// OA009
		{
			name: "bytes of a tensor", schema: "f(Tensor noise) -> ()",
			before: list{see(1, 2, one)}, after: list{see(1, 2, holding("abXd"))},
			want: []string{"OA009 argument noise: 1 of 4 bytes changed, version 0 -> 0"},
		},
		{
			name: "bytes with a version bump", schema: "f(Tensor self) -> ()",
			before: list{see(1, 2, one, version(4))}, after: list{see(1, 2, holding("ABCD"), version(5))},
			want: []string{"OA009 argument self: 4 of 4 bytes changed, version 4 -> 5"},
		},
		{
			name: "bytes of a list element", schema: "f(Tensor[] ts) -> ()", args: []int{2},
			before: list{see(1, 2, one), see(3, 4, one)}, after: list{see(1, 2, one), see(3, 4, holding("abc\x00"))},
			want: []string{"OA009 argument ts[1]: 1 of 4 bytes changed, version 0 -> 0"},
		},
		{
			name: "bytes of an optional", schema: "f(Tensor? w) -> ()",
			before: list{see(1, 2, one)}, after: list{see(1, 2, holding("abce"))},
			want: []string{"OA009 argument w: 1 of 4 bytes changed, version 0 -> 0"},
		},
		{
			name: "bytes of an optional list element", schema: "f(Tensor?[] ts) -> ()", args: []int{2},
			before: list{undefined, see(3, 4, one)}, after: list{undefined, see(3, 4, holding("abce"))},
			want: []string{"OA009 argument ts[1]: 1 of 4 bytes changed, version 0 -> 0"},
		},
		{
			name: "bytes of a view's base", schema: "f(Tensor(a) self) -> Tensor(a)",
			before: list{see(1, 2, one)}, after: list{see(1, 2, holding("abce"))}, results: list{see(3, 2)},
			want: []string{"OA009 argument self: 1 of 4 bytes changed, version 0 -> 0"},
		},
		{
			name: "bytes too many to copy", schema: "f(Tensor self) -> ()",
			before: list{see(1, 2, one, shaped(func(c *asserts.Snapshot) { c.Bytes, c.Digest = nil, 1 }))},
			after:  list{see(1, 2, one, shaped(func(c *asserts.Snapshot) { c.Bytes, c.Digest = nil, 2 }))},
			want:   []string{"OA009 argument self: some of 4 bytes changed, digest 0000000000000001 -> 0000000000000002, version 0 -> 0"},
		},
		{
			name: "storage resized", schema: "f(Tensor self) -> ()",
			before: list{see(1, 2, one)}, after: list{see(1, 2, holding("abcdef"))},
			want: []string{"OA009 argument self: storage of 4 bytes resized to 6, version 0 -> 0, sizes [4] -> [6]"},
		},
		{
			name: "metadata", schema: "f(Tensor self) -> ()",
			before: list{see(1, 2, one)},
			after: list{see(1, 2, one, shaped(func(c *asserts.Snapshot) {
				c.Sizes, c.Strides, c.Offset, c.DType = []int64{2}, []int64{2}, 1, "int8"
			}))},
			want: []string{"OA009 argument self: sizes [4] -> [2], strides [1] -> [2], offset 0 -> 1, dtype uint8 -> int8"},
		},
		{
			name: "bytes of one tensor passed twice", schema: "f(Tensor self, Tensor other) -> ()",
			before: list{see(1, 2, one), see(1, 2, one)}, after: list{see(1, 2, holding("abce")), see(1, 2, holding("abce"))},
			want: []string{"OA009 argument self: 1 of 4 bytes changed, version 0 -> 0"},
		},
		{
			name: "bytes of one storage, metadata of one view", schema: "f(Tensor self, Tensor view) -> ()",
			before: list{see(1, 2, one), see(3, 2, one)},
			after:  list{see(1, 2, holding("abce")), see(3, 2, holding("abce"), shaped(func(c *asserts.Snapshot) { c.Offset = 1 }))},
			want: []string{
				"OA009 argument self: 1 of 4 bytes changed, version 0 -> 0",
				"OA009 argument view: offset 0 -> 1",
			},
		},
		{
			name: "bytes written through a written argument", skips: "OA009", schema: "f(Tensor(a!) self, Tensor other) -> Tensor(a!)",
			before: list{see(1, 2, one), see(3, 2, one)}, after: list{see(1, 2, holding("ABCD"), version(1)), see(3, 2, holding("ABCD"))},
			results: list{see(1, 2)},
		},
		{
			name: "another argument besides the written one", schema: "f(Tensor(a!) self, Tensor other) -> Tensor(a!)",
			before: list{see(1, 2, one), see(3, 4, one)}, after: list{see(1, 2, holding("ABCD"), version(1)), see(3, 4, holding("abcD"))},
			results: list{see(1, 2)},
			want:    []string{"OA009 argument other: 1 of 4 bytes changed, version 0 -> 0"},
		},
		{
			name: "OA002 waived, bytes differ", schema: "f(Tensor self) -> ()", drop: "OA002",
			before: list{see(1, 2, one)}, after: list{see(1, 9, holding("abce"))},
			want: []string{"OA009 argument self: 1 of 4 bytes changed, version 0 -> 0"},
		},
		{
			name: "OA001 and OA002 waived, another tensor", schema: "f(Tensor self) -> ()", drop: "OA001 OA002",
			before: list{see(1, 2, one)}, after: list{see(3, 4, holding("abce"))},
		},
		{
			name: "an argument seen after the call alone", schema: "f(Tensor self, Tensor other) -> ()",
			before: list{see(1, 2)}, after: list{see(1, 2), see(3, 4)},
			want: []string{"OA001 argument other: argument other was TensorImpl none before the call and is #3 after it"},
		},
		{
			name: "an argument seen before the call alone", schema: "f(Tensor self, Tensor other) -> ()",
			before: list{see(1, 2), see(3, 4)}, after: list{see(1, 2)},
			want: []string{"OA001 argument other: argument other was TensorImpl #3 before the call and is none after it"},
		},
		{
			name: "one storage lost, where others have none", skips: "OA002 OA010", schema: "f(Tensor self, Tensor(a!) out, Tensor(b!) sparse) -> ()",
			before: list{see(1, 2, one), see(3, 4, one), see(5, 0)}, after: list{see(1, 2, holding("abce")), see(3, 0, one), see(5, 0)},
			want: []string{
				"OA009 argument self: 1 of 4 bytes changed, version 0 -> 0",
				"OA002 argument out: argument out was on StorageImpl #4 before the call and is on none after it",
			},
		},
		{
			name: "bytes too many to copy, unchanged", schema: "f(Tensor self, Tensor(a!) out) -> ()",
			before: list{
				see(1, 2, one, shaped(func(c *asserts.Snapshot) { c.Bytes = nil })),
				see(3, 4, one, shaped(func(c *asserts.Snapshot) { c.Bytes = nil })),
			},
		},
		{
			name: "bytes too many to copy, resized and perhaps written", schema: "f(Tensor(a!) self) -> ()",
			before: list{see(1, 2, one, shaped(func(c *asserts.Snapshot) { c.Bytes = nil }))},
			after:  list{see(1, 2, holding("abcdef"), shaped(func(c *asserts.Snapshot) { c.Bytes = nil }))},
			want:   []string{"OA010 argument self: storage of 4 bytes resized to 6, version 0 -> 0"},
		},
		{
			name: "bytes too many to copy, fewer afterwards", skips: "OA010", schema: "f(Tensor(a!) self) -> ()",
			before: list{see(1, 2, holding("abcdef"), shaped(func(c *asserts.Snapshot) { c.Bytes = nil }))},
			after:  list{see(1, 2, one)},
		},
		{
			name: "written beside a written view", skips: "OA009", schema: "f(Tensor base, Tensor(a!) view) -> ()",
			before: list{see(1, 2, one), see(3, 2, one, shaped(func(c *asserts.Snapshot) { c.Sizes, c.Offset = []int64{2}, 1 }))},
			after:  list{see(1, 2, holding("XBCd"), version(1)), see(3, 2, holding("XBCd"), version(1), shaped(func(c *asserts.Snapshot) { c.Sizes, c.Offset = []int64{2}, 1 }))},
			want:   []string{"OA009 argument base: 1 bytes changed that no written argument covers, version 0 -> 1"},
		},
		{
			name: "written beside a written tensor whose bytes are not known", skips: "OA009", schema: "f(Tensor base, Tensor(a!) view) -> ()",
			before: list{see(1, 2, one), see(3, 2, one, shaped(func(c *asserts.Snapshot) { c.DType = "q" }))},
			after:  list{see(1, 2, holding("XBCd"), version(1)), see(3, 2, holding("XBCd"), version(1), shaped(func(c *asserts.Snapshot) { c.DType = "q" }))},
		},
		{
			name: "a written tensor passed twice becomes another", skips: "OA009", schema: "f(Tensor(a!) self, Tensor other) -> ()",
			before: list{see(1, 2, one), see(1, 2, one)}, after: list{see(9, 2, holding("ABCD")), see(1, 2, holding("ABCD"), shaped(func(c *asserts.Snapshot) { c.Offset = 1 }))},
			want: []string{"OA001 argument self: argument self was TensorImpl #1 before the call and is #9 after it"},
		},
		{
			name: "a written tensor becomes one that is read", skips: "OA009", schema: "f(Tensor(a!) self, Tensor other) -> ()",
			before: list{see(1, 2, one), see(3, 4, one)}, after: list{see(3, 4, holding("ABCD")), see(3, 4, holding("ABCD"), shaped(func(c *asserts.Snapshot) { c.Offset = 1 }))},
			want: []string{"OA001 argument self / argument other: argument self was TensorImpl #1 before the call and is #3 after it, the TensorImpl of argument other"},
		},
		{
			name: "a version raised in a list, beside a view of what is written", skips: "OA009", schema: "f(Tensor(a!) self, Tensor[] ts) -> ()", args: []int{1, 2},
			before: list{see(1, 2, one), see(3, 2, one), see(5, 6, one)}, after: list{see(1, 2, one), see(3, 2, one), see(5, 6, one, version(1))},
			want: []string{"OA009 argument ts[1]: version 0 -> 1"},
		},
		{
			name: "a version raised, where another holds what is written", schema: "f(Tensor(a!) self, Tensor x, Tensor y, Tensor z) -> ()",
			before: list{see(1, 2, one), see(3, 4, holdingParts(see(1, 2, one))), see(5, 6, one), see(7, 8, holdingParts(see(9, 10, one)))},
			after:  list{see(1, 2, one), see(3, 4, holdingParts(see(1, 2, one)), version(1)), see(5, 6, one, version(1)), see(7, 8, holdingParts(see(9, 10, one)), version(1))},
			skips:  "OA009",
			want:   []string{"OA009 argument y: version 0 -> 1", "OA009 argument z: version 0 -> 1"},
		},
		{
			name: "reshaped behind a written view", skips: "OA009", schema: "f(Tensor base, Tensor(a!) view) -> ()",
			before: list{see(1, 2, one), see(3, 2, one)},
			after:  list{see(1, 2, one, shaped(func(c *asserts.Snapshot) { c.Sizes = []int64{2, 2} })), see(3, 2, one)},
			want:   []string{"OA009 argument base: sizes [4] -> [2 2]"},
		},
		{
			name: "metadata where there is no storage", skips: "OA002 OA009", schema: "f(Tensor x) -> ()",
			before: list{see(1, 0, one)}, after: list{see(1, 0, one, shaped(func(c *asserts.Snapshot) { c.Sizes = []int64{2, 2} }))},
			want: []string{"OA009 argument x: sizes [4] -> [2 2]"},
		},
		{
			name: "bits and names", schema: "f(Tensor x) -> ()",
			before: list{see(1, 2, one)},
			after:  list{see(1, 2, one, shaped(func(c *asserts.Snapshot) { c.Conj, c.Neg, c.RequiresGrad, c.Names, c.Grad = true, true, true, "N", 7 }))},
			want:   []string{"OA009 argument x: conj bit false -> true, neg bit false -> true, requires_grad false -> true, names [] -> [N], grad is another tensor"},
		},
		{
			name: "a version raised", schema: "f(Tensor x, Tensor y) -> ()", // y is a view of x
			before: list{see(1, 2, one, version(3)), see(3, 2, one, version(3))},
			after:  list{see(1, 2, one, version(4)), see(3, 2, one, version(4))},
			want:   []string{"OA009 argument x: version 3 -> 4"},
		},
		{
			name: "elements of an optional list filled in with one tensor", schema: "f(Tensor?[] ts) -> ()", args: []int{2},
			before: list{undefined, undefined}, after: list{see(3, 4), see(3, 4)},
			want: []string{
				"OA001 argument ts[0]: argument ts[0] was TensorImpl none before the call and is #3 after it",
				"OA001 argument ts[1]: argument ts[1] was TensorImpl none before the call and is #3 after it",
			},
		},
		{
			name: "storage of a tensor that may not be written", schema: "f(Tensor self) -> ()",
			before: list{see(1, 2, one)}, after: list{see(1, 9, holding("abce"))},
			want: []string{"OA002 argument self: argument self was on StorageImpl #2 before the call and is on #9 after it"},
		},
		{
			name: "metadata of one tensor passed twice", schema: "f(Tensor self, Tensor other) -> ()",
			before: list{see(1, 2, one), see(1, 2, one)},
			after: list{
				see(1, 2, one, shaped(func(c *asserts.Snapshot) { c.Offset = 1 })),
				see(1, 2, one, shaped(func(c *asserts.Snapshot) { c.Offset = 1 })),
			},
			want: []string{"OA009 argument self: offset 0 -> 1"},
		},
		{
			name: "impl of a written argument, on the same storage", schema: "f(Tensor(a!) self) -> ()",
			before: list{see(1, 2, one)}, after: list{see(3, 2, holding("ABCD"))},
			want: []string{"OA001 argument self: argument self was TensorImpl #1 before the call and is #3 after it"},
		},
		{
			name: "contents seen before the call alone", schema: "f(Tensor self, Tensor(a!) out) -> ()",
			before: list{see(1, 2, one), see(3, 4, one)}, after: list{see(1, 2), see(3, 4)},
		},
		{
			name: "written through an argument that may not be", schema: "f(Tensor(a!) self, Tensor other) -> ()", skips: "OA009",
			before: list{see(1, 2, one), see(3, 2, one)}, after: list{see(1, 2, holding("ABCD")), see(3, 2, holding("ABCD"), version(1))},
			want: []string{"OA010 argument self: 4 of 4 bytes changed, version 0 -> 0"},
		},
		{
			name: "a written argument that is undefined", schema: "f(Tensor(a!)? self) -> ()", before: list{undefined},
		},
		{
			name: "lists of one, their lengths left out", schema: "f(Tensor[] ts, Tensor(a!)[] us) -> ()",
			before: list{see(1, 2), see(3, 4)}, after: list{see(1, 2), see(3, 9)},
			want: []string{"OA002 argument us[0]: argument us[0] was on StorageImpl #4 before the call and is on #9 after it"},
		},
		{
			name: "a length left out", schema: "f(Tensor[] ts, Tensor[] us) -> ()", args: []int{1},
			before: list{see(1, 2), see(3, 4)}, after: list{see(1, 9), see(3, 9)},
			want: []string{"OA002 argument ts[0]: argument ts[0] was on StorageImpl #2 before the call and is on #9 after it"},
		},
		{
			name: "OA001 waived, another tensor", schema: "f(Tensor self) -> ()", drop: "OA001",
			before: list{see(1, 2, one)}, after: list{see(3, 4, holding("abce"))},
			want: []string{"OA002 argument self: argument self was on StorageImpl #2 before the call and is on #4 after it"},
		},

		// OA010
		{
			name: "version of an in-place argument", schema: "f(Tensor(a!) self) -> Tensor(a!)",
			before: list{see(1, 2, one, version(7))}, after: list{see(1, 2, holding("ABCD"), version(7))}, results: list{see(1, 2)},
			want: []string{"OA010 argument self: 4 of 4 bytes changed, version 7 -> 7"},
		},
		{
			name: "version of an out argument", schema: "f(Tensor self, Tensor(a!) out) -> Tensor(a!)",
			before: list{see(1, 2, one), see(3, 4, one)}, after: list{see(1, 2, one), see(3, 4, holding("abcD"))}, results: list{see(3, 4)},
			want: []string{"OA010 argument out: 1 of 4 bytes changed, version 0 -> 0"},
		},
		{
			name: "version of a list element", schema: "f(Tensor(a!)[] ts) -> ()", args: []int{2},
			before: list{see(1, 2, one), see(3, 4, one)}, after: list{see(1, 2, holding("ABCD"), version(1)), see(3, 4, holding("ABCD"))},
			want: []string{"OA010 argument ts[1]: 4 of 4 bytes changed, version 0 -> 0"},
		},
		{
			name: "version of an optional", schema: "f(Tensor(a!)? mean) -> ()",
			before: list{see(1, 2, one)}, after: list{see(1, 2, holding("ABCD"))},
			want: []string{"OA010 argument mean: 4 of 4 bytes changed, version 0 -> 0"},
		},
		{
			name: "version that fell", schema: "f(Tensor(a!) self) -> ()",
			before: list{see(1, 2, one, version(2))}, after: list{see(1, 2, holding("ABCD"), version(1))},
			want: []string{"OA010 argument self: 4 of 4 bytes changed, version 2 -> 1"},
		},
		{
			name: "version that wrapped", schema: "f(Tensor(a!) self) -> ()",
			before: list{see(1, 2, one, version(1<<32-1))}, after: list{see(1, 2, holding("ABCD"), version(0))},
		},
		{
			name: "nothing written", schema: "f(Tensor(a!) self) -> Tensor(a!)",
			before: list{see(1, 2, one)}, results: list{see(1, 2)},
		},
		{
			name: "no version counter", skips: "OA010", schema: "f(Tensor(a!) self) -> ()",
			before: list{see(1, 2, one, traits(asserts.NoVersion))}, after: list{see(1, 2, holding("ABCD"), traits(asserts.NoVersion))},
		},
		{
			name: "written through another written argument", schema: "f(Tensor(a!) x, Tensor(b!) y) -> ()",
			before: list{see(1, 2, one), see(3, 2, one)}, after: list{see(1, 2, holding("ABCD")), see(3, 2, holding("ABCD"), version(1))},
		},
		{
			name: "two written arguments on one storage, neither bumped", schema: "f(Tensor(a!) x, Tensor(b!) y) -> ()",
			before: list{see(1, 2, one), see(3, 2, one)}, after: list{see(1, 2, holding("ABCD")), see(3, 2, holding("ABCD"))},
			want: []string{"OA010 argument x: 4 of 4 bytes changed, version 0 -> 0"},
		},
		{
			name: "resized and not written", schema: "f(Tensor(a!) self) -> Tensor(a!)",
			before: list{see(1, 2, one)}, after: list{see(1, 2, holding("abcdXX"))}, results: list{see(1, 2)},
			want: []string{"OA010 argument self: storage of 4 bytes resized to 6, version 0 -> 0"},
		},
		{
			name: "resized by a resize", schema: "resize_(Tensor(a!) self) -> Tensor(a!)",
			before: list{see(1, 2, one)}, after: list{see(1, 2, holding("abcdXX"))}, results: list{see(1, 2)},
		},
		{
			name: "resized and written", schema: "f(Tensor(a!) self) -> Tensor(a!)",
			before: list{see(1, 2, one)}, after: list{see(1, 2, holding("ABcdXX"))}, results: list{see(1, 2)},
			want: []string{"OA010 argument self: 2 of 4 bytes changed, version 0 -> 0"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, test.test)
	}
}
