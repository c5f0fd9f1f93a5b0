package compare_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/compare"
)

func TestMeta(t *testing.T) {
	one := holding("abcd")
	like := func(change func(*asserts.Snapshot)) mod {
		return func(o *asserts.Observation) {
			one(o)
			o.Content.Device, o.Content.Bytes, o.Content.Digest = "meta", nil, 0
			change(o.Content)
		}
	}
	same := like(func(*asserts.Snapshot) {})
	tests := []struct {
		name               string
		schema             string
		args, real, meta   list // the arguments after both calls, and the results of each
		realLens, metaLens []int
		want               []string
	}{
		{name: "alike", schema: "f(Tensor self) -> Tensor", args: list{see(1, 2, one)}, real: list{see(3, 4, one)}, meta: list{see(3, 4, same)}},
		{name: "views alike", schema: "f(Tensor(a) self) -> Tensor(a)", args: list{see(1, 2, one)}, real: list{see(3, 2, one)}, meta: list{see(3, 2, same)}},
		{name: "undefined alike", schema: "f(Tensor self) -> Tensor", args: list{see(1, 2, one)}, real: list{undefined}, meta: list{undefined}},
		{name: "failed where it is not on meta", schema: "f(Tensor self) -> Tensor", args: list{see(1, 2, one)}, meta: list{see(3, 4, same)}},
		{name: "no kernel on meta", schema: "f(Tensor self) -> Tensor", args: list{see(1, 2, one)}, real: list{see(3, 4, one)}},
		{
			name: "sizes", schema: "f(Tensor self) -> Tensor", args: list{see(1, 2, one)}, real: list{see(3, 4, one)},
			meta: list{see(3, 4, like(func(c *asserts.Snapshot) { c.Sizes = []int64{2, 2} }))},
			want: []string{"OA011 result: sizes [4], on meta [2 2]"},
		},
		{
			name: "strides and dtype", schema: "f(Tensor self) -> Tensor", args: list{see(1, 2, one)}, real: list{see(3, 4, one)},
			meta: list{see(3, 4, like(func(c *asserts.Snapshot) { c.Strides, c.DType = []int64{2}, "int8" }))},
			want: []string{"OA011 result: dtype uint8, on meta int8; strides [1] of sizes [4], on meta [2]"},
		},
		{
			name: "strides that reach nothing", schema: "f(Tensor self) -> (Tensor, Tensor)", args: list{see(1, 2, one)},
			real: list{see(3, 4, one, shaped(func(c *asserts.Snapshot) { c.Sizes = []int64{1} })), see(5, 6, one, shaped(func(c *asserts.Snapshot) { c.Sizes = []int64{0} }))},
			meta: list{
				see(3, 4, like(func(c *asserts.Snapshot) { c.Sizes, c.Strides = []int64{1}, []int64{9} })),
				see(5, 6, like(func(c *asserts.Snapshot) { c.Sizes, c.Strides = []int64{0}, nil })),
			},
		},
		{
			name: "a copy for a view", schema: "f(Tensor(a) self) -> Tensor(a)", args: list{see(1, 2, one)}, real: list{see(3, 2, one)}, meta: list{see(3, 4, same)},
			want: []string{"OA011 result: it shares storage with argument self, on meta it shares with nothing"},
		},
		{
			name: "the argument for a fresh one", schema: "f(Tensor self) -> Tensor", args: list{see(1, 2, one)}, real: list{see(3, 4, one)}, meta: list{see(1, 2, same)},
			want: []string{"OA011 result: it shares with nothing, on meta it is argument self"},
		},
		{
			name: "two returns that share", schema: "f(Tensor self) -> (Tensor, Tensor)", args: list{see(1, 2, one)},
			real: list{see(3, 4, one), see(5, 6, one)}, meta: list{see(3, 4, same), see(5, 4, same)},
			want: []string{"OA011 result1: it shares with nothing, on meta it shares storage with result0"},
		},
		{
			name: "one of a list", schema: "f(Tensor self) -> Tensor[]", args: list{see(1, 2, one)}, realLens: []int{2}, metaLens: []int{2},
			real: list{see(3, 4, one), see(5, 6, one)}, meta: list{see(3, 4, same), see(3, 4, same)},
			want: []string{"OA011 result[1]: it shares with nothing, on meta it is result[0]"},
		},
		{
			name: "lists of two lengths", schema: "f(Tensor self) -> Tensor[]", args: list{see(1, 2, one)}, realLens: []int{2}, metaLens: []int{1},
			real: list{see(3, 4, one), see(5, 6, one)}, meta: list{see(3, 4, same)},
			want: []string{"OA011 result: 2 tensors, on meta 1"},
		},
		{
			name: "undefined on meta", schema: "f(Tensor self) -> Tensor", args: list{see(1, 2, one)}, real: list{see(3, 4, one)}, meta: list{undefined},
			want: []string{"OA011 result: a tensor, on meta undefined"},
		},
		{
			name: "no contents", schema: "f(Tensor self) -> (Tensor, Tensor)", args: list{see(1, 2)},
			real: list{see(3, 4), see(5, 6, one)}, meta: list{see(3, 4, same), see(5, 6)},
		},
		{
			name: "strides missing", schema: "f(Tensor self) -> Tensor", args: list{see(1, 2)}, real: list{see(3, 4, one)},
			meta: list{see(3, 4, like(func(c *asserts.Snapshot) { c.Strides = nil }))},
			want: []string{"OA011 result: strides [1] of sizes [4], on meta []"},
		},
		{
			name: "undefined, and not on meta", schema: "f(Tensor self) -> Tensor", args: list{see(1, 2, one)}, real: list{undefined}, meta: list{see(3, 4, same)},
			want: []string{"OA011 result: undefined, on meta a tensor"},
		},
		{
			name: "a call that was on meta already", schema: "f(Tensor self) -> Tensor", args: list{see(1, 2, one)},
			real: list{see(3, 4, one, traits(asserts.MetaTensor))}, meta: list{see(1, 2, same)},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			op := opOf(test.schema)
			seen := func(results list, lens []int) *asserts.Seen {
				return &asserts.Seen{Level: asserts.Meta, Before: test.args, After: test.args, Results: results, ResultLens: lens}
			}
			verdict := compare.Twins(op, seen(test.real, test.realLens), seen(test.meta, test.metaLens), "meta", asserts.Aware())
			var got []string
			for _, v := range verdict.Violations {
				got = append(got, said(v))
				if v.Fix == "" {
					t.Errorf("no fix: %v", v)
				}
				if v.Breaks != "" {
					t.Errorf("its effect is that of a fake: %s", v.Breaks)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The same call on a device and on the CPU.
func TestTwins(t *testing.T) {
	one, two := holding("abcd"), shaped(func(c *asserts.Snapshot) { c.Sizes = []int64{2, 2} })
	op := opOf("f(Tensor self) -> Tensor")
	seen := func(result asserts.Observation) *asserts.Seen {
		return &asserts.Seen{Level: asserts.Meta, Before: list{see(1, 2, one)}, After: list{see(1, 2, one)}, Results: list{result}}
	}
	found := compare.Twins(op, seen(see(3, 4, one)), seen(see(3, 4, one, two)), "cpu", asserts.Aware()).Violations
	if len(found) != 1 || said(found[0]) != "OA011 result: sizes [4], on cpu [2 2]" || !strings.Contains(found[0].Fix, "make the cpu kernel return") {
		t.Errorf("%v", found)
	}
	shared := compare.Twins(op, seen(see(3, 2, one)), seen(see(3, 4, one)), "cpu", asserts.Aware()).Violations
	if len(shared) != 1 || !strings.Contains(shared[0].Fix, "the kernel that is not on cpu contradicts the schema (OA007), the cpu kernel does not: make it share as the cpu kernel does") {
		t.Errorf("%v", shared)
	}
}

// A return is not on the device of the arguments, and no fake returns it there: the schema does not
// state its device.
func TestDevices(t *testing.T) {
	on := func(impl asserts.ID, device string) asserts.Observation {
		return see(impl, impl+1, holding("abcd"), shaped(func(c *asserts.Snapshot) { c.Device = device }))
	}
	call := func(x, y, result string) *asserts.Seen {
		args := list{on(1, x), on(3, y)}
		return &asserts.Seen{Level: asserts.Meta, Before: args, After: args, Results: list{on(5, result)}}
	}
	two := "f(Tensor self, Tensor other) -> Tensor"
	takes := "f(Tensor self, Tensor other, *, Device? device=None) -> Tensor"
	answers := &compare.Fake{Seen: *call("lpu:0", "lpu:0", "cpu")}
	for _, tt := range []struct {
		schema, x, y, result string
		fake                 *compare.Fake
		devices, want        string
	}{
		{two, "lpu:0", "lpu:0", "cpu", nil, "", "OA011 result (other-device): it is on cpu, and every argument on lpu:0"},
		{two, "lpu:0", "lpu:0", "lpu:1", nil, "", "OA011 result (other-device): it is on lpu:1, and every argument on lpu:0"},
		{two, "lpu:0", "lpu:0", "cpu", &compare.Fake{Missing: true}, "", "OA011 result (other-device): it is on cpu, and every argument on lpu:0"},
		{two, "lpu:0", "lpu:0", "cpu", &compare.Fake{Missing: true, Beside: answers}, "", "OA011 result (other-device): it is on cpu, and every argument on lpu:0"},
		{two, "lpu:0", "lpu:0", "cpu", answers, "", ""},
		{two, "lpu:0", "lpu:0", "lpu:0", nil, "", ""},
		{two, "lpu:0", "cpu", "cpu", nil, "", ""},
		{two, "lpu:0", "cpu", "lpu:0", nil, "", ""},
		{takes, "lpu:0", "lpu:0", "cpu", nil, "", ""},
		{takes, "lpu:0", "lpu:0", "cpu", nil, "lpu:0", "OA011 result (other-device): it is on cpu, and every argument on lpu:0"},
		{takes, "lpu:0", "lpu:0", "cpu", nil, "lpu", "OA011 result (other-device): it is on cpu, and every argument on lpu:0"},
		{takes, "lpu:0", "lpu:0", "lpu:0", nil, "lpu:0", ""},
		{takes, "lpu:0", "lpu:0", "lpu:1", nil, "lpu", ""},
		{takes, "lpu:0", "lpu:0", "cpu", nil, "cpu", ""},
		{takes, "lpu:0", "lpu:0", "cpu", nil, "lpu:1", ""},
		{takes, "lpu:10", "lpu:10", "cpu", nil, "lpu:1", ""},
	} {
		got := ""
		var devices []string
		if tt.devices != "" {
			devices = []string{tt.devices}
		}
		for _, v := range compare.Devices(opOf(tt.schema), call(tt.x, tt.y, tt.result), tt.fake, devices, asserts.Aware()).Violations {
			if got = said(v); v.Note == "" || v.Fix != "return it on the device of the arguments" {
				t.Errorf("%s: note %q, fix %q", got, v.Note, v.Fix)
			}
		}
		if got != tt.want {
			t.Errorf("%s of tensors on %s and %s: %q, want %q", tt.schema, tt.x, tt.y, got, tt.want)
		}
	}
}

// A return on another device is not reported if it has no contents, if OA011 is waived, or if the
// policy skips it; an argument without contents has no known device.
func TestDevicesSkips(t *testing.T) {
	on := func(impl asserts.ID, device string, more ...mod) asserts.Observation {
		return see(impl, impl+1, append(more, holding("abcd"), shaped(func(c *asserts.Snapshot) { c.Device = device }))...)
	}
	for _, tt := range []struct {
		name   string
		y      asserts.Observation
		result asserts.Observation
		waived bool
		want   int
	}{
		{"reported", on(3, "lpu:0"), on(5, "cpu"), false, 1},
		{"an argument without contents", see(3, 4), on(5, "cpu"), false, 1},
		{"no contents", on(3, "lpu:0"), see(5, 6), false, 0},
		{"on meta", on(3, "lpu:0"), on(5, "meta", traits(asserts.MetaTensor)), false, 1},
		{"a subclass", on(3, "lpu:0"), on(5, "cpu", traits(asserts.WrapperSubclass)), false, 0},
		{"waived", on(3, "lpu:0"), on(5, "cpu"), true, 0},
	} {
		op := opOf("f(Tensor self, Tensor other) -> Tensor")
		if tt.waived {
			op.Checks = slices.DeleteFunc(op.Checks, func(c asserts.Check) bool { return c.Code == asserts.MetaAlias })
		}
		args := list{on(1, "lpu:0"), tt.y}
		verdict := compare.Devices(op, &asserts.Seen{Level: asserts.Meta, Before: args, After: args, Results: list{tt.result}}, nil, nil, asserts.PyTorch())
		if len(verdict.Violations) != tt.want {
			t.Errorf("%s: %d violations, want %d", tt.name, len(verdict.Violations), tt.want)
		}
	}
}

// The policy skips OA011 for a tensor.
func TestMetaSkips(t *testing.T) {
	op := opOf("f(Tensor self) -> (Tensor, Tensor)")
	seen := func(result asserts.Observation) *asserts.Seen {
		args := list{see(1, 2)}
		return &asserts.Seen{Level: asserts.Meta, Before: args, After: args, Results: list{result, undefined}}
	}
	verdict := compare.Twins(op, seen(see(3, 4, traits(asserts.WrapperSubclass))), seen(see(1, 2)), "meta", asserts.PyTorch())
	want := []asserts.Skip{{Code: asserts.MetaAlias, Reason: "wrapper subclass", Count: 1}}
	if diff := cmp.Diff(want, verdict.Skips); diff != "" || len(verdict.Violations) > 0 || verdict.Judged[asserts.MetaAlias] != 0 {
		t.Errorf("%v\n%s", verdict, diff)
	}
}

// The plan has no line for OA011.
func TestMetaWaived(t *testing.T) {
	op := opOf("f(Tensor self) -> Tensor")
	op.Checks = slices.DeleteFunc(op.Checks, func(c asserts.Check) bool { return c.Code == asserts.MetaAlias })
	returning := func(o asserts.Observation) *asserts.Seen {
		return &asserts.Seen{Level: asserts.Content, Before: list{see(1, 2)}, After: list{see(1, 2)}, Results: list{o}}
	}
	if v := compare.Twins(op, returning(see(3, 4)), returning(see(1, 2)), "meta", asserts.Aware()).Violations; len(v) > 0 {
		t.Errorf("waived: %v", v)
	}
}

// The fix names the call that contradicts the schema; of sizes the schema says nothing.
func TestMetaAliasNamesTheSide(t *testing.T) {
	fresh, own := see(5, 6), see(1, 2, uses(2, 1))
	wide, tall := see(5, 6, holding("ab")), see(5, 6, holding("a"))
	for _, tt := range []struct {
		name       string
		real, meta asserts.Observation
		fix        string
	}{
		{"real returns its argument", own, fresh, "the kernel that is not on meta contradicts the schema (OA007)"},
		{"meta does", fresh, own, "the meta kernel contradicts the schema (OA007)"},
		{"sizes", wide, tall, "the schema does not say which one is right"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			call := func(result asserts.Observation) *asserts.Seen {
				return &asserts.Seen{Level: asserts.Content, Before: list{see(1, 2)}, After: list{see(1, 2)}, Results: list{result}}
			}
			vs := compare.Twins(wholeOp("f(Tensor self) -> Tensor"), call(tt.real), call(tt.meta), "meta", asserts.Aware()).Violations
			if len(vs) != 1 || vs[0].Code != asserts.MetaAlias || !strings.HasPrefix(vs[0].Fix, tt.fix) {
				t.Errorf("%v, want the fix %q", asserts.Violations(vs), tt.fix)
			}
		})
	}
}

// A fix names the call that contradicts the schema for that return, if one does.
func TestFixOfMetaAlias(t *testing.T) {
	one := holding("abcd")
	wide := func(o asserts.Observation) asserts.Observation {
		o.Content = &asserts.Snapshot{DType: "uint8", Device: "meta", Sizes: []int64{2, 2}, Strides: []int64{2, 1}, Nbytes: 4}
		return o
	}
	const kernel, meta = "the kernel that is not on meta contradicts", "the meta kernel contradicts"
	for _, tt := range []struct {
		name, op   string
		after      list // of the real call
		real, meta list
		lens       []int
		want       []string // prefixes of the fixes; "" for one that names no call
	}{
		{"the kernel", "f(Tensor self) -> Tensor", nil, list{see(1, 2, one)}, list{wide(see(3, 4))}, nil, []string{kernel}},
		{"the meta kernel", "f(Tensor self) -> Tensor", nil, list{see(3, 4, one)}, list{wide(see(1, 2))}, nil, []string{meta}},
		{"both", "f(Tensor self) -> Tensor", nil, list{see(1, 2, one)}, list{wide(see(3, 2, uses(1, 2)))}, nil, []string{""}},
		{"neither", "f(Tensor self) -> Tensor", nil, list{see(3, 4, one)}, list{wide(see(3, 4))}, nil, []string{""}},
		{"another return", "f(Tensor self) -> (Tensor, Tensor)", nil, list{see(1, 2, one), see(5, 6, one)}, list{wide(see(3, 4)), wide(see(5, 6))}, nil, []string{kernel, ""}},
		{"another element", "f(Tensor self) -> Tensor[]", nil, list{see(1, 2, one), see(5, 6, one)}, list{wide(see(3, 4)), wide(see(5, 6))}, []int{2}, []string{kernel, ""}},
		{"an argument", "f(Tensor self) -> Tensor", list{see(9, 2, one)}, list{see(3, 4, one)}, list{wide(see(3, 4))}, nil, []string{""}},
	} {
		args := list{see(1, 2, one)}
		seen := func(after, results list) *asserts.Seen {
			if after == nil {
				after = args
			}
			return &asserts.Seen{Level: asserts.Meta, Before: args, After: after, Results: results, ResultLens: tt.lens}
		}
		vs := compare.Twins(opOf(tt.op), seen(tt.after, tt.real), seen(nil, tt.meta), "meta", asserts.Aware()).Violations
		if len(vs) != len(tt.want) {
			t.Errorf("%s: %v, want %d", tt.name, asserts.Violations(vs), len(tt.want))
			continue
		}
		for i, v := range vs {
			if tt.want[i] == "" && strings.Contains(v.Fix, "contradicts") || !strings.HasPrefix(v.Fix, tt.want[i]) {
				t.Errorf("%s: fix %q, want %q", tt.name, v.Fix, tt.want[i])
			}
		}
	}
}

// A tensor that is on meta in both calls, or has no contents, is not compared, or not completely.
func TestMetaUnseen(t *testing.T) {
	op, args := opOf("f(Tensor self) -> Tensor"), list{see(1, 2)}
	seen := func(result asserts.Observation) *asserts.Seen {
		return &asserts.Seen{Level: asserts.Meta, Before: args, After: args, Results: list{result}}
	}
	whole := see(3, 4, holding("ab"))
	for _, tt := range []struct {
		name       string
		real, meta asserts.Observation
		reason     string
		judged     int
	}{
		{"seen", whole, whole, "", 1},
		{"on meta", see(3, 4, holding("ab"), traits(asserts.MetaTensor)), whole, "both calls return it on meta", 0},
		{"not seen", see(3, 4), whole, "sizes, strides and dtype not observed", 1},
		{"not seen on meta", whole, see(3, 4), "sizes, strides and dtype not observed", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			verdict := compare.Twins(op, seen(tt.real), seen(tt.meta), "meta", asserts.Aware())
			var want []asserts.Skip
			if tt.reason != "" {
				want = []asserts.Skip{{Code: asserts.MetaAlias, Reason: tt.reason, Count: 1}}
			}
			if diff := cmp.Diff(want, verdict.Skips); diff != "" || verdict.Judged[asserts.MetaAlias] != tt.judged || len(verdict.Violations) > 0 {
				t.Errorf("%v, judged %d\n%s", verdict.Violations, verdict.Judged[asserts.MetaAlias], diff)
			}
		})
	}
}

// A fake is compared with the kernel like a call on meta, its device included; sizes that it leaves
// open are those of the kernel, within their bounds.
func TestFakes(t *testing.T) {
	like := func(change func(*asserts.Snapshot)) asserts.Observation {
		return see(3, 4, uses(asserts.NotCounted, asserts.NotCounted), holding("abcd"), shaped(func(c *asserts.Snapshot) {
			c.Bytes, c.Digest = nil, 0
			change(c)
		}))
	}
	same := like(func(*asserts.Snapshot) {})
	const fresh, viewing = "f(Tensor self) -> Tensor", "f(Tensor(a) self) -> Tensor(a)"
	for _, tt := range []struct {
		name, schema string
		real         asserts.Observation
		fake         compare.Fake
		want         []string
		fix          string
	}{
		{"alike", fresh, see(3, 4, holding("abcd")), compare.Fake{Seen: asserts.Seen{Results: list{same}}}, nil, ""},
		{
			"device", fresh, see(3, 4, holding("abcd")), compare.Fake{Seen: asserts.Seen{Results: list{like(func(c *asserts.Snapshot) { c.Device = "meta" })}}},
			[]string{"OA011 result: the kernel returned device cpu, its fake meta"}, "make the fake return",
		},
		{
			"sizes", fresh, see(3, 4, holding("abcd")), compare.Fake{Seen: asserts.Seen{Results: list{like(func(c *asserts.Snapshot) { c.Sizes = []int64{3} })}}},
			[]string{"OA011 result: the kernel returned sizes [4], its fake [3]"}, "make the fake return",
		},
		{
			"aliases", fresh, see(3, 4, holding("abcd")), compare.Fake{Seen: asserts.Seen{Results: list{see(1, 2, holding("abcd"))}}},
			[]string{"OA011 result: the kernel returned what shares with nothing, its fake what is argument self"}, "the fake contradicts the schema (OA007)",
		},
		{
			"copies", viewing, see(3, 2, holding("abcd")), compare.Fake{Seen: asserts.Seen{Results: list{same}}},
			[]string{"OA011 result: the kernel returned what shares storage with argument self, its fake what shares with nothing"}, "the fake contradicts the schema (OA004)",
		},
		{"undefined", fresh, see(3, 4, holding("abcd")), compare.Fake{Seen: asserts.Seen{Results: list{undefined}}}, []string{"OA011 result: the kernel returned a tensor, its fake undefined"}, ""},
		{"the kernel aliases", fresh, see(1, 2, holding("abcd")), compare.Fake{Seen: asserts.Seen{Results: list{same}}}, nil, ""},
		{
			"both alias", fresh, see(1, 2, holding("abcd")),
			compare.Fake{Seen: asserts.Seen{Results: list{see(1, 2, holding("abcd"), shaped(func(c *asserts.Snapshot) { c.DType = "int8" }))}}},
			[]string{"OA011 result: the kernel returned uint8, its fake int8"}, "make the fake return",
		},
		{
			"open", fresh, see(3, 4, holding("abcd")),
			compare.Fake{
				Seen: asserts.Seen{Results: list{like(func(c *asserts.Snapshot) { c.Sizes, c.Strides = []int64{0}, []int64{0} })}},
				Open: []compare.Open{{Most: 9}, {Stride: true}, {Result: 1}, {Dim: 1}},
			},
			nil, "",
		},
		{
			"too small", fresh, see(3, 4, holding("abcd")),
			compare.Fake{Seen: asserts.Seen{Results: list{same}}, Open: []compare.Open{{Least: 5, Most: 9}}},
			[]string{"OA011 result: the kernel returned sizes [4], its fake [5]"}, "make the fake return",
		},
		{
			"too large", fresh, see(3, 4, holding("abcd")),
			compare.Fake{Seen: asserts.Seen{Results: list{same}}, Open: []compare.Open{{Most: 3}}},
			[]string{"OA011 result: the kernel returned sizes [4], its fake [3]"}, "make the fake return",
		},
		{
			"without contents", fresh, see(3, 4),
			compare.Fake{Seen: asserts.Seen{Results: list{see(3, 4)}}, Open: []compare.Open{{Most: 3}}},
			nil, "",
		},
		{
			"raises", fresh, see(3, 4), compare.Fake{Fault: "raises TypeError: no"},
			[]string{"OA011 result (fake-raises): the kernel returns, and its fake raises TypeError: no"}, "make the fake accept",
		},
		{
			"refuses", fresh, see(3, 4), compare.Fake{Fault: "raises TypeError: no", Refuses: true},
			[]string{"OA011 result (fake-raises): the kernel returns, and its fake raises TypeError: no"}, "make the kernel refuse",
		},
		{
			"raises under symbolic sizes", fresh, see(3, 4), compare.Fake{Fault: "under symbolic sizes raises TypeError: no", Symbols: true},
			[]string{"OA011 result (symbolic-sizes): the kernel returns, and its fake under symbolic sizes raises TypeError: no"}, "make the fake accept",
		},
		{
			"raises, and nothing is returned", "f(Tensor(a!) self) -> ()", undefined, compare.Fake{Fault: "raises TypeError: no"},
			[]string{"OA011 argument self (fake-raises): the kernel returns, and its fake raises TypeError: no"}, "make the fake accept",
		},
		{
			"guards", "f(int n, Tensor self) -> Tensor", see(3, 4, holding("abcd")),
			compare.Fake{Seen: asserts.Seen{Results: list{same}}, Guards: []compare.Guard{{Arg: 1, Text: "self.shape[0] == 4", At: "ops.py:4", Other: "self [5]"}, {Arg: 0}}},
			[]string{"OA011 argument self (size-guard): its fake sets the guard self.shape[0] == 4 (ops.py:4), and returns the same for other sizes, such as self [5]"}, "compute with the symbolic size",
		},
		{
			"elsewhere", fresh, see(3, 4, holding("abcd")), compare.Fake{Seen: asserts.Seen{Results: list{same}}, Elsewhere: []string{"cpu", "meta"}},
			[]string{"OA011 result (gpu-fake): for tensors on a GPU its fake returns some on cpu, meta"}, "make tensors on the device",
		},
		{"missing", fresh, see(3, 4), compare.Fake{Missing: true}, []string{"OA011 result (no-fake): it has a kernel and no fake"}, "register one"},
		{"missing, without tensors", "f(int n) -> int", undefined, compare.Fake{Missing: true}, []string{"OA011 argument  (no-fake): it has a kernel and no fake"}, "register one"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args := list{see(1, 2, holding("abcd"))}
			real := &asserts.Seen{Level: asserts.Content, Before: args, After: args, Results: list{tt.real}}
			tt.fake.Seen.Level, tt.fake.Seen.Before, tt.fake.Seen.After = asserts.Content, args, args
			tt.fake.Site = asserts.Site{File: "ops.py", Line: 3}
			before := tt.fake.Seen.Results
			var sizes []int64
			if len(before) > 0 && before[0].Content != nil {
				sizes = slices.Clone(before[0].Content.Sizes)
			}
			verdict := compare.Fakes(wholeOp(tt.schema), real, &tt.fake, asserts.Aware())
			var got []string
			for _, v := range verdict.Violations {
				got = append(got, said(v))
				if breaks := strings.Contains(v.Error(), asserts.MetaAlias.Breaks()); breaks != (tt.name == "undefined") {
					t.Errorf("the report has the check's breaks: %v\n%v", breaks, v)
				}
				if tt.fake.Guards != nil && v.Sizes != tt.fake.Guards[0].Other {
					t.Errorf("the guard does not hold for sizes %q", v.Sizes)
				}
				if depends := strings.HasPrefix(v.Saw, "the kernel returned sizes ") || strings.HasPrefix(v.Saw, "number "); strings.Contains(v.Fix, "new_dynamic_size") != depends {
					t.Errorf("the fix of %s is %q", v.Saw, v.Fix)
				}
				if v.Site != tt.fake.Site || !strings.HasPrefix(v.Fix, tt.fix) || (v.Note != "") != (tt.fake.Missing || tt.fake.Elsewhere != nil) {
					t.Errorf("site %v, fix %q, note %q", v.Site, v.Fix, v.Note)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if sizes != nil && !slices.Equal(before[0].Content.Sizes, sizes) {
				t.Error("the fake's own sizes changed")
			}
		})
	}
}

// Written arguments are compared after the two calls; those that must keep their sizes only if the
// fake changes them.
func TestFakesWritten(t *testing.T) {
	sized := func(n int64) list {
		return list{see(1, 2, holding("abcd"), shaped(func(c *asserts.Snapshot) { c.Sizes = []int64{n} }))}
	}
	const inPlace, out, resize = "f_(Tensor(a!) self) -> ()", "f(Tensor(a!) out) -> ()", "resize_(Tensor(a!) self) -> ()"
	for _, tt := range []struct {
		schema     string
		real, fake int64
		want       []string
		fix        string
		skipped    bool
	}{
		{out, 4, 4, nil, "", false},
		{out, 3, 3, nil, "", false},
		{out, 3, 4, []string{"OA011 argument out: the kernel left sizes [3], its fake [4]"}, "change the argument in the fake", false},
		{out, 4, 3, []string{"OA011 argument out: the kernel left sizes [4], its fake [3]"}, "change the argument in the fake", false},
		{inPlace, 4, 4, nil, "", false},
		{inPlace, 4, 3, []string{"OA011 argument self: the kernel left sizes [4], its fake [3]"}, "do not change the argument", false},
		{inPlace, 3, 4, nil, "", true},  // OA013
		{inPlace, 3, 3, nil, "", false}, // OA013
		{inPlace, 3, 2, []string{"OA011 argument self: the kernel left sizes [3], its fake [2]"}, "change the argument in the fake", false},
		{resize, 3, 4, []string{"OA011 argument self: the kernel left sizes [3], its fake [4]"}, "change the argument in the fake", false},
	} {
		real := &asserts.Seen{Level: asserts.Content, Before: sized(4), After: sized(tt.real)}
		fake := &compare.Fake{Seen: asserts.Seen{Level: asserts.Content, Before: sized(4), After: sized(tt.fake)}}
		verdict := compare.Fakes(wholeOp(tt.schema), real, fake, asserts.Aware())
		var got []string
		for _, v := range verdict.Violations {
			got = append(got, said(v))
			if !strings.HasPrefix(v.Fix, tt.fix) || strings.Contains(v.Error(), asserts.MetaAlias.Breaks()) {
				t.Errorf("%s, %d and %d: fix %q\n%v", tt.schema, tt.real, tt.fake, v.Fix, v)
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s, %d and %d\n%s", tt.schema, tt.real, tt.fake, diff)
		}
		if skipped := len(verdict.Skips) > 0; skipped != tt.skipped {
			t.Errorf("%s, %d and %d: skips %v", tt.schema, tt.real, tt.fake, verdict.Skips)
		}
	}
}

// A written tensor is compared with the one passed to the fake, if the kernel kept it, its contents
// were observed and the policy does not skip it.
func TestFakesWrittenTensors(t *testing.T) {
	sized := func(impl asserts.ID, n int64, mods ...mod) asserts.Observation {
		return see(impl, impl+1, append([]mod{holding("abcd"), shaped(func(c *asserts.Snapshot) { c.Sizes = []int64{n} })}, mods...)...)
	}
	four, three := sized(1, 4), sized(1, 3)
	const one, two, listed = "f(Tensor(a!) out) -> ()", "f(Tensor(a!) x, Tensor(b!) out) -> ()", "f(Tensor(a!)[] out) -> ()"
	const inPlace = "f_(Tensor(a!) self) -> ()"
	for _, tt := range []struct {
		name, schema      string
		before, real      list
		givenFake, ofFake list
		want              []string
		judged            uint64
	}{
		{"the second of two", two, list{four, sized(5, 4)}, list{four, sized(5, 3)}, list{four, sized(5, 4)}, list{four, sized(5, 4)}, []string{"OA011 argument out: the kernel left sizes [3], its fake [4]"}, 2},
		{"the second of a list", listed, list{four, sized(5, 4)}, list{four, sized(5, 3)}, list{four, sized(5, 4)}, list{four, sized(5, 4)}, []string{"OA011 argument out[1]: the kernel left sizes [3], its fake [4]"}, 2},
		{"a longer list", listed, list{four, sized(5, 4)}, list{four, sized(5, 3)}, list{four}, list{four}, nil, 1},
		{"another tensor after the call", one, list{four}, list{sized(7, 3)}, list{four}, list{four}, nil, 0},
		{"undefined", one, list{undefined}, list{undefined}, list{undefined}, list{undefined}, nil, 0},
		{"a subclass", one, list{four}, list{sized(1, 3, traits(asserts.DirectSubclass))}, list{four}, list{four}, nil, 0},
		{"not seen before", inPlace, list{see(1, 2)}, list{three}, list{see(1, 2)}, list{four}, []string{"OA011 argument self: the kernel left sizes [3], its fake [4]"}, 1},
		{"not seen after", inPlace, list{four}, list{see(1, 2)}, list{four}, list{four}, nil, 1},
	} {
		seen := func(before, after list) asserts.Seen {
			return asserts.Seen{Level: asserts.Content, Before: before, After: after, ArgLens: []int{len(before)}}
		}
		real, fake := seen(tt.before, tt.real), seen(tt.givenFake, tt.ofFake)
		verdict := compare.Fakes(wholeOp(tt.schema), &real, &compare.Fake{Seen: fake}, asserts.PyTorch())
		var got []string
		for _, v := range verdict.Violations {
			got = append(got, said(v))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || uint64(verdict.Judged[asserts.MetaAlias]) != tt.judged {
			t.Errorf("%s: judged %d\n%s", tt.name, verdict.Judged[asserts.MetaAlias], diff)
		}
	}
	inside := func(part asserts.Observation) asserts.Seen {
		return asserts.Seen{Level: asserts.Content, ArgLens: []int{1, 1}, Before: list{see(1, 2), sized(5, 4)}, After: list{see(1, 2), part}}
	}
	real, fake := inside(sized(5, 4)), compare.Fake{Seen: inside(sized(5, 3))}
	if v := compare.Fakes(asserts.WithParts(wholeOp(one)), &real, &fake, asserts.Aware()).Violations; len(v) > 0 {
		t.Errorf("of an inner tensor: %v", v)
	}
}

// Numbers that both calls return are compared, with one note for all.
func TestFakesNumbers(t *testing.T) {
	for _, tt := range []struct {
		name       string
		real, fake []string
		want       []string
	}{
		{"alike", []string{"3", "true"}, []string{"3", "true"}, nil},
		{"another", []string{"3", "true"}, []string{"3", "false"}, []string{"OA011 argument self (other-contents): the kernel returned number true, its fake false"}},
		{"two others", []string{"3", "4"}, []string{"5", "6"}, []string{"OA011 argument self (other-contents): the kernel returned number 3, its fake 5"}},
		{"left open", []string{"3", "4"}, []string{"", "4"}, nil},
		{"not known", []string{"", "4"}, []string{"3", "4"}, nil},
		{"fewer of the kernel", nil, []string{"3"}, nil},
		{"fewer of the fake", []string{"3"}, nil, nil},
	} {
		args := list{see(1, 2, holding("abcd"))}
		real := &asserts.Seen{Level: asserts.Content, Before: args, After: args, Numbers: tt.real}
		fake := &compare.Fake{Seen: asserts.Seen{Level: asserts.Content, Before: args, After: args, Numbers: tt.fake}}
		verdict := compare.Fakes(wholeOp("f(Tensor self) -> (int, int)"), real, fake, asserts.Aware())
		var got []string
		for _, v := range verdict.Violations {
			got = append(got, said(v))
			if !strings.Contains(v.Error(), "as a constant") {
				t.Errorf("%s: the report does not have the breaks\n%v", tt.name, v)
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s\n%s", tt.name, diff)
		}
	}
}

// Inner tensors are not compared. A result that the policy skips is counted, and so is one that
// contradicts the schema although the fake does not.
func TestFakesSkips(t *testing.T) {
	args := list{see(1, 2, holding("abcd"))}
	seen := func(result asserts.Observation) asserts.Seen {
		return asserts.Seen{Level: asserts.Content, Before: args, After: args, Results: list{result}}
	}
	real, fake := seen(see(1, 2, holding("abcd"))), compare.Fake{Seen: seen(see(3, 4, uses(asserts.NotCounted, asserts.NotCounted), holding("abcd")))}
	verdict := compare.Fakes(wholeOp("f(Tensor self) -> Tensor"), &real, &fake, asserts.Aware())
	want := []asserts.Skip{{Code: asserts.MetaAlias, Reason: "the kernel contradicts the schema, the fake does not", Count: 1}}
	if diff := cmp.Diff(want, verdict.Skips); diff != "" || verdict.Judged[asserts.MetaAlias] != 0 {
		t.Error(diff)
	}
	op := asserts.WithParts(wholeOp("f(Tensor self) -> Tensor"))
	real = asserts.Seen{Level: asserts.Content, Before: args, After: args, ArgLens: []int{1, 0}, Results: list{see(3, 4, holding("abcd")), see(5, 6, holding("a"))}, ResultLens: []int{1, 1}}
	fake = compare.Fake{Seen: asserts.Seen{Level: asserts.Content, Before: args, After: args, ArgLens: []int{1, 0}, Results: list{see(3, 4, holding("abcd"))}, ResultLens: []int{1, 0}}}
	if verdict := compare.Fakes(op, &real, &fake, asserts.Aware()); len(verdict.Violations) > 0 || verdict.Judged[asserts.MetaAlias] != 1 {
		t.Errorf("%v", asserts.Violations(verdict.Violations))
	}
}
