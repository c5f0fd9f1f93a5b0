package libtorch

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/preserve"
	"github.com/opassert/opassert/internal/dev/must"
)

// These tests need no libtorch: they write what it would write.

// listedOp is an operator in the form of schemas.cpp.
func listedOp(name, overload, kernels, flags, tags, registered string, records ...string) string {
	text := strings.Join([]string{"op", "64", name, overload, kernels, flags, tags, registered, "7"}, "\x1f") + "\x1e"
	for _, r := range records {
		text += strings.ReplaceAll(r, "|", "\x1f") + "\x1e"
	}
	return text
}

func TestWireListing(t *testing.T) {
	op := must.Get(ReadOp(listedOp("my::f", "out", "Meta CPU", "autograd raises meta on:CPU on:SparseCPU", "pointwise core", "registered at ops.cpp:12",
		"arg|self|Tensor(a)|||t", "arg|xs|Tensor[]|||l", "arg|n|int|1||", "arg|out|Tensor(a!)||kwarg write|t", "arg|on|bool|False|kwarg|", "ret||Tensor(a!)|t", "ret|rest|Tensor[]|l", "ret||Any|c", "ret||__torch__.C|", "ret||Dict(str, int)|")))(t)
	want := Op{
		Name: "my::f.out", Namespace: "my", Schema: "my::f.out(Tensor(a) self, Tensor[] xs, int n=1, *, Tensor(a!) out, bool on=False) -> (Tensor(a!), Tensor[] rest, Any, __torch__.C, Dict(str, int))",
		Kernels: []string{"CPU", "Meta"}, Autograd: true, Raises: true, Meta: true, CPU: true, Runs: []string{"CPU", "SparseCPU"}, Tags: []string{"core", "pointwise"}, File: "ops.cpp", Line: 12, Kernel: 7,
	}
	got := *op
	got.Args, got.Returns, got.subjects, got.address = nil, nil, nil, 0
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if subjects := []int{0, 1, 3}; !slices.Equal(op.subjects, subjects) || op.address != 64 {
		t.Errorf("subjects %v, want %v", op.subjects, subjects)
	}
	if op.Args[0].holds.list() || !op.Args[1].holds.list() || op.Args[3].holds.list() {
		t.Errorf("lists among arguments %+v", op.Args)
	}
	if a := op.Args[3]; !a.KwargOnly || !a.Write || op.Args[2].Write || op.Args[2].KwargOnly || op.Args[2].Default != "1" {
		t.Errorf("arguments %+v", op.Args)
	}
	if !slices.Equal(op.OutOfSight(), []string{"Any", "__torch__.C"}) {
		t.Errorf("out of sight: %v", op.OutOfSight())
	}
	dicts := Op{Returns: []Return{{Type: "Dict(str, int)"}, {Type: "Dict(str, Any)"}, {Type: "Dict(str, Tensor)"}}}
	if got := dicts.OutOfSight(); !slices.Equal(got, []string{"Dict(str, Any)", "Dict(str, Tensor)"}) {
		t.Errorf("dicts out of sight: %v", got)
	}
	for _, tt := range []struct {
		flags   string
		records []string
		schema  string
	}{
		{"", nil, "f() -> ()"},
		{"", []string{"arg|n|int||kwarg|"}, "f(*, int n) -> ()"},
		{"vararg", []string{"arg|x|Tensor|||t", "ret||Tensor|t"}, "f(Tensor x...) -> Tensor"},
		{"varret", []string{"ret||Tensor|t"}, "f() -> (Tensor, ...)"},
		{"composite top", []string{"ret||(Tensor, int)|t"}, "f() -> ((Tensor, int))"},
	} {
		op := must.Get(ReadOp(listedOp("aten::f", "", "", tt.flags, "", "", tt.records...)))(t)
		if op.Schema != tt.schema || op.CPU || op.Composite != (tt.flags == "composite top") || op.Top != op.Composite {
			t.Errorf("%s: %+v, want %s", tt.flags, op, tt.schema)
		}
	}
	for debug, want := range map[string]string{
		"registered at a:b.cpp:3": "a:b.cpp 3", "registered at a.cpp": " 0", "registered at 12": " 0", "registered at a.cpp:x": " 0", "at a.cpp:3": " 0", "": " 0",
	} {
		file, line := registered(debug)
		if got := fmt.Sprint(file, " ", line); got != want {
			t.Errorf("%q: %s, want %s", debug, got, want)
		}
	}
	for text, want := range map[string]string{
		"": "0 operators", "op\x1f1\x1faten::f\x1f\x1f": "cut short", "op\x1f1\x1faten::f": "0 operators",
		listedOp("a::f", "", "", "", "", "") + listedOp("a::g", "", "", "", "", ""): "2 operators", listedOp("a::f", "", "", "", "", "", "arg|x"): "cut short",
	} {
		if _, err := ReadOp(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestWireUnpassable(t *testing.T) {
	was := registry.listed.Load()
	defer registry.listed.Store(was)
	l := &listing{records: parseListing(listedOp("my::make", "", "", "", "", "", "ret||Future(int)?|", "ret||int|"))}
	l.made = l.objects
	registry.listed.Store(l)
	for typ, want := range map[string]string{
		"Future(int)": "", "RRef(int)": "no operator returns a RRef(int)", "RRef(int)[]": "RRef(int)", "RRef(int)?": "", "__torch__.torch.classes.a.B": "", "Dict(str, int)": "", "(int, int)": "", "Tensor": "",
	} {
		op := must.Get(ReadOp(listedOp("my::f", "", "", "", "", "", "arg|x|"+typ+"|||")))(t)
		if why := op.Unpassable(); (want == "") != (why == "") || !strings.Contains(why, want) {
			t.Errorf("%s: %q, want %q", typ, why, want)
		}
	}
	if op := must.Get(ReadOp(listedOp("my::f", "", "", "", "", "", "arg|x|RRef(int)|None||")))(t); op.Unpassable() != "" {
		t.Errorf("an argument with a default: %s", op.Unpassable())
	}
	for _, flag := range []string{"vararg", "varret"} {
		if op := must.Get(ReadOp(listedOp("my::f", "", "", flag, "", "")))(t); !strings.Contains(op.Unpassable(), "does not fix the number") {
			t.Errorf("%s: %q", flag, op.Unpassable())
		}
	}
}

// words are a record under construction.
type words []int64

func (w *words) put(ns ...int64) { *w = append(*w, ns...) }

func (w *words) text(s string) {
	var c scratch
	c.putText(s)
	w.put(c.request...)
}

// tensor writes the observation of a tensor at the identity level; last is the number of parts that
// follow, or its role as a part.
func (w *words) tensor(id, storage int64, traits uint16, last int64) {
	w.put(id, storage, 2|3<<32, 7|int64(traits)<<32|last<<56)
}

func (w words) bytes() []byte {
	var all []byte
	for _, n := range w {
		for i := range 8 {
			all = append(all, byte(n>>(8*i)))
		}
	}
	return all
}

// A record has a list of two tensors, of which the first has indices and values inside; a tensor;
// and the same after the call, with another tensor added to the list.
func TestWireSeen(t *testing.T) {
	op := must.Get(ReadOp(listedOp("my::f", "", "", "", "", "", "arg|xs|Tensor[]|||l", "arg|y|Tensor|||t", "ret||Tensor|t", "ret||int|", "ret||Tensor[]|l")))(t)
	const indices, values = 6, 7
	var w words
	w.put(2, 1)
	for side := range int64(2) {
		w.tensor(1, 0, 0, 2-side)
		w.tensor(11, 21, 0, indices)
		if side == 0 {
			w.tensor(12, 22, 0, values)
		}
		w.tensor(2, 42, traitMeta|traitUncountedResult, 0)
		w.tensor(3, 43, 0, 0)
	}
	w.put(1, 0)
	w.tensor(4, 44, 0, 1)
	w.tensor(14, 24, 0, indices)
	w.put(1)
	w.tensor(5, 45, 0, 1)
	w.tensor(15, 25, 0, values)
	w.put(0)
	w.put(1, 90, 0x1000, 16)
	seen := must.Get(op.ReadSeen(asserts.Identity, w.bytes()))(t)
	impls := func(all []asserts.Observation) (ids []asserts.ID) {
		for _, o := range all {
			ids = append(ids, o.Impl)
		}
		return ids
	}
	// The list, the tensor, the parts of the list, those of the tensor.
	for what, got := range map[string][2]any{
		"arguments":     {seen.ArgLens, []int{3, 1, 2, 0}},
		"before":        {impls(seen.Before), []asserts.ID{1, 2, 0, 3, 11, 12}},
		"after":         {impls(seen.After), []asserts.ID{1, 2, 4, 3, 11, 0}},
		"names":         {seen.ArgNames, [][]string{nil, nil, {"0.indices", "0.values"}, nil}},
		"returns":       {seen.ResultLens, []int{1, 0, 1, 0}},
		"results":       {impls(seen.Results), []asserts.ID{5, 15}},
		"their names":   {seen.ResultNames, [][]string{nil, nil, {"values"}, nil}},
		"earlier":       {len(seen.Earlier), 1},
		"earlier bytes": {seen.Earlier[0].Then.Content.Nbytes, int64(16)},
		"traits":        {seen.Before[1].Traits, asserts.MetaTensor},
		"uses":          {[]int32{seen.Before[1].ImplUses, seen.Before[1].StorageUses, int32(seen.Before[1].Version)}, []int32{2, 3, 7}},
	} {
		if diff := cmp.Diff(got[1], got[0]); diff != "" {
			t.Errorf("%s: -want +got\n%s", what, diff)
		}
	}
	for cut := 1; cut < len(w); cut++ {
		if _, err := op.ReadSeen(asserts.Identity, w[:cut].bytes()); err == nil || !strings.Contains(err.Error(), "my::f: the record of a call is cut short") {
			t.Fatalf("%d words: %v", cut, err)
		}
	}
}

// If the later observation has more parts, they have its names.
func TestWireLaterParts(t *testing.T) {
	op := must.Get(ReadOp(listedOp("my::f", "", "", "", "", "", "arg|x|Tensor|||t")))(t)
	var w words
	w.put(1)
	w.tensor(1, 0, 0, 0)
	w.tensor(1, 0, 0, 1)
	w.tensor(11, 21, 0, 1)
	w.put(0, 0)
	seen := must.Get(op.ReadSeen(asserts.Identity, w.bytes()))(t)
	if !slices.Equal(seen.ArgLens, []int{1, 1}) || seen.ArgNames[1][0] != "value" || len(seen.Before) != 2 || seen.After[1].Impl != 11 {
		t.Errorf("%+v", seen)
	}
}

func TestWireContents(t *testing.T) {
	for _, tt := range []struct {
		flags int64
		want  asserts.Snapshot
	}{
		{flagConj | flagGrad | flagUnowned, asserts.Snapshot{Conj: true, RequiresGrad: true, Owner: asserts.NoOwner}},
		{flagNeg | flagLeaf | flagForeign, asserts.Snapshot{Neg: true, Leaf: true, Owner: asserts.ForeignOwner}},
		{0, asserts.Snapshot{}},
	} {
		var w words
		w.tensor(1, 2, 0, 0)
		w[3] |= 1 << 48 // the contents follow
		w.put(int64(Float32), 1, 2, 3, 8, 99, 2, 4, 5)
		if tt.flags == 0 {
			w.put(0, 0) // neither strides nor bytes
		} else {
			w.put(1, 5, 1)
			w.text("12345678")
			tt.want.Strides, tt.want.Bytes = []int64{5, 1}, []byte("12345678")
		}
		w.put(tt.flags)
		w.text("N, C")
		w.text("Strided")
		w.text("")
		w.put(7, 0x2000, 8)
		tt.want.DType, tt.want.Device, tt.want.Offset, tt.want.Nbytes, tt.want.Digest, tt.want.Sizes = "float32", "cuda:2", 3, 8, 99, []int64{4, 5}
		tt.want.Names, tt.want.Layout, tt.want.Grad, tt.want.Memory, tt.want.Counter = "N, C", "Strided", 7, 0x2000, 8
		r := reader{words: w}
		var o asserts.Observation
		if r.observation(&o); !reflect.DeepEqual(*o.Content, tt.want) || len(r.words) != 0 {
			t.Errorf("%+v, want %+v", *o.Content, tt.want)
		}
	}
}

func TestWireReplies(t *testing.T) {
	s := newScratch()
	defer s.free()
	reply := func(status int64, texts ...string) (reader, error) {
		w := words{status, 0, 0}
		for _, text := range texts {
			w.text(text)
		}
		w[1] = int64(len(w))
		copy(s.reply, w)
		return s.read("my::f")
	}
	if r, err := reply(statusOK, "five!", "", "exactly8"); err != nil || r.text() != "five!" || r.text() != "" || r.text() != "exactly8" || len(r.words) != 0 {
		t.Errorf("the texts are not read: %v", err)
	}
	for status, refused := range map[int64]bool{statusRefused: true, statusThrew: false} {
		_, err := reply(status, "c10::Error", " it failed\n")
		if want := (&Error{Op: "my::f", Refused: refused, Type: "c10::Error", Message: " it failed\n"}); !reflect.DeepEqual(err, want) || err.Error() != "my::f: it failed" {
			t.Errorf("%#v, want %#v", err, want)
		}
	}
	for typ, want := range map[string]string{"": "f: x", "std::bad_alloc": "f: x (std::bad_alloc)"} {
		if got := (&Error{Op: "f", Type: typ, Message: "x"}).Error(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a count beyond the words is read")
		}
	}()
	(&reader{words: []int64{2, 0}}).count()
}

// Tensors are observed that a type holds alone or in lists, and not others.
func TestWireHolding(t *testing.T) {
	for _, tt := range []struct {
		holds         holding
		subject, list bool
	}{{"", false, false}, {"x", false, false}, {"t", true, false}, {"t?", true, false}, {"l", true, true}, {"L?", true, true}, {"c", true, true}} {
		if tt.holds.subject() != tt.subject || tt.holds.list() != tt.list {
			t.Errorf("%q is a subject: %v, a list: %v", tt.holds, tt.holds.subject(), tt.holds.list())
		}
	}
}

// Scratches are used again, except those that a long reply has grown. A pool may drop any.
func TestWireScratches(t *testing.T) {
	again := func(words int) bool {
		s := newScratch()
		s.reply = make([]int64, words)
		s.free()
		return newScratch() == s
	}
	kept := false
	for range 100 {
		if kept = kept || again(maxPooled); again(maxPooled + 1) {
			t.Fatal("a long reply is kept")
		}
	}
	if !kept {
		t.Error("no scratch is used again")
	}
}

// value reads the values that write writes, of the kinds in replies.
func TestWireValues(t *testing.T) {
	for _, v := range []Value{None(), Int(-3), Float(math.Inf(1)), Bool(true), Bool(false), Complex(1 - 2i), String("nine char"), Device("cuda:1"), Device("cpu"),
		Ints(1, 2), Ints(), List(Float(1), Bool(false), String("x")), List(List(Int(1)), List())} {
		s := newScratch()
		next, err := s.write(&v, 0)
		r := reader{words: s.request}
		if r.words[0] == tagNone {
			r.words = r.words[:1]
		}
		got := r.value()
		if v.Kind == KindInts && len(v.Ints) == 0 {
			v = List()
		}
		if want := v.String(); err != nil || got.String() != want || next != 0 && v.Kind != KindList {
			t.Errorf("%s is read as %s, %v; next %d", want, got, err, next)
		}
		s.free()
	}
	three := newHandle(300, func(int64) {}, 0)
	x, o := Tensor{three}, Object{newHandle(400, func(int64) {}, 0)}
	for _, tt := range []struct {
		v       Value
		next    int64
		request []int64
		tensors []int64
	}{
		{None(), 2, []int64{tagNone, 2}, nil},
		{Default(), 2, []int64{tagDefault}, nil},
		{x.Value(), 3, []int64{tagTensor, 2}, []int64{300}},
		{Tensor{}.Value(), 3, []int64{tagTensor, 2}, []int64{0}},
		{Tensors(x, Tensor{}), 4, []int64{tagList, 2, tagTensor, 2, tagTensor, 3}, []int64{300, 0}},
		{List(None(), x.Value()), 4, []int64{tagList, 2, tagNone, 2, tagTensor, 3}, []int64{0, 300}},
		{Tuple(x.Value(), Int(5)), 3, []int64{tagTuple, 2, tagTensor, 2, tagInt, 5}, []int64{300}},
		{Dict(Int(1), Int(2)), 2, []int64{tagDict, 1, tagInt, 1, tagInt, 2}, nil},
		{New("C", x.Value()), 3, []int64{tagNew, 1, 'C', 1, tagTensor, 2}, []int64{300}},
		{Same(4), 2, []int64{tagSame, 4}, nil},
		{o.Value(), 2, []int64{tagObject, 400}, nil},
		{Object{}.Value(), 2, []int64{tagNone, noTensor}, nil},
		{Stream("cuda:1", 9), 2, []int64{tagStream, 1, 1, 9}, nil},
		{Device("cpu"), 2, []int64{tagDevice, 0, noIndex}, nil},
	} {
		s := newScratch()
		next, err := s.write(&tt.v, 2)
		if err != nil || next != tt.next || !slices.Equal(s.request, tt.request) {
			t.Errorf("%v: %v, next %d, %v; want %v, %d", tt.v, s.request, next, err, tt.request, tt.next)
		}
		s.request = s.request[:0]
		if n, err := s.tensors(&tt.v); err != nil || n != len(tt.tensors) || !slices.Equal(s.request, tt.tensors) {
			t.Errorf("%v holds %v, %d, %v; want %v", tt.v, s.request, n, err, tt.tensors)
		}
		s.free()
	}
	released := Tensor{newHandle(500, func(int64) {}, 0)}
	must.Do(t, released.Release())
	s := newScratch()
	defer s.free()
	for _, v := range []Value{{Kind: 99}, Device("gpu"), List(Device("gpu")), Object(released).Value()} {
		if _, err := s.write(&v, 0); err == nil {
			t.Errorf("%v is written", v)
		}
	}
	for _, v := range []Value{released.Value(), Tensors(x, released), List(x.Value(), released.Value())} {
		if n, err := s.tensors(&v); err == nil {
			t.Errorf("%v holds %d", v, n)
		}
	}
}

// A result has handles, and Release releases all of them.
func TestWireResults(t *testing.T) {
	for _, tt := range []struct {
		words words
		kind  ValueKind
		text  string
	}{
		{words{tagTensor, 0}, KindTensor, "undefined"},
		{words{tagList, 1, tagTensor, 0}, KindTensors, "[undefined]"},
		{words{tagList, 2, tagTensor, 0, tagInt, 1}, KindList, "[undefined, 1]"},
		{words{tagList, 2, tagInt, 1, tagTensor, 0}, KindList, "[1, undefined]"},
		{words{tagList, 2, tagInt, 1, tagInt, 2}, KindInts, "[1, 2]"},
		{words{tagList, 0}, KindList, "[]"},
		{words{99}, KindNone, "None"},
	} {
		r := reader{words: tt.words}
		if v := r.value(); v.Kind != tt.kind || v.String() != tt.text {
			t.Errorf("%v is %d %v, want %d %s", tt.words, v.Kind, v, tt.kind, tt.text)
		}
	}
	dropped := 0
	handle := func() handle { return newHandle(1, func(int64) { dropped++ }, 0) }
	x, y, o, in := Tensor{handle()}, Tensor{handle()}, Object{handle()}, Tensor{handle()}
	out := Outcome{Results: []Value{x.Value(), Tensors(y), o.Value(), List(in.Value()), Int(1)}}
	if err := out.Release(); err != nil || dropped != 4 || len(out.Results) != 0 {
		t.Errorf("%d dropped of 4, %v", dropped, err)
	}
	out.Results = []Value{List(x.Value(), Int(1)), Int(2)}
	var misuse *HandleError
	if err := out.Release(); !errors.As(err, &misuse) || !misuse.Released || !strings.Contains(err.Error(), "handle released a second time") || asserts.Enabled == strings.Contains(err.Error(), "; a build") {
		t.Errorf("released twice: %v", err)
	}
	if _, err := x.h.use(); !errors.As(err, &misuse) || misuse.Released || !strings.Contains(err.Error(), "used after it was released") || asserts.Enabled == (errors.Unwrap(misuse) == nil) {
		t.Errorf("used after: %v", err)
	}
	misuse.Fault = &preserve.RuleError{Made: "at ops.go:3"}
	if !strings.Contains(misuse.Error(), "at ops.go:3") || errors.Unwrap(misuse) != error(misuse.Fault) {
		t.Errorf("the error is without its fault: %v", misuse)
	}
}

// A handle in use is dropped after its last use.
func TestWireHandles(t *testing.T) {
	dropped := 0
	h := newHandle(7, func(address int64) { dropped += int(address) }, 0)
	for range 2 {
		if address, err := h.use(); err != nil || address != 7 {
			t.Fatal(address, err)
		}
	}
	must.Do(t, h.release())
	if h.done(); dropped != 0 {
		t.Error("dropped in use")
	}
	if h.done(); dropped != 7 {
		t.Error("not dropped in the end")
	}
	again := newHandle(8, func(int64) {}, 0)
	if again.slot == h.slot && again.generation == h.generation {
		t.Error("a slot is used again under one generation")
	}
	if _, err := h.use(); err == nil {
		t.Error("an old handle is another's")
	}
	if err := ReleaseAll(Tensor{again}, Tensor{again}, Tensor{}); err != nil {
		t.Errorf("each of two is released once: %v", err)
	}
	if _, err := (handle{}).use(); err == nil || (handle{}).release() != nil {
		t.Error("the zero handle")
	}
}

func TestWireTouches(t *testing.T) {
	w := words{touchFreed, accessReads, ownerReturn, 2, 16, -4, -1}
	w.text("first\nsecond\n")
	var got Touch
	r := reader{words: w}
	r.touch(&got)
	want := Touch{How: Freed, Reads: true, Owner: OfReturn, Index: 2, Nbytes: 16, First: -4, Last: -1, Frames: []string{"first", "second"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	w[1] = accessWrites
	r = reader{words: w}
	if r.touch(&got); got.Reads || !got.Writes {
		t.Errorf("%+v", got)
	}
}

func TestWireDevices(t *testing.T) {
	was := brought.Load()
	defer brought.Store(was)
	brought.Store(nil)
	Bring("cuda")
	if brought.Load() != nil {
		t.Error("cuda is PyTorch's own")
	}
	if name := deviceName(20, noIndex); name != "privateuseone" || deviceName(99, 1) != "device type 99:1" || deviceName(-1, noIndex) != "device type -1" {
		t.Errorf("device 20 is %s", name)
	}
	Bring("openreg")
	if typ, known := deviceType("meta"); !known || typ != 14 {
		t.Errorf("meta is device %d", typ)
	}
	typ, known := deviceType("openreg")
	if name := deviceName(typ, 1); !known || name != "openreg:1" || deviceName(14, 0) != "meta" {
		t.Errorf("openreg is %s", name)
	}
}

func TestWireSpecs(t *testing.T) {
	for _, tt := range []struct {
		spec Spec
		want string
	}{
		{Spec{DType: Float32, Sizes: []int64{2, 3}}, ""},
		{Spec{DType: Float32, Sizes: []int64{2}, Strides: []int64{1, 1}}, "2 strides for 1 sizes"},
		{Spec{DType: Float32, Sizes: []int64{-1}}, "cannot be negative"},
		{Spec{DType: Float32, Sizes: []int64{1}, Strides: []int64{-1}}, "cannot be negative"},
		{Spec{DType: Float32, Offset: -1}, "cannot be negative"},
		{Spec{DType: 16}, "cannot create tensors of dtype quint4x2"},
		{Spec{DType: QInt8}, "cannot be qint8"},
		{Spec{DType: Float32, Form: Quantized}, "cannot be float32"},
		{Spec{DType: QInt8, Form: Quantized}, ""},
		{Spec{DType: QInt8, Form: QuantizedChannel, Sizes: []int64{1}}, ""},
		{Spec{DType: QInt8, Form: QuantizedChannel}, "has a first dimension"},
		{Spec{DType: Int64, Form: RequiresGrad}, "can't require grad"},
		{Spec{DType: Complex64, Form: RequiresGrad}, ""},
		{Spec{DType: Float32, Of: Tensor{handle{slot: 1}}, Meta: true}, "is strided, and on the CPU"},
		{Spec{DType: Float32, Of: Tensor{handle{slot: 1}}, Form: COO}, "is strided, and on the CPU"},
		{Spec{DType: Float32, Of: Tensor{handle{slot: 1}}}, ""},
		{Spec{DType: Float32, Meta: true, Form: COO}, "cannot be on meta"},
		{Spec{DType: Float32, Meta: true, Form: Inference}, ""},
		{Spec{DType: Float32, Meta: true}, ""},
		{Spec{DType: Float32, Form: Nested}, "has a first dimension"},
		{Spec{DType: Float32, Offset: 1<<30 + 1}, "more than 1073741824 elements"},
		{Spec{DType: Float32, Offset: 1 << 30, Sizes: []int64{0}}, ""},
		{Spec{DType: Float32, Sizes: []int64{1 << 20, 1 << 20}}, "span more than"},
		{Spec{DType: Float32, Sizes: []int64{1 << 20, 1 << 20}, Strides: []int64{0, 0}}, ""},
		{Spec{DType: Float32, Sizes: []int64{1 << 30}}, ""},
	} {
		if err := tt.spec.check(); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want %q", tt.spec, err, tt.want)
		}
	}
	for _, tt := range []struct {
		spec     Spec
		elements int64
	}{
		{Spec{}, 1}, {Spec{Sizes: []int64{2, 3}}, 6}, {Spec{Sizes: []int64{2, 0}, Offset: 4}, 4}, {Spec{Sizes: []int64{2, 3}, Strides: []int64{1, 4}, Offset: 2}, 12}, {Spec{Sizes: []int64{0, 3}}, 0},
	} {
		if n := must.Get(tt.spec.elements())(t); n != tt.elements {
			t.Errorf("%+v spans %d elements, want %d", tt.spec, n, tt.elements)
		}
	}
	if got := (&Spec{Sizes: []int64{2, 0, 3}}).strides(); !slices.Equal(got, []int64{3, 3, 1}) {
		t.Errorf("strides %v", got)
	}
	if zero := (&Spec{DType: QUInt8}).zeroPoint(); zero != 64 || (&Spec{DType: QInt8}).zeroPoint() != 0 {
		t.Errorf("zero point %d", zero)
	}
	if got := (&Spec{Sizes: []int64{1, 1}}).names().String(); got != `["dimname::A", "dimname::B"]` {
		t.Errorf("names %s", got)
	}
}

// The contents are the bytes, or else the values, or else random numbers of the range.
func TestWireData(t *testing.T) {
	if got := (&Spec{DType: Int32, Bytes: []byte{1}, Values: []float64{2}}).data(1); !slices.Equal(got, []byte{1}) {
		t.Errorf("bytes %v", got)
	}
	if got := (&Spec{DType: Int32, Values: []float64{2, 3, 4}}).data(2); !slices.Equal(got, []byte{2, 0, 0, 0, 3, 0, 0, 0}) {
		t.Errorf("values %v", got)
	}
	if got := (&Spec{DType: Uint8, Values: []float64{2}}).data(2); !slices.Equal(got, []byte{2}) {
		t.Errorf("fewer values %v", got)
	}
	for _, tt := range []struct {
		spec      Spec
		low, high float64
	}{
		{Spec{DType: Uint8}, 0, 10}, {Spec{DType: Uint8, Low: 3, High: 5}, 3, 5}, {Spec{DType: Uint8, High: 2}, 0, 2}, {Spec{DType: Int8, Low: -5}, -5, 0}, {Spec{DType: BoolType}, 0, 2}, {Spec{DType: BoolType, Low: 5, High: 6}, 0, 2},
	} {
		least, most := math.Inf(1), math.Inf(-1)
		for _, b := range tt.spec.data(400) {
			v := float64(b)
			if tt.spec.DType == Int8 {
				v = float64(int8(b))
			}
			least, most = min(least, v), max(most, v)
		}
		if least < tt.low || most >= tt.high && tt.high > 0 || most < tt.high-2 || least > tt.low+1 {
			t.Errorf("%+v: from %v to %v, want from %v to below %v", tt.spec, least, most, tt.low, tt.high)
		}
	}
	one, other := (&Spec{DType: Float32, Seed: 1}).data(8), (&Spec{DType: Float32, Seed: 2}).data(8)
	if slices.Equal(one, other) || !slices.Equal(one, (&Spec{DType: Float32, Seed: 1}).data(8)) {
		t.Error("the seed does not decide the numbers")
	}
	negative := slices.ContainsFunc((&Spec{DType: Float32}).data(64)[3:], func(b byte) bool { return b&0x80 != 0 })
	if !negative {
		t.Error("fractions are not from -1 on")
	}
}

func TestWireHarmlessParts(t *testing.T) {
	op := &asserts.Op{
		Name: "my::f", Args: []asserts.Subject{{Index: 0, Name: "x", Before: []string{"a"}}, {Index: 1, Name: "y"}},
		Results: []asserts.Subject{{Index: 0, Before: []string{"a"}}, {Index: 1, Write: true}},
	}
	arg := func(i int, called string) asserts.Place {
		return asserts.Place{Index: i, Called: called, Inside: called != ""}
	}
	result := func(i int, called string) asserts.Place {
		p := arg(i, called)
		p.Return = true
		return p
	}
	for _, tt := range []struct {
		code        asserts.Code
		on, against asserts.Place
		want        string
	}{
		{asserts.UndeclaredAlias, result(1, "value"), arg(1, ""), "functional wrapper"},
		{asserts.UndeclaredAlias, result(0, "value"), arg(1, ""), ""},
		{asserts.FreshImpl, result(1, "value"), arg(1, ""), ""},
		{asserts.UndeclaredAlias, arg(1, "value"), arg(1, ""), ""},
		{asserts.OutputAlias, result(0, "values"), result(1, ""), ""},
		{asserts.UndeclaredAlias, result(0, "sizes"), arg(1, "strides"), "nested tensors"},
		{asserts.UndeclaredAlias, result(0, "sizes"), arg(1, "values"), ""},
		{asserts.OutputAlias, result(1, "0.indices"), result(1, "0.values"), "parts of one tensor"},
		{asserts.OutputAlias, result(1, "0.indices"), result(1, "1.values"), ""},
		{asserts.OutputAlias, result(1, "indices"), result(0, "values"), ""},
		{asserts.UndeclaredAlias, result(1, "indices"), arg(1, "values"), ""},
		{asserts.UndeclaredAlias, result(0, "indices"), arg(0, "indices"), "same part of its base"},
		{asserts.UndeclaredAlias, result(0, "indices"), arg(0, "values"), ""},
		{asserts.UndeclaredAlias, arg(0, "indices"), result(0, "indices"), ""},
		{asserts.UndeclaredAlias, arg(0, "indices"), arg(1, "indices"), ""},
		{asserts.UndeclaredAlias, result(0, ""), arg(0, "indices"), ""},
		{asserts.UndeclaredAlias, arg(0, ""), arg(0, "values"), ""},
		{asserts.UndeclaredAlias, result(0, "values"), arg(1, "strides"), ""},
		{asserts.OutputAlias, result(1, "indices"), result(1, "values"), "parts of one tensor"},
		{asserts.OutputAlias, result(0, "0.indices"), result(0, "1.indices"), ""},
		{asserts.UndeclaredAlias, arg(0, "0.indices"), arg(0, "1.indices"), ""},
		{asserts.UndeclaredAlias, result(0, "indices"), arg(1, "indices"), ""},
	} {
		if got := HarmlessParts(op, &asserts.Violation{Code: tt.code, Subject: tt.on, Against: tt.against}); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%v of %+v and %+v: %q, want %q", tt.code, tt.on, tt.against, got, tt.want)
		}
	}
}

// What was found of a device is known from then on; an error is not.
func TestWirePlaces(t *testing.T) {
	defer places.Delete("cuda:7")
	was := brought.Load()
	defer brought.Store(was)
	odd := errors.New("odd")
	for _, tt := range []struct {
		found, err, want error
	}{{odd, odd, odd}, {nil, nil, nil}, {odd, nil, nil}} {
		if p, err := place("cuda:7", func() (DeviceInfo, error) { return DeviceInfo{Fallback: tt.found == nil}, tt.found }); err != tt.want || p.Fallback != (tt.want == nil) {
			t.Errorf("%+v, %v", p, err)
		}
	}
	brought.Store(nil)
	for _, tt := range []struct {
		name              string
		typ, falls, reads int64
		want              DeviceInfo
		brings            string
	}{
		{"other:1", 1, 1, 0, DeviceInfo{Name: "cuda:1", Key: "K", Fallback: true}, "privateuseone"},
		{"openreg:1", 20, 0, 1, DeviceInfo{Name: "openreg:1", Key: "K", Resolves: true}, "openreg"},
	} {
		w := words{tt.typ, 1, tt.falls, tt.reads}
		w.text("K")
		r := reader{words: w}
		if got := r.device(tt.name); got != tt.want || typeName(20) != tt.brings {
			t.Errorf("%s: %+v, want %+v; device 20 is %s", tt.name, got, tt.want, typeName(20))
		}
	}
}

// A call writes its tensors, those of subjects first, and reads what was observed, and the results.
func TestWireCall(t *testing.T) {
	op := must.Get(ReadOp(listedOp("my::f", "", "", "", "", "", "arg|x|Tensor|||t", "arg|o|Any|||x", "arg|xs|Tensor[]|||l", "arg|y|Tensor?|None||t", "arg|zs|Tensor[]|[]||l",
		"ret||Tensor|t", "ret||int|", "ret||Tensor[]|l", "ret||Any|c", "ret||Tensor|t", "ret||Tensor[]|l")))(t)
	tensor := func(address int64) Tensor { return Tensor{newHandle(address, func(int64) {}, 0)} }
	args := []Value{tensor(300).Value(), tensor(400).Value(), Tensors(tensor(500), tensor(600))}
	var request []int64
	reply := func(status int64, w words) func(request, reply []int64) {
		return func(written, reply []int64) {
			request = slices.Clone(written)
			copy(reply, append(words{status, int64(len(w)) + headerWords, 0}, w...))
		}
	}
	var seen words // of the arguments, and of a tensor that was added to the second list
	for side := range int64(2) {
		for id := range int64(3) {
			seen.tensor(10*side+id+1, 40, 0, 0)
		}
		seen.tensor(0, 0, 0, 0)
	}
	observed := slices.Concat(seen, words{1, 4})
	observed.tensor(9, 40, 0, 0)
	observed.put(0, 0, 1) // no tensor in the first return, nothing hidden in the second
	observed.tensor(21, 40, 0, 0)
	observed.put(1)
	observed.tensor(22, 40, 0, 1)
	observed.tensor(23, 40, 0, 1)
	observed.put(1)
	observed.tensor(24, 40, 0, 0)
	observed.put(0)
	results := words{tagTensor, 0, tagInt, 5, tagList, 0, 99, tagTensor, 0, tagList, 0}
	ids := func(all []asserts.Observation) (ids []asserts.ID) {
		for _, o := range all {
			ids = append(ids, o.Impl)
		}
		return ids
	}
	out := Outcome{Autograd: true, Results: []Value{Int(1)}}
	must.Do(t, op.call(asserts.Identity, &out, args, reply(statusOK, slices.Concat(observed, results))))
	want := []int64{64, int64(asserts.Identity), 1, 5, 4, 300, 500, 600, 0, 400, tagTensor, 0, tagTensor, 4, tagList, 2, tagTensor, 1, tagTensor, 2}
	if !slices.Equal(request, want) {
		t.Errorf("request %v, want %v", request, want)
	}
	got := fmt.Sprint(out.Results, ids(out.Seen.Before), ids(out.Seen.After), ids(out.Seen.Results), out.Seen.ArgLens, out.Seen.ResultLens, len(out.parts))
	if want := "[undefined 5 [] None undefined []] [#1 #2 #3 none none] [#11 #12 #13 none #9] [none #21 #24] [1 2 1 1] [1 1 1 0] 0"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	out = Outcome{}
	must.Do(t, op.call(asserts.Off, &out, args, reply(statusOK, results)))
	if request[2] != 0 || len(out.Results) != 6 || out.Seen.Before != nil {
		t.Errorf("request %v, %v, %v", request, out.Results, out.Seen)
	}
	for status, want := range map[int64]string{statusWrote: "[#1 #2 #3 none] [1 2 1 0] [0 0 0 0]", statusThrew: "[] [] []"} {
		w := words{}
		if status == statusWrote {
			w = slices.Concat(seen, words{0})
		}
		w.text("c10::Error")
		w.text("it failed")
		out = Outcome{}
		var thrown *Error
		if err := op.call(asserts.Content, &out, args, reply(status, w)); !errors.As(err, &thrown) || thrown.Message != "it failed" || len(out.Results) != 0 {
			t.Errorf("status %d: %v", status, err)
		}
		if got := fmt.Sprint(ids(out.Seen.Before), out.Seen.ArgLens, out.Seen.ResultLens); got != want {
			t.Errorf("status %d: %s, want %s", status, got, want)
		}
	}
}

// The first argument of a call is made from the request of the call.
func TestWireObject(t *testing.T) {
	op := must.Get(ReadOp(listedOp("my::f", "", "", "", "", "", "arg|x|Tensor|||t", "arg|n|int|||")))(t)
	released := Tensor{newHandle(500, func(int64) {}, 0)}
	must.Do(t, released.Release())
	refused := words{}
	refused.text("c10::Error")
	refused.text("no object")
	for _, tt := range []struct {
		first  Value
		status int64
		reply  words
		want   string
	}{
		{Tensor{}.Value(), statusOK, words{tagInt, 5}, "5 <nil>"},
		{Tensor{}.Value(), statusThrew, refused, "no object"},
		{released.Value(), statusOK, words{tagInt, 5}, `my::f: argument 0 "x": `},
	} {
		var request []int64
		made, err := op.object([]Value{tt.first, Int(1)}, func(written, reply []int64) {
			request = slices.Clone(written)
			copy(reply, append(words{tt.status, int64(len(tt.reply)) + headerWords, 0}, tt.reply...))
		})
		if got := fmt.Sprint(made, err); !strings.Contains(got, tt.want) || err != nil && made.Kind != KindNone {
			t.Errorf("made %s, want %s", got, tt.want)
		}
		if called := request != nil; called != (tt.first.Tensor == Tensor{}) || called && !slices.Equal(request, []int64{64, 0, 0, 1, 1, 0, tagTensor, 0, tagInt, 1}) {
			t.Errorf("request %v", request)
		}
	}
}

// Arguments that do not fit the schema are errors that name them, before anything is called. In debug
// builds the life of a released handle precedes that.
func TestWireCallRefused(t *testing.T) {
	op := must.Get(ReadOp(listedOp("my::f", "", "", "", "", "", "arg|x|Tensor|||t", "arg|n|int|||")))(t)
	none := must.Get(ReadOp(listedOp("my::g", "", "", "", "", "")))(t)
	released := Tensor{newHandle(500, func(int64) {}, 0)}
	must.Do(t, released.Release())
	for _, tt := range []struct {
		args []Value
		want string
	}{
		{[]Value{released.Value()}, `my::f: argument 0 "x": `},
		{[]Value{Tensor{}.Value(), released.Value()}, `my::f: argument 1 "n": `},
		{[]Value{Tensor{}.Value(), Device("gpu")}, `my::f: argument 1 "n": there is no device "gpu"`},
		{[]Value{Tensor{}.Value(), Int(1), Int(2)}, "my::f: it has 2 arguments, not 3"},
	} {
		called := false
		err := op.call(asserts.Off, new(Outcome), tt.args, func([]int64, []int64) { called = true })
		if _, passed := op.PassTo(none, tt.args...); err == nil || !strings.Contains(err.Error(), tt.want) || called || passed == nil || !strings.Contains(passed.Error(), tt.want) {
			t.Errorf("%v: %v and %v, want %s; called: %v", tt.args, err, passed, tt.want, called)
		}
	}
	if _, err := op.PassTo(none, Tensor{}.Value()); err == nil || err.Error() != "my::g: it has 0 arguments, not 2" {
		t.Errorf("passed to an operator without arguments: %v", err)
	}
}
