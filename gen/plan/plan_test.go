package plan

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/allowlist"
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/schema"
	"github.com/opassert/opassert/testdata/conformance"
)

func parse(t *testing.T, text string) *schema.Op {
	t.Helper()
	op, err := schema.ParseOp(text)
	if err != nil {
		t.Fatal(err)
	}
	return op
}

func planner(t testing.TB, preset string, lists ...*allowlist.List) *Planner {
	t.Helper()
	p, err := NewPlanner(preset, lists, allowlist.Where{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// lines gives a plan in one line for each check.
func lines(p Plan) []string {
	var out []string
	for _, c := range p.Checks {
		s := fmt.Sprintf("%v %s", c.Code, p.Subject(c.On).Name)
		if against := p.Subject(c.Against); against != nil {
			s += " / " + against.Name
		}
		if c.List != "none" {
			s += " " + c.List
		}
		if c.Waived != nil {
			s += " waived"
		}
		out = append(out, s)
	}
	return out
}

func TestFull(t *testing.T) {
	tests := []struct {
		name   string
		schema string
		want   []string
	}{
		{"functional", "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", []string{
			"OA001 self", "OA002 self", "OA009 self",
			"OA001 other", "OA002 other", "OA009 other",
			"OA003 result", "OA005 result", "OA007 result / self", "OA007 result / other", "OA011 result",
		}},
		{"in-place", "add_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", []string{
			"OA001 self", "OA002 self", "OA010 self",
			"OA001 other", "OA002 other", "OA009 other",
			"OA006 result / self", "OA011 result",
		}},
		{"view", "view(Tensor(a) self, SymInt[] size) -> Tensor(a)", []string{
			"OA001 self", "OA002 self", "OA009 self",
			"OA003 result", "OA004 result / self", "OA011 result",
		}},
		{"view of one of two", "view_as(Tensor(a) self, Tensor other) -> Tensor(a)", []string{
			"OA001 self", "OA002 self", "OA009 self",
			"OA001 other", "OA002 other", "OA009 other",
			"OA003 result", "OA004 result / self", "OA007 result / other", "OA011 result",
		}},
		{"list of views", "split.Tensor(Tensor(a -> *) self, int split_size) -> Tensor(a)[]", []string{
			"OA001 self", "OA002 self", "OA009 self",
			"OA003 result tensorlist", "OA004 result / self tensorlist", "OA011 result tensorlist",
		}},
		{"list of fresh tensors", "chunk_copy(Tensor self) -> Tensor[]", []string{
			"OA001 self", "OA002 self", "OA009 self",
			"OA003 result tensorlist", "OA005 result tensorlist", "OA007 result / self tensorlist",
			"OA008 result / result tensorlist", "OA011 result tensorlist",
		}},
		{"several out", "max.dim_max(Tensor self, int dim, *, Tensor(a!) max, Tensor(b!) max_values) -> (Tensor(a!) values, Tensor(b!) indices)", []string{
			"OA001 self", "OA002 self", "OA009 self",
			"OA001 max", "OA002 max", "OA010 max",
			"OA001 max_values", "OA002 max_values", "OA010 max_values",
			"OA006 values / max", "OA011 values", "OA006 indices / max_values", "OA011 indices",
		}},
		{"two fresh results", "sort(Tensor self) -> (Tensor values, Tensor indices)", []string{
			"OA001 self", "OA002 self", "OA009 self",
			"OA003 values", "OA005 values", "OA007 values / self", "OA011 values",
			"OA003 indices", "OA005 indices", "OA007 indices / self", "OA008 indices / values", "OA011 indices",
		}},
		{"mutable: fresh only", "f(Tensor self, Tensor(a!) state) -> (Tensor, Tensor)", []string{
			"OA001 self", "OA002 self", "OA009 self",
			"OA001 state", "OA002 state", "OA010 state",
			"OA003 result0", "OA005 result0", "OA007 result0 / self", "OA007 result0 / state", "OA011 result0",
			"OA003 result1", "OA005 result1", "OA007 result1 / self", "OA007 result1 / state", "OA008 result1 / result0", "OA011 result1",
		}},
		{"optional and list arguments", "index.Tensor(Tensor self, Tensor?[] indices, Tensor? weight) -> Tensor", []string{
			"OA001 self", "OA002 self", "OA009 self",
			"OA001 indices opttensorlist", "OA002 indices opttensorlist", "OA009 indices opttensorlist",
			"OA001 weight opttensor", "OA002 weight opttensor", "OA009 weight opttensor",
			"OA003 result", "OA005 result", "OA007 result / self", "OA007 result / indices", "OA007 result / weight", "OA011 result",
		}},
		{"no tensors out", "equal(Tensor self, Tensor other) -> bool", []string{
			"OA001 self", "OA002 self", "OA009 self", "OA001 other", "OA002 other", "OA009 other",
		}},
		{"a return that an argument names too", "symeig(Tensor self, bool eigenvectors=False) -> (Tensor eigenvalues, Tensor eigenvectors)", []string{
			"OA001 self", "OA002 self", "OA009 self",
			"OA003 eigenvalues", "OA005 eigenvalues", "OA007 eigenvalues / self", "OA011 eigenvalues",
			"OA003 eigenvectors_return", "OA005 eigenvectors_return", "OA007 eigenvectors_return / self",
			"OA008 eigenvectors_return / eigenvalues", "OA011 eigenvectors_return",
		}},
		{"an argument called as a return without a name is", "f(Tensor result) -> Tensor", []string{
			"OA001 result", "OA002 result", "OA009 result",
			"OA003 result", "OA005 result", "OA007 result / result", "OA011 result",
		}},
		{"the schema has no words for it", "set_(Tensor(a!) self) -> Tensor(a!)", []string{
			"OA001 self", "OA002 self waived", "OA010 self", "OA006 result / self", "OA011 result",
		}},
	}
	p := planner(t, "full")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, lines(p.Plan(parse(t, tt.schema)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCompositePromisesNothingOfItsReturns(t *testing.T) {
	op := parse(t, "contiguous(Tensor(a) self) -> Tensor(a)")
	op.CompositeImplicit = true
	want := []string{"OA001 self", "OA002 self", "OA009 self"}
	if diff := cmp.Diff(want, lines(planner(t, "full").Plan(op))); diff != "" {
		t.Error(diff)
	}
}

func TestWaiver(t *testing.T) {
	list, err := allowlist.Parse("a.yaml", []byte("- op: relu\n  checks: [OA005]\n  reason: why\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	relu := parse(t, "relu(Tensor self) -> Tensor")
	got := planner(t, "full", list).Plan(relu)
	want := []string{"OA001 self", "OA002 self", "OA009 self", "OA003 result", "OA005 result waived", "OA007 result / self", "OA011 result"}
	if diff := cmp.Diff(want, lines(got)); diff != "" {
		t.Error(diff)
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

func TestUnknownPreset(t *testing.T) {
	if _, err := NewPlanner("pytorch-9", nil, allowlist.Where{}); err == nil {
		t.Error("no error")
	}
}

// The presets equal what PyTorch's own code generator emits, check for check,
// for every op that it generates an autograd kernel for.
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
	table, err := conformance.Load(version)
	if err != nil {
		t.Fatal(err)
	}
	tags, err := schema.ParseTags("tags.yaml", table.Tags)
	if err != nil {
		t.Fatal(err)
	}
	file, err := schema.Parse("native_functions.yaml", table.Source, tags)
	if err != nil {
		t.Fatal(err)
	}
	ops := map[string]*schema.Op{}
	for _, op := range file.Ops {
		ops[op.Name()] = op
	}
	compared, checks := 0, 0
	for _, facts := range table.Ops {
		if facts.Path == "fallback" {
			continue // derivatives.yaml, not the schema, says that nothing is generated
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

// No two ops of PyTorch's file share a Go name, and each can be called.
func TestGoNamesAreOneToOne(t *testing.T) {
	table, err := conformance.Load("1.13.1")
	if err != nil {
		t.Fatal(err)
	}
	first := map[string]string{}
	for _, facts := range table.Ops {
		name := GoName(parse(t, facts.Schema).Func.Name)
		if other, taken := first[name]; taken {
			t.Errorf("%s and %s are both %s", facts.Op, other, name)
		}
		first[name] = facts.Op
		if name[0] < 'A' || name[0] > 'Z' {
			t.Errorf("%s gives %s, which is not exported", facts.Op, name)
		}
	}
	if len(first) != 2952 {
		t.Errorf("%d names for 2952 ops", len(first))
	}
}

func BenchmarkPlan(b *testing.B) {
	table, err := conformance.Load("1.13.1")
	if err != nil {
		b.Fatal(err)
	}
	file, err := schema.Parse("native_functions.yaml", table.Source, nil)
	if err != nil {
		b.Fatal(err)
	}
	p := planner(b, "full")
	b.ReportAllocs()
	for b.Loop() {
		for _, op := range file.Ops {
			p.Plan(op)
		}
	}
}
