package observed

import "github.com/opassert/opassert/asserts"

type shared struct{ bytes []byte }

type Tensor struct {
	*shared
	data    []float64
	mask    []bool
	cache   map[string]int // want `Observe never reads cache: no check sees what a kernel shares or writes there \(OA206\)`
	grad    *Tensor        // want `Observe never reads grad`
	history *Tensor        //opassert:allow OA206 no kernel reaches it
	name    string
}

func (t *Tensor) Observe(o *asserts.Observation, level asserts.Level) {
	see(t.data)
	_ = t.bytes
	t.parts()
}

func (t *Tensor) parts() {
	see(t.mask)
	t.parts()
}

func see(any) {}

// Unseen is no tensor.
type Unseen struct{ data []float64 }

func (u Unseen) Observe() {}

func (u Unseen) Show(o *asserts.Observation, level asserts.Level) {}

// Vector is observed by value.
type Vector struct {
	data []float64
	mask []bool // want `Observe never reads mask`
}

func (v Vector) Observe(o *asserts.Observation, level asserts.Level) { see(v.data) }
