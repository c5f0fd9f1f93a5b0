package asserts_test

import (
	"slices"
	"testing"

	"github.com/opassert/opassert/asserts"
)

// wantSaw judges a call and compares the evidence of each fault.
func wantSaw(t *testing.T, op *asserts.Op, seen *asserts.Seen, want []string) {
	t.Helper()
	var got []string
	for _, v := range asserts.Judge(op, seen, asserts.Aware()).Violations {
		got = append(got, v.Code.String()+" "+v.Subject.String()+": "+v.Saw)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A write after a call is found some milliseconds later, or in the next call, and is one fault.
func TestWrittenLate(t *testing.T) {
	at := func(impl, storage asserts.ID, bytes string) asserts.Observation {
		return see(impl, storage, holding(bytes))
	}
	const (
		fresh   = "f(Tensor self) -> Tensor"
		inplace = "f_(Tensor(a!) self) -> Tensor(a!)"
	)
	a, b, changed := at(1, 2, "ab"), at(5, 6, "cd"), at(1, 2, "aB")
	for _, tt := range []struct {
		judgement
		late    []asserts.Observation
		earlier []asserts.Earlier
	}{
		{judgement{name: "nobody looked", schema: fresh, before: list{a}, results: list{b}}, nil, nil},
		{judgement{name: "as it was", schema: fresh, before: list{a}, results: list{b}}, list{a, b}, nil},
		{judgement{name: "argument", schema: fresh, before: list{a}, results: list{b},
			want: []string{"OA016 argument self: argument self changed after the call: 1 of 2 bytes changed"}}, list{changed, b}, nil},
		{judgement{name: "written argument", schema: inplace, before: list{a}, results: list{a},
			want: []string{"OA016 argument self: argument self changed after the call: 1 of 2 bytes changed"}}, list{changed, changed}, nil},
		{judgement{name: "return", schema: fresh, before: list{a}, results: list{b},
			want: []string{"OA005 result: result changed after the call, so a reference is held elsewhere: 1 of 2 bytes changed"}}, list{a, at(5, 6, "cD")}, nil},
		{judgement{name: "written in the call too", schema: fresh, before: list{a}, after: list{at(1, 2, "Ab")}, results: list{b},
			want: []string{"OA009 argument self: 1 of 2 bytes changed, version 0 -> 0"}}, list{at(1, 2, "AB"), b}, nil},
		{judgement{name: "the argument of the call before", schema: inplace, before: list{a}, results: list{a},
			want: []string{"OA016 argument self: the argument self of the previous call, which the op kept, changed during this one: 1 of 2 bytes changed"}},
			nil, []asserts.Earlier{{Then: at(8, 9, "ab"), Now: at(8, 9, "xb"), Arg: 1}}},
		{judgement{name: "the argument of the call before, as it was", schema: inplace, before: list{a}, results: list{a}},
			nil, []asserts.Earlier{{Then: at(8, 9, "ab"), Now: at(8, 9, "ab"), Arg: 1}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.more = []asserts.Check{{Code: asserts.KeptArgument, On: asserts.ArgRef(0)}}
			op, seen := tt.call()
			seen.Late, seen.Earlier, seen.Alone = tt.late, tt.earlier, true
			wantSaw(t, op, seen, tt.want)
		})
	}
}

// A tensor that can no longer be observed is one fault of the call.
func TestUnobservable(t *testing.T) {
	gone := asserts.Observation{Content: &asserts.Snapshot{Panic: "index out of range, in x.go:3"}}
	a, b := see(1, 2, holding("ab")), see(5, 6, holding("cd"))
	for _, tt := range []judgement{
		{name: "argument", schema: "f(Tensor self) -> Tensor", before: list{a}, after: list{gone}, results: list{b},
			want: []string{"OA009 argument self: argument self cannot be observed after the call: index out of range, in x.go:3"}},
		{name: "written argument, returned", schema: "f_(Tensor(a!) self) -> Tensor(a!)", before: list{a}, after: list{gone}, results: list{gone},
			want: []string{"OA013 argument self: argument self cannot be observed after the call: index out of range, in x.go:3"}},
		{name: "return", schema: "f(Tensor self) -> Tensor", before: list{a}, results: list{gone},
			want: []string{"OA017 result: result cannot be observed after the call: index out of range, in x.go:3"}},
		{name: "view", schema: "f(Tensor(a) self) -> Tensor(a)", before: list{a}, results: list{gone},
			want: []string{"OA017 result: result cannot be observed after the call: index out of range, in x.go:3"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			op, seen := tt.call()
			wantSaw(t, op, seen, tt.want)
		})
	}
}

// Late observations of tensors with parts are matched to their tensors.
func TestWrittenLateBesideParts(t *testing.T) {
	at := func(impl, storage asserts.ID, bytes string, parts ...asserts.Part) asserts.Observation {
		o := see(impl, storage, holding(bytes))
		o.Content.Parts = parts
		return o
	}
	values := func(bytes string) asserts.Part { return asserts.Part{Name: "values", Observation: at(11, 12, bytes)} }
	self, a, b := at(1, 2, "ab", values("xy")), at(5, 6, "cd"), at(7, 8, "ef", asserts.Part{Name: "values", Observation: at(13, 14, "gh")})
	for _, tt := range []struct {
		name string
		late []asserts.Observation
		want []string
	}{
		{"nobody looked", nil, nil},
		{"as they were", list{self, a, b}, nil},
		{"a return", list{self, at(5, 6, "cD"), b}, []string{"OA005 result0: result0 changed after the call, so a reference is held elsewhere: 1 of 2 bytes changed"}},
		{"an argument", list{at(1, 2, "aB", values("xy")), a, b}, []string{"OA016 argument self: argument self changed after the call: 1 of 2 bytes changed"}},
		{"inside a return", list{self, a, at(7, 8, "ef", asserts.Part{Name: "values", Observation: at(13, 14, "gH")})},
			[]string{"OA005 result1.parts.values: result1.parts.values changed after the call, so a reference is held elsewhere: 1 of 2 bytes changed"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := judgement{name: tt.name, schema: "f(Tensor self) -> (Tensor, Tensor)", before: list{self}, results: list{a, b},
				more: []asserts.Check{{Code: asserts.KeptArgument, On: asserts.ArgRef(0)}}}
			op, seen := j.call()
			seen.Late, seen.Alone = tt.late, true
			wantSaw(t, op, seen, tt.want)
		})
	}
}
