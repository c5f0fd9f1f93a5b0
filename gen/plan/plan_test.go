package plan

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/allowlist"
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/dev/golden"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/schema"
	"github.com/opassert/opassert/testdata/conformance"
)

func parse(t *testing.T, text string) *schema.Op {
	t.Helper()
	read := schema.ParseOp
	if strings.HasPrefix(text, "aten::") {
		read = schema.ParseDispatcher
	}
	return must.Get(read(text))(t)
}

func planner(t testing.TB, preset string, lists ...*allowlist.List) *Planner {
	t.Helper()
	return must.Get(NewPlanner(preset, lists, allowlist.Where{}))(t)
}

// lines returns a plan in one line for each check.
func lines(p Plan) []string {
	var out []string
	for _, c := range p.Checks {
		out = append(out, fmt.Sprintf("%v %s", c.Code, about(p, c)))
	}
	return out
}

// about describes the subject of a planned check.
func about(p Plan, c PlannedCheck) string {
	s := p.Subject(c.On).Name
	if against := p.Subject(c.Against); against != nil {
		s += " / " + against.Name
	}
	if c.List != "none" {
		s += " " + c.List
	}
	if c.Waived != nil {
		s += " waived"
	}
	return s
}

// byCheck compares plans with testdata, where each check has a file: a new check changes no
// other's.
func byCheck(t *testing.T, name string, plans []Plan) {
	t.Helper()
	for code := range asserts.AllCodes.All() {
		var b strings.Builder
		for _, p := range plans {
			var on []string
			for _, c := range p.Checks {
				if c.Code == code {
					on = append(on, about(p, c))
				}
			}
			if on != nil {
				fmt.Fprintf(&b, "%s\n  %s\n", p.Op.Func, strings.Join(on, "\n  "))
			}
		}
		golden.Compare(t, filepath.Join(name, code.Name()+".golden"), b.String())
	}
}

// A plan is ordered by arguments, then returns, and by codes for each.
func inOrder(t *testing.T, p Plan) {
	t.Helper()
	position := func(r asserts.Ref) int {
		if i, ok := r.Result(); ok {
			return 1000 + i
		}
		return int(r)
	}
	place := func(c PlannedCheck) []int { return []int{position(c.On), int(c.Code), position(c.Against)} }
	if !slices.IsSortedFunc(p.Checks, func(a, b PlannedCheck) int { return slices.Compare(place(a), place(b)) }) {
		t.Errorf("%v: out of order:\n%s", p.Op.Func, strings.Join(lines(p), "\n"))
	}
}

// The plans of schemas of every sort, in testdata/full.
func TestFull(t *testing.T) {
	tests := []struct{ name, schema string }{
		{"functional", "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"},
		{"in-place", "add_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"},
		{"view", "view(Tensor(a) self, SymInt[] size) -> Tensor(a)"},
		{"view of one of two", "view_as(Tensor(a) self, Tensor other) -> Tensor(a)"},
		{"list of views", "split.Tensor(Tensor(a -> *) self, int split_size) -> Tensor(a)[]"},
		{"list of fresh tensors", "chunk_copy(Tensor self) -> Tensor[]"},
		{"several out", "max.dim_max(Tensor self, int dim, *, Tensor(a!) max, Tensor(b!) max_values) -> (Tensor(a!) values, Tensor(b!) indices)"},
		{"two fresh results", "sort(Tensor self) -> (Tensor values, Tensor indices)"},
		{"mutable: fresh only", "f(Tensor self, Tensor(a!) state) -> (Tensor, Tensor)"},
		{"optional and list arguments", "index.Tensor(Tensor self, Tensor?[] indices, Tensor? weight) -> Tensor"},
		{"no tensors out", "equal(Tensor self, Tensor other) -> bool"},
		{"a return that an argument names too", "symeig(Tensor self, bool eigenvectors=False) -> (Tensor eigenvalues, Tensor eigenvectors)"},
		{"an argument called as a return without a name is", "f(Tensor result) -> Tensor"},
		{"the schema has no words for it", "set_(Tensor(a!) self) -> Tensor(a!)"},
		{"a view after a fresh one", "f(Tensor(a) self) -> (Tensor, Tensor(a))"},
		{"a return by position", "f(Tensor self) -> (Tensor x, Tensor x)"},
		{"a return called as another without a name is", "f(Tensor self) -> (Tensor result1, Tensor)"},
		{"a return called as another that an argument names", "f(Tensor self) -> (Tensor self, Tensor self_return)"},
		{"view of any of two", "f(Tensor(a) x, Tensor(b) y, Tensor z) -> Tensor(a|b)"},
		{"written, of two with the set", "aten::f(Tensor(a) x, Tensor(a!) y) -> Tensor(a!)"},
		{"the dispatcher's: anything", "aten::f(Tensor(a -> *) x, Tensor y) -> Tensor(*)"},
		{"the dispatcher's: a written list", "aten::f(Tensor[](a!) list, Tensor(b -> *) el) -> Tensor[](a!)"},
		{"the dispatcher's: tensors and a written list", "aten::f(Tensor(a)[](b!) list, Tensor x) -> (Tensor(a)[](b!), Tensor(a))"},
	}
	p := planner(t, "full")
	var plans []Plan
	for _, tt := range tests {
		plans = append(plans, p.Plan(parse(t, tt.schema)))
		inOrder(t, plans[len(plans)-1])
	}
	byCheck(t, "full", plans)
}

func TestCompositePromisesNothingOfItsReturns(t *testing.T) {
	op := parse(t, "contiguous(Tensor(a) self) -> Tensor(a)")
	op.CompositeImplicit = true
	want := []string{"OA001 self", "OA002 self", "OA009 self", "OA016 self"}
	if diff := cmp.Diff(want, lines(planner(t, "full").Plan(op))); diff != "" {
		t.Error(diff)
	}
}

func TestWaiver(t *testing.T) {
	list := must.Get(allowlist.Parse("a.yaml", []byte("- op: relu\n  checks: [OA005]\n  reason: why\n"), nil))(t)
	relu := parse(t, "relu(Tensor self) -> Tensor")
	got := planner(t, "full", list).Plan(relu)
	for _, line := range lines(got) {
		if strings.HasPrefix(line, "OA005 result") != strings.HasSuffix(line, " waived") {
			t.Errorf("planned %s", line)
		}
	}
	op := got.Asserts(asserts.Content)
	for _, c := range op.Plan() {
		if c.Code.String() == "OA005" || c.Code.String() == "OA011" {
			t.Errorf("%v reached the run time: it is waived, or above the level", c.Code)
		}
	}
	dropped := planner(t, "pytorch-1.13", list).Plan(relu)
	if diff := cmp.Diff([]string{"OA002 self", "OA001 self", "OA003 result"}, lines(dropped)); diff != "" {
		t.Error(diff)
	}
}

// Allowlists also waive and note faults that engines find outside of the plan; but not those of
// checks that the plan lacks.
func TestLooseWaiver(t *testing.T) {
	list, err := allowlist.Parse("a.yaml", []byte("- op: relu\n  checks: [OA004, OA018]\n  reason: why\n- op: relu\n  checks: [OA020]\n  level: note\n  reason: as meant\n"+
		"- {op: relu, checks: [OA021/threads], device: cuda, reason: there}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	p := planner(t, "full", list).Plan(parse(t, "relu(Tensor self) -> Tensor"))
	op := p.Asserts(asserts.Content)
	if diff := cmp.Diff([]asserts.Excuse{{Code: asserts.OutOfBounds, Reason: "why"}}, p.Waivers()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]asserts.Code{asserts.OutOfBounds}, op.Waived); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]asserts.Excuse{{Code: asserts.UninitialisedResult, Reason: "as meant"}}, op.Notes); diff != "" {
		t.Error(diff)
	}
}

// Of an op that decomposes OA007 is waived for what its returns share, which is a note.
func TestLooseWaiverOfComposite(t *testing.T) {
	list := must.Get(allowlist.Parse("a.yaml", []byte("- op: flat\n  checks: [OA004, OA007]\n  reason: as meant\n"), nil))(t)
	op := parse(t, "flat(Tensor self) -> Tensor")
	op.CompositeImplicit = true
	if diff := cmp.Diff([]asserts.Excuse{{Code: asserts.UndeclaredAlias, Reason: "as meant"}}, planner(t, "full", list).Plan(op).Waivers()); diff != "" {
		t.Error(diff)
	}
}

func TestUnknownPreset(t *testing.T) {
	if _, err := NewPlanner("pytorch-9", nil, allowlist.Where{}); err == nil {
		t.Error("no error")
	}
}

// The presets equal what PyTorch's own code generator emits, check by check, for every op with a
// generated autograd kernel.
func TestPyTorchPresetConforms(t *testing.T) {
	for _, tt := range []struct{ version, preset string }{
		{"1.13.1", "pytorch-1.13"},
		{"2.6.0", "pytorch-2.6"},
		{"2.9.0", "pytorch-2.6"},
		{"2.15.0", "pytorch-2.15"},
	} {
		t.Run(tt.version, func(t *testing.T) { presetConforms(t, tt.version, planner(t, tt.preset)) })
	}
}

func presetConforms(t *testing.T, version string, p *Planner) {
	table := must.Get(conformance.Load(version))(t)
	tags := must.Get(schema.ParseTags("tags.yaml", table.Tags))(t)
	file := must.Get(schema.Parse("native_functions.yaml", table.Source, tags))(t)
	ops := map[string]*schema.Op{}
	for _, op := range file.Ops {
		ops[op.Name()] = op
	}
	compared, checks := 0, 0
	for _, facts := range table.Ops {
		if facts.Path == "fallback" {
			continue // derivatives.yaml, not the schema, prevents it
		}
		got := []conformance.CheckFact{}
		made := p.Plan(ops[facts.Op])
		for _, c := range made.Checks {
			fact := conformance.CheckFact{Check: c.Code.Name(), On: made.Subject(c.On).Name, List: c.List}
			if against := made.Subject(c.Against); against != nil {
				fact.Against = against.Name
			}
			got = append(got, fact)
		}
		if diff := cmp.Diff(append([]conformance.CheckFact{}, facts.Checks...), got); diff != "" {
			t.Errorf("%s: %s", facts.Schema, diff)
		}
		compared++
		checks += len(got)
	}
	if compared < 2000 || checks < 5000 {
		t.Errorf("compared %d ops and %d checks: the table is not whole", compared, checks)
	}
}

func TestGoName(t *testing.T) {
	tests := []struct{ schema, want string }{
		{"add.Tensor(Tensor self) -> Tensor", "AddTensor"},
		{"add_.Tensor(Tensor(a!) self) -> Tensor(a!)", "Add_Tensor"},
		{"add.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", "AddOut"},
		{"zero_(Tensor(a!) self) -> Tensor(a!)", "Zero_"},
		{"_softmax(Tensor self) -> Tensor", "InternalSoftmax"},
		{"__and__.Scalar(Tensor self) -> Tensor", "DunderAndScalar"},
		{"__iand__.Scalar(Tensor(a!) self) -> Tensor(a!)", "DunderIandScalar"},
		{"max_pool2d(Tensor self) -> Tensor", "MaxPool2d"},
		{"arange.start_out_(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", "ArangeStartOut_"},
		{"ns::my_op(Tensor self) -> Tensor", "MyOp"},
	}
	for _, tt := range tests {
		if got := GoName(parse(t, tt.schema).Func.Name); got != tt.want {
			t.Errorf("GoName(%s) = %s, want %s", tt.schema, got, tt.want)
		}
	}
}

// All ops of PyTorch's file have different Go names, which are valid.
func TestGoNamesAreOneToOne(t *testing.T) {
	table := must.Get(conformance.Load("1.13.1"))(t)
	first := map[string]string{}
	for _, facts := range table.Ops {
		name := GoName(parse(t, facts.Schema).Func.Name)
		if other, taken := first[name]; taken {
			t.Errorf("%s and %s are both %s", facts.Op, other, name)
		}
		first[name] = facts.Op
		if name[0] < 'A' || name[0] > 'Z' {
			t.Errorf("%s has the Go name %s, which is not exported", facts.Op, name)
		}
	}
	if len(first) != 2952 {
		t.Errorf("%d names for 2952 ops", len(first))
	}
}

func BenchmarkPlan(b *testing.B) {
	table := must.Get(conformance.Load("1.13.1"))(b)
	file := must.Get(schema.Parse("native_functions.yaml", table.Source, nil))(b)
	p := planner(b, "full")
	b.ReportAllocs()
	for b.Loop() {
		for _, op := range file.Ops {
			p.Plan(op)
		}
	}
}

// A kernel that returns nothing is planned by its arguments alone.
func TestWithoutResults(t *testing.T) {
	whole := planner(t, "full").Plan(parse(t, "add_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"))
	before := lines(whole)
	p := whole.WithoutResults()
	want := []string{
		"OA001 self", "OA002 self", "OA010 self", "OA013 self", "OA015 self", "OA016 self",
		"OA001 other", "OA002 other", "OA009 other", "OA016 other",
	}
	if diff := cmp.Diff(want, lines(p)); diff != "" {
		t.Error(diff)
	}
	if op := p.Table(); len(op.Results) > 0 || len(op.Args) != 2 {
		t.Errorf("table %+v, want two arguments alone", op)
	}
	if diff := cmp.Diff(before, lines(whole)); diff != "" {
		t.Errorf("the plan itself changed: %s", diff)
	}
}
