package compare_test

import (
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/compare"
)

// An argument that only one of two calls changes is reported, unless the two began with different
// or unknown bytes, another argument has the storage, or the check is waived.
func TestChanges(t *testing.T) {
	const was, is, other = "abcd", "abce", "abcf"
	const one = "f_(Tensor(a!) self) -> ()"
	on := func(impl asserts.ID, bytes string) asserts.Observation { return see(impl, impl+1, holding(bytes)) }
	call := func(before, after list) *asserts.Seen {
		return &asserts.Seen{Level: asserts.Meta, Before: before, After: after}
	}
	of := func(before, after string) *asserts.Seen { return call(list{on(1, before)}, list{on(1, after)}) }
	without := see(1, 2)
	noDigest := see(1, 2, holding(was), shaped(func(c *asserts.Snapshot) { c.Digest = 0 }))
	moved := see(1, 7, holding(is))
	both := func(second asserts.Observation) *asserts.Seen {
		return call(list{on(1, was), second}, list{on(1, is), second})
	}
	const two = "f_(Tensor(a!) self, Tensor other) -> ()"
	const kept, changed = "OA011 argument self (other-contents): the call does not change its bytes, on cpu it changes them", "OA011 argument self (other-contents): the call changes its bytes, on cpu it does not change them"
	for _, tt := range []struct {
		name, schema string
		real, twin   *asserts.Seen
		want         string
	}{
		{"left", one, of(was, was), of(was, is), kept},
		{"changed", one, of(was, is), of(was, was), changed},
		{"both change", one, of(was, is), of(was, other), ""},
		{"none changes", one, of(was, was), of(was, was), ""},
		{"not written by the schema", "f(Tensor self) -> ()", of(was, was), of(was, is), ""},
		{"other bytes before", one, of(other, other), of(was, is), ""},
		{"more bytes after", one, of(was, was), of(was, "abcde"), ""},
		{"no bytes", one, of("", ""), of("", ""), ""},
		{"no contents", one, call(list{without}, list{without}), of(was, is), ""},
		{"no contents after", one, of(was, was), call(list{on(1, was)}, list{without}), ""},
		{"bytes that are not known", one, call(list{noDigest}, list{on(1, is)}), call(list{noDigest}, list{noDigest}), ""},
		{"another storage after", one, call(list{on(1, was)}, list{moved}), of(was, was), ""},
		{"beside another argument", two, both(on(5, was)), call(list{on(1, was), on(5, was)}, list{on(1, was), on(5, was)}), changed},
		{"with the storage of another argument", two, both(see(5, 2, holding(was))), call(list{on(1, was), see(5, 2, holding(was))}, list{on(1, was), see(5, 2, holding(was))}), ""},
		{"without a storage", one, call(list{see(1, 0, holding(was))}, list{see(1, 0, holding(is))}), of(was, was), ""},
		{"a subclass", one, call(list{see(1, 2, holding(was), traits(asserts.DirectSubclass))}, list{see(1, 2, holding(is), traits(asserts.DirectSubclass))}), of(was, was), ""},
		{"fewer arguments", two, both(on(5, was)), &asserts.Seen{Level: asserts.Meta}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			op := opOf(tt.schema)
			found := compare.Changes(op, tt.real, tt.twin, "cpu", asserts.PyTorch()).Violations
			got := ""
			for _, v := range found {
				got += said(v)
			}
			if got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
			op = opOf(tt.schema)
			op.Waived = []asserts.Code{asserts.MetaAlias}
			if found := compare.Changes(op, tt.real, tt.twin, "cpu", asserts.Aware()).Violations; len(found) > 0 {
				t.Errorf("waived: %v", found)
			}
		})
	}
}

// Inner tensors are not compared.
func TestChangesInside(t *testing.T) {
	call := func(bytes string) *asserts.Seen {
		return &asserts.Seen{Level: asserts.Meta, ArgLens: []int{1, 1}, Before: list{see(1, 2), see(3, 4, holding("abcd"))}, After: list{see(1, 2), see(3, 4, holding(bytes))}}
	}
	op := asserts.WithParts(opOf("f_(Tensor(a!) self) -> ()"))
	if v := compare.Changes(op, call("abcd"), call("abce"), "cpu", asserts.Aware()).Violations; len(v) > 0 {
		t.Errorf("%v", v)
	}
}

// A return that contradicts the schema on one of two devices is not reported as a difference too:
// another check has reported it. A difference where neither does, or both do, is.
func TestTwinsOfContradiction(t *testing.T) {
	device := "openreg:0"
	on := func(impl, storage asserts.ID, strides ...int64) asserts.Observation {
		return see(impl, storage, holding("abcd"), shaped(func(c *asserts.Snapshot) {
			c.Device, c.Sizes, c.Strides = device, []int64{2, 2}, strides
		}))
	}
	call := func(result asserts.Observation) *asserts.Seen {
		args := list{on(1, 2, 2, 1)}
		return &asserts.Seen{Level: asserts.Meta, Before: args, After: args, Results: list{result}}
	}
	op := opOf("f(Tensor self) -> Tensor")
	for _, tt := range []struct {
		name       string
		real, twin asserts.Observation
		want       string
	}{
		{"on the device", on(1, 2, 2, 1), on(3, 4, 1, 2), ""},
		{"on the other", on(3, 4, 2, 1), on(1, 2, 1, 2), ""},
		{"on neither", on(3, 4, 2, 1), on(3, 4, 1, 2), "OA011 result: strides [2 1] of sizes [2 2], on cpu [1 2]"},
		{"on both", on(1, 2, 2, 1), on(3, 2, 2, 1), "OA011 result: it is argument self, on cpu it shares storage with argument self"},
	} {
		got := ""
		for _, v := range compare.Twins(op, call(tt.real), call(tt.twin), "cpu", asserts.Aware()).Violations {
			got += said(v)
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	// The fault of a fake is no other check's, nor is that of a kernel in another place than a device.
	fake := &compare.Fake{Seen: *call(on(1, 2, 2, 1))}
	if got := compare.Fakes(op, call(on(3, 4, 2, 1)), fake, asserts.Aware()).Violations; len(got) != 1 {
		t.Errorf("a fake that returns its argument: %v", got)
	}
	for _, device = range []string{"", "cpu"} {
		if got := compare.Twins(op, call(on(1, 2, 2, 1)), call(on(3, 4, 1, 2)), "cpu", asserts.Aware()).Violations; len(got) != 1 {
			t.Errorf("on device %q: %v", device, got)
		}
	}
}

// A view with another offset than on the other device is reported, but not a fresh result or one
// without elements.
func TestTwinsOffsets(t *testing.T) {
	at := func(impl, storage asserts.ID, offset int64, sizes ...int64) asserts.Observation {
		return see(impl, storage, holding("abcd"), shaped(func(c *asserts.Snapshot) { c.Offset, c.Sizes, c.Strides = offset, sizes, []int64{1} }))
	}
	call := func(result asserts.Observation) *asserts.Seen {
		args := list{at(1, 2, 0, 4)}
		return &asserts.Seen{Level: asserts.Meta, Before: args, After: args, Results: list{result}}
	}
	op := opOf("f(Tensor(a) self) -> Tensor(a)")
	for _, tt := range []struct {
		name       string
		real, twin asserts.Observation
		want       string
	}{
		{"same", at(3, 2, 1, 2), at(3, 2, 1, 2), ""},
		{"other", at(3, 2, 0, 2), at(3, 2, 1, 2), "OA011 result: offset 0, on cpu 1"},
		{"without elements", at(3, 2, 0, 0), at(3, 2, 1, 0), ""},
		{"fresh", at(3, 4, 0, 2), at(3, 4, 1, 2), ""},
		{"a view on one alone", at(3, 2, 0, 2), at(3, 4, 1, 2), "OA011 result: it shares storage with argument self, on cpu it shares with nothing"},
	} {
		got := ""
		for _, v := range compare.Twins(op, call(tt.real), call(tt.twin), "cpu", asserts.Aware()).Violations {
			got += said(v)
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	beside := compare.Fake{Seen: *call(at(3, 2, 1, 2)), Open: []compare.Open{{Offset: true}}}
	if v := compare.Twins(op, call(at(3, 2, 0, 2)), beside.Settled(call(at(3, 2, 0, 2))), "cpu", asserts.Aware()).Violations; len(v) > 0 {
		t.Errorf("with unknown values: %v", v)
	}
	if v := compare.Fakes(op, call(at(3, 2, 0, 2)), &compare.Fake{Seen: *call(at(3, 2, 1, 2))}, asserts.Aware()).Violations; len(v) > 0 {
		t.Errorf("of a fake: %v", v)
	}
}
