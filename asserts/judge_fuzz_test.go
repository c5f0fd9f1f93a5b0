package asserts_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/opassert/opassert/asserts"
)

// schemas cover every kind of subject and of promise.
var schemas = []string{
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
	"f(Tensor self, Tensor(a!) x, Tensor(b!) y) -> (Tensor(a!), Tensor(b!))",
	"f(Tensor(a!)[] ts, Tensor[] us) -> ()",
	"f(Tensor(a!)[] ts) -> Tensor(a!)[]",
	"f(Tensor(a!) mean, Tensor x) -> (Tensor, Tensor)",
	"f() -> Tensor",
	"f(Tensor(a!)[] ts, Tensor(b!) self, Tensor other) -> (Tensor(b!), Tensor[])",
	"f(Tensor[] ts, Tensor(a) self) -> (Tensor(a)[], Tensor)",
}

// A source makes choices, from the fuzzer's bytes or at random.
type source func(n int) int

func fromBytes(data []byte) source {
	return func(n int) int {
		if len(data) == 0 {
			return 0
		}
		c := int(data[0]) % n
		data = data[1:]
		return c
	}
}

// anyCall makes an op and a call of it. The fewer tensors there are to choose from, the more is
// shared. Most calls have the lengths that the schema requires.
func anyCall(choose source) (*asserts.Op, *asserts.Seen) {
	op := opOf(schemas[choose(len(schemas))])
	seen := &asserts.Seen{Level: asserts.Level(1 + choose(2)), Alone: choose(2) == 0}
	kinds := 1 + choose(12)
	tensor := func() asserts.Observation {
		if choose(8) == 0 {
			return undefined
		}
		n := asserts.ID(1 + choose(kinds))
		o := see(n, 100+(n+1)/2, version(uint32(choose(3))))
		if choose(6) == 0 {
			o.ImplUses, o.StorageUses = int32(choose(4)-1), int32(choose(4)-1)
		}
		switch choose(12) {
		case 0:
			o.Storage = 0
		case 1:
			o.Storage = asserts.ID(100 + choose(4))
		case 2:
			o.Traits = asserts.Traits(1 << choose(8))
		}
		if seen.Level >= asserts.Content && choose(16) != 0 {
			holding([]string{"", "ab", "abcd", "abXd"}[choose(4)])(&o)
			if choose(10) == 0 {
				o.Content.Nbytes = []int64{-1, 1, 1 << 40}[choose(3)]
			}
		}
		return o
	}
	lens := func(subjects []asserts.Subject) (lens []int, total int) {
		for _, s := range subjects {
			n := 1
			if s.List {
				n = choose(4)
			}
			lens, total = append(lens, n), total+n
		}
		return lens, total
	}
	var args, results int
	seen.ArgLens, args = lens(op.Args)
	seen.ResultLens, results = lens(op.Results)
	for range args {
		seen.Before = append(seen.Before, tensor())
	}
	seen.After = slices.Clone(seen.Before)
	for range choose(3) {
		if args > 0 {
			seen.After[choose(args)] = tensor()
		}
	}
	for range results {
		seen.Results = append(seen.Results, tensor())
	}
	switch choose(20) {
	case 0:
		seen.After = seen.After[:len(seen.After)/2]
	case 5:
		seen.Before = seen.Before[:len(seen.Before)/2]
	case 1:
		seen.Results = nil
	case 2:
		seen.ArgLens = nil
	case 3:
		seen.ResultLens = []int{-1, math.MaxInt}
	case 4:
		seen.Modes = []asserts.Mode{{Name: "m", Invalidates: asserts.CodesOf(asserts.Code(choose(13)))}}
	}
	return op, seen
}

// checkVerdict checks what holds for every verdict.
func checkVerdict(t *testing.T, op *asserts.Op, seen *asserts.Seen) {
	t.Helper()
	policy := asserts.Presets()[len(seen.Before)%2]
	verdict := asserts.Judge(op, seen, policy)
	if again := asserts.Judge(op, seen, policy); !reflect.DeepEqual(verdict, again) {
		t.Errorf("judged twice, differently: %v and %v", verdict, again)
	}
	reported := make(map[string]bool)
	for _, v := range verdict.Violations {
		key := v.Code.String() + v.Subject.String()
		if reported[key] {
			t.Errorf("%s is reported twice", key)
		}
		reported[key] = true
		planned := slices.ContainsFunc(op.Checks, func(c asserts.Check) bool { return c.Code == v.Code && op.Subject(c.On).Name == v.Subject.Name })
		if !planned || v.Saw == "" || v.Fix == "" || v.Error() == "" || v.Code.Level() > seen.Level {
			t.Errorf("not in the plan, or incomplete: %v", v)
		}
	}
	for r := range op.Results {
		for e := -1; e < 4; e++ {
			checkOneReport(t, reported, asserts.Place{Return: true, Name: op.Results[r].Name, Element: e}.String())
		}
	}
	if usual, skips := asserts.UsualSkips(op, seen, policy); usual && (len(verdict.Violations) > 0 || !slices.Equal(verdict.Skips, skips)) {
		t.Errorf("usual missed %v, and counts the skips %v as %v", verdict.Violations, verdict.Skips, skips)
	}
}

// checkOneReport fails if one fault is reported twice.
func checkOneReport(t *testing.T, reported map[string]bool, place string) {
	t.Helper()
	has := func(code asserts.Code) bool { return reported[code.String()+place] }
	aliased := has(asserts.UndeclaredAlias) || has(asserts.OutputAlias)
	switch {
	case aliased && (has(asserts.FreshImpl) || has(asserts.FreshStorage)),
		aliased && (has(asserts.ViewStorage) || has(asserts.ReturnedSelf)),
		has(asserts.UndeclaredAlias) && has(asserts.OutputAlias):
		t.Errorf("one fault of %s is reported twice: %v", place, reported)
	}
}

func FuzzJudge(f *testing.F) {
	f.Add([]byte("opassert"))
	f.Add([]byte{6, 1, 3, 9, 9, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	f.Fuzz(func(t *testing.T, data []byte) {
		op, seen := anyCall(fromBytes(data))
		checkVerdict(t, op, seen)
	})
}

// The fuzz test with random calls, many of which are healthy.
func TestJudgeAnyCall(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	usual := make(map[asserts.Level]int)
	for range 6_000 {
		op, seen := anyCall(random.IntN)
		checkVerdict(t, op, seen)
		if asserts.LooksUsual(op, seen, asserts.Aware()) {
			usual[seen.Level]++
		}
		if t.Failed() {
			t.Fatalf("%s\n%+v", op.Schema, seen)
		}
	}
	if usual[asserts.Identity] < 50 || usual[asserts.Content] < 50 {
		t.Errorf("only %v of the calls were usual", usual)
	}
}
