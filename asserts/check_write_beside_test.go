package asserts_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
)

// part is a tensor of two bytes at an offset of a storage.
func part(impl, storage asserts.ID, offset int64, bytes ...byte) asserts.Observation {
	o := see(impl, storage, holding(string(bytes)))
	o.Version = 0
	o.Content.Sizes, o.Content.Offset = []int64{2}, offset
	return o
}

func TestWriteBeside(t *testing.T) {
	written := func(o asserts.Observation) asserts.Observation { o.Version++; return o }
	large := part(1, 2, 1, 0, 0, 0, 0)
	large.Content.Bytes, large.Content.Nbytes = nil, asserts.SnapshotLimit+1
	nested := func(bytes ...byte) asserts.Observation {
		o := part(1, 2, 1, bytes...)
		o.Content.Layout = "Nested"
		return o
	}
	at := func(memory uintptr, o asserts.Observation) asserts.Observation {
		o.Content.Memory = memory
		return o
	}
	for _, tt := range []struct {
		name, op      string
		before, after list
		want          asserts.Code // 0: no report
		skip          bool
	}{
		{"its own elements", "f_(Tensor(a!) self) -> ()", list{part(1, 2, 1, 0, 0, 0, 0)}, list{written(part(1, 2, 1, 0, 9, 9, 0))}, 0, false},
		{"before them", "f_(Tensor(a!) self) -> ()", list{part(1, 2, 1, 0, 0, 0, 0)}, list{written(part(1, 2, 1, 9, 0, 0, 0))}, asserts.WriteBeside, false},
		{"behind them", "f_(Tensor(a!) self) -> ()", list{part(1, 2, 1, 0, 0, 0, 0)}, list{written(part(1, 2, 1, 0, 0, 0, 9))}, asserts.WriteBeside, false},
		{"where another is written", "f_(Tensor(a!) self, Tensor(b!) x) -> ()", list{part(1, 2, 0, 0, 0, 0, 0), part(3, 2, 2, 0, 0, 0, 0)},
			list{written(part(1, 2, 0, 0, 0, 9, 0)), written(part(3, 2, 2, 0, 0, 9, 0))}, 0, false},
		{"where another is read", "f_(Tensor(a!) self, Tensor x) -> ()", list{part(1, 2, 0, 0, 0, 0, 0), part(3, 2, 2, 0, 0, 0, 0)},
			list{written(part(1, 2, 0, 0, 0, 9, 0)), part(3, 2, 2, 0, 0, 9, 0)}, asserts.UndeclaredWrite, false},
		{"where it has moved to", "resize_(Tensor(a!) self) -> ()", list{part(1, 2, 0, 0, 0, 0, 0)}, list{written(part(1, 2, 2, 0, 0, 9, 9))}, 0, false},
		{"in a storage that grew", "f(Tensor(a!) out) -> ()", list{part(1, 2, 0, 0, 0, 0)}, list{written(part(1, 2, 0, 0, 0, 9, 9))}, asserts.WriteBeside, false},
		{"where a slice that begins later is written", "f_(Tensor(a!) self, Tensor(b!) x) -> ()",
			list{at(1000, part(1, 2, 0, 0, 0, 0, 0)), at(1002, part(3, 2, 0, 0, 0))},
			list{written(at(1000, part(1, 2, 0, 0, 0, 9, 0))), written(at(1002, part(3, 2, 0, 9, 0)))}, 0, false},
		{"where one is written, and memory has no address", "f_(Tensor(a!) self, Tensor(b!) x) -> ()",
			list{part(1, 2, 0, 0, 0, 0, 0), at(1002, part(3, 2, 2, 0, 0, 0, 0))},
			list{written(part(1, 2, 0, 0, 0, 9, 0)), written(at(1002, part(3, 2, 2, 0, 0, 9, 0)))}, 0, false},
		{"of a nested tensor", "f_(Tensor(a!) self) -> ()", list{nested(0, 0, 0, 0)}, list{written(nested(9, 9, 9, 9))}, 0, true},
		{"that is read too and has no storage", "f(Tensor self, Tensor(a!) x) -> ()", list{part(1, 0, 0), part(1, 0, 0)}, list{written(part(1, 0, 0)), written(part(1, 0, 0))}, 0, true},
		{"out of sight", "f_(Tensor(a!) self) -> ()", list{large}, list{written(large)}, 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			verdict := asserts.Judge(wholeOp(tt.op), &asserts.Seen{Level: asserts.Content, Before: tt.before, After: tt.after}, asserts.Aware())
			var got asserts.Code
			for _, v := range verdict.Violations {
				if v.Code == asserts.WriteBeside || v.Code == asserts.UndeclaredWrite {
					got = v.Code
				}
			}
			skipped := false
			for _, s := range verdict.Skips {
				skipped = skipped || s.Code == asserts.WriteBeside
			}
			if got != tt.want || skipped != tt.skip || (verdict.Judged[asserts.WriteBeside] == 0) != tt.skip {
				t.Errorf("%v, judged %d, skips %v; want %v", asserts.Violations(verdict.Violations), verdict.Judged[asserts.WriteBeside], verdict.Skips, tt.want)
			}
		})
	}
}

// Bytes at another address after the call were moved, which other holders of the memory do not see.
func TestMovedBytes(t *testing.T) {
	at := func(start uintptr, bytes string) list {
		o := see(1, 2, holding(bytes))
		o.Content.Memory = start
		return list{o}
	}
	const moved = "OA009 argument self: the bytes of the storage have moved to other memory, version 0 -> 0"
	for _, test := range []judgement{
		{name: "moved", before: at(100, "xy"), after: at(200, "xy"), want: []string{moved}},
		{name: "as they were", before: at(100, "xy"), after: at(100, "xy")},
		{name: "not known before", before: at(0, "xy"), after: at(200, "xy")},
		{name: "not known after", before: at(100, "xy"), after: at(0, "xy")},
		{name: "moved and changed", before: at(100, "xy"), after: at(200, "zy"), want: []string{"OA009 argument self: 1 of 2 bytes changed, version 0 -> 0"}},
	} {
		test.schema = "f(Tensor self) -> ()"
		t.Run(test.name, test.test)
	}
}

// Memory shared under two StorageImpls is shared like that under one.
func TestSharedMemory(t *testing.T) {
	in := func(start uintptr) mod {
		return func(o *asserts.Observation) { o.Content = &asserts.Snapshot{Memory: start, Nbytes: 16} }
	}
	for _, tt := range []struct {
		name, op string
		arg      uintptr
		results  list
		want     asserts.Code
	}{
		{"apart", "f(Tensor self) -> Tensor", 100, list{see(5, 6, in(116))}, 0},
		{"an argument's", "f(Tensor self) -> Tensor", 100, list{see(5, 6, in(100))}, asserts.UndeclaredAlias},
		{"the end of an argument's", "f(Tensor self) -> Tensor", 100, list{see(5, 6, in(115))}, asserts.UndeclaredAlias},
		{"its beginning", "f(Tensor self) -> Tensor", 100, list{see(5, 6, in(85))}, asserts.UndeclaredAlias},
		{"not known", "f(Tensor self) -> Tensor", 0, list{see(5, 6, in(0))}, 0},
		{"a written argument's", "f_(Tensor(a!) self) -> Tensor", 100, list{see(5, 6, in(100))}, asserts.UndeclaredAlias},
		{"a declared view's base's", "f(Tensor(a) self) -> Tensor(a)", 100, list{see(5, 6, in(100))}, asserts.ViewStorage},
		{"another return's", "f(Tensor self) -> (Tensor, Tensor)", 100, list{see(5, 6, in(200)), see(7, 8, in(208))}, asserts.OutputAlias},
		{"not known of the argument", "f(Tensor self) -> Tensor", 0, list{see(5, 6, in(8))}, 0},
		{"not known of the return", "f(Tensor self) -> Tensor", 8, list{see(5, 6, in(0))}, 0},
		{"anything's", "f(Tensor self) -> Tensor(*)", 100, list{see(5, 6, in(100))}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			seen := &asserts.Seen{Level: asserts.Content, Before: list{see(1, 2, in(tt.arg))}, After: list{see(1, 2, in(tt.arg))}, Results: tt.results}
			vs := asserts.Judge(wholeOp(tt.op), seen, asserts.Aware()).Violations
			var got asserts.Code
			if len(vs) == 1 {
				got = vs[0].Code
			}
			if got != tt.want || len(vs) > 1 {
				t.Errorf("%v, want %v", asserts.Violations(vs), tt.want)
			}
		})
	}
}

// A write through another StorageImpl into the memory of an argument without (a!) is not attributed
// to that argument.
func TestWrittenUnderAnotherStorage(t *testing.T) {
	at := func(o asserts.Observation) asserts.Observation { o.Content.Memory = 100; return o }
	seen := &asserts.Seen{
		Level:  asserts.Content,
		Before: list{at(part(1, 2, 0, 0, 0)), at(part(3, 4, 0, 0, 0))},
		After:  list{at(part(1, 2, 0, 9, 9)), at(part(3, 4, 0, 9, 9))},
	}
	seen.After[0].Version++
	seen.After[1].Version++
	verdict := asserts.Judge(wholeOp("f_(Tensor(a!) self, Tensor x) -> ()"), seen, asserts.Aware())
	if len(verdict.Violations) > 0 {
		t.Errorf("%v", asserts.Violations(verdict.Violations))
	}
	if len(verdict.Skips) != 1 || verdict.Skips[0].Code != asserts.UndeclaredWrite {
		t.Errorf("skips %v", verdict.Skips)
	}
}

// One write beside an argument is one report, about it or about the argument read there; a replaced
// argument is the report instead.
func TestWriteBesideOnce(t *testing.T) {
	written := func(o asserts.Observation) asserts.Observation { o.Version++; return o }
	before, beside := part(1, 2, 1, 0, 0, 0, 0), written(part(1, 2, 1, 9, 0, 0, 0))
	for _, tt := range []struct {
		name, op      string
		before, after list
		want          []string
	}{
		{"of another TensorImpl", "f_(Tensor(a!) self) -> ()", list{before}, list{written(part(9, 2, 1, 9, 0, 0, 0))}, []string{"OA001 argument self"}},
		{"of another StorageImpl", "f_(Tensor(a!) self) -> ()", list{before}, list{written(part(1, 9, 1, 9, 0, 0, 0))}, []string{"OA002 argument self"}},
		{"and no version rose", "f_(Tensor(a!) self) -> ()", list{before}, list{part(1, 2, 1, 9, 9, 0, 0)}, []string{"OA010 argument self", "OA015 argument self"}},
		{"beside two", "f_(Tensor(a!) self, Tensor(b!) x) -> ()", list{before, part(3, 2, 1, 0, 0, 0, 0)}, list{beside, written(part(3, 2, 1, 9, 0, 0, 0))}, []string{"OA015 argument self"}},
		{"where another is read", "f_(Tensor(a!) self, Tensor x) -> ()", list{before, part(3, 2, 0, 0, 0, 0, 0)}, list{beside, part(3, 2, 0, 9, 0, 0, 0)}, []string{"OA009 argument x"}},
		{"and one elsewhere is written", "f_(Tensor(a!) self, Tensor x) -> ()", list{before, part(3, 4, 0, 0, 0)}, list{beside, part(3, 4, 0, 9, 0)}, []string{"OA015 argument self", "OA009 argument x"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			verdict := asserts.Judge(wholeOp(tt.op), &asserts.Seen{Level: asserts.Content, Before: tt.before, After: tt.after}, asserts.Aware())
			var got []string
			for _, v := range verdict.Violations {
				got = append(got, fmt.Sprint(v.Code, " ", v.Subject))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Two returns in an argument's memory are reported as views of the argument, as the fix tells.
func TestReturnsInAnArgumentsMemory(t *testing.T) {
	in := func(o *asserts.Observation) { o.Content = &asserts.Snapshot{Memory: 100, Nbytes: 16} }
	seen := &asserts.Seen{Level: asserts.Content, Before: list{see(1, 2, in)}, After: list{see(1, 2, in)}, Results: list{see(5, 6, in), see(7, 8, in)}}
	vs := asserts.Judge(wholeOp("f(Tensor self) -> (Tensor, Tensor)"), seen, asserts.Aware()).Violations
	for _, v := range vs {
		if v.Code != asserts.UndeclaredAlias || !strings.Contains(v.Fix, "return a view of it") {
			t.Error(v)
		}
	}
	if len(vs) != 2 {
		t.Errorf("%d violations, want one for each return", len(vs))
	}
}

// Without a storage, contents observed on one side prove nothing.
func TestContentWithoutStorage(t *testing.T) {
	seen := see(1, 0, holding("a"))
	for _, tt := range [][2]asserts.Observation{{see(1, 0), seen}, {seen, see(1, 0)}} {
		verdict := asserts.Judge(opOf("f(Tensor self) -> ()"), &asserts.Seen{Level: asserts.Content, Before: list{tt[0]}, After: list{tt[1]}}, asserts.Aware())
		for _, s := range verdict.Skips {
			if s.Code == asserts.UndeclaredWrite && s.Reason != "no storage" {
				t.Errorf("skips %v", verdict.Skips)
			}
		}
	}
}

// Memory is compared only for different storages.
func TestMemoryOfOneStorage(t *testing.T) {
	at := func(o asserts.Observation) asserts.Observation { o.Content.Memory = 100; return o }
	both := list{at(part(1, 2, 0, 0, 0)), at(part(3, 2, 0, 0, 0))}
	verdict := asserts.Judge(wholeOp("f_(Tensor(a!) self, Tensor x) -> ()"), &asserts.Seen{Level: asserts.Content, Before: both, After: both}, asserts.Aware())
	want := []asserts.Skip{{Code: asserts.UndeclaredWrite, Reason: "storage shared with a written argument", Count: 1}}
	if diff := cmp.Diff(want, verdict.Skips); diff != "" {
		t.Error(diff)
	}
}
