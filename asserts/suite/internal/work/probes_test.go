package work

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/probe"
	"github.com/opassert/opassert/internal/dev/must"
)

// A probedEngine has what probes ask of an engine.
type probedEngine struct {
	*watchingEngine
	threads int
	server  int
	spent   time.Duration
	dropped map[string]asserts.Site
	without bool // without Python
	tracked int
}

func (e *probedEngine) Server() int            { return e.server }
func (e *probedEngine) CPUTime() time.Duration { return e.spent }
func (e *probedEngine) Traces() bool           { return !e.without }

func (e *probedEngine) Threads(count int) { e.threads = count }

func (*probedEngine) Rules(*asserts.Op, []any) ([]asserts.Fault, string) { return nil, "" }

func (e *probedEngine) LostWrites(*asserts.Op, []any) map[string]asserts.Site {
	e.tracked++
	return e.dropped
}

// A probed kernel is that of a library's op in a new process.
type probed func(e *probedEngine, args []any) ([]any, error)

// probedBench has a library's op.
func probedBench(t *testing.T, schema string, kernel probed) (*bench, *probedEngine) {
	t.Helper()
	e := &probedEngine{threads: 1}
	b := benchOf(t, schema, func(_ *fakeEngine, args []any) ([]any, error) { return kernel(e, args) }, func(o *engine.Operator, _ *engine.Checks) { o.Added = true }, "")
	e.watchingEngine = &watchingEngine{fakeEngine: b.e}
	b.Engine, b.Seed = e, 7
	b.e.kernels["aten::copy_"] = func(e *fakeEngine, args []any) ([]any, error) {
		copy(*args[0].(*fakeTensor).data, *args[1].(*fakeTensor).data)
		return []any{e.view(first(args))}, nil
	}
	return b, e
}

// returnsByte is a kernel whose result begins with a byte that follows something.
func returnsByte(follows func(e *probedEngine, x *fakeTensor, args []any) byte) func() probed {
	return func() probed {
		return func(e *probedEngine, args []any) ([]any, error) {
			r := e.like(first(args))
			if len(*r.data) > 0 { // not on meta
				(*r.data)[r.spec.Offset] = follows(e, first(args), args)
			}
			return []any{r}, nil
		}
	}
}

// A plant is a fault that a probe finds, and a correct op that is similar.
type plant struct {
	schema          string
	args            []string
	throws          []string // the arguments of a call after that
	broken, healthy func() probed
	prepare         func(*bench, *probedEngine)
}

// bytesNotCopied prepares large tensors, whose bytes engines do not copy.
func bytesNotCopied(_ *bench, e *probedEngine) { e.notCopied = true }

// own returns the seed of the generator of a call, or that of the default ones.
func own(e *probedEngine, args []any) byte {
	if g, ok := args[1].(int64); ok {
		return byte(g)
	}
	return byte(e.generator)
}

func constant(*probedEngine, *fakeTensor, []any) byte { return 1 }

const unary, drawing = "ns::f(Tensor a) -> Tensor", "ns::f(Tensor a, Generator? g=None) -> Tensor"

// plants are those of each probe.
var plants = map[string]plant{
	"seed": {schema: unary, args: []string{"uint8[3]"}, healthy: returnsByte(constant),
		broken: returnsByte(func(e *probedEngine, _ *fakeTensor, _ []any) byte { return byte(e.generator) })},
	"neighbours": {schema: unary, args: []string{"uint8[3] between const:9"},
		broken:  returnsByte(func(_ *probedEngine, x *fakeTensor, _ []any) byte { return (*x.data)[len(*x.data)-1] }),
		healthy: returnsByte(func(_ *probedEngine, x *fakeTensor, _ []any) byte { return (*x.data)[x.spec.Offset] })},
	"rewritten": {schema: unary, args: []string{"float32[1]"},
		broken: func() probed {
			kept := make(map[*[]byte]byte)
			return returnsByte(func(_ *probedEngine, x *fakeTensor, _ []any) byte {
				if _, ok := kept[x.data]; !ok {
					kept[x.data] = sum(x)
				}
				return kept[x.data]
			})()
		},
		healthy: returnsByte(func(_ *probedEngine, x *fakeTensor, _ []any) byte { return sum(x) })},
	"threads": {schema: unary, args: []string{"uint8[65537]"}, prepare: bytesNotCopied, healthy: returnsByte(constant),
		broken: returnsByte(func(e *probedEngine, _ *fakeTensor, _ []any) byte { return byte(e.threads) })},
	"races": {schema: unary, args: []string{"uint8[65537]"},
		broken: racy(20), healthy: racy(1000), prepare: bytesNotCopied},
	"threads-large": {schema: unary, args: []string{"uint8[3]"}, healthy: returnsByte(constant),
		broken: returnsByte(func(e *probedEngine, x *fakeTensor, _ []any) byte {
			if len(*x.data) > 1<<16 {
				x.write()
			}
			return 1
		})},
	"generator": {schema: drawing, args: []string{"uint8[3]", "none"}, healthy: returnsByte(constant),
		broken: returnsByte(func(e *probedEngine, x *fakeTensor, args []any) byte {
			if args[1] != nil {
				x.write()
			}
			return 1
		})},
	"equal-generators": {schema: drawing, args: []string{"uint8[3]", "generator"},
		broken: func() probed {
			calls := byte(0)
			return returnsByte(func(*probedEngine, *fakeTensor, []any) byte { calls++; return calls })()
		},
		healthy: returnsByte(func(e *probedEngine, _ *fakeTensor, args []any) byte { return own(e, args) })},
	"default-seed": {schema: drawing, args: []string{"uint8[3]", "generator"},
		broken:  returnsByte(func(e *probedEngine, _ *fakeTensor, _ []any) byte { return byte(e.generator) }),
		healthy: returnsByte(func(e *probedEngine, _ *fakeTensor, args []any) byte { return own(e, args) })},
	"same-generators": {schema: drawing, args: []string{"uint8[3]", "generator"},
		broken: returnsByte(func(e *probedEngine, _ *fakeTensor, args []any) byte {
			if args[1] != nil {
				return 42
			}
			return byte(e.generator)
		}),
		healthy: returnsByte(constant)},
	"sizes": {schema: unary, args: []string{"float32[3, 3]"}, healthy: returnsByte(constant),
		broken: returnsByte(func(_ *probedEngine, x *fakeTensor, _ []any) byte {
			if len(x.spec.Sizes) == 2 && x.spec.Sizes[0] != x.spec.Sizes[1] {
				x.write()
			}
			return 1
		})},
	"longer": {schema: unary, args: []string{"uint8[3]"}, healthy: returnsByte(constant),
		broken: func() probed {
			longest := 0
			return returnsByte(func(_ *probedEngine, x *fakeTensor, _ []any) byte {
				longest = max(longest, len(*x.data))
				return byte(min(longest, 9))
			})()
		}},
	"thrown": {schema: unary, args: []string{"uint8[3]"}, throws: []string{"uint8[2, 2]"}, broken: throwsHalfway(9), healthy: throwsHalfway(0)},
	"guard": {schema: unary, throws: []string{"uint8[2, 2]"}, broken: throwsHalfway(0), healthy: throwsHalfway(0),
		prepare: func(_ *bench, e *probedEngine) {
			e.before = []asserts.Fault{{Code: asserts.OutOfBounds, Argument: "a"}}
		}},
	"device": {schema: unary, throws: []string{"uint8[2]"},
		broken: func() probed {
			return func(e *probedEngine, args []any) ([]any, error) {
				if first(args).device == "lpu" {
					return nil, &engine.Thrown{Message: "no"}
				}
				return copies(e.fakeEngine, args)
			}
		},
		healthy: func() probed {
			return func(*probedEngine, []any) ([]any, error) { return nil, &engine.Thrown{Message: "no"} }
		},
		prepare: func(b *bench, e *probedEngine) {
			e.off, e.devices = true, []engine.Device{"lpu", engine.CPU, engine.Meta}
		}},
	"lost-transposed": {schema: "ns::f(Tensor(a!) a) -> ()", args: []string{"float32[2, 3]"},
		broken:  writesIf(isFlat),
		healthy: writesIf(func(*fakeTensor) bool { return true })},
	"lost-resized": {schema: "ns::f(Tensor x, *, Tensor(a!) out) -> ()", args: []string{"float32[3]", "float32[3]"},
		broken:  writesIf(func(x *fakeTensor) bool { return x.spec.Sizes[0] == 3 }),
		healthy: writesIf(func(*fakeTensor) bool { return true })},
	"old-out": {schema: "ns::f(Tensor x, *, Tensor(a!) out) -> ()", args: []string{"float32[2]", "float32[2]"},
		broken: assigns(0.5), healthy: assigns(1),
		prepare: func(b *bench, _ *probedEngine) { b.t.operator.Function = new(engine.GoFunction) }},
	"lost-copy": {schema: "ns::f(Tensor(a!) a) -> ()", args: []string{"float32[2]"},
		broken:  writesIf(func(*fakeTensor) bool { return false }),
		healthy: writesIf(func(*fakeTensor) bool { return true }),
		prepare: func(_ *bench, e *probedEngine) { e.dropped = map[string]asserts.Site{"a": {File: "ops.py", Line: 3}} }},
	"memory": {schema: unary, args: []string{"uint8[2]"}, healthy: returnsByte(constant),
		broken: returnsByte(func(e *probedEngine, _ *fakeTensor, _ []any) byte { return e.fill })},
	"repetition": {schema: unary, args: []string{"uint8[2]"}, healthy: returnsByte(constant),
		broken: func() probed {
			calls := byte(0)
			return returnsByte(func(*probedEngine, *fakeTensor, []any) byte { calls++; return calls })()
		}},
	"earlier-values": {schema: unary, args: []string{"float32[1]"},
		broken: func() probed {
			kept := -1
			return returnsByte(func(_ *probedEngine, x *fakeTensor, _ []any) byte {
				if kept < 0 {
					kept = int(sum(x))
				}
				return byte(kept)
			})()
		},
		healthy: returnsByte(func(_ *probedEngine, x *fakeTensor, _ []any) byte { return sum(x) })},
	"first-call": {schema: unary, args: []string{"float32[1]"}, healthy: returnsByte(constant),
		broken: func() probed {
			calls := 0
			return returnsByte(func(*probedEngine, *fakeTensor, []any) byte { calls++; return byte(min(calls, 2)) })()
		}},
}

// racy loses an update in each of so many calls with two threads.
func racy(often int) func() probed {
	return func() probed {
		calls := 0
		return returnsByte(func(e *probedEngine, _ *fakeTensor, _ []any) byte {
			if e.threads == 2 {
				calls++
			}
			return map[bool]byte{true: 8, false: 9}[e.threads == 2 && calls%often == often-1]
		})()
	}
}

// throwsHalfway throws for matrices, after it has changed what its next results are.
func throwsHalfway(left byte) func() probed {
	return func() probed {
		state := byte(0)
		return func(e *probedEngine, args []any) ([]any, error) {
			if len(first(args).spec.Sizes) == 2 {
				state = left
				return nil, &engine.Thrown{Message: "expected a vector"}
			}
			return returnsByte(func(*probedEngine, *fakeTensor, []any) byte { return state })()(e, args)
		}
	}
}

// writesIf writes the last tensor if it is such a one.
func writesIf(is func(*fakeTensor) bool) func() probed {
	return func() probed {
		return func(_ *probedEngine, args []any) ([]any, error) {
			if all := tensorsOf(args); is(all[len(all)-1]) {
				all[len(all)-1].assign(1)
			}
			return nil, nil
		}
	}
}

// assigns writes a part of the last tensor.
func assigns(part float64) func() probed {
	return func() probed {
		return func(_ *probedEngine, args []any) ([]any, error) {
			all := tensorsOf(args)
			all[len(all)-1].assign(part)
			return nil, nil
		}
	}
}

// assign writes the first part of a tensor's bytes, whatever they were.
func (t *fakeTensor) assign(part float64) {
	for i := range int(part * float64(len(*t.data))) {
		(*t.data)[i] = 9
	}
	t.version++
}

func isFlat(x *fakeTensor) bool {
	return slices.IsSortedFunc(x.spec.Strides, func(a, b int64) int { return int(b - a) })
}

func sum(x *fakeTensor) (n byte) {
	for _, value := range *x.data {
		n += value
	}
	return n
}

// found returns the findings of the calls of a plant with one of its kernels.
func (p plant) found(t *testing.T, row *probe.Row, kernel func() probed) []*report.Finding {
	t.Helper()
	b, e := probedBench(t, p.schema, kernel())
	if p.prepare != nil {
		p.prepare(b, e)
	}
	result := report.CaseResult{Devices: make(report.Devices)}
	var queued []*Calls
	b.t.Apart = func(c *Calls) { queued = append(queued, c) }
	if row.At == probe.Elsewhere {
		b.seenAgain(b.t, b.call(t, p.args...), probe.First)
	}
	if p.args != nil {
		b.runOnce(b.t, must.Get(b.Try(b.t, b.call(t, p.args...)))(t), &result)
	}
	if p.throws != nil {
		if _, err := b.Try(b.t, b.call(t, p.throws...)); err == nil {
			t.Fatal("the second call does not throw")
		}
		for _, call := range b.t.threw {
			b.addJudged(b.t, call, &result)
		}
	}
	if row.At == probe.Elsewhere {
		calls := *queued[0]
		last := calls.Made[1]
		if row == probe.EarlierValues {
			calls.Made = []Call{last, last}
		} else {
			other, _ := probedBench(t, p.schema, kernel())
			twice := Calls{Made: []Call{last, last}}
			other.CallApart(other.t, &twice, new(report.CaseResult))
			calls = Calls{Made: []Call{last}, Last: twice.Last}
		}
		other, _ := probedBench(t, p.schema, kernel())
		other.CallApart(other.t, &calls, &result)
	}
	b.earlier.release()
	if b.e.live > 0 {
		t.Errorf("%s: %d tensors are left", row.Name, b.e.live)
	}
	return result.Found
}

// Each probe finds its planted fault, and not its healthy twin, and says what it breaks and how to fix it.
func TestEachProbe(t *testing.T) {
	for _, row := range probe.Rows() {
		p, ok := plants[row.Name]
		if !ok {
			t.Errorf("%s: no planted fault and healthy twin: add them to plants", row.Name)
			continue
		}
		t.Run(row.Name, func(t *testing.T) {
			is := func(f *report.Finding) bool {
				v := f.Violation
				return row.At == probe.Judged || v.Code == row.Fault.Code && v.Symptom == row.Fault.Symptom && v.Fix == v.Symptom.In(v.Code).Fix && (v.Note == v.Symptom.In(v.Code).Note || v.Only != "")
			}
			if found := p.found(t, row, p.broken); !slices.ContainsFunc(found, is) {
				t.Errorf("the planted fault is not found: %s", words(found))
			}
			if row.Name == "guard" {
				p.prepare = nil
			}
			if found := p.found(t, row, p.healthy); len(found) > 0 {
				t.Errorf("the healthy twin has findings: %s: %s", words(found), found[0].Violation.Saw)
			}
			if row.At != probe.Judged && row != probe.Guard && (row.Fault.Saw == "" || row.Fault.Symptom.In(row.Fault.Code).Fix == "") {
				t.Error("it does not say what is seen, or how to fix it")
			}
			if row.At != probe.Judged && row.NoProgram == "" && probe.ProgramOf(row.Fault.Code, row.Fault.Symptom).Fault == "" {
				t.Error("it has neither a program nor a reason why not")
			}
		})
	}
}

// A probe is asked once with each key, up to its budget; that others are not is a skip.
func TestBudget(t *testing.T) {
	for _, row := range probe.Rows() {
		p := plants[row.Name]
		if row.Budget == 0 || p.args == nil || row.At != probe.Returned && row.At != probe.Judged {
			continue
		}
		b, e := probedBench(t, p.schema, p.broken())
		if p.prepare != nil {
			p.prepare(b, e)
		}
		a := must.Get(b.Try(b.t, b.call(t, p.args...)))(t)
		c := b.probeCall(b.t, a.c, a.calls[0].seen)
		for i := range row.Budget {
			if ok, _ := b.t.due(row, c); !ok {
				t.Errorf("%s: is not asked", row.Name)
			}
			if ok, skips := b.t.due(row, c); ok || len(skips) > 0 {
				t.Errorf("%s: is asked twice, or counted", row.Name)
			}
			asked := b.t.budget(row).asked
			clear(asked)
			for n := range i + 1 {
				asked[fmt.Sprint(n)] = true
			}
		}
		ok, skips := b.t.due(row, c)
		want := fmt.Sprintf("not repeated %s: at most %d per op", row.How, row.Budget)
		if ok || len(skips) != 1 || skips[0].Reason != want || skips[0].Code != row.Fault.Code {
			t.Errorf("%s: asked %v, skips %v; want %q", row.Name, ok, skips, want)
		}
		c.Op.Schema.Tags = []string{"nondeterministic_seeded"}
		if ok, _ := b.t.due(row, c); ok {
			t.Errorf("%s: is asked of an op that is declared random", row.Name)
		}
		b.t.operator.Added, b.t.operator.Function, b.t.budgets = false, nil, make(map[*probe.Row]budget)
		if faults, _ := b.probe(b.t, row.At, c); len(faults) > 0 || len(b.t.budgets) > 0 {
			t.Errorf("%s: is asked of an op of PyTorch's own", row.Name)
		}
		b.t.operator.Function = new(engine.GoFunction)
		b.probe(b.t, row.At, c)
		if _, asked := b.t.budgets[row]; asked != row.InGo {
			t.Errorf("%s: asked of a kernel in Go: %v", row.Name, asked)
		}
	}
}

// What a changed call shows, and that there was none, belongs to the case.
func TestProbeMore(t *testing.T) {
	no := &engine.Thrown{Message: "no"}
	for _, tt := range []struct {
		name   string
		accept func(e *probedEngine, sizes []int64) bool
		change func(*probedEngine)
		want   []string // dtype and sizes of calls on the CPU
		skip   string
	}{
		{"all that are alike", func(*probedEngine, []int64) bool { return true }, nil, []string{"uint8[4101] ", "uint8[65541] "}, ""},
		{"refused", func(_ *probedEngine, sizes []int64) bool { return sizes[0] == 5 }, nil, nil, "the op refuses it"},
		{"slow", func(e *probedEngine, _ []int64) bool { e.spent += soon; return true }, nil, nil, "a smaller call takes 2ms or more"},
		{"in another process", func(*probedEngine, []int64) bool { return true }, func(e *probedEngine) { e.server = 7 }, nil, ""},
	} {
		b, e := probedBench(t, "ns::f(Tensor a) -> Tensor", func(e *probedEngine, args []any) ([]any, error) {
			if !tt.accept(e, first(args).spec.Sizes) {
				return nil, no
			}
			return copies(e.fakeEngine, args)
		})
		if tt.change != nil {
			tt.change(e)
		}
		result := report.CaseResult{Case: 7, Devices: make(report.Devices)}
		b.runOnce(b.t, must.Get(b.Try(b.t, b.call(t, "uint8[5]")))(t), &result)
		for _, call := range tt.want {
			if !slices.ContainsFunc(b.e.called, func(c string) bool { return strings.Contains(c, call) }) {
				t.Errorf("%s: no call of %q", tt.name, call)
			}
		}
		got := ""
		for _, s := range result.Devices[engine.CPU].Skips {
			if reason, ok := strings.CutPrefix(s.Reason, "not repeated with large tensors: "); ok {
				got = reason
			}
		}
		if got != tt.skip {
			t.Errorf("%s: skipped %q, want %q", tt.name, got, tt.skip)
		}
	}
}
