package asserts_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
)

// The results of the previous call stay unchanged, and nothing else refers to the result.
func TestFreshStorageAfterPreviousCall(t *testing.T) {
	at := func(impl, storage asserts.ID, start uintptr, bytes string) asserts.Observation {
		return see(impl, storage, holding(bytes), shaped(func(c *asserts.Snapshot) { c.Memory = start }))
	}
	bare, gone := see(9, 10), asserts.Observation{Content: &asserts.Snapshot{Panic: "index out of range"}}
	was := at(9, 10, 300, "xy")
	written := at(9, 10, 300, "zy")
	const (
		self    = "f(Tensor self) -> Tensor"
		changed = "OA005 result (returned-before): what the previous call returned has changed: 1 of 2 bytes changed"
		reused  = "OA005 result (returned-before): result lies in the memory of what the previous call returned, under another StorageImpl"
		second  = "OA005 result1 (returned-before): what the previous call returned has changed: 1 of 2 bytes changed"
		fix     = "return memory of its own: a clone of what lies in a buffer shared by calls"
	)
	for _, tt := range []struct {
		judgement
		earlier []asserts.Earlier
	}{
		{judgement{name: "nothing", schema: self, results: list{at(5, 6, 200, "ab")}}, nil},
		{judgement{name: "as it was", schema: self, results: list{at(5, 6, 200, "ab")}}, []asserts.Earlier{{Then: was, Now: was}}},
		{judgement{name: "changed", schema: self, results: list{at(5, 6, 200, "ab")}, want: []string{changed}}, []asserts.Earlier{{Then: was, Now: written}}},
		{judgement{name: "changed the second", schema: self, results: list{at(5, 6, 200, "ab")}, want: []string{changed}}, []asserts.Earlier{{Then: bare, Now: bare}, {Then: was, Now: written}}},
		{judgement{name: "used again", schema: self, results: list{at(5, 6, 301, "ab")}, want: []string{reused}}, []asserts.Earlier{{Then: was, Now: was}}},
		{judgement{name: "used again and changed", schema: self, results: list{at(5, 6, 301, "ab")}, want: []string{reused}}, []asserts.Earlier{{Then: was, Now: written}}},
		{judgement{name: "used again by the second", schema: "f(Tensor self) -> (Tensor, Tensor)", results: list{at(5, 6, 200, "ab"), at(7, 8, 301, "ab")},
			want: []string{"OA005 result1 (returned-before): result1 lies in the memory of what the previous call returned, under another StorageImpl"}}, []asserts.Earlier{{Then: was, Now: was}}},
		{judgement{name: "not observed then", schema: self, results: list{at(5, 6, 200, "ab")}}, []asserts.Earlier{{Then: bare, Now: was}}},
		{judgement{name: "not observed then, used again", schema: self, results: list{at(5, 6, 300, "ab")}}, []asserts.Earlier{{Then: bare, Now: was}}},
		{judgement{name: "not observed now", schema: self, results: list{at(5, 6, 200, "ab")}}, []asserts.Earlier{{Then: was, Now: bare}}},
		{judgement{name: "memory not known now", schema: self, results: list{at(5, 6, 200, "ab")}, want: []string{changed}}, []asserts.Earlier{{Then: was, Now: at(9, 10, 0, "zy")}}},
		{judgement{name: "the same TensorImpl, memory not known", schema: self, results: list{at(9, 10, 0, "xy")},
			want: []string{"OA005 result (returned-before): result is the TensorImpl that the previous call returned"}}, []asserts.Earlier{{Then: at(9, 10, 0, "xy"), Now: at(9, 10, 0, "xy")}}},
		{judgement{name: "the same StorageImpl, memory not known", schema: self, results: list{at(5, 10, 0, "xy")},
			want: []string{"OA005 result (returned-before): result has the StorageImpl of what the previous call returned"}}, []asserts.Earlier{{Then: at(9, 10, 0, "xy"), Now: at(9, 10, 0, "xy")}}},
		{judgement{name: "the same, without bytes", schema: self, results: list{at(9, 10, 0, "")}}, []asserts.Earlier{{Then: at(9, 10, 0, ""), Now: at(9, 10, 0, "")}}},
		{judgement{name: "an argument of before", schema: self, results: list{at(5, 6, 200, "ab")}}, []asserts.Earlier{{Then: was, Now: was, Arg: 1}}},
		{judgement{name: "an argument of before, changed", schema: self, results: list{at(5, 6, 200, "ab")}}, []asserts.Earlier{{Then: was, Now: written, Arg: 1}}},
		{judgement{name: "an argument of before, in its memory", schema: self, results: list{at(5, 6, 301, "ab")}}, []asserts.Earlier{{Then: was, Now: was, Arg: 1}}},
		{judgement{name: "an argument of before, returned", schema: self, results: list{was}}, []asserts.Earlier{{Then: was, Now: was, Arg: 1}}},
		{judgement{name: "the same, resized to no bytes", schema: self, results: list{at(9, 10, 0, "")},
			want: []string{"OA005 result (returned-before): what the previous call returned has changed: storage of 2 bytes resized to 0"}}, []asserts.Earlier{{Then: was, Now: at(9, 10, 0, "")}}},
		{judgement{name: "not observable now", schema: self, results: list{at(5, 6, 200, "ab")}}, []asserts.Earlier{{Then: was, Now: gone}}},
		{judgement{name: "not observable then", schema: self, results: list{at(5, 6, 200, "ab")}}, []asserts.Earlier{{Then: gone, Now: was}}},

		// A change is reported for one return.
		{judgement{name: "changed, two returns", schema: "f(Tensor self) -> (Tensor, Tensor)", results: list{at(5, 6, 200, "ab"), at(7, 8, 400, "ab")},
			want: []string{"OA005 result0 (returned-before): what the previous call returned has changed: 1 of 2 bytes changed"}}, []asserts.Earlier{{Then: was, Now: written}}},
		{judgement{name: "changed, beside a view", schema: "f(Tensor(a) self) -> (Tensor(a), Tensor)", results: list{at(3, 2, 100, "ab"), at(7, 8, 400, "ab")},
			want: []string{second}}, []asserts.Earlier{{Then: was, Now: written}}},
		{judgement{name: "changed, and used again by the second", schema: "f(Tensor self) -> (Tensor, Tensor)", results: list{at(5, 6, 200, "ab"), at(7, 8, 301, "ab")},
			want: []string{"OA005 result1 (returned-before): result1 lies in the memory of what the previous call returned, under another StorageImpl"}}, []asserts.Earlier{{Then: was, Now: written}}},
		{judgement{name: "changed, beside one without a storage", schema: "f(Tensor self) -> (Tensor, Tensor)", results: list{see(5, 0), at(7, 8, 400, "ab")},
			want: []string{second}}, []asserts.Earlier{{Then: was, Now: written}}},
		{judgement{name: "changed, and nothing is fresh", schema: self, results: list{undefined}}, []asserts.Earlier{{Then: was, Now: written}}},
		{judgement{name: "changed, beside nothing", schema: "f(Tensor self) -> (Tensor, Tensor)", results: list{undefined, at(7, 8, 400, "ab")},
			want: []string{second}}, []asserts.Earlier{{Then: was, Now: written}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.before = list{at(1, 2, 100, "ab")}
			op, seen := tt.call()
			seen.Earlier = tt.earlier
			var got []string
			for _, v := range asserts.Judge(op, seen, asserts.Aware()).Violations {
				got = append(got, said(v))
				if v.Fix != fix {
					t.Errorf("fix %q, want %q", v.Fix, fix)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// Memory that the StorageImpl does not free is not the return's own. The owner of memory that a
// function frees is known only from the previous call.
func TestFreshStorageOwner(t *testing.T) {
	at := func(impl, storage asserts.ID, start uintptr, owner asserts.Owner) asserts.Observation {
		return see(impl, storage, holding("ab"), shaped(func(c *asserts.Snapshot) { c.Memory, c.Owner = start, owner }))
	}
	const (
		static = "OA005 result: result lies in memory that its StorageImpl does not free: another object's, or static"
		reused = "OA005 result (returned-before): result lies in the memory of what the previous call returned, under another StorageImpl"
		lent   = "memory from no allocator of the device: its other owners are not known"
	)
	elsewhere := at(9, 10, 300, asserts.OwnStorage)
	before := func(o asserts.Observation) []asserts.Earlier { return []asserts.Earlier{{Then: o, Now: o}} }
	for _, tt := range []struct {
		name    string
		result  asserts.Observation
		earlier []asserts.Earlier
		want    []string
		skipped int
	}{
		{"the storage", at(5, 6, 200, asserts.OwnStorage), nil, nil, 0},
		{"nobody", at(5, 6, 200, asserts.NoOwner), nil, []string{static}, 0},
		{"nobody, and the call before returned it", at(5, 6, 300, asserts.NoOwner), before(elsewhere), []string{static}, 0},
		{"somebody, and nothing is known of the call before", at(5, 6, 200, asserts.ForeignOwner), nil, nil, 1},
		{"somebody, and the call before was not observed", at(5, 6, 200, asserts.ForeignOwner), before(see(9, 10)), nil, 1},
		{"somebody, and the memory of the call before is not known", at(5, 6, 200, asserts.ForeignOwner), before(at(9, 10, 0, asserts.OwnStorage)), nil, 1},
		{"somebody, and the call before was given other memory", at(5, 6, 200, asserts.ForeignOwner), []asserts.Earlier{{Then: elsewhere, Now: elsewhere, Arg: 1}}, nil, 1},
		{"somebody, and the call before returned other memory", at(5, 6, 200, asserts.ForeignOwner), before(elsewhere), nil, 0},
		{"somebody, and the call before returned it", at(5, 6, 300, asserts.ForeignOwner), before(elsewhere), []string{reused}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := judgement{schema: "f(Tensor self) -> Tensor", before: list{at(1, 2, 100, asserts.OwnStorage)}, results: list{tt.result}}
			op, seen := j.call()
			seen.Earlier = tt.earlier
			verdict := asserts.Judge(op, seen, asserts.Aware())
			var got []string
			for _, v := range verdict.Violations {
				got = append(got, said(v))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			skipped := 0
			for _, s := range verdict.Skips {
				if s.Code == asserts.FreshStorage && s.Reason == lent {
					skipped += s.Count
				}
			}
			if skipped != tt.skipped {
				t.Errorf("skipped %d, want %d: %v", skipped, tt.skipped, verdict.Skips)
			}
		})
	}
}

// A return that is written after the call is one fault, whatever is wrong with the other returns.
func TestFreshStorageWrittenLate(t *testing.T) {
	at := func(impl, storage asserts.ID, start uintptr, bytes string, mods ...mod) asserts.Observation {
		return see(impl, storage, append([]mod{holding(bytes), shaped(func(c *asserts.Snapshot) { c.Memory = start })}, mods...)...)
	}
	self, was := at(1, 2, 100, "ab"), at(9, 10, 300, "xy")
	const (
		reused        = "OA005 result0 (returned-before): result0 lies in the memory of what the previous call returned, under another StorageImpl"
		late0         = "OA005 result0: result0 changed after the call, so a reference is held elsewhere: 1 of 2 bytes changed"
		late1         = "OA005 result1: result1 changed after the call, so a reference is held elsewhere: 1 of 2 bytes changed"
		heldElsewhere = "OA003 result0: use_count of the TensorImpl of result0 is 2, and no tensor of the call shares it: a reference is held elsewhere"
	)
	a, b := at(5, 6, 200, "ab"), at(7, 8, 400, "cd")
	gone := asserts.Observation{Content: &asserts.Snapshot{Panic: "index out of range"}}
	for _, tt := range []struct {
		name          string
		results, late list
		want          []string
	}{
		{"as they were", list{a, b}, list{a, b}, nil},
		{"both", list{a, b}, list{at(5, 6, 200, "aB"), at(7, 8, 400, "cD")}, []string{late0, late1}},
		{"one, not observable later", list{a, b}, list{gone, b}, nil},
		{"one that is used again", list{at(5, 6, 301, "ab"), b}, list{at(5, 6, 301, "aB"), b}, []string{reused}},
		{"one beside one that is used again", list{at(5, 6, 301, "ab"), b}, list{at(5, 6, 301, "ab"), at(7, 8, 400, "cD")}, []string{reused, late1}},
		{"one that somebody holds", list{at(5, 6, 200, "ab", uses(2, 1)), b}, list{at(5, 6, 200, "aB", uses(2, 1)), b}, []string{heldElsewhere}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := judgement{schema: "f(Tensor self) -> (Tensor, Tensor)", before: list{self}, results: tt.results}
			op, seen := j.call()
			seen.Late, seen.Earlier = append(list{self}, tt.late...), []asserts.Earlier{{Then: was, Now: was}}
			var got []string
			for _, v := range asserts.Judge(op, seen, asserts.Aware()).Violations {
				got = append(got, said(v))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// The fix for a storage that is not fresh depends on its holder.
func TestFixOfFreshStorage(t *testing.T) {
	for _, tt := range []struct {
		name    string
		results list
		want    string
	}{
		{"somebody out of sight", list{see(5, 6, uses(1, 2)), see(7, 8)}, "keep no view of the result, as a cache would, or return a clone"},
		{"another return", list{see(5, 6, uses(1, 2)), see(7, 6, uses(1, 2))}, "clone before returning"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := judgement{schema: "f(Tensor self) -> (Tensor, Tensor)", before: list{see(1, 2)}, results: tt.results, drop: "OA008"}
			op, seen := j.call()
			vs := asserts.Judge(op, seen, asserts.Aware()).Violations
			if len(vs) != 1 || vs[0].Code != asserts.FreshStorage || vs[0].Fix != tt.want {
				t.Errorf("%v, want one with fix %q", asserts.Violations(vs), tt.want)
			}
		})
	}
}
