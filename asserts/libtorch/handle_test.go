package libtorch_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/libtorch"
	"github.com/opassert/opassert/asserts/preserve"
	"github.com/opassert/opassert/internal/dev/libtorchtest"
	"github.com/opassert/opassert/internal/dev/must"
)

// makeHere is the frame that errors about a handle have to name.
//
//go:noinline
func makeHere(t *testing.T) libtorch.Tensor {
	t.Helper()
	return must.Get(libtorch.Make(libtorch.Spec{DType: libtorch.Float32, Sizes: []int64{2}}))(t)
}

func TestMisuse(t *testing.T) {
	libtorchtest.Need(t)
	neg := lookup(t, "aten::neg")
	for _, tt := range []struct {
		name     string
		use      func(x libtorch.Tensor) error
		released bool // released a second time
	}{
		{"release", func(x libtorch.Tensor) error { return x.Release() }, true},
		{"call", func(x libtorch.Tensor) error {
			var out libtorch.Outcome
			return neg.Call(asserts.Identity, &out, x.Value())
		}, false},
		{"call with a list", func(x libtorch.Tensor) error {
			var out libtorch.Outcome
			return lookup(t, "aten::cat").Call(asserts.Off, &out, libtorch.Tensors(x))
		}, false},
		{"see", func(x libtorch.Tensor) error { _, err := x.See(asserts.Content); return err }, false},
		{"parts", func(x libtorch.Tensor) error { _, err := x.Parts(asserts.Content); return err }, false},
		{"bytes", func(x libtorch.Tensor) error { _, err := x.Bytes(); return err }, false},
		{"elements", func(x libtorch.Tensor) error { _, err := x.Elements(); return err }, false},
		{"storage", func(x libtorch.Tensor) error { _, err := libtorch.StorageOf(x); return err }, false},
		{"meta twins", func(x libtorch.Tensor) error { _, err := libtorch.MetaTwins(x); return err }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := makeHere(t)
			must.Do(t, x.Release())
			reuse := makeHere(t) // in the same slot
			defer reuse.Release()
			err := tt.use(x)
			var e *libtorch.HandleError
			if !errors.As(err, &e) || e.Released != tt.released {
				t.Errorf("got %v, want a HandleError", err)
			} else if asserts.Enabled && (!strings.Contains(e.Fault.Made, "makeHere") || !strings.Contains(e.Fault.Again, "handle_test.go")) {
				t.Errorf("got %v, want the stacks that made the handle and misused it", err)
			}
			if _, err := reuse.See(asserts.Identity); err != nil {
				t.Errorf("the handle that is in the slot now: %v", err)
			}
		})
	}
	x := makeHere(t)
	x.Release()
	if o := asserts.Observe(x, asserts.Identity); o.Defined() {
		t.Error("a released tensor is observed as defined")
	}
}

func TestObjectMisuse(t *testing.T) {
	libtorchtest.Need(t)
	g, err := libtorch.NewGenerator(1)
	if err != nil {
		t.Fatal(err)
	}
	must.Do(t, g.Release())
	var e *libtorch.HandleError
	if err := g.Release(); !errors.As(err, &e) || !e.Released {
		t.Errorf("a second release gave %v", err)
	}
	var out libtorch.Outcome
	err = lookup(t, "aten::bernoulli.p").Call(asserts.Off, &out, ones(t, 1), libtorch.Float(1), g.Value())
	if !errors.As(err, &e) || e.Released {
		t.Errorf("a released generator gave %v", err)
	}
}

func TestZeroHandles(t *testing.T) {
	libtorchtest.Need(t)
	var x libtorch.Tensor
	if err := x.Release(); err != nil {
		t.Errorf("releasing an undefined tensor: %v", err)
	}
	if o, err := x.See(asserts.Content); err != nil || o.Defined() {
		t.Errorf("an undefined tensor is seen as %+v, %v", o, err)
	}
	if _, err := x.Bytes(); err == nil {
		t.Error("an undefined tensor has bytes")
	}
	twins, err := libtorch.MetaTwins(x)
	if err != nil || twins[0].Defined() {
		t.Errorf("the twin of an undefined tensor is %v, %v", twins, err)
	}
}

// The reference is released, and only after all calls.
func TestReleaseGivesBack(t *testing.T) {
	libtorchtest.Need(t)
	x := makeHere(t)
	out := call(t, asserts.Off, "aten::alias", x.Value())
	defer out.Release()
	view := out.Results[0].Tensor
	uses := func() int32 {
		o := must.Get(view.See(asserts.Identity))(t)
		return o.StorageUses
	}
	before := uses()
	same := call(t, asserts.Off, "aten::neg_", x.Value())
	must.Do(t, same.Release())
	if uses() != before {
		t.Errorf("another handle came and went: %d uses, then %d", before, uses())
	}
	copied := call(t, asserts.Off, "aten::detach", x.Value())
	if uses() != before+1 {
		t.Errorf("a second view made %d uses of %d", uses(), before)
	}
	copied.Release()
	if uses() != before {
		t.Errorf("the second view is released and there are %d uses, not %d", uses(), before)
	}
	x.Release()
}

// A test with CheckLeaks reports the tensors that it did not release.
func TestCheckLeaks(t *testing.T) {
	libtorchtest.Need(t)
	if !asserts.Enabled {
		t.Skip("handles are followed in the debug build: go test -tags opassert")
	}
	r := &leaky{T: t}
	preserve.CheckLeaks(r)
	a, b := makeHere(t), makeHere(t)
	out := call(t, asserts.Off, "aten::neg", a.Value())
	a.Release()
	r.end()
	got := r.text.String()
	for _, want := range []string{
		"OA107 leak  1 handle of libtorch, 8 bytes", "libtorch_test.makeHere\n", "libtorch_test.call\n", "libtorch_test.TestCheckLeaks\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the report does not say %q:\n%s", want, got)
		}
	}
	b.Release()
	out.Release()
	if n := strings.Count(got, "OA107"); n != 2 {
		t.Errorf("%d leaks, want 2:\n%s", n, got)
	}
}

// A leaky is a test that records its output.
type leaky struct {
	*testing.T
	ends []func()
	text strings.Builder
}

func (l *leaky) Error(args ...any) { fmt.Fprintln(&l.text, args...) }
func (l *leaky) Cleanup(f func())  { l.ends = append(l.ends, f) }
func (l *leaky) end() {
	for _, f := range l.ends {
		f()
	}
}

// Sixteen goroutines make calls with shared tensors, judge every call, and release the results; one
// of them releases a shared tensor meanwhile.
func TestConcurrentCalls(t *testing.T) {
	libtorchtest.Need(t)
	const goroutines, calls = 16, 200
	add, addTo := lookup(t, "aten::add.Tensor"), lookup(t, "aten::add_.Tensor")
	checks, checksTo := planned(t, add), planned(t, addTo)
	shared := tensor(t, libtorch.Spec{DType: libtorch.Float32, Sizes: []int64{8}})
	doomed := makeHere(t)
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			own, err := libtorch.Make(libtorch.Spec{DType: libtorch.Float32, Sizes: []int64{8}, Seed: uint64(g)})
			if err != nil {
				t.Error(err)
				return
			}
			defer own.Release()
			var out libtorch.Outcome
			for i := range calls {
				op, check := add, checks
				if i%2 == 1 {
					op, check = addTo, checksTo
				}
				if err := op.Call(asserts.Content, &out, own.Value(), shared.Value()); err != nil {
					t.Error(err)
					return
				}
				if v := asserts.Judge(check, &out.Seen, asserts.Aware()); len(v.Violations) > 0 {
					t.Errorf("call %d of goroutine %d: %v", i, g, v.Violations[0])
				}
				if err := out.Release(); err != nil {
					t.Error(err)
				}
				var e *libtorch.HandleError
				if g == 0 && i == calls/2 {
					if err := doomed.Release(); err != nil {
						t.Error(err)
					}
				} else if _, err := doomed.See(asserts.Identity); err != nil && !errors.As(err, &e) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if _, err := doomed.See(asserts.Identity); err == nil {
		t.Error("a released handle is good still")
	}
}
