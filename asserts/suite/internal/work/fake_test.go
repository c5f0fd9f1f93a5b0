package work

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/allowlist"
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/design"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/gen/plan"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/internal/tensor"
	"github.com/opassert/opassert/schema"
)

// A fakeTensor is one handle of a TensorImpl.
type fakeTensor struct {
	*fakeImpl
	engine *fakeEngine
	freed  bool
}

type fakeImpl struct {
	id, storage asserts.ID
	spec        engine.Dense
	form        engine.Form
	device      engine.Device
	data        *[]byte // shared by views
	uses        *int32  // of the storage
	version     uint32
	parts       int // tensors inside
}

func (t *fakeTensor) Release() {
	if t.freed {
		panic("a tensor is released twice")
	}
	t.freed = true
	t.engine.live--
}

func (t *fakeTensor) observe() asserts.Observation {
	h := fnv.New64a()
	h.Write(*t.data)
	o := asserts.Observation{Impl: t.id, Storage: t.storage, ImplUses: 1, StorageUses: *t.uses, Version: t.version}
	if t.device == engine.Meta {
		o.Traits = asserts.MetaTensor
	}
	if t.form == engine.Inference {
		o.Traits |= asserts.NoVersion
	}
	o.Content = &asserts.Snapshot{
		DType: t.spec.DType, Device: string(t.device), Sizes: t.spec.Sizes, Strides: t.spec.Strides, Offset: t.spec.Offset,
		Nbytes: int64(len(*t.data)), Digest: h.Sum64(), Bytes: bytes.Clone(*t.data),
	}
	if t.engine.notCopied {
		o.Content.Bytes = nil
	}
	return o
}

// write changes the tensor's first byte.
func (t *fakeTensor) write() {
	if len(*t.data) > 0 {
		(*t.data)[0] ^= 1
	}
	t.version++
}

// A fakeEngine has one op for each kernel, and lacks certain tensors.
type fakeEngine struct {
	kernels   map[string]func(e *fakeEngine, args []any) ([]any, error)
	devices   []engine.Device
	lacks     func(engine.Dense, engine.Form) bool
	twins     error // of Twins
	seed      error // of Seed
	generator int64 // its seed
	harmless  string
	notCopied bool     // bytes are not copied, as for large storages
	autograd  bool     // calls begin there
	live      int      // tensors that are not released
	called    []string // ops, each with the dtype and sizes of its first argument
}

func (e *fakeEngine) tensor(d engine.Dense, f engine.Form, on engine.Device) *fakeTensor {
	e.live++
	data, uses := bytes.Clone(d.Data), int32(1)
	return &fakeTensor{fakeImpl: &fakeImpl{id: asserts.NewID(), storage: asserts.NewID(), spec: d, form: f, device: on, data: &data, uses: &uses}, engine: e}
}

// like returns a tensor like another one.
func (e *fakeEngine) like(t *fakeTensor) *fakeTensor {
	return e.tensor(contiguous(t.spec, *t.data), t.form, t.device)
}

// contiguous describes a tensor with the elements of another one, in row-major order, as most kernels
// return it.
func contiguous(s engine.Dense, data []byte) engine.Dense {
	size, rows := int64(sample.Element(s.DType).Size()), s
	rows.Strides, rows.Offset, rows.Data = tensor.ContiguousStrides(s.Sizes), 0, nil
	for n := range tensor.Numel(s.Sizes) {
		if at := size * tensor.Position(n, s.Sizes, s.Strides, s.Offset); len(data) > 0 { // meta has none
			rows.Data = append(rows.Data, data[at:at+size]...)
		}
	}
	return rows
}

func (e *fakeEngine) view(t *fakeTensor) *fakeTensor {
	e.live++
	*t.uses++
	impl := *t.fakeImpl
	impl.id = asserts.NewID()
	return &fakeTensor{fakeImpl: &impl, engine: e}
}

func (e *fakeEngine) Version() string                          { return "fake" }
func (e *fakeEngine) Operators() ([]engine.Operator, error)    { return nil, nil }
func (e *fakeEngine) Operator(string) (engine.Operator, error) { return engine.Operator{}, nil }
func (e *fakeEngine) Devices() []engine.Device                 { return e.devices }
func (e *fakeEngine) Generator(seed int64) (any, error)        { return seed, nil }
func (e *fakeEngine) Subjects(op *asserts.Op) *asserts.Op      { return op }
func (e *fakeEngine) Storage(t engine.Tensor) (any, error)     { return t.(*fakeTensor).storage, nil }

// Object makes a tensor for an object, or refuses its arguments.
func (e *fakeEngine) Object(_ string, args []any) (any, error) {
	if of := args[0].(engine.New).Args; len(of) > 0 {
		return nil, &engine.Thrown{Message: fmt.Sprint("no object of ", of)}
	}
	return e.Make(engine.Dense{DType: "int8"}, engine.Strided)
}

func (e *fakeEngine) Seed(seed int64) error {
	e.generator = seed
	return e.seed
}

func (e *fakeEngine) Harmless(*asserts.Op, *asserts.Violation) string { return e.harmless }

func (e *fakeEngine) Look(t engine.Tensor) []asserts.Observation {
	all := []asserts.Observation{t.(*fakeTensor).observe()}
	for range t.(*fakeTensor).parts {
		all = append(all, all[0])
	}
	return all
}

func (e *fakeEngine) Make(d engine.Dense, f engine.Form) (engine.Tensor, error) {
	if e.lacks != nil && e.lacks(d, f) {
		return nil, &engine.Unsupported{What: d.DType + " " + f.String()}
	}
	return e.tensor(d, f, e.devices[0]), nil
}

func (e *fakeEngine) View(t engine.Tensor, _ engine.Dense) (engine.Tensor, error) {
	return e.view(t.(*fakeTensor)), nil
}

func (e *fakeEngine) Twins(ts []engine.Tensor, on engine.Device) ([]engine.Tensor, error) {
	if e.twins != nil {
		return nil, e.twins
	}
	var all []engine.Tensor
	for _, t := range ts {
		d := t.(*fakeTensor).spec
		d.Data = *t.(*fakeTensor).data
		if on == engine.Meta {
			d.Data = nil
		}
		all = append(all, e.tensor(d, engine.Strided, on))
	}
	return all, nil
}

func (e *fakeEngine) Call(op string, all []any, level asserts.Level) (engine.Outcome, error) {
	kernel := e.kernels[op]
	if kernel == nil {
		return engine.Outcome{}, &engine.Thrown{Message: "there is no op " + op}
	}
	e.called = append(e.called, op+" "+describe(all))
	var out engine.Outcome
	out.Seen.Level, out.Seen.Autograd = level, e.autograd
	args := slices.DeleteFunc(slices.Clone(all), func(a any) bool { return !holdsTensors(a) })
	for _, a := range args {
		out.Seen.ArgLens = append(out.Seen.ArgLens, len(seen(a)))
		out.Seen.Before = append(out.Seen.Before, seen(a)...)
	}
	results, err := kernel(e, all)
	for _, a := range args {
		out.Seen.After = append(out.Seen.After, seen(a)...)
	}
	if err != nil {
		return out, err
	}
	for _, t := range tensorsOf(results) {
		out.Seen.Results = append(out.Seen.Results, t.observe())
	}
	out.Results = results
	return out, nil
}

// holdsTensors reports whether an argument is of a type that holds tensors.
func holdsTensors(arg any) bool {
	switch arg.(type) {
	case nil, *fakeTensor, []any:
		return true
	}
	return false
}

// seen returns the observations of an argument, including those of undefined tensors.
func seen(arg any) []asserts.Observation {
	if arg == nil {
		return []asserts.Observation{{}}
	}
	var all []asserts.Observation
	for _, t := range tensorsOf([]any{arg}) {
		all = append(all, t.observe())
	}
	return all
}

func tensorsOf(values []any) []*fakeTensor {
	var all []*fakeTensor
	for _, v := range values {
		switch v := v.(type) {
		case *fakeTensor:
			all = append(all, v)
		case []any:
			all = append(all, tensorsOf(v)...)
		}
	}
	return all
}

func describe(args []any) string {
	for _, t := range tensorsOf(args) {
		return (&sample.TensorSpec{DType: t.spec.DType, Sizes: t.spec.Sizes, Form: t.form}).String() + " on " + string(t.device)
	}
	return "nothing"
}

func first(args []any) *fakeTensor { return tensorsOf(args)[0] }

// copies is a kernel that keeps every promise.
func copies(e *fakeEngine, args []any) ([]any, error) { return []any{e.like(first(args))}, nil }

// thrown is a kernel that throws.
func thrown(message string) func(*fakeEngine, []any) ([]any, error) {
	return func(*fakeEngine, []any) ([]any, error) { return nil, &engine.Thrown{Message: message} }
}

// A bench is a runner and an op for a test.
type bench struct {
	*Runner
	e *fakeEngine
	t *Target
}

// newBench makes a target of a schema with a kernel, with every check.
func newBench(t *testing.T, text string, kernel func(*fakeEngine, []any) ([]any, error)) *bench {
	t.Helper()
	return benchOf(t, text, kernel, func(*engine.Operator, *engine.Checks) {}, "")
}

func benchOf(t *testing.T, text string, kernel func(*fakeEngine, []any) ([]any, error), change func(*engine.Operator, *engine.Checks), recipes string) *bench {
	t.Helper()
	op := must.Get(schema.ParseDispatcher(text))(t)
	planner := must.Get(plan.NewPlanner("full", nil, allowlist.Where{}))(t)
	book := new(design.Recipes)
	if recipes != "" {
		book = must.Get(design.ParseRecipes("cases.yaml", []byte(recipes)))(t)
	}
	operator, p := engine.Operator{Schema: op, Below: true}, engine.Checks{Op: planner.Plan(op).Asserts(asserts.Meta)}
	change(&operator, &p)
	e := &fakeEngine{devices: []engine.Device{engine.CPU, engine.Meta}, kernels: map[string]func(*fakeEngine, []any) ([]any, error){operator.Name(): kernel}}
	return &bench{&Runner{Engine: e, Policy: asserts.Aware(), Level: asserts.Meta, Seed: report.DefaultSeed}, e, NewTarget(e, operator, p, book)}
}

// cases runs cases from one to before another, and returns their results.
func (b *bench) cases(t *testing.T, s Span) []report.CaseResult {
	t.Helper()
	var all []report.CaseResult
	must.Do(t, b.Cases(b.t, s, func(int) {}, func(c *report.CaseResult) error { all = append(all, *c); return nil }))
	return all
}

// call makes a case of the op with these arguments.
func (b *bench) call(t *testing.T, texts ...string) *sample.Case {
	t.Helper()
	c := &sample.Case{Op: b.t.Gen.Name}
	for i, text := range texts {
		v, err := sample.ParseValue(text, sample.NewSymbols(0))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		c.Names, c.Args = append(c.Names, string(rune('a'+i))), append(c.Args, v)
	}
	c.Refer()
	return c
}

// judged makes a call and returns its findings and its counts.
func (b *bench) judged(t *testing.T, texts ...string) ([]*report.Finding, report.CaseResult) {
	t.Helper()
	a := must.Get(b.Try(b.t, b.call(t, texts...)))(t)
	var c report.CaseResult
	return b.judge(b.t, a, &c), c
}

// words describes findings briefly, sorted.
func words(found []*report.Finding) string {
	var all []string
	for _, f := range found {
		all = append(all, f.Violation.Code.String()+" "+f.Violation.Subject.String()+" on "+f.On())
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

var errOurs = errors.New("no memory")
