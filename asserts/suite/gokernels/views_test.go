package gokernels

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/internal/tensor"
	"github.com/opassert/opassert/schema"
)

// A grid is a user's tensor; only its views are not contiguous.
type grid struct {
	data           []float32 // from its first element on
	sizes, strides []int64
}

func (g *grid) Observe(o *asserts.Observation, level asserts.Level) {
	o.Impl, o.Storage, o.ImplUses, o.StorageUses = asserts.PointerID(g), asserts.SliceID(g.data), asserts.NotCounted, asserts.NotCounted
	if level >= asserts.Content {
		o.Look(func() { o.Content = asserts.SliceContent(g.data[:cap(g.data)], g.sizes, g.strides, 0) })
	}
}

// at returns the elements in row-major order.
func (g *grid) at() []float32 {
	offsets := []int64{0}
	for i, n := range g.sizes {
		var next []int64
		for _, o := range offsets {
			for k := range n {
				next = append(next, o+k*g.strides[i])
			}
		}
		offsets = next
	}
	var all []float32
	for _, o := range offsets {
		all = append(all, g.data[o])
	}
	return all
}

func (g *grid) narrow(dim, start, length, step int) *grid {
	if step < 1 || start < 0 || length < 1 || int64(start+(length-1)*step) >= g.sizes[dim] {
		panic("out of range")
	}
	v := &grid{g.data[int64(start)*g.strides[dim]:], slices.Clone(g.sizes), slices.Clone(g.strides)}
	v.sizes[dim], v.strides[dim] = int64(length), v.strides[dim]*int64(step)
	return v
}

var gridOps = map[string]any{
	"narrow(Tensor(a) self, int dim, SymInt start, SymInt length, int step=1) -> Tensor(a)": (*grid).narrow,
	"permute(Tensor(a) self, int[] dims) -> Tensor(a)": func(g *grid, dims []int) *grid {
		v := &grid{data: g.data}
		for _, d := range dims {
			v.sizes, v.strides = append(v.sizes, g.sizes[d]), append(v.strides, g.strides[d])
		}
		if slices.Sort(dims); !slices.Equal(dims, []int{0, 1, 2}[:len(g.sizes)]) {
			panic("not an order")
		}
		return v
	},
	"expand(Tensor(a) self, int[] size) -> Tensor(a)": func(g *grid, size []int64) *grid {
		v := &grid{g.data, size, slices.Clone(g.strides)}
		for i, n := range size {
			switch g.sizes[i] {
			case n:
			case 1:
				v.strides[i] = 0
			default:
				panic("not of size 1")
			}
		}
		return v
	},
	"part(Tensor self, int dim) -> Tensor":        func(g *grid, dim int) *grid { panic("returns no view") },
	"both(Tensor(a) self, Tensor x) -> Tensor(a)": func(g, x *grid) *grid { panic("takes two tensors") },
	"some(Tensor(a)[] self) -> Tensor(a)":         func(g []*grid) *grid { panic("takes a list") },
}

// gridEngine has the named ops, or all, and counts releases.
func gridEngine(t *testing.T, released map[any]int, ops ...string) *Engine {
	t.Helper()
	lib := Library{Name: "grids", Kernels: make(map[string]any), Release: func(t asserts.Tensor) { released[t]++ }}
	lib.Make = func(d engine.Dense, f engine.Form) (asserts.Tensor, error) {
		if d.Offset != 0 || !slices.Equal(d.Strides, tensor.ContiguousStrides(d.Sizes)) {
			return nil, &engine.Unsupported{What: "strides"}
		}
		g := &grid{make([]float32, len(d.Data)/4), d.Sizes, d.Strides}
		for i := range g.data {
			g.data[i] = float32(d.Data[4*i])
		}
		return g, nil
	}
	for text, kernel := range gridOps {
		op := must.Get(schema.ParseOp(text))(t)
		if len(ops) == 0 || slices.Contains(ops, op.Name()) {
			lib.Ops, lib.Kernels[op.Name()] = append(lib.Ops, op), kernel
		}
	}
	e := must.Get(lib.Engine())(t)
	return e
}

// numbered is a float32 tensor whose elements are their positions in the storage.
func numbered(offset int64, sizes, strides []int64) engine.Dense {
	d := engine.Dense{DType: "float32", Sizes: sizes, Strides: strides, Offset: offset}
	last := offset
	for i, n := range sizes {
		last += (n - 1) * strides[i]
	}
	for i := range last + 1 {
		d.Data = append(d.Data, byte(i), 0, 0, 0)
	}
	return d
}

// Tensors that Make lacks are made by the library's view ops, with each element in
// its place.
func TestViewsAreMade(t *testing.T) {
	for _, tt := range []struct {
		name   string
		dense  engine.Dense
		want   []float32
		needed string // the expected op
	}{
		{"padded", numbered(0, []int64{2, 2}, []int64{4, 1}), []float32{0, 1, 4, 5}, "narrow"},
		{"padded rows of three dimensions", numbered(0, []int64{2, 2, 2}, []int64{8, 4, 1}), []float32{0, 1, 4, 5, 8, 9, 12, 13}, "narrow"},
		{"sliced", numbered(1, []int64{3}, []int64{2}), []float32{1, 3, 5}, "narrow"},
		{"sliced matrix", numbered(1, []int64{2, 3}, []int64{6, 2}), []float32{1, 3, 5, 7, 9, 11}, "narrow"},
		{"offset", numbered(2, []int64{3}, []int64{1}), []float32{2, 3, 4}, "narrow"},
		{"transposed", numbered(0, []int64{2, 3}, []int64{1, 2}), []float32{0, 2, 4, 1, 3, 5}, "permute"},
		{"dimensions in another order", numbered(0, []int64{2, 3, 2}, []int64{6, 1, 3}), []float32{0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11}, "permute"},
		{"expanded", numbered(0, []int64{2, 3}, []int64{0, 1}), []float32{0, 1, 2, 0, 1, 2}, "expand"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			released := make(map[any]int)
			made := must.Get(gridEngine(t, released).Make(tt.dense, engine.Strided))(t)
			g := made.(*handle).Tensor.(*grid)
			if diff := cmp.Diff(tt.want, g.at()); diff != "" {
				t.Error(diff)
			}
			base := made.(*handle).base.Tensor
			if released[base] != 0 {
				t.Error("the base was released before the view")
			}
			if made.Release(); released[g] != 1 || released[base] != 1 {
				t.Errorf("the view was released %d times, its base %d times", released[g], released[base])
			}
			without := slices.DeleteFunc([]string{"narrow", "permute", "expand"}, func(op string) bool { return op == tt.needed })
			var lacks *engine.Unsupported
			if _, err := gridEngine(t, released, without...).Make(tt.dense, engine.Strided); !errors.As(err, &lacks) {
				t.Errorf("made without %s: %v", tt.needed, err)
			}
		})
	}
}

// A call found for other sizes is tried first, and searches end.
func TestViewsAreFoundOnce(t *testing.T) {
	e := gridEngine(t, make(map[any]int))
	for n := int64(2); n < 9; n++ {
		if _, err := e.Make(numbered(0, []int64{n, n + 1}, []int64{n + 3, 1}), engine.Strided); err != nil {
			t.Errorf("padded rows of %d: %v", n+1, err)
		}
	}
	for sort, n := range e.views.searches {
		if n != 1 {
			t.Errorf("%d searches for %s", n, sort)
		}
	}
}

// A view of a view's storage is made too; without an op that makes it, no storage is
// shared.
func TestSecondView(t *testing.T) {
	e := gridEngine(t, make(map[any]int))
	d := numbered(0, []int64{2, 2}, []int64{4, 1})
	first := must.Get(e.Make(d, engine.Strided))(t)
	second := must.Get(e.View(first, d))(t)
	a, b := first.(*handle).Tensor.(*grid), second.(*handle).Tensor.(*grid)
	if a == b || &a.data[0] != &b.data[0] || !slices.Equal(a.at(), b.at()) {
		t.Errorf("%+v is not a view of %+v", b, a)
	}
	if _, err := gridEngine(t, make(map[any]int), "part").View(first, d); err == nil {
		t.Error("a view was made without a view op")
	}
}

// A placed tensor observes an offset.
type placed struct {
	*grid
	offset int64
}

func (p *placed) Observe(o *asserts.Observation, level asserts.Level) {
	p.grid.Observe(o, level)
	if o.Content != nil {
		o.Content.Offset, o.Content.Nbytes = p.offset, 64
	}
}

// A tensor that Make makes with other strides or another offset than asked for is released, and is made by view ops, or is one that the
// library lacks; a view made through an op that copies is such a tensor. One without observed strides is taken.
func TestMadeWithOtherStrides(t *testing.T) {
	d := numbered(1, []int64{2, 3}, []int64{4, 1})
	filled := func(n int64) *grid { return &grid{make([]float32, 2*n), []int64{2, n}, []int64{n, 1}} }
	view := func(g *grid) *grid { return g.narrow(1, 0, 3, 1) }
	copied := func(g *grid) *grid { return &grid{slices.Clone(g.at()), g.sizes, []int64{3, 1}} }
	for _, tt := range []struct {
		name  string
		make  func() asserts.Tensor
		ops   string
		lacks string // the error, or ""
		views bool   // view ops make it
	}{
		{"a view", func() asserts.Tensor { return view(filled(4)) }, "none", "", false},
		{"a copy", func() asserts.Tensor { return copied(view(filled(4))) }, "none", "the library has no such strides or offsets: a tensor that it makes has others", false},
		{"a copy, and a view op", func() asserts.Tensor { return copied(view(filled(4))) }, "narrow", "", true},
		{"without strides", func() asserts.Tensor { return &box{asserts.NewID()} }, "none", "", false},
		{"with another offset", func() asserts.Tensor { return &placed{view(filled(4)), 2} }, "none", "the library has no such strides or offsets: a tensor that it makes has others", false},
		{"with the offset", func() asserts.Tensor { return &placed{view(filled(4)), 1} }, "none", "", false},
		{"another offset, and a view op", func() asserts.Tensor { return &placed{view(filled(4)), 2} }, "narrow", "", true},
		{"of other sizes", func() asserts.Tensor { return filled(4) }, "none", "", false},
	} {
		released := make(map[any]int)
		e := gridEngine(t, released, tt.ops)
		var first asserts.Tensor
		plain := e.lib.Make
		e.lib.Make = func(d engine.Dense, f engine.Form) (asserts.Tensor, error) {
			if d.Strides[0] != 4 || d.Sizes[1] != 3 {
				return plain(d, f)
			}
			first = tt.make()
			return first, nil
		}
		made, err := e.Make(d, engine.Strided)
		if text := fmt.Sprint(err); (err != nil) != (tt.lacks != "") || err != nil && text != tt.lacks {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.lacks)
		}
		if refused := tt.lacks != "" || tt.views; (released[first] == 1) != refused || !refused && made.(*handle).Tensor != first {
			t.Errorf("%s: made %v, and what Make made was released %d times", tt.name, made, released[first])
		}
		if tt.views && !slices.Equal(made.(*handle).Tensor.(*grid).at(), []float32{1, 2, 3, 5, 6, 7}) {
			t.Errorf("%s: made %v", tt.name, made)
		}
	}
	e := gridEngine(t, make(map[any]int))
	e.lib.Make = func(engine.Dense, engine.Form) (asserts.Tensor, error) { return filled(3), nil }
	if _, err := e.Make(numbered(0, []int64{2, 3}, []int64{3, 1}), engine.Strided); err != nil {
		t.Error("contiguous:", err)
	}
}

// An op that writes, moves, copies or returns its base, or returns nil, is not used. One that copies is named.
func TestBrokenViewOps(t *testing.T) {
	narrow := func(g *grid, dim, start, length int) *grid { return g.narrow(dim, start, length, 1) }
	for name, kernel := range map[string]func(g *grid, dim, start, length int) *grid{
		"shifts": func(g *grid, dim, start, length int) *grid { return narrow(g, dim, 1, length) },
		"writes": func(g *grid, dim, start, length int) *grid { g.data[0]++; return narrow(g, dim, start, length) },
		"moves": func(g *grid, dim, start, length int) *grid {
			v := narrow(g, dim, start, length)
			g.sizes, g.strides = v.sizes, v.strides
			return v
		},
		"copies": func(g *grid, dim, start, length int) *grid {
			v := narrow(g, dim, start, length)
			v.data = slices.Clone(v.data)
			return v
		},
		"returns": func(g *grid, dim, start, length int) *grid { *g = *narrow(g, dim, start, length); return g },
		"nil":     func(*grid, int, int, int) *grid { return nil },
	} {
		e := gridEngine(t, make(map[any]int), "none")
		op := must.Get(schema.ParseOp("narrow(Tensor(a) self, int dim, int start, int length) -> Tensor(a)"))(t)
		e.lib.Kernels["narrow"], e.views.ops = kernel, []*schema.Op{op}
		want := "the library has no strides"
		if name == "copies" {
			want += ", as narrow returns a copy"
		}
		if made, err := e.Make(numbered(0, []int64{2, 2}, []int64{4, 1}), engine.Strided); err == nil {
			t.Errorf("%s: made %s", name, fmt.Sprint(made.(*handle).Tensor.(*grid).at()))
		} else if err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}
