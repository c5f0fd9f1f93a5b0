package asserts_test

import (
	"os"
	"os/signal"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/opassert/opassert/asserts"
)

// wrapCall is a wrapper as the generator writes it, for an op with one argument and one return.
func wrapCall(op *asserts.Op, kernel func(*tensor) *tensor, self *tensor) *tensor {
	call := asserts.Call{Record: make([]asserts.Observation, 3)}
	args := func() { self.Observe(call.Next(self)) }
	call.Begin(op)
	call.Before(args)
	result := kernel(self)
	call.After(args, func() {
		result.Observe(call.Next(result))
		if later != nil {
			later()
		}
	})
	return result
}

// later is what a kernel does after its call.
var later func()

func fresh(*tensor) *tensor { return newTensor(4) }

func bump(x *tensor) { x.impl.storage.bytes[0]++ }

// finalizeSomething returns when the runtime has counted one more finalizer.
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

// Wrappers detect what kernels do after a call, and do not blame them for what the caller does.
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
		want   string // prefix of the report
	}{
		{"healthy", fresh, func(call func(*tensor) *tensor) { call(newTensor(4)); call(newTensor(4)) }, ""},
		{"argument written late", late(func(self, _ *tensor) *tensor { return self }), func(call func(*tensor) *tensor) { call(newTensor(4)) },
			"OA016 argument self: argument self changed after the call: 1 of 4 bytes changed"},
		{"result written late", late(func(_, result *tensor) *tensor { return result }), func(call func(*tensor) *tensor) { call(newTensor(4)) },
			"OA005 result: result changed after the call, so a reference is held elsewhere: 1 of 4 bytes changed"},
		{"argument kept", keeping, func(call func(*tensor) *tensor) { twice(func() *tensor { return call(newTensor(4)) }) },
			"OA016 argument self: the argument self of the previous call, which the op kept, changed during this one: 1 of 4 bytes changed"},
		{"argument kept by a later call", func(x *tensor) *tensor {
			if calls++; calls < 6 {
				return newTensor(4)
			}
			return keeping(x)
		}, func(call func(*tensor) *tensor) {
			for range 7 {
				call(newTensor(4))
			}
		}, "OA016 argument self: the argument self of the previous call, which the op kept, changed during this one: 1 of 4 bytes changed"},
		{"result kept", returning, func(call func(*tensor) *tensor) { twice(func() *tensor { return call(newTensor(4)) }) },
			"OA005 result (returned-before): what the previous call returned has changed: 1 of 4 bytes changed"},
		{"result returned twice", once, func(call func(*tensor) *tensor) { twice(func() *tensor { return call(newTensor(4)) }) },
			"OA005 result (returned-before): result is the tensor that the previous call returned"},
		{"reference kept", func(x *tensor) *tensor { x.impl.uses++; return newTensor(4) }, func(call func(*tensor) *tensor) { call(newTensor(4)) },
			"OA016 argument self: argument self has a reference that it did not have before the call: number of references 1 -> 2"},
		{"released too often", func(x *tensor) *tensor { x.impl.storage.uses--; return newTensor(4) }, func(call func(*tensor) *tensor) {
			x := newTensor(4)
			x.view()
			call(x)
		}, "OA016 argument self (overreleased): the memory of argument self was released once too often: number of references 2 -> 1"},
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
		{"the storage of what was returned is released", returning, func(call func(*tensor) *tensor) {
			call(newTensor(4)).impl.storage.uses = 0
			call(newTensor(4))
		}, ""},
		{"signals are waited for", keeping, func(call func(*tensor) *tensor) {
			c := make(chan os.Signal, 1)
			signal.Notify(c, os.Interrupt)
			defer signal.Stop(c)
			twice(func() *tensor { return call(newTensor(4)) })
		}, "OA016 argument self: the argument self of the previous call, which the op kept, changed during this one: 1 of 4 bytes changed"},
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
			defer asserts.SetLevel(asserts.Content)()
			var got []string
			// While the runtime runs finalizers of its own, no call is alone, and less is detected.
			for attempts := 5; attempts > 0 && len(got) == 0; attempts-- {
				cache, later, calls = nil, nil, 0
				c := collect(t)
				op := wholeOp("f(Tensor? self) -> Tensor")
				tt.use(func(x *tensor) *tensor { return wrapCall(op, tt.kernel, x) })
				for _, f := range c.Found() {
					got = append(got, said(f.Violation))
				}
			}
			if len(got) > 1 || strings.Join(got, "") == "" != (tt.want == "") || len(got) == 1 && !strings.HasPrefix(got[0], tt.want) {
				t.Errorf("reported %q, want %q", got, tt.want)
			}
		})
	}
}

// A call may write its arguments, even if they were arguments of the previous call.
func TestGivenAgain(t *testing.T) {
	later = nil
	for name, again := range map[string]func(*tensor) *tensor{
		"the tensor": func(x *tensor) *tensor { return x },
		"a view":     (*tensor).view,
		"its memory, under another storage": func(x *tensor) *tensor {
			y := newTensor(4)
			y.impl.storage.bytes = x.impl.storage.bytes
			return y
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := collect(t)
			defer asserts.SetLevel(asserts.Content)()
			op, x := wholeOp("f_(Tensor(a!) self) -> Tensor(a!)"), newTensor(4)
			for _, self := range []*tensor{x, again(x)} {
				wrapCall(op, func(self *tensor) *tensor { bump(self); self.impl.version++; return self }, self)
			}
			if found := c.Found(); len(found) > 0 {
				t.Errorf("reported %v", found)
			}
		})
	}
}

// The next call does not observe a view that a call returned, only its argument.
func TestViewsAreNotLookedAtAgain(t *testing.T) {
	c := collect(t)
	defer asserts.SetLevel(asserts.Content)()
	op := wholeOp("f(Tensor(a) self) -> (Tensor(a), Tensor)")
	var last *tensor
	for range 2 {
		self := newTensor(4)
		view, result := self.view(), newTensor(4)
		call := asserts.Call{Record: make([]asserts.Observation, 4)}
		args := func() { call.Observe(self) }
		call.Begin(op)
		call.Before(args)
		if last != nil {
			bump(last)
		}
		last = self
		call.After(args, func() { call.Observe(view); call.Observe(result) })
	}
	var got []string
	for _, f := range c.Found() {
		got = append(got, said(f.Violation))
	}
	if len(got) != 1 || !strings.HasPrefix(got[0], "OA016 argument self: the argument self of the previous call") {
		t.Errorf("reported %q", got)
	}
}

// A failed call has no returns, even if its op does.
func TestKeptOfFailed(t *testing.T) {
	c := collect(t)
	defer asserts.SetLevel(asserts.Content)()
	op, self := wholeOp("f(Tensor self) -> Tensor[]"), newTensor(4)
	call := asserts.Call{Record: make([]asserts.Observation, 2)}
	args := func() { call.Observe(self) }
	call.Begin(op)
	call.Before(args)
	call.After(args, nil)
	if found := c.Found(); len(found) > 0 {
		t.Errorf("reported %v", found)
	}
}

// Alone reports false beside another goroutine, also one that calls Alone.
func TestAlone(t *testing.T) {
	for tries := 0; !asserts.Alone(); tries++ { // goroutines of other tests may be ending
		if tries == 1000 {
			t.Fatal("a test that runs by itself is not alone")
		}
		time.Sleep(time.Millisecond)
	}
	stop, stopped := make(chan bool), make(chan bool)
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				asserts.Alone()
			}
		}
	}()
	for range 500 {
		if asserts.Alone() {
			t.Error("alone beside another goroutine")
			break
		}
	}
	close(stop)
	<-stopped
}

// A goroutine that has ended has no function; those of package testing use no tensor.
func TestOfProgram(t *testing.T) {
	for function, want := range map[string]bool{"": false, "testing.(*T).Run": false, "os/signal.loop": false, "example.com/ops.serve": true} {
		if got := asserts.OfProgram(function); got != want {
			t.Errorf("%q: %v, want %v", function, got, want)
		}
	}
}

// A test whose goroutine has ended is listed for a moment, and uses no tensor.
func TestAloneAfterATest(t *testing.T) {
	not := 0
	for range 5000 {
		t.Run("", func(*testing.T) {
			if !asserts.Alone() {
				not++
			}
		})
	}
	if not > 0 {
		t.Errorf("%d of 5000 tests are not alone", not)
	}
}

// With SetAlone, other goroutines do not matter; the previous call must still be of the same
// goroutine.
func TestLookedAtAgainBesideGoroutines(t *testing.T) {
	defer asserts.SetAlone(true)()
	stop := make(chan bool)
	go func() { <-stop }()
	defer close(stop)
	for name, other := range map[string]bool{"this goroutine": false, "another": true} {
		t.Run(name, func(t *testing.T) {
			c := collect(t)
			defer asserts.SetLevel(asserts.Content)()
			later = nil
			op, first := wholeOp("f(Tensor self) -> Tensor"), newTensor(4)
			wrapCall(op, fresh, first)
			again := func() { wrapCall(op, func(*tensor) *tensor { bump(first); return newTensor(4) }, newTensor(4)) }
			if other {
				done := make(chan bool)
				go func() { defer close(done); again() }()
				<-done
			} else {
				again()
			}
			if found := c.Found(); (len(found) == 1) == other {
				t.Errorf("reported %v", found)
			}
		})
	}
}

// After the first calls, wrappers wait only for calls that start a goroutine.
func TestWaitsForGoroutines(t *testing.T) {
	for name, starts := range map[string]bool{"no goroutine": false, "a goroutine": true} {
		t.Run(name, func(t *testing.T) {
			c := collect(t)
			defer asserts.SetLevel(asserts.Content)()
			later = nil
			op := wholeOp("f(Tensor self) -> Tensor")
			for range 5 {
				wrapCall(op, fresh, newTensor(4))
			}
			write, written, stop := make(chan bool), make(chan bool), make(chan bool)
			defer close(stop)
			wrapCall(op, func(self *tensor) *tensor {
				later = func() { bump(self) }
				if starts {
					go func() { <-write; bump(self); close(written); <-stop }()
					later = func() { close(write); <-written }
				}
				return newTensor(4)
			}, newTensor(4))
			later = nil
			if found := c.Found(); (len(found) == 1) != starts {
				t.Errorf("reported %v", found)
			}
		})
	}
}

// All tensors of a list belong to its argument.
func TestListsAreLookedAtAgain(t *testing.T) {
	for i, want := range []string{"argument ts", "argument ts", "argument us"} {
		c := collect(t)
		restore := asserts.SetLevel(asserts.Content)
		op := wholeOp("f(Tensor[] ts, Tensor[] us) -> Tensor")
		var last []*tensor
		for range 2 {
			args, result := []*tensor{newTensor(4), newTensor(4), newTensor(4)}, newTensor(4)
			call := asserts.Call{Record: make([]asserts.Observation, 64)}
			lists := func() { observeList(&call, args[:2]); observeList(&call, args[2:]) }
			call.Begin(op)
			call.Before(lists)
			if last != nil {
				bump(last[i])
			}
			last = args
			call.After(lists, func() { call.Observe(result) })
		}
		if found := c.Found(); len(found) != 1 || !strings.Contains(said(found[0].Violation), ": the "+want) {
			t.Errorf("argument %d: reported %v", i, found)
		}
		restore()
	}
}

// Only the first calls of an op are observed again.
func TestLookedAtAgainAtFirst(t *testing.T) {
	c := collect(t)
	defer asserts.SetLevel(asserts.Content)()
	later = nil
	op, x := wholeOp("f(Tensor self) -> Tensor"), newTensor(4)
	for range 23 {
		wrapCall(op, fresh, x)
	}
	same := newTensor(4)
	wrapCall(op, func(*tensor) *tensor { return same }, x)
	wrapCall(op, func(*tensor) *tensor { return same }, x)
	defer asserts.CountNoFinalizers()()
	defer asserts.SetAlone(true)()
	x.view()
	wrapCall(op, func(*tensor) *tensor { x.impl.storage.uses--; return newTensor(4) }, x)
	if found := c.Found(); len(found) > 0 {
		t.Errorf("reported %v", found)
	}
}

// A fragile is a tensor that can be broken.
type fragile struct {
	*tensor
	broken bool
	late   bool // breaks when its inner tensor is observed
}

func (f *fragile) Observe(o *asserts.Observation, level asserts.Level) {
	if f.broken && !f.late {
		panic("index out of range")
	}
	f.tensor.Observe(o, level)
	if f.broken && level >= asserts.Content {
		panic("index out of range")
	}
}

// breaking is a wrapper of an op with lists and a tensor as arguments and returns.
func breaking(op *asserts.Op, kernel func(), list []*fragile, self *fragile, results []*fragile, result *fragile) {
	call := asserts.Call{Record: make([]asserts.Observation, 64)}
	observe := func(list []*fragile, last *fragile) {
		call.List(len(list))
		for _, t := range list {
			call.Observe(t)
		}
		call.Observe(last)
	}
	args := func() { observe(list, self) }
	call.Begin(op)
	call.Before(args)
	kernel()
	call.After(args, func() { observe(results, result) })
}

// If Observe panics for a tensor after a call, that is a violation of the op.
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
				if !strings.HasSuffix(f.Site.Func, ".TestBrokenByCall") {
					t.Errorf("the call is in %s", f.Site.Func)
				}
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

// A tensor that becomes unreadable between calls is not reported.
func TestBrokenBetweenCalls(t *testing.T) {
	for _, late := range []bool{false, true} {
		c := collect(t)
		restore := asserts.SetLevel(asserts.Content)
		op, first := wholeOp("f(Tensor self) -> Tensor"), &fragile{tensor: newTensor(4), late: late}
		for _, self := range []*fragile{first, {tensor: newTensor(4)}} {
			result := newTensor(4)
			call := asserts.Call{Record: make([]asserts.Observation, 3)}
			args := func() { call.Observe(self) }
			call.Begin(op)
			call.Before(args)
			first.broken = self != first
			bump(first.tensor)
			call.After(args, func() { call.Observe(result) })
		}
		for _, f := range c.Found() {
			if f.Violation.Code != asserts.UndeclaredWrite { // the first call's own violation
				t.Errorf("late %t: reported %v", late, said(f.Violation))
			}
		}
		restore()
	}
}

// If a return is broken, the lists after it are empty.
func TestBrokenBeforeList(t *testing.T) {
	c := collect(t)
	defer asserts.SetLevel(asserts.Identity)()
	self, result := newTensor(4), &fragile{tensor: newTensor(4), broken: true}
	call := asserts.Call{Record: make([]asserts.Observation, 3)}
	args := func() { call.Observe(self) }
	call.Begin(wholeOp("f(Tensor self) -> (Tensor, Tensor[])"))
	call.Before(args)
	call.After(args, func() { call.Observe(result) })
	if found := c.Found(); len(found) != 1 || !strings.HasPrefix(said(found[0].Violation), "OA017 result0: result0 cannot be observed") {
		t.Errorf("reported %v", found)
	}
}

// PanicSite is the function that panicked, not one of package runtime.
func TestPanicSite(t *testing.T) {
	var none []int
	for name, raise := range map[string]func(){
		"panic":         func() { panic("boom") },
		"runtime error": func() { none[len(name(t))]++ },
	} {
		func() {
			defer func() {
				recover()
				if at := asserts.PanicSite(); !strings.Contains(at, "/asserts_test.TestPanicSite.func") || !strings.Contains(at, " (call_reobserve_test.go:") {
					t.Errorf("%s began in %s", name, at)
				}
			}()
			raise()
		}()
	}
}

func name(t *testing.T) string { return t.Name() }
