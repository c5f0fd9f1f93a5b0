package gokernels

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/schema"
)

// A box is a user's tensor type, without reference counts.
type box struct{ id asserts.ID }

func (b *box) Observe(o *asserts.Observation, _ asserts.Level) {
	if b != nil {
		o.Impl, o.Storage, o.ImplUses, o.StorageUses = b.id, b.id, asserts.NotCounted, asserts.NotCounted
	}
}

var seen string // the arguments of the last call

var ops = []struct {
	schema string
	kernel any
}{
	{"many(Tensor self, Tensor? other, Tensor[] list, int[] dims=[1,0], float p=0.5, str mode=\"mean\", bool? flag=None, ScalarType? dtype=None) -> Tensor",
		func(ctx context.Context, self, other *box, list []*box, dims []int, p float32, mode string, flag *bool, dtype any) (*box, error) {
			seen = fmt.Sprintf("%v %v %v %d %v %v %s %v %v", ctx != nil, self != nil, other != nil, len(list), dims, p, mode, flag != nil, dtype)
			return &box{asserts.NewID()}, nil
		}},
	{"variadic(Tensor[] list) -> Tensor", func(list ...*box) *box {
		seen = fmt.Sprint(len(list))
		return &box{asserts.NewID()}
	}},
	{"placed(Tensor self, int n, Tensor[] list) -> Tensor", Placed{
		func(lib string, n int, ctx context.Context, self *box, list ...*box) *box {
			seen = fmt.Sprintf("%s %d %v %v %d", lib, n, ctx != nil, self != nil, len(list))
			return &box{asserts.NewID()}
		}, reflect.ValueOf("lib"), []int{1, 0, 2},
	}},
	{"number(Tensor self) -> Tensor", 1},
	{"fails(Tensor self) -> Tensor", func(self *box) (*box, error) { return nil, errors.New("wants more") }},
	{"panics(Tensor self) -> Tensor", func(self *box) *box { panic("wants less") }},
	{"itself_(Tensor(a!) self) -> Tensor(a!)", func(self *box) *box { return self }},
	{"few(Tensor self) -> Tensor", func() *box { return nil }},
	{"mute(Tensor self) -> Tensor", func(self *box) {}},
	{"none(Tensor self) -> Tensor", nil},
}

func open(t *testing.T) (e *Engine, released *int) {
	t.Helper()
	lib := Library{
		Name: "boxes", Kernels: make(map[string]any),
		Make: func(d engine.Dense, f engine.Form) (asserts.Tensor, error) {
			if f != engine.Strided {
				return nil, errors.New("boxes are strided")
			}
			return &box{asserts.NewID()}, nil
		},
	}
	released = new(int)
	lib.Release = func(asserts.Tensor) { *released++ }
	for _, op := range ops {
		parsed, err := schema.ParseOp(op.schema)
		if err != nil {
			t.Fatal(err)
		}
		lib.Ops = append(lib.Ops, parsed)
		if op.kernel != nil {
			lib.Kernels[parsed.Name()] = op.kernel
		}
	}
	e, err := lib.Engine()
	if err != nil {
		t.Fatal(err)
	}
	return e, released
}

func TestCall(t *testing.T) {
	e, _ := open(t)
	self, err := e.Make(engine.Dense{}, engine.Strided)
	if err != nil {
		t.Fatal(err)
	}
	var d engine.Default
	for _, tt := range []struct {
		op   string
		args []any
		want string // the arguments in words, or the error
	}{
		{"many", []any{self, nil, []any{self, self}, d, d, d, d, d}, "true true false 2 [1 0] 0.5 mean false <nil>"},
		{"many", []any{self, self, []any{}, int64(3), int64(2), "sum", true, engine.DType("bool")}, "true true true 0 [3] 2 sum true bool"},
		{"many", []any{self, self, []any{}, d, "half", d, d, d}, "argument p: half is not of type float32"},
		{"variadic", []any{[]any{self, self}}, "2"},
		{"placed", []any{self, int64(3), []any{self, self}}, "lib 3 true true 2"},
		{"fails", []any{self}, "wants more"},
		{"panics", []any{self}, "wants less"},
	} {
		seen = ""
		_, err := e.Call("aten::"+tt.op, tt.args, asserts.Identity)
		var thrown *engine.Thrown
		if err != nil && !errors.As(err, &thrown) {
			t.Errorf("%s: %v is not an error of the kernel", tt.op, err)
		}
		if thrown != nil {
			seen = thrown.Message
		}
		if seen != tt.want {
			t.Errorf("%s: %q, want %q", tt.op, seen, tt.want)
		}
	}
}

// A tensor that the caller passed is not released as a result.
func TestResults(t *testing.T) {
	e, released := open(t)
	self, _ := e.Make(engine.Dense{}, engine.Strided)
	out, err := e.Call("aten::itself_", []any{self}, asserts.Identity)
	if err != nil || len(out.Results) != 0 || len(out.Seen.Results) != 1 || out.Seen.Results[0].Impl != out.Seen.Before[0].Impl {
		t.Errorf("itself_: %+v, %v", out, err)
	}
	out, err = e.Call("aten::many", []any{self, nil, []any{}, engine.Default{}, engine.Default{}, engine.Default{}, engine.Default{}, engine.Default{}}, asserts.Identity)
	if err != nil || len(out.Results) != 1 {
		t.Fatalf("many: %+v, %v", out, err)
	}
	placed, err := e.Call("aten::placed", []any{self, int64(3), []any{self, self}}, asserts.Identity)
	if diff := cmp.Diff([]int{1, 2}, placed.Seen.ArgLens); err != nil || diff != "" {
		t.Errorf("placed: %v %s", err, diff)
	}
	if diff := cmp.Diff([]int{1, 1, 0}, out.Seen.ArgLens); diff != "" {
		t.Error(diff)
	}
	if engine.Release(out.Results); *released != 1 {
		t.Errorf("%d tensors released", *released)
	}
}

func TestMissing(t *testing.T) {
	e, _ := open(t)
	got := make(map[string]string)
	all, err := e.Operators()
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range all {
		if o.Missing != "" {
			got[o.Name()] = o.Missing
		}
	}
	want := map[string]string{
		"aten::few":    "its kernel takes 0 arguments, and the schema has 1",
		"aten::mute":   "its kernel returns 0 values, and the schema has 1",
		"aten::none":   "it has no kernel",
		"aten::number": "its kernel is int, not a function",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := e.Make(engine.Dense{}, engine.COO); err == nil || reflect.TypeOf(err) != reflect.TypeFor[*engine.Thrown]() {
		t.Errorf("a form that the library does not have: %v", err)
	}
}

// A tensor that is observed as larger than its storage is the library's fault, unless
// its elements share bytes. So is one observed at the address of a copy.
func TestObservedWrongly(t *testing.T) {
	for name, tt := range map[string]struct {
		made bitset
		want string
	}{
		"as words":              {bitset{words: make([]uint64, 1), item: 8}, "reaches beyond its storage of 8 bytes"},
		"packed":                {bitset{words: make([]uint64, 1), item: asserts.Packed}, ""},
		"copied":                {bitset{words: make([]uint64, 1), item: asserts.Packed, copied: true}, "is at another address each time"},
		"copied onto the stack": {bitset{words: make([]uint64, 1), item: asserts.Packed, stack: true}, "is at another address each time"},
	} {
		lib := Library{Make: func(engine.Dense, engine.Form) (asserts.Tensor, error) { return tt.made, nil }}
		e, err := lib.Engine()
		if err != nil {
			t.Fatal(err)
		}
		var fault *engine.LibraryFault
		func() {
			defer func() { fault, _ = recover().(*engine.LibraryFault) }()
			_, err = e.Make(engine.Dense{DType: "bool", Sizes: []int64{2}, Strides: []int64{1}, Data: make([]byte, 2)}, engine.Strided)
		}()
		if err != nil || (fault != nil) != (tt.want != "") || fault != nil && !strings.Contains(fault.Message, tt.want) {
			t.Errorf("%s: %v, %v", name, fault, err)
		}
	}
}

// A bitset has 64 elements to a word.
type bitset struct {
	words  []uint64
	item   int64
	copied bool // Observe copies the elements
	stack  bool // to the stack
}

var copies [][]uint64 // so that no two have the same address

func (b bitset) Observe(o *asserts.Observation, level asserts.Level) {
	o.Impl, o.Storage = asserts.SliceID(b.words), asserts.SliceID(b.words)
	if level >= asserts.Content {
		var onStack [1]uint64
		words := b.words
		if b.stack {
			words = append(onStack[:0], words...)
		}
		if b.copied {
			words = slices.Clone(words)
			copies = append(copies, words)
		}
		o.Content = asserts.SliceContent(words, []int64{2}, []int64{1}, 0)
		o.Content.DType, o.Content.ItemSize = "bool", b.item
	}
}

// A leveled tensor has the level of its observation as its version.
type leveled struct{}

func (*leveled) Observe(o *asserts.Observation, level asserts.Level) {
	o.Impl, o.Storage, o.Version = 1, 1, uint32(level)
}

// Where elements lie is observed at each level, and changes after the call at that of contents.
func TestLevels(t *testing.T) {
	op := must.Get(schema.ParseOp("f_(Tensor(a!) self) -> Tensor(a!)"))(t)
	lib := Library{Ops: []*schema.Op{op}, Kernels: map[string]any{"f_": func(self *leveled) *leveled { return self }}}
	e := must.Get(lib.Engine())(t)
	for level, late := range map[asserts.Level]int{asserts.Identity: 0, asserts.Content: 2} {
		out := must.Get(e.Call("aten::f_", []any{lib.hold(new(leveled))}, level))(t)
		if out.Seen.Level != level || len(out.Seen.Late) != late {
			t.Errorf("%v: seen at %v, and %d tensors again, want %d", level, out.Seen.Level, len(out.Seen.Late), late)
		}
		for _, o := range slices.Concat(out.Seen.Before, out.Seen.After, out.Seen.Results) {
			if o.Version != uint32(asserts.Content) {
				t.Errorf("%v: observed at %v", level, asserts.Level(o.Version))
			}
		}
	}
}
