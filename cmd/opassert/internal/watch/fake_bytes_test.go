package watch

import (
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
)

// The results and writes of a call on a device are compared with those of the kernel
// for the CPU if the bytes of its arguments are known; each subject is reported once,
// and omissions are skips.
func TestCompareBytes(t *testing.T) {
	op := &asserts.Op{
		Name: "t::f", Schema: "f(Tensor(a!) x) -> Tensor", Args: []asserts.Subject{{Name: "x", Type: "Tensor(a!)", Before: []string{"a"}, Write: true}},
		Results: []asserts.Subject{{Name: "result", Type: "Tensor"}},
	}
	holds := func(impl asserts.ID, held string) asserts.Observation {
		o := asserts.Observation{Impl: impl, Storage: impl + 1, ImplUses: 1, StorageUses: 1}
		o.Content = &asserts.Snapshot{DType: "uint8", Device: "lpu:0", Sizes: []int64{int64(len(held))}, Strides: []int64{1}, Nbytes: int64(len(held)), Bytes: []byte(held)}
		for _, b := range []byte(held) {
			o.Content.Digest = o.Content.Digest*31 + uint64(b)
		}
		return o
	}
	call := func(before, after, result string) *asserts.Seen {
		return &asserts.Seen{Level: asserts.Content, Before: []asserts.Observation{holds(1, before)}, After: []asserts.Observation{holds(1, after)}, Results: []asserts.Observation{holds(3, result)}}
	}
	unread, undefined, lost, bare := call("ab", "cd", "ef"), call("ab", "cd", "ef"), call("ab", "cd", "ef"), call("ab", "cd", "ef")
	unread.Before[0].Content.Bytes = nil
	undefined.Before[0] = asserts.Observation{}
	bare.Before[0].Content = nil
	lost.Results[0].Content.Bytes, lost.Results[0].Content.Digest = nil, 0
	const left, far = "the call does not change its bytes, on cpu it changes them", "elements differ by more than 0.1"
	for _, tt := range []struct {
		name       string
		real, twin *asserts.Seen
		tolerance  float64
		found      string // a part of each violation
		skip       string
	}{
		{"same", call("ab", "cd", "ef"), call("ab", "cd", "ef"), 0.1, "", ""},
		{"without a tolerance", call("ab", "cd", "ef"), call("ab", "cd", "zz"), 0, "", unasked},
		{"values", call("ab", "cd", "ef"), call("ab", "cd", "zz"), 0.1, far, ""},
		{"a write", call("ab", "ab", "ef"), call("ab", "cd", "ef"), 0, left, unasked},
		{"a write, once", call("ab", "ab", "ef"), call("ab", "cd", "ef"), 0.1, left, ""},
		{"a write, and values", call("ab", "ab", "ef"), call("ab", "cd", "zz"), 0.1, left + "; " + far, ""},
		{"bytes that are not known", unread, call("ab", "ab", "zz"), 0.1, "", unkept},
		{"no contents", bare, call("ab", "ab", "zz"), 0.1, "", unkept},
		{"an undefined argument", undefined, call("ab", "cd", "zz"), 0.1, far, ""},
		{"a result that is random", call("ab", "cd", "ef"), lost, 0.1, "", undecided},
		{"other sizes", call("ab", "cd", "ef"), call("ab", "cd", "efg"), 0.1, "", "values not compared: the sizes or the dtype differ, the elements are not numbers, or not all bytes are copied"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &run{config: Config{Tolerance: tt.tolerance, Policy: asserts.Aware()}}
			verdict := r.compareBytes(op, tt.real, tt.twin)
			var want []string
			if tt.found != "" {
				want = strings.Split(tt.found, "; ")
			}
			if len(verdict.Violations) != len(want) {
				t.Fatalf("%d violations, want %d: %v", len(verdict.Violations), len(want), verdict.Violations)
			}
			for i, v := range verdict.Violations {
				if !strings.Contains(v.Saw, want[i]) {
					t.Errorf("%q, want %q", v.Saw, want[i])
				}
			}
			skip := ""
			for _, s := range verdict.Skips {
				if s.Count > 0 && strings.Contains(s.Reason, "compared") {
					skip += s.Reason
				}
			}
			if skip != tt.skip {
				t.Errorf("skipped %q, want %q", skip, tt.skip)
			}
		})
	}
}
