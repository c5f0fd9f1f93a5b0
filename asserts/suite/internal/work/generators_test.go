package work

import (
	"fmt"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/dev/must"
)

// generatorBench has a random op of a library. The first byte of its result is drawn from the seed of
// the default generators and that of the Generator argument, which is 0 for None.
func generatorBench(t *testing.T, schema string, drawn func(seed, own int64) (byte, error)) *bench {
	return benchOf(t, schema, func(e *fakeEngine, args []any) ([]any, error) {
		own, _ := args[1].(int64)
		value, err := drawn(e.generator, own)
		if err != nil {
			return nil, err
		}
		r := e.like(first(args))
		if len(*r.data) > 0 { // not on meta
			(*r.data)[0] = value
		}
		return []any{r}, nil
	}, func(o *engine.Operator, _ *engine.Checks) { o.Added = true }, "")
}

const random = "ns::f(Tensor a, Generator? g, int n=0) -> Tensor"

// Results that do not follow the generator of a call are found, for each setting of the other
// arguments once, and not those of a call that draws nothing, or is random in few of its values.
func TestGenerated(t *testing.T) {
	calls := byte(0)
	no := &engine.Thrown{Message: "no"}
	const from, without, unlike = "1 of 3 bytes depend on the seed of the default generators, although the call has a Generator argument",
		"1 of 3 bytes are random without a Generator argument, and the same with generators of two seeds",
		"1 of 3 bytes differ between two calls with generators of the same seed"
	either := func(own func(int64) byte, seed func(int64) byte) func(int64, int64) (byte, error) {
		return func(s, o int64) (byte, error) {
			if o > 0 {
				return own(o), nil
			}
			return seed(s), nil
		}
	}
	is := func(n int64) byte { return byte(n) }
	one := func(int64) byte { return 1 }
	for _, tt := range []struct {
		name   string
		kernel func(seed, own int64) (byte, error)
		change func(*bench)
		want   string
	}{
		{"follows it", either(is, is), nil, ""},
		{"follows the default ones", func(s, _ int64) (byte, error) { return byte(s), nil }, nil, from},
		{"follows both", func(s, o int64) (byte, error) { return byte(s + o), nil }, nil, from},
		{"follows neither", func(int64, int64) (byte, error) { calls++; return calls, nil }, nil, unlike},
		{"follows the default ones at times", func(s, _ int64) (byte, error) { calls++; return byte(s) + calls/4, nil }, nil, ""},
		{"one seed", either(one, is), nil, without},
		{"draws nothing", either(one, one), nil, ""},
		{"one default seed is another", either(one, func(s int64) byte { return byte(s / 9) }), nil, ""},
		{"each other default seed is another", either(one, func(s int64) byte { return byte(s / 2) }), nil, ""},
		{"a late default seed is as the one before", either(one, func(s int64) byte { return byte(min(s, 16)) }), nil, ""},
		{"a late generator is another", either(func(o int64) byte { return byte(o / 17) }, is), nil, ""},
		{"throws with another", func(s, o int64) (byte, error) {
			if o > 7 {
				return 0, no
			}
			return either(one, is)(s, o)
		}, nil, ""},
		{"throws without one", func(s, o int64) (byte, error) {
			if o == 0 {
				return 0, no
			}
			return 1, nil
		}, nil, ""},
		{"throws without one for the first default seed", func(s, o int64) (byte, error) {
			if o == 0 && s == 7 {
				return 0, no
			}
			return either(one, is)(s, o)
		}, nil, ""},
		{"throws with a late default seed", func(s, o int64) (byte, error) {
			if o == 0 && s > 9 {
				return 0, no
			}
			return either(one, is)(s, o)
		}, nil, ""},
		{"throws with another default seed", func(s, o int64) (byte, error) {
			if s > 7 {
				return 0, no
			}
			return byte(s), nil
		}, nil, ""},
		{"of PyTorch", func(s, _ int64) (byte, error) { return byte(s), nil }, func(b *bench) { b.t.operator.Added = false }, ""},
		{"leaves memory", func(s, _ int64) (byte, error) { return byte(s), nil }, func(b *bench) { b.t.operator.Schema.Func.Name.Base = "empty" }, ""},
	} {
		b := generatorBench(t, random, tt.kernel)
		b.Seed, calls = 7, 0
		if tt.change != nil {
			tt.change(b)
		}
		skipped := 0
		found := func(g, n string) (saw string) {
			c := b.call(t, "uint8[3]", g, n)
			all := b.seenAgain(b.t, c, firstTime)
			if all == nil {
				t.Fatalf("%s: the call throws", tt.name)
			}
			faults, skips := b.generated(b.t, &attempt{c: c, calls: []deviceCall{{seen: all[0]}}})
			skipped = len(skips)
			for _, f := range faults {
				if f.Code != asserts.NondeterministicResult || f.Note != "" || f.Fix == "" || f.Breaks == "" {
					t.Errorf("%s: %+v", tt.name, f)
				}
				saw += f.Saw
			}
			return saw
		}
		for n := range mostSettings {
			if got := found("generator", fmt.Sprint(n)); got != tt.want || skipped > 0 {
				t.Errorf("%s: setting %d: found %q, want %q", tt.name, n, got, tt.want)
			}
		}
		if got := found("generator", "1"); got != "" || skipped > 0 {
			t.Errorf("%s: a setting is asked twice, or counted as not asked", tt.name)
		}
		if got := found("generator", "100"); got != "" || (skipped == 1) != (tt.change == nil) {
			t.Errorf("%s: more than %d settings are asked, or %d are counted as not asked", tt.name, mostSettings, skipped)
		}
		if !strings.HasPrefix(tt.name, "throws without one") && found("none", "200")+fmt.Sprint(skipped) != "0" {
			t.Errorf("%s: a call without a generator is asked", tt.name)
		}
		if b.e.live > 0 {
			t.Errorf("%s: %d tensors are left", tt.name, b.e.live)
		}
	}
}

// A return that follows the generator of one seed alone is not said to ignore it.
func TestGeneratedOfTwoReturns(t *testing.T) {
	b := benchOf(t, "ns::f(Tensor a, Generator? g) -> (Tensor, Tensor)", func(e *fakeEngine, args []any) ([]any, error) {
		x, y := e.like(first(args)), e.like(first(args))
		own, given := args[1].(int64)
		(*x.data)[0], (*y.data)[0] = byte(e.generator), byte(e.generator)
		if given {
			(*x.data)[0], (*y.data)[0] = 1, 1
		}
		if own == 8 {
			(*y.data)[0] = 2
		}
		return []any{x, y}, nil
	}, func(o *engine.Operator, _ *engine.Checks) { o.Added = true }, "")
	b.Seed = 7
	c := b.call(t, "uint8[3]", "generator")
	faults, _ := b.generated(b.t, &attempt{c: c, calls: []deviceCall{{seen: b.seenAgain(b.t, c, firstTime)[0]}}})
	if len(faults) != 1 || faults[0].Return != 1 {
		t.Errorf("found %+v, want the first return", faults)
	}
}

// A call that omits a generator is repeated with one, once for each setting, as far as the kernel
// accepts it, and judged.
func TestWithGenerator(t *testing.T) {
	for _, tt := range []struct {
		name, schema, g string
		added, takes    bool
		want            string
	}{
		{"omitted", random, "none", true, true, "ns::f(a=uint8[3], b=generator(7), c=1)"},
		{"default", random, "default", true, true, "ns::f(a=uint8[3], b=generator(7), c=1)"},
		{"given", random, "generator", true, true, ""},
		{"of PyTorch", random, "none", false, true, ""},
		{"refused", random, "none", true, false, ""},
		{"no generator", "ns::f(Tensor a, int? g, int n=0) -> Tensor", "none", true, true, ""},
	} {
		b := generatorBench(t, tt.schema, func(_, own int64) (byte, error) {
			if own > 0 && !tt.takes {
				return 0, &engine.Thrown{Message: "no"}
			}
			return 1, nil
		})
		b.t.operator.Added = tt.added
		c := b.call(t, "uint8[3]", tt.g, "1")
		got := ""
		if a := b.withGenerator(b.t, c); a != nil {
			got = a.c.String()
		}
		if got != tt.want {
			t.Errorf("%s: the call is %q, want %q", tt.name, got, tt.want)
		}
		if b.withGenerator(b.t, c) != nil {
			t.Errorf("%s: it is made twice", tt.name)
		}
	}

	b := generatorBench(t, random, func(seed, own int64) (byte, error) { return byte(seed), nil })
	result := report.CaseResult{Devices: make(report.Devices)}
	b.ranOnce(b.t, must.Get(b.Try(b.t, b.call(t, "uint8[3]", "none", "1")))(t), &result)
	if got := words(result.Found); got != "OA021 result on cpu" {
		t.Errorf("a call without a generator: found %q", got)
	}
}

// Calls with elements and without are settings of their own.
func TestSettingHasElements(t *testing.T) {
	b := generatorBench(t, random, nil)
	of := func(a string) string { return setting(b.call(t, a, "none", "1")) }
	if of("uint8[3]") != of("float32[2, 5]") || of("uint8[3]") == of("uint8[0]") || of("uint8[0]") != of("uint8[2, 0]") {
		t.Errorf("settings are %q, %q, %q, %q", of("uint8[3]"), of("float32[2, 5]"), of("uint8[0]"), of("uint8[2, 0]"))
	}
}
