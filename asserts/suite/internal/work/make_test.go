package work

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/internal/tensor"
)

// maker is one of the bench's engine.
func (b *bench) maker() *maker { return &maker{engine: b.e, room: &b.room} }

// Each value of a case is the engine's value for it.
func TestMakeValues(t *testing.T) {
	b := newBench(t, "ns::f(Tensor a) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) { return []any{"made", "more"}, nil })
	m := b.maker()
	defer m.release()
	args := must.Get(m.args(b.call(t, "default", "none", "3", "1.5", "true", "false", "1+2i", "'x'", "dtype:int8", "layout:strided", "format:channels_last", "device:cuda:1",
		"qscheme:per_tensor_affine", "generator", "[1, 2]", "(1, 'y')", "{'k': 2}", "ns.Class(4)", "ns::f(5)", "after ns::f(6)", "same:_2", "same:_17")))(t)
	class := engine.New{Class: sample.CustomClasses + "ns.Class", Args: []any{int64(4)}}
	want := []any{engine.Default{}, nil, int64(3), 1.5, true, false, complex(1, 2), "x", engine.DType("int8"), engine.Layout("strided"), engine.MemoryFormat("channels_last"),
		engine.Device("cuda:1"), engine.QScheme("per_tensor_affine"), int64(7), []any{int64(1), int64(2)}, engine.Tuple{int64(1), "y"}, engine.Dict{"k", int64(2)}, class,
		"made", int64(6), int64(3), engine.Same(17)}
	if diff := cmp.Diff(want, args); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// An object that a call changes first is the one that is passed on: its constructor runs once.
func TestMakeObjectsForCalls(t *testing.T) {
	var called []any
	b := newBench(t, "ns::f(Tensor a) -> Tensor", func(_ *fakeEngine, args []any) ([]any, error) {
		called = append(called, args[0])
		return nil, nil
	})
	m := b.maker()
	args := must.Get(m.args(b.call(t, "after ns::f(after ns::f(ns.Class()))")))(t)
	if len(called) != 2 || called[0] != called[1] || args[0] != called[0] || isNew(args[0]) {
		t.Errorf("called with %v, made %v", called, args)
	}
	if m.release(); b.e.live != 0 {
		t.Errorf("%d objects are left", b.e.live)
	}
	if _, err := m.args(b.call(t, "after ns::f(ns.Class(3))")); err == nil || err.Error() != "make an argument of ns::f: no object of [3]" || len(called) != 2 {
		t.Errorf("an object that cannot be made: %v, called %v", err, called)
	}
}

// Tensors that are the same are one handle, views share a storage, and all are released once.
func TestMakeTensors(t *testing.T) {
	b := newBench(t, "ns::f(Tensor a) -> Tensor", copies)
	m := b.maker()
	args := must.Get(m.args(b.call(t, "float32[2] const:3", "same:a", "view:a", "[int8[2, 2] coo]", "storage:float32[4]", "ns::f(float32[3])")))(t)
	a, view, listed := args[0].(*fakeTensor), args[2].(*fakeTensor), first(args[3:4])
	if args[1] != engine.Tensor(a) || view.id == a.id || view.storage != a.storage || listed.form != engine.COO || listed.spec.DType != "int8" {
		t.Errorf("made %v", args)
	}
	if b.e.live != 6 { // a, its view, the one in the list, the storage's, and the two of the call
		t.Errorf("%d tensors are held", b.e.live)
	}
	if m.release(); b.e.live != 0 {
		t.Errorf("%d tensors are left", b.e.live)
	}
}

// A reference to a removed tensor is a separate one.
func TestMakeWithoutTheOther(t *testing.T) {
	b := newBench(t, "ns::f(Tensor a) -> Tensor", copies)
	m := b.maker()
	defer m.release()
	spec := sample.TensorSpec{DType: "int8", Sizes: []int64{2}}
	same, view := spec, spec
	same.Same, view.View = 2, 2
	c := &sample.Case{Args: []sample.Value{{Kind: sample.TensorValue, Tensor: &same}}}
	other := &sample.Case{Args: []sample.Value{{Kind: sample.TensorValue, Tensor: &view}}}
	one, err := m.args(c)
	if err != nil || len(one) != 1 {
		t.Fatal(one, err)
	}
	m.release()
	if two, err := m.args(other); err != nil || *first(two).uses != 1 {
		t.Error(two, err)
	}
}

// An argument that cannot be made is an error that names it.
func TestMakeFails(t *testing.T) {
	b := newBench(t, "ns::f(Tensor a) -> Tensor", func(*fakeEngine, []any) ([]any, error) { return nil, nil })
	b.e.kernels["ns::throws"] = thrown("no")
	b.e.lacks = func(d engine.Dense, f engine.Form) bool { return d.DType == "int8" }
	for text, want := range map[string]string{
		"ns::f(1)":            "ns::f returns nothing",
		"ns::throws(1)":       "call ns::throws: no",
		"after ns::throws(1)": "call ns::throws: no",
		"[ns::throws(1)]":     "call ns::throws: no",
		"ns::g(1)":            "call ns::g: there is no op ns::g",
		"int8[2]":             "make int8[2]: the library has no int8 strided",
		"storage:int8[2]":     "the library has no int8 strided",
	} {
		m := b.maker()
		if _, err := m.args(b.call(t, text)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
		m.release()
		b.e.called = nil
		if m.made(b.call(t, text)); len(b.e.called) > 1 {
			t.Errorf("%s: called %q", text, b.e.called)
		}
		m.release()
	}
}

// If the library lacks a tensor, the case continues with the most similar one.
func TestSimilarTensors(t *testing.T) {
	lacking := map[string]func(engine.Dense, engine.Form) bool{
		"form":  func(_ engine.Dense, f engine.Form) bool { return f == engine.COO },
		"dtype": func(d engine.Dense, _ engine.Form) bool { return d.DType == "int16" },
		"words": func(d engine.Dense, _ engine.Form) bool { return d.DType != "uint64" },
		"strides": func(d engine.Dense, _ engine.Form) bool {
			return len(d.Strides) == 2 && (d.Strides[1] != 1 || d.Strides[0] != d.Sizes[1])
		},
		"ranks":      func(d engine.Dense, _ engine.Form) bool { return len(d.Sizes) != 2 },
		"large":      func(d engine.Dense, _ engine.Form) bool { return tensor.Numel(d.Sizes) > 1 },
		"everything": func(engine.Dense, engine.Form) bool { return true },
		"nothing":    func(engine.Dense, engine.Form) bool { return false },
	}
	for _, tt := range []struct{ lacks, text, want string }{
		{"nothing", "int16[2] coo", "int16[2] coo"},
		{"form", "int16[2] coo", "int16[2]"},
		{"dtype", "int16[2] coo", "float32[2] coo"},
		{"words", "float32[2]", "uint64[2]"},
		{"strides", "int16[2, 3] transposed", "int16[2, 3]"},
		{"ranks", "int16[2, 3, 4]", "int16[6, 4]"},
		{"ranks", "int16[2, 3, 0]", "int16[0, 0]"},
		{"ranks", "int16[2]", "int16[1, 2]"},
		{"ranks", "int16[]", "int16[1, 1]"},
		{"large", "int16[2, 3]", "int16[1, 1]"},
		{"everything", "int16[2]", "the library has no int16 strided"},
	} {
		b := newBench(t, "ns::f(Tensor a) -> Tensor", copies)
		b.e.lacks = lacking[tt.lacks]
		m := b.maker()
		got, args, err := m.made(b.call(t, tt.text))
		if err != nil {
			if err := errors.Unwrap(err); err == nil || err.Error() != tt.want || !errors.As(err, new(*engine.Thrown)) {
				t.Errorf("without %s, %s: %v, want %s", tt.lacks, tt.text, err, tt.want)
			}
			continue
		}
		if made := describe(args); got.Args[0].Tensor.String() != tt.want || made != tt.want+" on cpu" && tt.lacks != "nothing" {
			t.Errorf("without %s, %s: %s, made %s, want %s", tt.lacks, tt.text, got, made, tt.want)
		}
		if n := len(m.lacks); (n == 0) != (tt.lacks == "nothing") {
			t.Errorf("without %s, %s: lacks %v", tt.lacks, tt.text, m.lacks)
		}
		if m.release(); b.e.live != 0 {
			t.Errorf("%d tensors are left", b.e.live)
		}
	}
}

// Each tensor that the library lacks is counted; a view of another one then is not.
func TestLacksAreCounted(t *testing.T) {
	b := newBench(t, "ns::f(Tensor a, Tensor b, Tensor c) -> Tensor", copies)
	b.e.lacks = func(d engine.Dense, f engine.Form) bool { return d.DType == "int8" }
	c := b.call(t, "int8[2]", "int8[3]", "float32[2]")
	a := must.Get(b.Try(b.t, c))(t)
	if diff := cmp.Diff(map[string]int{"int8 strided": 2}, a.lacks); diff != "" || a.c.String() != "ns::f(a=float32[2], b=float32[3], c=float32[2])" {
		t.Errorf("%v lacks (-want +got):\n%s", a.c, diff)
	}
	if c.String() != "ns::f(a=int8[2], b=int8[3], c=float32[2])" {
		t.Errorf("the case itself became %v", c)
	}
}

func TestTwins(t *testing.T) {
	const schema = "ns::f(Tensor a, Tensor[] b, Device c, int d) -> Tensor"
	try := func(b *bench, texts ...string) []deviceCall {
		t.Helper()
		a := must.Get(b.Try(b.t, b.call(t, texts...)))(t)
		return a.calls
	}
	plain := []string{"float32[2]", "[float32[3]]", "device:cpu", "4"}
	b := newBench(t, schema, copies)
	calls := try(b, plain...)
	if len(calls) != 2 || calls[1].seen == nil || calls[1].why != "" || calls[1].on != engine.Meta {
		t.Errorf("%+v", calls)
	}
	twin := calls[1].args
	if first(twin[:1]).device != engine.Meta || first(twin[1:2]).device != engine.Meta || twin[2] != engine.Meta || twin[3] != int64(4) {
		t.Errorf("called with %v on meta", twin)
	}
	if b.earlier.release(); b.e.live != 0 {
		t.Errorf("%d tensors are left", b.e.live)
	}
	for _, tt := range []struct {
		name   string
		change func(*bench)
		texts  []string
		why    string
	}{
		{"no plain tensor", func(*bench) {}, []string{"float32[2] coo", "[]", "none", "1"}, "a tensor that is not plain has no twin on meta"},
		{"no twins", func(b *bench) { b.e.twins = errOurs }, plain, "no twins: no memory"},
		{"a device that ends processes", func(b *bench) { b.t.Without = []engine.Device{"lpu", engine.Meta} }, plain, "a call of the op on meta ended its process"},
		{"no kernel", func(b *bench) { b.throwsOn(engine.Meta, "Could not run 'ns::f'") }, plain, "no kernel on meta"},
		{"no dtype", func(b *bench) { b.throwsOn(engine.Meta, "\"f\" not implemented for 'Meta'") }, plain, "no kernel on meta"},
		{"a throw", func(b *bench) { b.throwsOn(engine.Meta, "not today") }, plain, "the call on meta threw: not today"},
	} {
		b := newBench(t, schema, copies)
		tt.change(b)
		var twinning []engine.Device
		b.t.Twinning = func(on engine.Device) { twinning = append(twinning, on) }
		if calls := try(b, tt.texts...); calls[1].why != tt.why || calls[1].seen != nil || calls[0].seen == nil {
			t.Errorf("%s: %q, want %q", tt.name, calls[1].why, tt.why)
		}
		if called := len(b.e.called) == 2; called != (len(twinning) == 1) {
			t.Errorf("%s: %q, and announced %v", tt.name, b.e.called, twinning)
		}
	}
	b = newBench(t, schema, copies)
	b.Level = asserts.Content
	if calls := try(b, plain...); len(calls) != 1 || len(b.e.called) != 1 {
		t.Errorf("below the level meta: %d calls", len(calls))
	}
}

// The CPU of a case is the device of the tensors, and in calls with twins that of the twins.
func TestTwinsOfDevice(t *testing.T) {
	b := newBench(t, "ns::f(Tensor a, *, Device d) -> Tensor", copies)
	b.e.devices = []engine.Device{"lpu", engine.CPU}
	for text, want := range map[string]engine.Device{"device:cpu": "lpu", "device:meta": engine.Meta} {
		calls := must.Get(b.Try(b.t, b.call(t, "float32[2]", text)))(t).calls
		if len(calls) != 2 || first(calls[0].args).device != "lpu" || calls[0].args[1] != want || first(calls[1].args).device != engine.CPU || calls[1].args[1] != engine.CPU {
			t.Errorf("%s: %+v", text, calls)
		}
	}
}

// throwsOn makes the kernel throw on a device.
func (b *bench) throwsOn(on engine.Device, message string) {
	b.e.kernels["ns::f"] = func(e *fakeEngine, args []any) ([]any, error) {
		if first(args).device == on {
			return nil, &engine.Thrown{Message: message}
		}
		return copies(e, args)
	}
}

// A listener is called before each step that may end the process.
func TestListener(t *testing.T) {
	b := newBench(t, "ns::f(Tensor a) -> Tensor", copies)
	b.e.lacks = func(d engine.Dense, f engine.Form) bool { return d.DType == "int8" }
	var heard []string
	b.t.Listener = Listener{
		Trying: func(c *sample.Case) {
			if c == nil {
				heard = append(heard, "done")
			} else {
				heard = append(heard, c.String())
			}
		},
		Calling:  func(on engine.Device) { heard = append(heard, "call on "+string(on)) },
		Twinning: func(on engine.Device) { heard = append(heard, "twins on "+string(on)) },
	}
	for _, text := range []string{"int8[2]", "float32[2]"} {
		must.Get(b.Try(b.t, b.call(t, text)))(t)
	}
	want := []string{"ns::f(a=int8[2])", "ns::f(a=float32[2])", "call on cpu", "twins on meta", "done", "ns::f(a=float32[2])", "call on cpu", "twins on meta", "done"}
	if diff := cmp.Diff(want, heard); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Errors in making a call's arguments are not the kernel's.
func TestTryFails(t *testing.T) {
	b := newBench(t, "ns::f(Tensor a) -> Tensor", thrown("not today"))
	_, err := b.Try(b.t, b.call(t, "float32[2]"))
	if errors.As(err, new(*unmade)) || err == nil || b.e.live != 0 {
		t.Errorf("the kernel's: %v, %d tensors are left", err, b.e.live)
	}
	_, err = b.Try(b.t, b.call(t, "ns::f(float32[2])"))
	if !errors.As(err, new(*unmade)) || !errors.As(err, new(*engine.Thrown)) || b.e.live != 0 {
		t.Errorf("of an argument: %v, %d tensors are left", err, b.e.live)
	}
	b.e.seed = errOurs
	_, err = b.Try(b.t, b.call(t, "float32[2]"))
	if !errors.As(err, new(*unmade)) || !errors.Is(err, errOurs) || b.e.live != 0 {
		t.Errorf("of the seed: %v, %d tensors are left", err, b.e.live)
	}
}

// A library whose tensors all have the same sizes gets those.
func TestMakeFixedSize(t *testing.T) {
	for _, fixed := range [][]int64{{1}, {3}, {4}, {32}, {4, 4}} {
		b := newBench(t, "ns::f(Tensor a, Tensor b) -> Tensor", copies)
		b.e.lacks = func(d engine.Dense, _ engine.Form) bool {
			return d.DType != "uint64" || !slices.Equal(d.Sizes, fixed)
		}
		m := b.maker()
		_, args, err := m.made(b.call(t, "float32[3, 3]", "float32[7]"))
		if err != nil || len(args) != 2 {
			t.Errorf("%v: made %v, %v", fixed, args, err)
		}
		m.release()
	}
}
