package asserts_test

import (
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
)

// kept is a wrapper as the generator writes it, of an op with one argument and one
// return.
func kept(op *asserts.Op, kernel func(*tensor) *tensor, self *tensor) *tensor {
	var obs [3]asserts.Observation
	call := asserts.NewCall(obs[:])
	call.Begin(op)
	call.Arg(self)
	result := kernel(self)
	call.Returned()
	func() {
		defer call.Recover()
		call.Arg(self)
		call.Result(result)
	}()
	if call.Keeps() {
		call.Keep(self)
		call.Keep(result)
	}
	if later != nil {
		later()
	}
	call.Judge()
	return result
}

// later is what a kernel does once its call is over.
var later func()

func fresh(*tensor) *tensor { return newTensor(4) }

func bump(x *tensor) { x.impl.storage.bytes[0]++ }

// finalizeSomething returns when the runtime has counted a finalizer more.
func finalizeSomething() {
	count := func() uint64 {
		sample := []metrics.Sample{{Name: "/gc/finalizers/executed:finalizers"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	before := count()
	runtime.SetFinalizer(new([64]byte), func(*[64]byte) {})
	for count() == before {
		runtime.GC()
	}
}

// What kernels do when a call is over is found in wrappers, and nothing that the
// caller does is taken for it.
func TestLookedAtAgain(t *testing.T) {
	var cache *tensor
	calls := 0
	once := func(x *tensor) *tensor {
		if cache == nil {
			cache = newTensor(4)
		}
		return cache
	}
	keeping := func(x *tensor) *tensor {
		if cache != nil {
			bump(cache)
		}
		cache = x
		return newTensor(4)
	}
	returning := func(*tensor) *tensor {
		if cache != nil {
			bump(cache)
		}
		cache = newTensor(4)
		return cache
	}
	late := func(what func(self, result *tensor) *tensor) func(*tensor) *tensor {
		return func(self *tensor) *tensor {
			result := newTensor(4)
			later = func() { bump(what(self, result)) }
			return result
		}
	}
	twice := func(call func() *tensor) { call(); call() }
	for _, tt := range []struct {
		name   string
		kernel func(*tensor) *tensor
		use    func(call func(*tensor) *tensor)
		want   string // how the report begins
	}{
		{"healthy", fresh, func(call func(*tensor) *tensor) { call(newTensor(4)); call(newTensor(4)) }, ""},
		{"argument written late", late(func(self, _ *tensor) *tensor { return self }), func(call func(*tensor) *tensor) { call(newTensor(4)) },
			"OA016 argument self: of argument self 1 of 4 bytes changed after the call was over"},
		{"result written late", late(func(_, result *tensor) *tensor { return result }), func(call func(*tensor) *tensor) { call(newTensor(4)) },
			"OA005 result: of result 1 of 4 bytes changed after the call was over"},
		{"argument kept", keeping, func(call func(*tensor) *tensor) { twice(func() *tensor { return call(newTensor(4)) }) },
			"OA016 argument self: of the argument self of the call before 1 of 4 bytes changed in this one: it was kept"},
		{"argument kept by a later call", func(x *tensor) *tensor {
			if calls++; calls < 6 {
				return newTensor(4)
			}
			return keeping(x)
		}, func(call func(*tensor) *tensor) {
			for range 7 {
				call(newTensor(4))
			}
		}, "OA016 argument self: of the argument self of the call before 1 of 4 bytes changed in this one: it was kept"},
		{"result kept", returning, func(call func(*tensor) *tensor) { twice(func() *tensor { return call(newTensor(4)) }) },
			"OA005 result: of what the call before returned 1 of 4 bytes changed"},
		{"result returned twice", once, func(call func(*tensor) *tensor) { twice(func() *tensor { return call(newTensor(4)) }) },
			"OA005 result: result is the TensorImpl that the call before returned"},
		{"reference kept", func(x *tensor) *tensor { x.impl.uses++; return newTensor(4) }, func(call func(*tensor) *tensor) { call(newTensor(4)) },
			"OA016 argument self: somebody holds the TensorImpl of argument self, who did not before the call: use_count 1 -> 2"},
		{"released too often", func(x *tensor) *tensor { x.impl.storage.uses--; return newTensor(4) }, func(call func(*tensor) *tensor) {
			x := newTensor(4)
			x.view()
			call(x)
		}, "OA016 argument self: the StorageImpl of argument self was released once too often: use_count 2 -> 1"},
		{"released too often, or by a finalizer", func(x *tensor) *tensor {
			x.impl.storage.uses--
			finalizeSomething()
			return newTensor(4)
		}, func(call func(*tensor) *tensor) {
			x := newTensor(4)
			x.view()
			call(x)
		}, ""},

		{"the caller writes what it passed", fresh, func(call func(*tensor) *tensor) {
			x := newTensor(4)
			call(x)
			bump(x)
			call(newTensor(4))
		}, ""},
		{"the caller writes what was returned", fresh, func(call func(*tensor) *tensor) {
			bump(call(newTensor(4)))
			call(newTensor(4))
		}, ""},
		{"what was returned is passed on", fresh, func(call func(*tensor) *tensor) { call(call(call(newTensor(4)))) }, ""},
		{"a view of what was passed is passed", fresh, func(call func(*tensor) *tensor) {
			x := newTensor(4)
			call(x)
			call(x.view())
		}, ""},
		{"what was released is returned", once, func(call func(*tensor) *tensor) {
			call(newTensor(4)).impl.uses = 0
			cache.impl.uses = 1
			cache = nil
			call(newTensor(4))
		}, ""},
		{"nobody holds what was returned", returning, func(call func(*tensor) *tensor) {
			call(newTensor(4)).impl.uses = 0
			call(newTensor(4))
		}, ""},
		{"another goroutine runs", keeping, func(call func(*tensor) *tensor) {
			stop := make(chan bool)
			go func() { <-stop }()
			defer close(stop)
			call(newTensor(4))
			call(newTensor(4))
		}, ""},
		{"another goroutine calls", keeping, func(call func(*tensor) *tensor) {
			call(newTensor(4))
			done := make(chan bool)
			go func() { call(newTensor(4)); done <- true }()
			<-done
		}, ""},
		{"no tensor", fresh, func(call func(*tensor) *tensor) { call(nil); call(nil) }, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cache, later, calls = nil, nil, 0
			c := collect(t)
			defer asserts.SetLevel(asserts.Content)()
			op := wholeOp("f(Tensor? self) -> Tensor")
			tt.use(func(x *tensor) *tensor { return kept(op, tt.kernel, x) })
			var got []string
			for _, f := range c.Found() {
				got = append(got, said(f.Violation))
			}
			if len(got) > 1 || strings.Join(got, "") == "" != (tt.want == "") || len(got) == 1 && !strings.HasPrefix(got[0], tt.want) {
				t.Errorf("reported %q, want %q", got, tt.want)
			}
		})
	}
}

// Only so many calls of an op are looked at again.
func TestLookedAtAgainAtFirst(t *testing.T) {
	c := collect(t)
	defer asserts.SetLevel(asserts.Content)()
	later = nil
	op, x := wholeOp("f(Tensor self) -> Tensor"), newTensor(4)
	for range 30 {
		kept(op, fresh, x)
	}
	same := newTensor(4)
	kept(op, func(*tensor) *tensor { return same }, x)
	kept(op, func(*tensor) *tensor { return same }, x)
	if found := c.Found(); len(found) > 0 {
		t.Errorf("reported %v", found)
	}
}

// A fragile is a tensor that can be broken.
type fragile struct {
	*tensor
	broken bool
}

func (f *fragile) Observe(o *asserts.Observation, level asserts.Level) {
	if f.broken {
		panic("index out of range")
	}
	f.tensor.Observe(o, level)
}

// breaking is a wrapper of an op that takes and returns lists and a tensor.
func breaking(op *asserts.Op, kernel func(), list []*fragile, self *fragile, results []*fragile, result *fragile) {
	var obs [64]asserts.Observation
	call := asserts.NewCall(obs[:])
	call.Begin(op)
	call.List(len(list))
	for _, t := range list {
		call.Arg(t)
	}
	call.Arg(self)
	kernel()
	call.Returned()
	func() {
		defer call.Recover()
		call.List(len(list))
		for _, t := range list {
			call.Arg(t)
		}
		call.Arg(self)
		call.List(len(results))
		for _, t := range results {
			call.Result(t)
		}
		call.Result(result)
	}()
	call.Judge()
}

// A tensor that a call breaks so that Observe panics is a violation of the op.
func TestBrokenByCall(t *testing.T) {
	for _, level := range []asserts.Level{asserts.Identity, asserts.Content} {
		for broken, want := range []string{
			"OA009 argument ts[0]: argument ts[0]", "OA009 argument ts[1]: argument ts[1]", "OA009 argument self: argument self",
			"OA017 result0[0]: result0[0]", "OA017 result0[1]: result0[1]", "OA017 result1: result1",
		} {
			c := collect(t)
			restore := asserts.SetLevel(level)
			var all []*fragile
			for range 6 {
				all = append(all, &fragile{tensor: newTensor(4)})
			}
			op := wholeOp("f(Tensor[] ts, Tensor self) -> (Tensor[], Tensor)")
			breaking(op, func() { all[broken].broken = true }, all[:2], all[2], all[3:5], all[5])
			var got []string
			for _, f := range c.Found() {
				got = append(got, said(f.Violation))
			}
			if want += " cannot be observed after the call: index out of range, in "; len(got) != 1 || !strings.HasPrefix(got[0], want) {
				t.Errorf("level %v: reported %q, want %q", level, got, want)
			}
			restore()
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a tensor that is broken before the call goes unnoticed")
		}
	}()
	breaking(wholeOp("f(Tensor[] ts, Tensor self) -> (Tensor[], Tensor)"), func() {}, nil, &fragile{broken: true}, nil, nil)
}
