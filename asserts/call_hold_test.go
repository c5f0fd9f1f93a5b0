package asserts_test

import (
	"bytes"
	"runtime"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
)

// A check on contents that were not observed is a skip, not a pass.
func TestContentsNotObserved(t *testing.T) {
	for schema, code := range map[string]asserts.Code{
		"f(Tensor self) -> ()":     asserts.UndeclaredWrite,
		"f(Tensor(a!) self) -> ()": asserts.VersionBump,
	} {
		seen := &asserts.Seen{Level: asserts.Content, Before: list{see(1, 2)}, After: list{see(1, 2)}}
		verdict := asserts.Judge(opOf(schema), seen, asserts.Aware())
		want := asserts.Skip{Code: code, Reason: "contents not observed", Count: 1}
		if len(verdict.Skips) != 1 || verdict.Skips[0] != want || verdict.Judged[code] != 0 {
			t.Errorf("%s: skips %v, judged %d, want %v", schema, verdict.Skips, verdict.Judged[code], want)
		}
	}
}

// meet runs a wrapper's call and another one while its kernel runs.
func meet(t *testing.T, self, other *tensor, kernel func()) []asserts.Found {
	t.Helper()
	c := collect(t)
	op := newAdd()
	binary(op, healthy, self, other) // makes its plan before the level is set
	defer asserts.SetLevel(asserts.Content)()
	binary(op, func(self, _ *tensor) *tensor {
		kernel()
		return newTensor(4)
	}, self, other)
	return c.Found()
}

// A storage that another goroutine's call holds is not judged: that call may have changed it.
func TestHeldElsewhere(t *testing.T) {
	self := newTensor(4)
	write := func() { self.impl.storage.bytes[0]++ }
	elsewhere := func() {
		done := make(chan bool)
		go func() {
			binary(newAdd(), func(*tensor, *tensor) *tensor { write(); return newTensor(4) }, self, newTensor(4))
			done <- true
		}()
		<-done
	}
	if found := meet(t, self, newTensor(4), elsewhere); len(found) > 0 {
		t.Errorf("reported %v", found)
	}
	twice := func() { elsewhere(); elsewhere() } // the first call releases a storage that is still held
	if found := meet(t, self, newTensor(4), twice); len(found) > 0 {
		t.Errorf("reported %v", found)
	}
	// On the same goroutine the inner call is part of the outer one.
	inside := func() {
		binary(newAdd(), func(*tensor, *tensor) *tensor { return newTensor(4) }, self, newTensor(4))
		write()
	}
	if found := meet(t, self, newTensor(4), inside); len(found) != 1 || found[0].Code != asserts.UndeclaredWrite {
		t.Errorf("reported %v, want OA009", found)
	}
	// The kernel of an inner call panics; later calls are judged.
	panics := func() {
		defer func() { recover() }()
		binary(newAdd(), func(*tensor, *tensor) *tensor { panic("refused") }, self, newTensor(4))
	}
	meet(t, self, newTensor(4), panics)
	if found := meet(t, self, newTensor(4), write); len(found) != 1 {
		t.Errorf("reported %v, want OA009", found)
	}
}

// Inner tensors are held like the tensor; a tensor without a storage holds none itself.
func TestHeldInside(t *testing.T) {
	write := func(x *tensor) { x.impl.storage.bytes[0]++ }
	elsewhere := func(x *tensor) {
		done := make(chan bool)
		go func() {
			binary(newAdd(), func(*tensor, *tensor) *tensor { write(x.impl.inner); return newTensor(4) }, x, newTensor(4))
			done <- true
		}()
		<-done
	}
	inner := newTensor(4)
	self := holder(inner)
	if found := meet(t, self, newTensor(4), func() { elsewhere(holder(inner)) }); len(found) > 0 {
		t.Errorf("reported %v", found)
	}
	both := func() { elsewhere(holder(newTensor(4))); write(inner) }
	found := meet(t, self, newTensor(4), both)
	for _, f := range found {
		if !strings.HasPrefix(said(f.Violation), "OA009 argument self.parts.inner: 1 of 4 bytes changed") {
			t.Errorf("reported %s", said(f.Violation))
		}
	}
	if len(found) != 2 {
		t.Errorf("%d reports, want one for each of two calls", len(found))
	}
}

// The elements of a list longer than the wrapper's array are held, too.
func TestHeldInLongList(t *testing.T) {
	c := collect(t)
	defer asserts.SetLevel(asserts.Content)()
	ts := tensors(600) // more than there are buckets
	last := ts[len(ts)-1]
	listing(opOf("f(Tensor[] ts) -> Tensor[]"), func([]*tensor) []*tensor {
		done := make(chan bool)
		go func() {
			binary(newAdd(), func(*tensor, *tensor) *tensor { last.impl.storage.bytes[0]++; return newTensor(4) }, last, newTensor(4))
			free := newTensor(4)
			binary(newAdd(), func(*tensor, *tensor) *tensor { free.impl.storage.bytes[0]++; return newTensor(4) }, free, newTensor(4))
			done <- true
		}()
		<-done
		return nil
	}, ts)
	if found := c.Found(); len(found) != 1 || found[0].Code != asserts.UndeclaredWrite {
		t.Errorf("reported %v, want OA009 of the tensor that only one call holds", found)
	}
}

// sliced is observed like tensors of most libraries.
type sliced struct{ data []int32 }

func (s *sliced) Observe(o *asserts.Observation, level asserts.Level) {
	asserts.ObserveSlice(o, level, s, s.data, int64(len(s.data)))
}

// passing calls a kernel with an argument that it does not return.
func passing(op *asserts.Op, x *sliced, kernel func()) {
	call := asserts.Call{Record: make([]asserts.Observation, 2)}
	args := func() { x.Observe(call.Next(x)) }
	call.Begin(op)
	call.Before(args)
	kernel()
	call.After(args, nil)
}

// A call reuses the snapshots of an earlier one, except those that reports refer to.
func TestSnapshotsUsedAgain(t *testing.T) {
	c := collect(t)
	defer asserts.SetLevel(asserts.Content)()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // the pool is per processor
	op, x := opOf("f(Tensor self) -> ()"), &sliced{[]int32{1, 2}}
	seen := func(o *asserts.Observation) {
		passing(op, x, func() {
			asserts.ObserveSlice(o, asserts.Content, x, x.data, 2) // outside of the call's record
		})
	}
	var o asserts.Observation
	seen(&o)
	passing(op, x, func() { x.data[1]++ })
	first := c.Found()[0].Violation.Error()
	for range 30 {
		x.data[0]++
		seen(new(asserts.Observation))
	}
	if found := c.Found(); len(found) != 1 || found[0].Violation.Error() != first || !strings.Contains(first, "1 of 8 bytes changed") {
		t.Errorf("reported %v, and at first %s", found, first)
	}
	if b := c.Found()[0].Violation.Before.Content.Bytes; !bytes.Equal(b[:1], []byte{1}) {
		t.Errorf("a reported snapshot has become %v", b)
	}
	if !bytes.Equal(o.Content.Bytes[:4], []byte{1, 0, 0, 0}) {
		t.Errorf("an observation outside of calls has become %v", o.Content.Bytes)
	}
}

func TestSlicesAllocateNothing(t *testing.T) {
	defer asserts.SetLevel(asserts.Content)()
	op := opOf("f(Tensor self) -> ()")
	for _, n := range []int{4, 40, asserts.SnapshotLimit/4 + 1} {
		x := &sliced{make([]int32, n)}
		call := func() { passing(op, x, func() {}) }
		for range 30 {
			call()
		}
		if allocs := testing.AllocsPerRun(100, call); allocs >= 1 {
			t.Errorf("%d elements: %v allocations", n, allocs)
		}
	}
}

// A tensor that another goroutine's call holds is not observed.
func TestReadSliceContended(t *testing.T) {
	c := collect(t)
	defer asserts.SetLevel(asserts.Content)()
	x, op := &sliced{make([]int32, 4)}, opOf("f(Tensor self) -> ()")
	passing(op, x, func() {
		done := make(chan bool)
		go func() {
			passing(opOf("g(Tensor self) -> ()"), x, func() { x.data[0]++ })
			done <- true
		}()
		<-done
	})
	if found := c.Found(); len(found) > 0 {
		t.Errorf("reported %v", found)
	}
}

// copying observes a copy of its elements, and may set no address, or be empty.
type copying struct {
	bytes          []byte
	unknown, empty bool
	copies         [][]byte // kept alive, so that addresses differ
	content        bool     // it has been observed at the content level
}

func (c *copying) Observe(o *asserts.Observation, level asserts.Level) {
	o.Impl, o.Storage = asserts.PointerID(c), asserts.PointerID(c)
	if level < asserts.Content {
		return
	}
	o.Look(func() {
		if c.empty {
			return
		}
		c.copies = append(c.copies, bytes.Clone(c.bytes))
		o.Content = asserts.SliceContent(c.copies[len(c.copies)-1], []int64{4}, []int64{1}, 0)
		if c.unknown {
			o.Content.Memory = 0
		}
	})
	c.content = o.Content != nil
}

// In the first call of an op an Observe that copies but sets Memory panics, before kernels are
// blamed.
func TestObserveCopies(t *testing.T) {
	c := collect(t)
	defer asserts.SetLevel(asserts.Content)()
	for _, x := range []*copying{{}, {unknown: true}, {empty: true}} {
		said := func() (said any) {
			defer func() { said = recover() }()
			x.bytes = make([]byte, 4)
			call := asserts.Call{Record: make([]asserts.Observation, 2)}
			args := func() { call.Observe(x) }
			call.Begin(opOf("f(Tensor self) -> ()"))
			call.Before(args)
			call.After(args, nil)
			return nil
		}()
		text, _ := said.(string)
		if right := x.unknown || x.empty; strings.Contains(text, "changes each time") == right || right && said != nil {
			t.Errorf("address unknown %v, empty %v: panics with %v", x.unknown, x.empty, said)
		}
		if x.empty && x.content {
			t.Error("no Content is set, and one observed")
		}
	}
	if found := c.Found(); len(found) > 0 {
		t.Errorf("reported %v", found)
	}
}
