package work

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/probe"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/internal/slicesx"
)

// attempt makes a call once.
func (b *bench) attempt(c *sample.Case) *attempt {
	return &attempt{c: c, calls: []deviceCall{{seen: b.seenAgain(b.t, c, probe.First)[0]}}}
}

// addsOf returns a process with an op that adds a number to the first byte of a tensor, or, if it is stale, the
// number of the first call for a tensor.
func addsOf(t *testing.T, stale bool) *bench {
	kept := make(map[byte]byte)
	return benchOf(t, "ns::f(Tensor a, int b, float? c=None) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		out, key, number := e.like(first(args)), (*first(args).data)[0], byte(args[1].(int64))
		if _, had := kept[key]; stale && had {
			number = kept[key]
		}
		kept[key] = number
		(*out.data)[0] = key + number
		return []any{out}, nil
	}, func(o *engine.Operator, _ *engine.Checks) { o.Added = true }, "")
}

func named(pairs []*Calls) string {
	return slicesx.Join(pairs, "; ", func(p *Calls) string {
		return fmt.Sprintf("%d %v -> %v", p.Varied, p.Made[0].Case, p.Made[1].Case)
	})
}

// Calls that differ in one thing are pairs: a few of those with equal results, and fewer of others. Those
// that are left out are skips.
func TestPairs(t *testing.T) {
	const one, two, three = "ns::f(a=float32[1], b=1, c=None)", "ns::f(a=float32[1], b=2, c=None)", "ns::f(a=float32[1], b=3, c=None)"
	many := func(kind, from string, to ...string) string {
		return slicesx.Join(to, "; ", func(text string) string { return kind + " " + from + " -> " + text })
	}
	b := func(numbers string) (all []string) {
		for n := range strings.SplitSeq(numbers, " ") {
			all = append(all, "float32[1] "+n)
		}
		return all
	}
	dtype := "ns::f(a=%s[1], b=1, c=None)"
	for _, tt := range []struct {
		name  string
		stale bool
		calls []string // the first argument, and the second
		want  string
		left  string
	}{
		{"stale", true, b("1 2 3"), many("2", one, two, three), ""},
		{"at most six", true, b("1 2 3 4 5 6 7 8"), many("2", one, two, three, strings.Replace(one, "b=1", "b=4", 1), strings.Replace(one, "b=1", "b=5", 1), strings.Replace(one, "b=1", "b=6", 1), strings.Replace(one, "b=1", "b=7", 1)), "at most 6 with the same result are"},
		{"right", false, b("1 2 3 4"), many("0", one, two), "at most 1 with another result are; at most 1 with another result are"},
		{"two things", true, []string{"float32[1] 1", "float32[2] 2"}, "", ""},
		{"contents", false, []string{"float32[1] 1", "float32[1]:const:3 1"}, many("0", one, "ns::f(a=float32[1] const:3, b=1, c=None)"), ""},
		{"dtypes", true, []string{"float32[1] 1", "int8[1] 1", "int16[1] 1", "int32[1] 1", "uint8[1] 1"}, many("0", one, fmt.Sprintf(dtype, "int8"), fmt.Sprintf(dtype, "int16"), fmt.Sprintf(dtype, "int32")), "at most 3 with another dtype are"},
		{"largest", true, []string{"float32[4096] 1", "float32[4096] 2"}, many("2", strings.Replace(one, "[1]", "[4096]", 1), strings.Replace(two, "[1]", "[4096]", 1)), ""},
		{"too large", true, []string{"float32[1] 1", "float32[4097] 2"}, "", "the call has more than 4096 elements"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := addsOf(t, tt.stale)
			var all []*Calls
			var reasons []string
			for _, text := range tt.calls {
				a, n, _ := strings.Cut(text, " ")
				pairs, left := b.t.pairs.with(b.t, b.attempt(b.call(t, strings.Replace(a, ":", " ", 1), n, "none")))
				all = append(all, pairs...)
				for _, s := range left {
					reason, _ := strings.CutPrefix(s.Reason, "not repeated after a call with other values, in another process: ")
					if reasons = append(reasons, reason); s.Code != asserts.NondeterministicResult || s.Count != 1 {
						t.Errorf("skipped %+v", s)
					}
				}
			}
			if got := strings.Join(reasons, "; "); got != tt.left {
				t.Errorf("left %q, want %q", got, tt.left)
			}
			if got := named(all); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// A call that is in no pair is a skip of its case.
func TestUnpairedIsCounted(t *testing.T) {
	b := addsOf(t, false)
	b.Level, b.t.Apart = asserts.Content, func(*Calls) {}
	result := report.CaseResult{Devices: make(report.Devices)}
	b.runOnce(b.t, must.Get(b.Try(b.t, b.call(t, "float32[4097]", "1", "none")))(t), &result)
	want := unprobed(probe.EarlierValues, "the call has more than 4096 elements")
	if got := result.Devices[engine.CPU].Skips; !slices.Contains(got, want[0]) {
		t.Errorf("skipped %v, want %v", got, want)
	}
}

// An argument that is no tensor in the first call of a pair is the other one's in the mixed call.
func TestMixedOfNone(t *testing.T) {
	b := addsOf(t, true)
	pair := &Calls{Varied: 1, Made: []Call{{Case: b.call(t, "none", "1", "none")}, {Case: b.call(t, "float32[1]", "1", "none")}}}
	if got, want := mixed([]*Calls{pair}).Case.String(), "ns::f(a=float32[1], b=1, c=None)"; got != want {
		t.Errorf("mixed %s, want %s", got, want)
	}
}

// The second call of a pair differs between a process that makes the first one before, and one that makes
// it twice, if it is stale; the finding has both.
func TestPairApart(t *testing.T) {
	for _, stale := range []bool{true, false} {
		here := addsOf(t, stale)
		one, two := Call{Case: here.call(t, "float32[1]", "1", "none")}, Call{Case: here.call(t, "float32[1]", "2", "none")}
		like := &Calls{Made: []Call{two, two}}
		here.CallApart(here.t, like, new(report.CaseResult))
		other, shown := addsOf(t, stale), report.CaseResult{Case: 7}
		other.CallApart(other.t, &Calls{Made: []Call{one, two}, Last: like.Last}, &shown)
		if !stale {
			if len(shown.Found) > 0 {
				t.Errorf("a right op has %+v", shown.Found[0].Violation)
			}
			continue
		}
		f := shown.Found[0]
		if f.Earlier != one.Case.Recipe() || f.Recipe != two.Case.Recipe() || f.Violation.Repro != "-op ns::f" || f.Violation.Symptom != asserts.EarlierValues || !strings.Contains(f.Violation.Saw, one.Case.String()) {
			t.Errorf("found %+v %+v", f, f.Violation)
		}
	}
}

// Pairs with equal results are made first, then the others from the last to the first. A mixed call has
// another value of each argument of the former.
func TestOrderOfPairs(t *testing.T) {
	b := addsOf(t, true)
	pair := func(thing int, from, to []string) *Calls {
		return &Calls{Varied: thing, Made: []Call{{Case: b.call(t, from...)}, {Case: b.call(t, to...)}}}
	}
	start := []string{"float32[1]", "1", "none"}
	all := []*Calls{
		pair(0, start, []string{"int8[1]", "1", "none"}),
		pair(2, start, []string{"float32[1]", "2", "none"}),
		pair(2, []string{"float32[1]", "2", "none"}, start),
		pair(0, start, []string{"int16[1]", "1", "none"}),
		pair(3, start, []string{"float32[1]", "1", "0.5"}),
		pair(1, start, []string{"float32[1] const:3", "1", "none"}),
		pair(1, start, []string{"none", "1", "none"}),
	}
	turned := &Calls{Made: []Call{{Case: all[0].Made[0].Case}, {Case: all[0].Made[0].Case, Turn: 1}}}
	apart, ordered := Ordered(append([]*Calls{turned}, all...))
	if len(apart) != 1 || apart[0] != turned {
		t.Errorf("apart are %s", named(apart))
	}
	at := slicesx.Map(ordered, func(p *Calls) int { return slices.Index(all, p) })
	if want := []int{-1, 1, 2, 4, 5, 6, 3, 0}; !slices.Equal(at, want) {
		t.Errorf("in order %v", at)
	}
	if _, got := Ordered(all[:1]); len(got) != 1 || got[0] != all[0] {
		t.Errorf("one pair is %s", named(got))
	}
	if got, want := ordered[0].Made[1].Case.String(), "ns::f(a=float32[1] const:3, b=2, c=0.5)"; got != want {
		t.Errorf("mixed %s, want %s", got, want)
	}
	if got := all[1].Made[0].Case.String(); got != "ns::f(a=float32[1], b=1, c=None)" {
		t.Errorf("it changes a call of a pair: %s", got)
	}
}
