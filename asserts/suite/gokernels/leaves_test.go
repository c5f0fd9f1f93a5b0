package gokernels

import (
	"reflect"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/preserve"
	"github.com/opassert/opassert/asserts/suite/engine"
)

// A failed call that leaves handles has a fault, or the reason why it was not looked for.
func TestLeaves(t *testing.T) {
	if !asserts.Enabled {
		t.Skip("handles are tracked with the tag opassert alone")
	}
	handles := preserve.NewRegistry("gokernels.test")
	fails := true
	kernel := goKernel{Value: reflect.ValueOf(func() {
		if handles.Made(4); fails {
			panic("no")
		}
	})}
	leaves := func(e *Engine) *engine.Thrown {
		n := preserve.Handles()
		handles.Made(4)
		thrown := &engine.Thrown{Message: "no"}
		if err := e.leaves("f", kernel, nil, n, thrown); err != error(thrown) {
			t.Fatal(err)
		}
		return thrown
	}
	e := &Engine{leaky: make(map[string]int)}
	for i := range mostLeaky {
		if thrown := leaves(e); len(thrown.Left) != 1 || thrown.Skip != "" {
			t.Errorf("call %d: found %v, skipped %q", i, thrown.Left, thrown.Skip)
		}
	}
	if thrown := leaves(e); len(thrown.Left) != 0 || thrown.Skip == "" {
		t.Errorf("after these found %v, skipped %q", thrown.Left, thrown.Skip)
	}
	fails = false
	if thrown := leaves(&Engine{leaky: make(map[string]int)}); len(thrown.Left) != 0 || thrown.Skip == "" {
		t.Errorf("a call that does not fail again: found %v, skipped %q", thrown.Left, thrown.Skip)
	}
}
