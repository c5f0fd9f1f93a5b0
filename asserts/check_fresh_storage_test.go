package asserts_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
)

// What the call before returned stays as it was, and nobody else's.
func TestFreshStorageAfterTheCallBefore(t *testing.T) {
	at := func(impl, storage asserts.ID, start uintptr, bytes string) asserts.Observation {
		return see(impl, storage, holding(bytes), shaped(func(c *asserts.Snapshot) { c.Memory = start }))
	}
	bare := see(9, 10)
	was := at(9, 10, 300, "xy")
	written := at(9, 10, 300, "zy")
	const (
		self    = "f(Tensor self) -> Tensor"
		changed = "OA005 result: of what the call before returned 1 of 2 bytes changed"
		reused  = "OA005 result: result lies in the memory of what the call before returned, under another StorageImpl"
		second  = "OA005 result1: of what the call before returned 1 of 2 bytes changed"
		fix     = "return memory of its own: a clone of what lies in a buffer that calls share"
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
			want: []string{"OA005 result1: result1 lies in the memory of what the call before returned, under another StorageImpl"}}, []asserts.Earlier{{Then: was, Now: was}}},
		{judgement{name: "not observed then", schema: self, results: list{at(5, 6, 200, "ab")}}, []asserts.Earlier{{Then: bare, Now: was}}},
		{judgement{name: "not observed then, used again", schema: self, results: list{at(5, 6, 300, "ab")}}, []asserts.Earlier{{Then: bare, Now: was}}},
		{judgement{name: "not observed now", schema: self, results: list{at(5, 6, 200, "ab")}}, []asserts.Earlier{{Then: was, Now: bare}}},
		{judgement{name: "memory not known now", schema: self, results: list{at(5, 6, 200, "ab")}, want: []string{changed}}, []asserts.Earlier{{Then: was, Now: at(9, 10, 0, "zy")}}},
		{judgement{name: "the same TensorImpl, memory not known", schema: self, results: list{at(9, 10, 0, "xy")},
			want: []string{"OA005 result: result is the TensorImpl that the call before returned"}}, []asserts.Earlier{{Then: at(9, 10, 0, "xy"), Now: at(9, 10, 0, "xy")}}},
		{judgement{name: "the same StorageImpl, memory not known", schema: self, results: list{at(5, 10, 0, "xy")},
			want: []string{"OA005 result: result has the StorageImpl of what the call before returned"}}, []asserts.Earlier{{Then: at(9, 10, 0, "xy"), Now: at(9, 10, 0, "xy")}}},
		{judgement{name: "the same, without bytes", schema: self, results: list{at(9, 10, 0, "")}}, []asserts.Earlier{{Then: at(9, 10, 0, ""), Now: at(9, 10, 0, "")}}},
		{judgement{name: "an argument of before", schema: self, results: list{at(5, 6, 200, "ab")}}, []asserts.Earlier{{Then: was, Now: was, Arg: 1}}},

		// What has changed is said of one return.
		{judgement{name: "changed, two returns", schema: "f(Tensor self) -> (Tensor, Tensor)", results: list{at(5, 6, 200, "ab"), at(7, 8, 400, "ab")},
			want: []string{"OA005 result0: of what the call before returned 1 of 2 bytes changed"}}, []asserts.Earlier{{Then: was, Now: written}}},
		{judgement{name: "changed, beside a view", schema: "f(Tensor(a) self) -> (Tensor(a), Tensor)", results: list{at(3, 2, 100, "ab"), at(7, 8, 400, "ab")},
			want: []string{second}}, []asserts.Earlier{{Then: was, Now: written}}},
		{judgement{name: "changed, and used again by the second", schema: "f(Tensor self) -> (Tensor, Tensor)", results: list{at(5, 6, 200, "ab"), at(7, 8, 301, "ab")},
			want: []string{"OA005 result1: result1 lies in the memory of what the call before returned, under another StorageImpl"}}, []asserts.Earlier{{Then: was, Now: written}}},
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

// The fix of a storage that is not fresh depends on who holds it.
func TestFixOfFreshStorage(t *testing.T) {
	for _, tt := range []struct {
		name    string
		results list
		want    string
	}{
		{"somebody out of sight", list{see(5, 6, uses(1, 2)), see(7, 8)}, "keep no view of what is returned, as a cache would, or return a clone of it"},
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
