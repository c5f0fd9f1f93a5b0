package report

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/schema"
)

// An op counts as unable to run if as many cases as give it up, or all if it has fewer, ended in
// errors that no arguments avoid, or a user's case did, and nowhere else.
func TestOpsThatCannotRunAreApart(t *testing.T) {
	ended := func(beyond string, cases int) *OpResult {
		op := &OpResult{Op: "aten::f", Below: true}
		for n := range cases {
			op.Add(&CaseResult{Case: n, Error: "no", Beyond: beyond})
		}
		op.Bound()
		return op
	}
	written := &OpResult{Op: "aten::f", Below: true}
	written.Add(&CaseResult{Error: "no", Unfit: "this case never ran: no", Beyond: "it calls g"})
	written.Add(&CaseResult{Case: 1, Error: "no"})
	written.Bound()
	refused := ended("it calls g", GiveUp-1)
	refused.Add(&CaseResult{Case: GiveUp, Error: "no"})
	refused.Cannot = ""
	refused.Bound()
	ran := ended("it calls g", GiveUp)
	ran.Add(&CaseResult{Ran: true})
	ran.Cannot = ""
	ran.Bound()
	for _, tt := range []struct {
		op    *OpResult
		apart int
	}{
		{ended("it calls g", GiveUp), 1},
		{ended("it calls g", GiveUp-1), 1},
		{ended("it calls g", 1), 1},
		{refused, 0},
		{ended("", GiveUp), 0},
		{written, 1},
		{ran, 0},
	} {
		sum := (&Report{Ops: []*OpResult{tt.op}}).Totals()
		if got := sum.Cannot["it calls g"]; got != tt.apart || sum.Below != 1-tt.apart {
			t.Errorf("%d ops apart and %d below autograd, want %d apart", got, sum.Below, tt.apart)
		}
	}
}

// Text, JSON and page agree on how many ops ran, out of how many that can.
func TestRunCountIsEqualInAllFormats(t *testing.T) {
	r := Report{Engine: "x", Ops: []*OpResult{
		{Op: "aten::a", Below: true, Cases: 1, Ran: 1},
		{Op: "aten::b", Below: true, Cases: 1, Error: "no"},
		{Op: "aten::c", Below: true, Cannot: "it calls <g>"},
		{Op: "aten::d", Below: true, Cannot: "it calls <g>"},
		{Op: "aten::e", Below: true, Cannot: "it is gone"},
		{Op: "aten::f", Cases: 1, Ran: 1},
		{Op: "aten::g", Cannot: "it is gone"},
	}}
	wrote := func(write func(io.Writer) error) string {
		t.Helper()
		var b strings.Builder
		must.Do(t, write(&b))
		return b.String()
	}
	text, page := wrote(func(w io.Writer) error { return r.WriteText(w, Verbose) }), html.UnescapeString(wrote(r.WriteHTML))
	for _, line := range []string{
		"2 of 7 ran; of those with a kernel below autograd 1 of the 2 that can run here",
		"2 with a kernel below autograd cannot run here: it calls <g>",
		"1 with a kernel below autograd cannot run here: it is gone",
	} {
		if !strings.Contains(text, " "+line+"\n") || !strings.Contains(page, ": "+line+".</p>") {
			t.Errorf("want %q in the text and in the page:\n%s", line, text)
		}
	}
	var all []struct {
		RunCount RunCount `json:"reach"`
	}
	must.Do(t, json.Unmarshal([]byte(wrote(r.WriteJSON)), &all))
	want := RunCount{Ops: 7, Reached: 2, Below: 2, BelowRun: 1, Cannot: map[string]int{"it calls <g>": 2, "it is gone": 1}}
	if diff := cmp.Diff(want, all[len(all)-1].RunCount); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}
}

// The report lists each class of each argument once, with whether a call had it.
func TestClassesAreToldByArgument(t *testing.T) {
	op := new(OpResult)
	op.Add(&CaseResult{Tried: []string{"self: const:NaN", "dim: -1"}})
	op.Add(&CaseResult{Tried: []string{"self: const:NaN", "dim: 0"}, Ran: true})
	op.Add(&CaseResult{Tried: []string{"self: const:NaN"}, Ran: true})
	op.Add(&CaseResult{Tried: []string{"dim: 0"}})
	if got := op.Tried["self"]; !slices.Equal(got, []string{"const:NaN"}) || !slices.Equal(op.Tried["dim"], []string{"0"}) {
		t.Errorf("tried %v", op.Tried)
	}
	if op.Refused.count() != 1 || !slices.Equal(op.Refused["dim"], []string{"-1"}) {
		t.Errorf("refused %v", op.Refused)
	}
}

// A failure outside the op is reported as that of opassert or of the library.
func TestFaults(t *testing.T) {
	r := &Report{Ops: []*OpResult{{Op: "a::b", Fault: "a worker does not start"}, {Op: "a::c", Fault: "Observe panics", Library: true}}}
	faults := [][]string{r.Faults(), r.LibraryFaults()}
	for i, want := range []string{"opassert failed: a worker does not start", "the library failed: Observe panics"} {
		if got := r.Results()[2*i].Reason; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if len(faults[i]) != 1 || faults[i][0] != r.Ops[i].Fault {
			t.Errorf("%v are the faults", faults[i])
		}
	}
}

// An op keeps the closest error until one of its cases runs, and counts errors that differ only in
// numbers as one.
func TestErrorOfAnOp(t *testing.T) {
	op := new(OpResult)
	if op.Add(&CaseResult{Error: "first", Closest: "x"}); op.Error != "first" || op.Closest != "x" {
		t.Errorf("%s with %s came closest", op.Closest, op.Error)
	}
	if op.Add(&CaseResult{Error: "unmade", Close: Unmade}); op.Error != "first" {
		t.Errorf("%s came closest", op.Error)
	}
	*op = OpResult{}
	for _, c := range []CaseResult{
		{Error: "unmade", Close: Unmade, Closest: "u"}, {Error: "size 2", Close: 0, Closest: "a", Unfit: "no"}, {Case: 1, Error: "size 3", Close: 2, Closest: "b", Unfit: "nor"}, {Case: 2, Error: "rank", Close: 1, Closest: "c"},
		{Case: 3, Idle: true, Error: "idle"},
	} {
		op.Add(&c)
	}
	if op.Error != "size 3" || op.Closest != "b" || op.Cases != 4 {
		t.Errorf("%d cases, of which %s with %s came closest", op.Cases, op.Closest, op.Error)
	}
	if diff := cmp.Diff(map[string]int{"unmade": 1, "size 2": 2, "rank": 1}, op.Said); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[int]string{0: "no", 1: "nor"}, op.Unfit); diff != "" {
		t.Errorf("unfit (-want +got):\n%s", diff)
	}
	op.Add(&CaseResult{Ran: true})
	op.Add(&CaseResult{Error: "size 4"})
	if op.Error != "" || op.Closest != "" || op.Said != nil || op.Ran != 1 || op.Cases != 6 {
		t.Errorf("after a case that ran: %+v", op)
	}
}

// Missing kinds of tensors, waived checks and findings of cases are added up.
func TestCasesAddUp(t *testing.T) {
	op := new(OpResult)
	skip := func(code asserts.Code, reason string) []asserts.Skip {
		return []asserts.Skip{{Code: code, Reason: reason, Count: 1}}
	}
	found := func(code asserts.Code, index int, against string) *Finding {
		f := finds(code, index, "self", "bad")
		f.Violation.Against = asserts.Place{Name: against}
		return f
	}
	op.Add(&CaseResult{Ran: true, Lacks: map[string]int{"a": 1}, Waived: skip(1, "x"), Found: []*Finding{found(1, 0, "a"), found(1, 1, "a")}})
	op.Add(&CaseResult{Ran: true, Lacks: map[string]int{"b": 1}, Waived: skip(1, "x"), Found: []*Finding{found(1, 0, "a"), found(1, 0, "b")}})
	op.Add(&CaseResult{Ran: true, Lacks: map[string]int{"b": 1}, Waived: append(skip(2, "x"), skip(1, "y")...), Found: []*Finding{found(2, 0, "a")}})
	returned := found(1, 0, "a")
	returned.Violation.Against.Return = true
	op.Add(&CaseResult{Ran: true, Found: []*Finding{returned}})
	if diff := cmp.Diff(map[string]int{"a": 1, "b": 2}, op.Lacks); diff != "" {
		t.Errorf("lacks (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]asserts.Skip{{Code: 1, Reason: "x", Count: 2}, {Code: 2, Reason: "x", Count: 1}, {Code: 1, Reason: "y", Count: 1}}, op.Waived); diff != "" {
		t.Errorf("waived (-want +got):\n%s", diff)
	}
	var got []string
	for _, f := range op.Findings {
		v := f.Violation
		got = append(got, fmt.Sprintf("%v of %d against %v: %d times", v.Code, v.Subject.Index, v.Against, f.Times))
	}
	want := []string{
		"OA001 of 0 against argument a[0]: 2 times", "OA001 of 1 against argument a[0]: 1 times", "OA001 of 0 against argument b[0]: 1 times",
		"OA002 of 0 against argument a[0]: 1 times", "OA001 of 0 against result a[0]: 1 times",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
}

func TestSameFault(t *testing.T) {
	f := finds(asserts.InputImpl, 1, "self", "bad")
	returned := finds(asserts.InputImpl, 1, "self", "bad")
	returned.Violation.Subject.Return = true
	element := finds(asserts.InputImpl, 1, "self", "bad")
	element.Violation.Subject.Element = 4
	only := func(only, breaks string) *Finding {
		g := finds(asserts.InputImpl, 1, "self", "bad")
		g.Violation.Only, g.Violation.Breaks = only, breaks
		return g
	}
	dtypes := only("where dtypes differ", "it reads other bytes")
	for _, g := range []*Finding{only("", "it fails"), only("where sizes differ", "it reads other bytes"), only("where dtypes differ", "it fails")} {
		if !dtypes.SameFault(g) || !g.SameFault(dtypes) {
			t.Errorf("%+v is another fault", g.Violation)
		}
	}
	if dtypes.SameFault(only("where sizes differ", "it fails")) {
		t.Error("other calls with another effect show the same fault")
	}
	for _, tt := range []struct {
		g    *Finding
		want bool
	}{{f, true}, {element, true}, {returned, false}, {finds(asserts.InputImpl, 2, "self", "bad"), false}, {finds(asserts.InputStorage, 1, "self", "bad"), false}} {
		if f.SameFault(tt.g) != tt.want {
			t.Errorf("%+v: %v", tt.g.Violation.Subject, !tt.want)
		}
	}
}

// Of findings about the same rule and subject, that which shows most is reported.
func TestFindingsOfOneFault(t *testing.T) {
	note, restored, changed := finds(asserts.InputImpl, 1, "self", "has no fake"), finds(asserts.InputImpl, 1, "self", "is there again"), finds(asserts.InputImpl, 1, "self", "differs")
	note.Violation.Note = "it is debatable"
	restored.Violation.Symptom = asserts.Restored
	for name, order := range map[string][]*Finding{
		"note first": {note, note, changed, note}, "error first": {changed, note, note, note},
		"restored first": {note, restored, changed, restored}, "changed first": {changed, restored, note, changed},
	} {
		op := new(OpResult)
		for _, f := range order {
			again := *f
			op.Add(&CaseResult{Ran: true, Found: []*Finding{&again}})
		}
		if len(op.Findings) != 1 || op.Findings[0].Violation.Saw != "differs" || op.Findings[0].Times != 4 || op.Against() != 1 {
			t.Errorf("%s: %d findings, the first %q %d times", name, len(op.Findings), op.Findings[0].Violation.Saw, op.Findings[0].Times)
		}
	}
}

// An op cannot run for the reason of most of its cases.
func TestBound(t *testing.T) {
	op := &OpResult{Cases: 3 * GiveUp, Cannot: "b", beyond: map[string]int{"a": GiveUp, "b": GiveUp + 2, "c": GiveUp + 1}}
	if op.Bound(); op.Cannot != "b" {
		t.Errorf("%s", op.Cannot)
	}
	crashed := &OpResult{Cases: GiveUp, Crashes: []Crash{{}}, beyond: map[string]int{"a": GiveUp}}
	if crashed.Bound(); crashed.Cannot != "" {
		t.Errorf("an op that crashes: %s", crashed.Cannot)
	}
	named := &OpResult{}
	for range GiveUp {
		named.Add(&CaseResult{Error: "no"})
	}
	if named.beyond != nil {
		t.Errorf("without a reason: %v", named.beyond)
	}
}

func TestLeave(t *testing.T) {
	op := new(OpResult)
	for i, cause := range []string{Hang, OutOfMemory, Hang} {
		op.Leave(&Crash{Case: 2 * i, Cause: cause})
	}
	want := map[string]int{
		"it needs more memory than a case may use":                                      1,
		"it has many elements or a large number, and takes longer than such a case may": 2,
	}
	if diff := cmp.Diff(want, op.Unfinished); diff != "" || op.Cases != 3 {
		t.Errorf("%d cases (-want +got):\n%s", op.Cases, diff)
	}
}

// A finding about parts of a tensor is left out if there is one about the tensor.
func TestSettle(t *testing.T) {
	at := func(code asserts.Code, index int, inside, returned bool) *Finding {
		f := finds(code, index, "self", "bad")
		f.Violation.Subject.Inside, f.Violation.Subject.Return = inside, returned
		return f
	}
	op := &OpResult{Findings: []*Finding{
		at(1, 0, false, false), at(1, 0, true, false), // left out
		at(2, 0, true, false), at(1, 1, true, false), at(1, 0, true, true), at(3, 0, true, false), at(3, 0, true, false),
	}}
	all := op.Findings
	if op.Settle(); len(op.Findings) != 6 || op.Findings[0] != all[0] || op.Findings[1] != all[2] {
		t.Errorf("%d findings", len(op.Findings))
	}
}

// An alias that only calls with one tensor for two arguments show is left out, if the other argument explains it.
func TestSettleTensorPassedTwice(t *testing.T) {
	with := func(code asserts.Code, result int, against, recipe string) *Finding {
		f := finds(code, result, "result", "it shares StorageImpl with "+against)
		f.Violation.Subject.Return, f.Violation.Against.Name, f.Recipe = true, against, recipe
		return f
	}
	const plain, same, view = "{x: float32[2], y: float32[2]}", "{x: float32[2], y: same:x}", "{x: float32[2], y: view:x}"
	y := with(asserts.UndeclaredAlias, 0, "y", plain)
	argument := with(asserts.UndeclaredAlias, 0, "x", same)
	argument.Violation.Subject.Return = false
	for name, tt := range map[string]struct {
		f    *Finding
		left bool
	}{
		"the same tensor":  {with(asserts.UndeclaredAlias, 0, "x", same), false},
		"a view of it":     {with(asserts.UndeclaredAlias, 0, "x", view), false},
		"two tensors":      {with(asserts.UndeclaredAlias, 0, "x", plain), true},
		"another result":   {with(asserts.UndeclaredAlias, 1, "x", same), true},
		"another check":    {with(asserts.FreshStorage, 0, "x", same), true},
		"the same subject": {with(asserts.UndeclaredAlias, 0, "y", same), true},
		"an argument":      {argument, true},
	} {
		op := &OpResult{Findings: []*Finding{y, tt.f}}
		if op.Settle(); len(op.Findings) != 1 && !tt.left || len(op.Findings) != 2 && tt.left {
			t.Errorf("%s: %d findings", name, len(op.Findings))
		}
	}
	other := with(asserts.UndeclaredAlias, 0, "y", plain)
	other.Violation.Subject.Return = false
	arguments := &OpResult{Findings: []*Finding{other, argument}}
	if arguments.Settle(); len(arguments.Findings) != 2 {
		t.Errorf("of two arguments %d findings", len(arguments.Findings))
	}
	op := &OpResult{Findings: []*Finding{with(asserts.UndeclaredAlias, 0, "x", same), with(asserts.UndeclaredAlias, 0, "y", same)}}
	if op.Settle(); len(op.Findings) != 2 {
		t.Errorf("neither explains the other, and %d are left", len(op.Findings))
	}
}

// That an op that decomposes shares memory is said with the number of calls.
func TestSettleSharing(t *testing.T) {
	op := new(OpResult)
	for n := range 5 {
		c := &CaseResult{Case: n, Ran: true, Found: []*Finding{finds(asserts.UndeclaredAlias, 1, "other", "bad")}}
		for range n {
			f := finds(asserts.UndeclaredAlias, 0, "result", "result shares StorageImpl with argument self")
			f.Violation.Symptom, f.Times = asserts.Decomposes, 1
			c.Found = append(c.Found, f)
		}
		op.Add(c)
	}
	op.Settle()
	for i, want := range []string{"bad", "result shares StorageImpl with argument self in 4 of 5 calls, and the schema does not declare it"} {
		if got := op.Findings[i].Violation.Saw; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// An argument without classes is removed.
func TestClassesAreRemoved(t *testing.T) {
	c := Classes{"self": {"empty", "huge"}, "dim": {"-1"}}
	c.remove([]string{"self: empty", "dim: -1"})
	if diff := cmp.Diff(Classes{"self": {"huge"}}, c); diff != "" {
		t.Error(diff)
	}
}

func TestDevicesAddUp(t *testing.T) {
	var d Devices
	if d.Add(nil); d != nil {
		t.Error("nothing was added, and there are devices")
	}
	for _, why := range []string{"a", "b", "a"} {
		d.Add(Devices{engine.Meta: {Uncalled: map[string]int{why: 1}}})
	}
	if diff := cmp.Diff(Devices{engine.Meta: {Uncalled: map[string]int{"a": 2, "b": 1}}}, d); diff != "" {
		t.Error(diff)
	}
}

func TestResultsThatCannotBeRead(t *testing.T) {
	for _, text := range []string{`{"op":3}`, `{"op":"a::b","findings":[{"case":"x"}]}`} {
		if err := json.Unmarshal([]byte(text), new(OpResult)); err == nil {
			t.Errorf("%s is read", text)
		}
	}
}

// A fault of a registration is about the argument that it names.
func TestLintOfArguments(t *testing.T) {
	op := must.Get(schema.ParseDispatcher("ns::f(Tensor a, Tensor b) -> Tensor"))(t)
	for argument, want := range map[string]string{"a": "argument a", "b": "argument b", "": "argument "} {
		r := new(OpResult)
		r.Lint(engine.Operator{Schema: op, Faults: []asserts.Fault{{Argument: argument, Saw: "it is not the kernel's"}}}, nil)
		if len(r.Findings) != 1 || r.Findings[0].Violation.Subject.String() != want {
			t.Errorf("%q: %+v, want %s", argument, r.Findings, want)
		}
	}
}

// What a registration shows replaces what calls show of the same function, and is not said where it is waived.
func TestLintOfFunctions(t *testing.T) {
	op := must.Get(schema.ParseDispatcher("ns::f(Tensor a) -> Tensor"))(t)
	at, other := asserts.Site{File: "ops.py", Line: 3}, asserts.Site{File: "ops.py", Line: 4}
	for _, tt := range []struct {
		name       string
		call       asserts.Violation
		registered asserts.Fault
		waived     []asserts.Excuse
		want       []string
	}{
		{"the same function", asserts.Violation{Symptom: asserts.FakeRaises, Site: at}, asserts.Fault{Site: at}, nil, []string{""}},
		{"a formula", asserts.Violation{Symptom: asserts.Backward, Site: at}, asserts.Fault{Site: at}, nil, []string{""}},
		{"a rule", asserts.Violation{Symptom: asserts.Vmap, Site: at}, asserts.Fault{Site: at}, nil, []string{""}},
		{"another function", asserts.Violation{Symptom: asserts.Vmap, Site: at}, asserts.Fault{Site: other}, nil, []string{"vmap", ""}},
		{"nowhere", asserts.Violation{Symptom: asserts.Vmap}, asserts.Fault{}, nil, []string{"vmap", ""}},
		{"it returns", asserts.Violation{Symptom: asserts.Unwritten, Site: at}, asserts.Fault{Site: at}, nil, []string{"unwritten", ""}},
		{"a note", asserts.Violation{Symptom: asserts.Vmap, Site: at}, asserts.Fault{Site: at, Symptom: "default"}, nil, []string{"vmap", "default"}},
		{"no fake", asserts.Violation{Symptom: asserts.NoFake}, asserts.Fault{Symptom: asserts.NoFake, Site: at}, nil, []string{"no-fake"}},
		{"no fake, and another", asserts.Violation{Symptom: asserts.Vmap}, asserts.Fault{Symptom: asserts.NoFake, Site: at}, nil, []string{"vmap", "no-fake"}},
		{"waived", asserts.Violation{Symptom: asserts.Vmap, Site: at}, asserts.Fault{Site: at}, []asserts.Excuse{{Code: asserts.MetaAlias, Reason: "known"}}, []string{"vmap"}},
		{"below the level", asserts.Violation{Symptom: asserts.Vmap, Site: at}, asserts.Fault{Site: at}, []asserts.Excuse{{Code: asserts.MetaAlias}}, []string{"vmap"}},
		{"another is", asserts.Violation{Symptom: asserts.Vmap, Site: at}, asserts.Fault{Site: at}, []asserts.Excuse{{Code: asserts.SchemaLint}}, []string{""}},
	} {
		r := &OpResult{Findings: []*Finding{{Violation: &tt.call}}}
		tt.registered.Code = asserts.MetaAlias
		r.Lint(engine.Operator{Schema: op, Faults: []asserts.Fault{tt.registered}}, tt.waived)
		var got []string
		for _, f := range r.Findings {
			got = append(got, string(f.Violation.Symptom))
		}
		if !slices.Equal(got, tt.want) || (len(r.Waived) > 0) != (tt.name == "waived") {
			t.Errorf("%s: findings %q, want %q; waived %v", tt.name, got, tt.want, r.Waived)
		}
	}
}

// Findings that exist are not added again.
func TestAddNew(t *testing.T) {
	about := func(code asserts.Code, index int) *Finding {
		return &Finding{Violation: &asserts.Violation{Code: code, Subject: asserts.Place{Index: index}}}
	}
	found := AddNew([]*Finding{about(asserts.UndeclaredWrite, 0)}, []*Finding{
		about(asserts.UndeclaredWrite, 0), about(asserts.UndeclaredWrite, 1), about(asserts.UndeclaredAlias, 0), about(asserts.UndeclaredWrite, 1),
	})
	var got []string
	for _, f := range found {
		got = append(got, fmt.Sprint(f.Violation.Code, f.Violation.Subject.Index))
	}
	if want := []string{"OA009 0", "OA009 1", "OA007 0"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
