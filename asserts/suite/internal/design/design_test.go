package design

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/dev/must"
)

// A number above 1 is in a row with each layout in memory, with integers of either sign, and with a
// flag if there are elements. No other row has such integers.
func TestNumbersInRows(t *testing.T) {
	op := ops(t, "ns::f(Tensor a, int n, bool flag=False) -> Tensor")[0]
	for _, base := range []int64{0, 1, 3} {
		ran := []*sample.Case{{Names: []string{"a", "n", "flag"}, Args: []sample.Value{read(t, "float32[4, 4]"), sample.Int(base), {}}}}
		d := NewDesign(engine.Operator{Schema: op}, nil, 0, &Learned{Ran: ran})
		origins := make(map[int]report.Origin)
		var numbers []string
		for i, class := range d.Classes {
			if class.arg != "n" || class.name != "2" { // refused by the op
				origins[i] = report.Origin{}
			}
		}
		d.Follow(origins)
		for _, class := range d.Classes {
			if class.arg == "n" && class.key {
				numbers = append(numbers, class.name)
			}
		}
		want := map[int64][]string{0: {"-1", "1", "3"}, 1: {"-1", "0", "3"}, 3: {"-1", "0", "1"}}[base]
		if slices.Sort(numbers); !slices.Equal(numbers, want) {
			t.Errorf("where n is %d, the numbers in pairs are %q, want %q", base, numbers, want)
		}
		for _, with := range []string{"transposed", "sliced", "expanded", "int64 wide", "true"} {
			together := func(r ClassRow) bool {
				has := func(arg, name string) bool {
					return slices.ContainsFunc(r.Classes, func(i int) bool { return d.Classes[i].arg == arg && d.Classes[i].name == name })
				}
				arg := ""
				if with == "true" {
					arg = "flag"
				}
				return has("n", "3") && has(arg, with) && !has("", "first dimension 0") && !has("", "0-dim")
			}
			if got := slices.ContainsFunc(d.Rows, together); got != (base < 2) {
				t.Errorf("where n is %d, 3 and %s in one row: %v", base, with, got)
			}
		}
		for _, r := range d.Rows {
			signed := func(i int) bool { return wide(d.Classes[i]) }
			above := func(i int) bool { return d.Classes[i].name == "3" }
			if slices.ContainsFunc(r.Classes, signed) && !slices.ContainsFunc(r.Classes, above) {
				t.Errorf("where n is %d, a row of integers of either sign without 3: %v", base, r.Classes)
			}
		}
	}
}

// All tensors of a call have integers of either sign at once, beside a number above 1.
func TestIntegersOfEitherSignInRows(t *testing.T) {
	op := ops(t, "ns::f(Tensor a, Tensor b, int n) -> Tensor")[0]
	ran := []*sample.Case{{Names: []string{"a", "b", "n"}, Args: []sample.Value{read(t, "float32[4]"), read(t, "float32[4]"), sample.Int(1)}}}
	d := NewDesign(engine.Operator{Schema: op}, nil, 0, &Learned{Ran: ran})
	origins, of := make(map[int]report.Origin), make(map[string]bool)
	for i := range d.Classes {
		origins[i] = report.Origin{}
	}
	d.Follow(origins)
	for _, r := range d.Rows {
		for _, i := range r.Classes {
			if wide(d.Classes[i]) {
				of[d.Classes[i].arg+" "+d.Classes[i].name] = true
			}
		}
	}
	if want := map[string]bool{" int64 wide": true}; !maps.Equal(of, want) {
		t.Errorf("in rows are %v, want %v", of, want)
	}
}

// What finds most is tried first in an op of one's own, for each argument, and PyTorch's ops keep their order.
func TestUsualCasesFirst(t *testing.T) {
	op := ops(t, "ns::f(Tensor a, Tensor(a!) b, bool flag) -> Tensor")[0]
	ran := []*sample.Case{{Names: []string{"a", "b", "flag"}, Args: []sample.Value{read(t, "float32[4]"), read(t, "float32[4]"), sample.Bool(true)}}}
	for _, own := range []bool{true, false} {
		d := NewDesign(engine.Operator{Schema: op, Added: own}, nil, 5, &Learned{Ran: ran})
		if !own {
			if first := d.Classes[0].name; first != "float64" {
				t.Errorf("the first class of PyTorch's op is %s", first)
			}
			continue
		}
		if d.Usual() <= 5 || d.Usual() > d.Apart()/3 {
			t.Errorf("%d of %d cases are usual", d.Usual(), d.Apart())
		}
		for i, class := range d.Classes {
			usual := slices.Contains(telling, class.name) || class.scalar || class.arg == "b" && slices.Contains(tellingWritten, class.name)
			if usual != (i < d.Usual()-5) {
				t.Errorf("%s of %q is number %d, and %d are usual", class.name, class.arg, i, d.Usual()-5)
			}
		}
	}
}

// Each tensor of a library's op has fewer columns than the others once, if it has several
// dimensions.
func TestFewerColumns(t *testing.T) {
	op := ops(t, "ns::f(Tensor a, Tensor b, Tensor c) -> Tensor")[0]
	ran := &sample.Case{Names: []string{"a", "b", "c"}, Args: []sample.Value{read(t, "float32[4, 4]"), read(t, "float32[3, 4]"), read(t, "float32[4]")}}
	for _, added := range []bool{true, false} {
		d := NewDesign(engine.Operator{Schema: op, Added: added}, nil, 0, &Learned{Ran: []*sample.Case{ran}})
		var calls []string
		for _, class := range d.Classes {
			if c, fewer := ran.Clone(), strings.HasSuffix(class.name, " column") || strings.HasSuffix(class.name, " columns"); fewer && class.ways[0](c) {
				calls = append(calls, c.Args[0].String()+" "+c.Args[1].String()+" "+c.Args[2].String())
			}
		}
		want := map[bool][]string{true: {
			"float32[4, 1] float32[3, 4] float32[4]", "float32[4, 4] float32[3, 1] float32[4]",
			"float32[4, 2] float32[3, 4] float32[4]", "float32[4, 4] float32[3, 2] float32[4]",
		}}[added]
		if !slices.Equal(calls, want) {
			t.Errorf("added %v: %q, want %q", added, calls, want)
		}
	}
}

// A class is tried first on bases with elements: a kernel accepts nearly anything with an empty
// tensor.
func TestSettingsWithElementsFirst(t *testing.T) {
	op := ops(t, "ns::f(Tensor a, int n) -> Tensor")[0]
	var ran []*sample.Case
	for _, text := range []string{"float32[0, 3]", "float32[4]", "float32[2, 0, 2]", "float32[2, 3, 2, 2]"} {
		ran = append(ran, &sample.Case{Names: []string{"a", "n"}, Args: []sample.Value{read(t, text), read(t, "1")}})
	}
	d := NewDesign(engine.Operator{Schema: op}, nil, 0, &Learned{Ran: ran})
	var order []string
	for _, s := range d.Settings(ClassRow{Classes: []int{0}}, nil)[:len(d.Bases)] {
		order = append(order, s.Base.Args[0].String())
	}
	if got := strings.Join(order, " "); got != "float32[4] float32[2, 3, 2, 2] float32[0, 3] float32[2, 0, 2]" {
		t.Errorf("the bases of a class are %s", got)
	}
}

// Lists of tensors are also long for ops of a library, at the end: a kernel may have no room for
// them.
func TestLongLists(t *testing.T) {
	op := ops(t, "ns::f(Tensor[] all) -> Tensor")[0]
	ran := &sample.Case{Names: []string{"all"}, Args: []sample.Value{read(t, "[float32[2], float32[3]]")}}
	for _, added := range []bool{true, false} {
		d := NewDesign(engine.Operator{Schema: op, Added: added}, nil, 0, &Learned{Ran: []*sample.Case{ran}})
		at := slices.IndexFunc(d.Classes, func(c argClass) bool { return c.name == "[40 Tensor]" })
		if at >= 0 != added {
			t.Errorf("added %v: class %d", added, at)
		}
		if !added {
			continue
		}
		c := ran.Clone()
		if !d.Classes[at].ways[0](c) || len(c.Tensors()) != 40 || slices.Equal(c.Tensors()[39].Sizes, c.Tensors()[1].Sizes) {
			t.Errorf("class %d makes %v", at, c)
		}
		for _, other := range d.Classes[at:] {
			if other.arg == "all" && strings.HasPrefix(other.name, "[T") {
				t.Errorf("%q comes after", other.name)
			}
		}
	}
}

// A wrapper for results is empty in one class of each op: whether the op replaces its storage does
// not depend on the seed.
func TestEmptyWrappers(t *testing.T) {
	op := ops(t, "ns::f.out(Tensor a, *, Tensor(a!) out) -> Tensor(a!)")[0]
	ran := &sample.Case{Names: []string{"a", "out"}, Args: []sample.Value{read(t, "float32[3]"), read(t, "float32[3]")}}
	var calls []string
	for _, class := range NewDesign(engine.Operator{Schema: op}, nil, 0, &Learned{Ran: []*sample.Case{ran}}).Classes {
		if c := ran.Clone(); class.ways[0](c) && c.Args[1].Tensor.Form == engine.Functional {
			calls = append(calls, c.Args[0].String()+" "+c.Args[1].String())
		}
	}
	if want := []string{"float32[3] float32[0] functional"}; !slices.Equal(calls, want) {
		t.Errorf("%q, want %q", calls, want)
	}
}

// An integer of a library's op is each size of the call's tensors, the number of elements of the
// first, and one more.
func TestBounds(t *testing.T) {
	op := ops(t, "ns::f(Tensor? a, int n, Tensor? b, *, Tensor(a!) out) -> Tensor(a!)")[0]
	ran := []*sample.Case{
		{Names: []string{"a", "n", "b", "out"}, Args: []sample.Value{read(t, "float32[7, 9]"), sample.Int(0), read(t, "float32[9, 11]"), read(t, "float32[13]")}},
		{Names: []string{"a", "n", "b", "out"}, Args: []sample.Value{read(t, "float32[20]"), sample.Int(0), read(t, "float32[20]"), read(t, "float32[13]")}},
		{Names: []string{"a", "n", "b", "out"}, Args: []sample.Value{sample.None(), sample.Int(0), sample.None(), read(t, "float32[13]")}},
	}
	for _, added := range []bool{true, false} {
		d := NewDesign(engine.Operator{Schema: op, Added: added}, nil, 0, &Learned{Ran: ran})
		got := make([][]string, len(ran))
		for _, class := range d.Classes {
			if bound := strings.HasPrefix(class.name, "size number") || strings.HasPrefix(class.name, "elements"); class.arg != "n" || !bound {
				continue
			}
			for i, base := range ran {
				c := base.Clone()
				if class.ways[0](c) {
					got[i] = append(got[i], c.Args[1].String())
				}
			}
		}
		want := [][]string{{"7", "8", "9", "10", "11", "12", "63", "64"}, {"20", "21", "20", "21"}, nil}
		if !added {
			want = make([][]string, len(ran))
		}
		if !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("of a library %v: the numbers are %q, want %q", added, got, want)
		}
	}
	none := []*sample.Case{{Names: []string{"n"}, Args: []sample.Value{sample.Int(0)}}}
	d := NewDesign(engine.Operator{Schema: ops(t, "ns::g(int n) -> Tensor")[0], Added: true}, nil, 0, &Learned{Ran: none})
	if slices.ContainsFunc(d.Classes, func(c argClass) bool { return strings.HasPrefix(c.name, "elements") }) {
		t.Error("without a tensor, a number is compared with its elements")
	}
}

// Tensors of an op of a library have no rows, beside the first one that has some.
func TestWithoutRows(t *testing.T) {
	tensorOf := func(text string) sample.Value { return must.Get(sample.ParseValue(text, sample.NewSymbols(0)))(t) }
	op := ops(t, "ns::f(Tensor q, Tensor k, Tensor v) -> Tensor")[0]
	base := &sample.Case{Op: "ns::f", Names: []string{"q", "k", "v"}, Args: []sample.Value{tensorOf("float32[3, 3]"), tensorOf("float32[3, 3]"), tensorOf("float32[]")}}
	for _, added := range []bool{true, false} {
		d := NewDesign(engine.Operator{Schema: op, Added: added}, nil, 0, &Learned{Ran: []*sample.Case{base}})
		i := slices.IndexFunc(d.Classes, func(c argClass) bool { return c.name == "first dimension 0 beside the first tensor" })
		if i < 0 || !added {
			if added != (i >= 0) {
				t.Errorf("of a library %v: class %d", added, i)
			}
			continue
		}
		c := base.Clone()
		if ok := d.Apply(c, []int{i}, []int{0}); !ok || c.String() != "ns::f(q=float32[3, 3], k=float32[0, 3], v=float32[])" {
			t.Errorf("%v %v", ok, c)
		}
		c.Args = []sample.Value{c.Args[0], c.Args[2], c.Args[2]}
		if d.Apply(c, []int{i}, []int{0}) {
			t.Errorf("%v has a row less", c)
		}
		c.Args = []sample.Value{sample.None(), sample.None(), sample.None()}
		if d.Apply(c, []int{i}, []int{0}) {
			t.Errorf("%v has a row less", c)
		}
	}
}
