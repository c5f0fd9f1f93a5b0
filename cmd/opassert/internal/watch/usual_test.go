package watch

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/allowlist"
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/libtorch"
	"github.com/opassert/opassert/gen/plan"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/internal/testbed/engine"
	"github.com/opassert/opassert/internal/testbed/faults"
	"github.com/opassert/opassert/internal/testbed/gentest/faulty"
	"github.com/opassert/opassert/internal/usual"
	"github.com/opassert/opassert/schema"
)

// usualSchemas has every kind of subject and of promise.
var usualSchemas = []string{
	"f(Tensor self) -> Tensor",
	"f(Tensor self, Tensor other) -> Tensor",
	"f(Tensor(a) self) -> Tensor(a)",
	"f(Tensor(a) self, Tensor other) -> Tensor(a)",
	"f(Tensor(a) self) -> Tensor(a)[]",
	"f(Tensor(a)[] ts) -> Tensor(a)",
	"f(Tensor self, Tensor[] ts, Tensor? w) -> Tensor[]",
	"f(Tensor?[] ts) -> (Tensor, Tensor)",
	"f(Tensor(a) x, Tensor(b) y) -> (Tensor(a), Tensor(b), Tensor)",
	"f_(Tensor(a!) self, Tensor other) -> Tensor(a!)",
	"f.out(Tensor self, *, Tensor(a!) x, Tensor(b!) y) -> (Tensor(a!), Tensor(b!))",
	"f_(Tensor(a!)[] self, Tensor[] us) -> ()",
	"f(Tensor x, Tensor(a!) mean) -> (Tensor, Tensor)",
	"f() -> Tensor",
	"f(Tensor(a -> *) self) -> Tensor(a)[]",
}

// An observedCall is one with what the judge says of it.
type observedCall struct {
	op      *asserts.Op
	seen    *asserts.Seen
	broken  asserts.Codes
	skipped []asserts.Skip // for other reasons than the traits of a tensor, which are counted
}

func observed(op *asserts.Op, seen *asserts.Seen) observedCall {
	c := observedCall{op: op, seen: seen}
	verdict := asserts.Judge(op, seen, asserts.Aware())
	for _, v := range verdict.Violations {
		c.broken |= asserts.CodesOf(v.Code)
	}
	var traits asserts.Traits
	for _, o := range slices.Concat(seen.Before, seen.After, seen.Results) {
		traits |= o.Traits
	}
	for _, s := range verdict.Skips {
		if !counted(s, traits) {
			c.skipped = append(c.skipped, s)
		}
	}
	return c
}

// counted reports whether a skip is one of those that the watcher counts for calls
// that look usual, by the traits of their tensors.
func counted(s asserts.Skip, traits asserts.Traits) bool {
	ofTrait := func(r asserts.Row) bool {
		return r.Skip.Has(s.Code) && (r.Trait&traits != 0 || r.Reason == s.Reason)
	}
	return strings.HasPrefix(s.Reason, "uses not counted") || slices.ContainsFunc(asserts.Aware().Rows, ofTrait)
}

// looksUsual asks usual.cpp of each call.
func looksUsual(t *testing.T, calls []observedCall) []bool {
	t.Helper()
	cxx, err := exec.LookPath("c++")
	if err != nil {
		t.Skip("no C++ compiler")
	}
	bin := filepath.Join(t.TempDir(), "usual")
	if out, err := exec.Command(cxx, "-std=c++17", "-O1", "-w", "-I../../../../asserts/libtorch/shim", "-o", bin, "testdata/usual.cpp").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var in bytes.Buffer
	for _, c := range calls {
		for _, w := range [][]int64{expect(c.op, 0), record(c.seen)} {
			in.Write(words(int64(len(w))))
			in.Write(words(w...))
		}
	}
	cmd := exec.Command(bin)
	cmd.Stdin = &in
	answers, err := cmd.Output()
	if err != nil || len(answers) != len(calls) {
		t.Fatalf("%d answers: %v", len(answers), err)
	}
	usual := make([]bool, len(calls))
	for i, c := range calls {
		usual[i] = answers[i] == '1'
		if usual[i] && (c.broken != 0 || c.skipped != nil) {
			t.Errorf("call %d, of %s, breaks %v, skips %v and looks usual: %v", i, c.op.Schema, c.broken, c.skipped, asserts.Judge(c.op, c.seen, asserts.Aware()).Violations)
		}
	}
	return usual
}

func newPlanner(t *testing.T) *plan.Planner {
	t.Helper()
	planner := must.Get(plan.NewPlanner("full", nil, allowlist.Where{}))(t)
	return planner
}

// randomCalls makes up calls of ops with every kind of subject and of promise, in
// which one thing of so many is odd; 0 for none.
func randomCalls(t *testing.T, n, odds int) []observedCall {
	t.Helper()
	planner := newPlanner(t)
	rng := rand.New(rand.NewPCG(1, 2))
	calls := make([]observedCall, n)
	for i := range calls {
		parsed := must.Get(schema.ParseOp(usualSchemas[rng.IntN(len(usualSchemas))]))(t)
		op := planner.Plan(parsed).Asserts(asserts.Content)
		op.Checks = slices.DeleteFunc(op.Plan(), func(c asserts.Check) bool {
			return c.Code == asserts.KeptArgument && hasView(&op, c.On) // as the watcher does
		})
		calls[i] = observed(&op, anyCall(rng, &op, odds))
	}
	return calls
}

// A check that is judged on each call says in its row what is usual, and a call
// that breaks it alone is asked of, whatever the schema; so is one that the judge
// skips.
func TestUsualAsksOfAllThatTheJudgeComplainsOf(t *testing.T) {
	calls := randomCalls(t, 60000, 12)
	alone := make(map[asserts.Codes]int)
	skips := 0
	for _, c := range calls {
		alone[c.broken]++
		skips += len(c.skipped)
	}
	for code := range asserts.AllCodes.All() {
		if code.OnCall() && !code.InRuns() && code.Usual() == 0 {
			t.Errorf("%v %s does not say what is usual: give its row, in asserts/check_%s.go, the facts of internal/usual that leave it nothing to report, or usual.Asked, then go generate ./cmd/opassert/internal/watch",
				code, code.Name(), strings.ReplaceAll(code.Name(), "-", "_"))
		}
		if n := alone[asserts.CodesOf(code)]; code.Usual() != 0 && !code.Usual().Has(usual.Asked) && n < 5 {
			t.Errorf("%d calls break %v %s alone: give anyCall, in cmd/opassert/internal/watch/usual_test.go, an oddity that breaks it", n, code, code.Name())
		}
	}
	if skips < 100 {
		t.Errorf("%d skips", skips)
	}
	looksUsual(t, calls)
}

// A call with nothing odd is never asked of, unless for a check whose row says so.
func TestUsualAsksOfNothingElse(t *testing.T) {
	calls := randomCalls(t, 3000, 0)
	for _, c := range calls {
		c.op.Checks = slices.DeleteFunc(c.op.Checks, func(c asserts.Check) bool { return c.Code.Usual().Has(usual.Asked) })
	}
	for i, usual := range looksUsual(t, calls) {
		if !usual || calls[i].broken != 0 {
			t.Fatalf("call %d, of %s, breaks %v, and usual is %v: %+v", i, calls[i].op.Schema, calls[i].broken, usual, calls[i].seen)
		}
	}
}

// Every kernel of the fault matrix is asked of, and the judge says why.
func TestUsualAsksOfTheFaultMatrix(t *testing.T) {
	file := must.Get(schema.Load("../../../../internal/testbed/faults/faults.yaml", ""))(t)
	e := must.Get(engine.Open(faulty.Wrappers, file.Ops))(t)
	defer asserts.SetLevel(asserts.Off)()
	planner := newPlanner(t)
	var calls []observedCall
	call := func(name string, args []any, want asserts.Codes) {
		operator := must.Get(e.Operator(name))(t)
		out, err := e.Call(name, args, asserts.Content)
		if err != nil {
			t.Logf("%s raises, and such calls are not looked at: %v", name, err)
			return
		}
		op := planner.Plan(operator.Schema).Asserts(asserts.Content)
		c := observed(&op, &out.Seen)
		if calls = append(calls, c); c.broken&want != want {
			t.Errorf("%s breaks %v, not %v", name, c.broken, want)
		}
	}
	for _, f := range faults.All() {
		if f.Code.OnCall() && !f.Code.InRuns() {
			call(f.Op, f.Args(), asserts.CodesOf(f.Code))
		}
	}
	if len(calls) < 100 {
		t.Errorf("%d faults", len(calls))
	}
	for _, s := range faults.AllSilent() {
		call(s.Op, s.Args(), 0)
	}
	looksUsual(t, calls)
}

// anyCall makes up a call: usual for the most part, with one thing of so many odd.
func anyCall(rng *rand.Rand, op *asserts.Op, odds int) *asserts.Seen {
	seen := &asserts.Seen{Level: asserts.Level(1 + rng.IntN(2)), Alone: true}
	odd := func() bool { return odds > 0 && rng.IntN(odds) == 0 }
	rare := func() bool { return odds > 0 && rng.IntN(odds*odds) == 0 }
	next := asserts.ID(0)
	fresh := func() asserts.Observation {
		next += 2
		o := asserts.Observation{Impl: next, Storage: next + 1, ImplUses: 1, StorageUses: 1}
		if seen.Level == asserts.Content {
			o.Content = &asserts.Snapshot{DType: "float32", Device: "cpu", Sizes: []int64{2}, Strides: []int64{1}, Nbytes: 8, Digest: 7, Bytes: []byte("abcdefgh"), Memory: uintptr(1000 * next), Counter: 1000 * next}
			if odd() { // the rest of the storage is not its own
				o.Content.Sizes = []int64{1}
			}
		}
		return o
	}
	lens := func(s asserts.Subject) int {
		if s.List {
			return rng.IntN(4)
		}
		return 1
	}
	starts := make([]int, len(op.Args))
	for i, s := range op.Args {
		n := lens(s)
		starts[i] = len(seen.Before)
		seen.ArgLens = append(seen.ArgLens, n)
		for range n {
			b := fresh()
			switch {
			case odd():
				b = asserts.Observation{}
			case odd() && len(seen.Before) > 0:
				b = seen.Before[rng.IntN(len(seen.Before))]
			case odd():
				b.Storage = 0
			}
			a := b
			if c := b.Content; c != nil && (s.Write || odd()) && rng.IntN(2) == 0 {
				changed := *c
				changed.Digest, changed.Bytes = 8, []byte("abcdefgX")
				if odd() {
					changed.Sizes = []int64{1}
				}
				if odd() {
					changed.Nbytes = 4
				}
				a.Content = &changed
				if s.Write && !odd() {
					a.Version++
				}
			}
			if odd() {
				a.Storage = fresh().Storage
			}
			if rare() {
				a.Impl = fresh().Impl
			}
			if rare() {
				a.ImplUses++
			}
			seen.Before, seen.After = append(seen.Before, b), append(seen.After, a)
		}
	}
	for r, s := range op.Results {
		n := lens(s)
		seen.ResultLens = append(seen.ResultLens, n)
		for e := range n {
			o := fresh()
			for _, c := range op.Plan() {
				i, isArg := c.Against.Arg()
				if c.On != asserts.ResultRef(r) || !isArg || seen.ArgLens[i] == 0 {
					continue
				}
				from := seen.Before[starts[i]+min(e, seen.ArgLens[i]-1)]
				switch {
				case c.Code == asserts.ReturnedSelf && !odd():
					o = from
				case c.Code == asserts.ViewStorage && !odd():
					o.Storage, o.StorageUses = from.Storage, 2
				case c.Code == asserts.UndeclaredAlias && odd():
					o = from
				case c.Code == asserts.UndeclaredAlias && odd():
					o.Storage = from.Storage
				}
			}
			switch {
			case odd() && len(seen.Results) > 0:
				o = seen.Results[rng.IntN(len(seen.Results))]
			case odd() && len(seen.Results) > 0:
				o.Storage = seen.Results[0].Storage
			case odd():
				o = asserts.Observation{}
			case odd() && o.Content != nil && len(seen.After) > 0 && seen.After[0].Content != nil:
				under := *o.Content
				under.Memory = seen.After[0].Content.Memory + 4
				o.Content = &under
			case odd() && o.Content != nil:
				odd := *o.Content
				if rng.IntN(2) == 0 {
					odd.Counter = 1000 * asserts.ID(1+rng.IntN(int(next)))
				} else {
					odd.Offset, odd.Owner = 1, asserts.Owner(rng.IntN(3))
				}
				o.Content = &odd
			case odd():
				o.ImplUses = int32(rng.IntN(4) - 1)
			case odd():
				o.StorageUses = int32(rng.IntN(4) - 1)
			case odd():
				o.Traits = 1 << rng.IntN(6)
			}
			if o.Impl == 0 {
				o = asserts.Observation{}
			}
			seen.Results = append(seen.Results, o)
		}
	}
	return seen
}

// record writes down what the units observe and observedcall write of a call.
func record(seen *asserts.Seen) []int64 {
	var w []int64
	tensor := func(o asserts.Observation) {
		state := int64(o.Version) | int64(o.Traits)<<32
		if o.Content != nil {
			state |= 2<<48 | int64(len(o.Content.Parts))<<56
		}
		w = append(w, int64(o.Impl), int64(o.Storage), int64(uint32(o.ImplUses))|int64(o.StorageUses)<<32, state)
		if c := o.Content; c != nil {
			dtype, _ := libtorch.ParseDType(c.DType)
			w = append(w, int64(dtype), int64(len(c.Device)), -1, c.Offset, c.Nbytes, int64(c.Digest), int64(len(c.Sizes)))
			w = append(append(w, c.Sizes...), 1)
			w = append(append(w, c.Strides...), int64(len(c.Bytes)))
			padded := append(slices.Clip(c.Bytes), make([]byte, 7)...)
			for i := 0; i < len(c.Bytes); i += 8 {
				w = append(w, int64(binary.NativeEndian.Uint64(padded[i:])))
			}
			owner := []int64{asserts.OwnStorage: 0, asserts.ForeignOwner: 32, asserts.NoOwner: 16}[c.Owner]
			flags := owner | truth(c.Conj) | truth(c.Neg)<<1 | truth(c.RequiresGrad)<<2
			w = append(w, flags, 0, 0, 0, int64(c.Grad), int64(c.Memory), int64(c.Counter)) // no names, layout or quantizer
			w = append(w, make([]int64, 4*len(c.Parts))...)
		}
	}
	for _, n := range seen.ArgLens {
		w = append(w, int64(n))
	}
	for _, side := range [][]asserts.Observation{seen.Before, seen.After} {
		for _, o := range side {
			tensor(o)
		}
	}
	w = append(w, 0) // nothing was added to lists
	results := seen.Results
	for _, n := range seen.ResultLens {
		w = append(w, int64(n))
		for _, o := range results[:n] {
			tensor(o)
		}
		results = results[n:]
	}
	return w
}
