package report

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/dev/must"
)

func TestShard(t *testing.T) {
	all := operators(t) // five
	var numbers [][]int
	for _, s := range []Shard{{}, {Index: 1, Of: 2}, {Index: 2, Of: 2}, {Index: 6, Of: 6}} {
		var taken []int
		for _, o := range s.Take(all) {
			taken = append(taken, slices.IndexFunc(all, func(p engine.Operator) bool { return p.Name() == o.Name() }))
		}
		numbers = append(numbers, taken)
	}
	if diff := cmp.Diff([][]int{{0, 1, 2, 3, 4}, {0, 2, 4}, {1, 3}, nil}, numbers); diff != "" {
		t.Error(diff)
	}
	for s, want := range map[Shard]bool{{Index: 1, Of: 1}: true, {Index: 2, Of: 2}: true, {Index: 0, Of: 2}: false, {Index: 3, Of: 2}: false, {}: false} {
		if s.Valid() != want {
			t.Errorf("%v is valid: %v", s, !want)
		}
	}
}

func TestReadReportRefuses(t *testing.T) {
	const want = "want the output of opassert check -json: "
	const missing = "the run at its end is missing"
	for _, tt := range []struct{ text, err string }{
		{"", "EOF"},
		{"[]", missing},
		{"{}", "json: cannot unmarshal object into Go value of type []json.RawMessage"},
		{"{} []", "json: cannot unmarshal object into Go value of type []json.RawMessage"},
		{`["run"]`, "json: cannot unmarshal string into Go value of type report.runRecord"},
		{`[{"status":"passed","run":{}}]`, missing},
		{`[{"status":"run"}]`, missing},
		{`[{"status":"run","run":{"ops":[null]}}]`, missing},
		{`[{"status":"run","run":{"ops":[{"op":"a","findings":[null]}]}}]`, missing},
		{`[{"status":"run","run":{"ops":[{"op":"a","findings":[{}]}]}}]`, missing},
		{`[{"status":"run","run":{"shard":{"index":3,"of":2}}}]`, missing},
		{`[{"status":"run","run":{}}] []`, "there is text after the report; each report is a file of its own"},
	} {
		if r, err := ReadReport(strings.NewReader(tt.text)); r != nil || err == nil || err.Error() != want+tt.err {
			t.Errorf("%s: %v, want %s", tt.text, err, tt.err)
		}
	}
}

// A run written as JSON is read back unchanged, apart from its times.
func TestReadReport(t *testing.T) {
	for _, shard := range []Shard{{}, {Index: 2, Of: 3, Ops: 30}} {
		r := failing()
		r.Shard = shard
		var b bytes.Buffer
		must.Do(t, r.WriteJSON(&b))
		got := must.Get(ReadReport(&b))(t)
		if r.Ops[0].Took == 0 {
			t.Error("writing took the times from the report")
		}
		r.Ops[0].Took = 0
		if diff := cmp.Diff(r, got, cmp.AllowUnexported(OpResult{})); diff != "" {
			t.Error(diff)
		}
	}
}

// shard is a part of a run.
func shard(index int, ops ...string) *Report {
	r := &Report{Engine: "lib", Level: asserts.Content, Seed: 3, Cases: 5, Command: "opassert check", All: len(ops), Shard: Shard{Index: index, Of: 2, Ops: 3}}
	for _, op := range ops {
		r.Ops = append(r.Ops, ran(op))
	}
	return r
}

func TestMerge(t *testing.T) {
	one, two := shard(1, "a", "c"), shard(2, "b")
	one.Gone, two.Gone = []baselineLine{{"OA001", "aten::a", "argument self"}}, []baselineLine{{"crash", "aten::b", "hang"}}
	one.Left, two.Left = []string{"liba: no", "libb: no"}, []string{"libb: no", "libc: no"}
	got := must.Get(Merge([]string{"1.json", "2.json"}, []*Report{one, two}))(t)
	want := &Report{
		Engine: "lib", Level: asserts.Content, Seed: 3, Cases: 5, Command: "opassert check", All: 3, Ops: []*OpResult{ran("a"), ran("b"), ran("c")},
		Gone: []baselineLine{{"OA001", "aten::a", "argument self"}, {"crash", "aten::b", "hang"}}, Left: []string{"liba: no", "libb: no", "libc: no"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(OpResult{})); diff != "" {
		t.Error(diff)
	}
}

// An entry of an allowlist names an op that ran if it did in one of the shards.
func TestMergeExcuses(t *testing.T) {
	for _, tt := range []struct{ one, two, want bool }{{false, false, false}, {true, false, true}, {false, true, true}} {
		one, two := shard(1, "a", "c"), shard(2, "b")
		one.Excuses = []Excuse{{Entry: "a.yaml:1:3", Op: "a", Ran: tt.one, Cases: 2}}
		two.Excuses = []Excuse{{Entry: "a.yaml:1:3", Op: "a", Ran: tt.two, Cases: 3}, {Entry: "a.yaml:1:3", Op: "b"}}
		got := must.Get(Merge([]string{"1.json", "2.json"}, []*Report{one, two}))(t)
		want := []Excuse{{Entry: "a.yaml:1:3", Op: "a", Ran: tt.want, Cases: 5}, {Entry: "a.yaml:1:3", Op: "b"}}
		if diff := cmp.Diff(want, got.Excuses); diff != "" {
			t.Error(diff)
		}
	}
}

// A report without shards is not merged, and does not change.
func TestMergeOfOne(t *testing.T) {
	whole := shard(1, "a", "b", "c")
	whole.Shard = Shard{}
	if got, err := Merge([]string{"x"}, []*Report{whole}); err != nil || len(got.Ops) != 3 || got.All != 3 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestMergeRefuses(t *testing.T) {
	changed := func(change func(*Report)) *Report {
		r := shard(2, "b")
		change(r)
		return r
	}
	const apart = "1.json and 2.json are not of one run: the "
	for _, tt := range []struct {
		name   string
		second *Report
		want   string
	}{
		{"engine", changed(func(r *Report) { r.Engine = "bil" }), apart + "engine is lib and bil"},
		{"level", changed(func(r *Report) { r.Level = asserts.Meta }), apart + "level is content and meta"},
		{"through", changed(func(r *Report) { r.Through = "autograd" }), apart + "key that calls begin at is backend and autograd"},
		{"seed", changed(func(r *Report) { r.Seed = 4 }), apart + "seed is 3 and 4"},
		{"cases", changed(func(r *Report) { r.Cases = 6 }), apart + "number of cases is 5 and 6"},
		{"ops", changed(func(r *Report) { r.Shard.Ops = 4 }), apart + "number of ops in all shards is 3 and 4"},
		{"kernels", changed(func(r *Report) { r.Of = map[string]string{"kernels": "ab"} }), apart + "digest of the kernels is missing and ab"},
		{"patterns", changed(func(r *Report) { r.Of = map[string]string{"ops": "ab"} }), apart + "digest of the ops is missing and ab"},
		{"an op twice", shard(2, "a"), "aten::a is in 1.json and in 2.json"},
		{"shards of another size", changed(func(r *Report) { r.Shard.Of = 3 }), "1.json is a shard of 2, and 2.json one of 3"},
		{"one shard twice", shard(1, "b"), "shard 2/2 is missing"},
	} {
		if _, err := Merge([]string{"1.json", "2.json"}, []*Report{shard(1, "a", "c"), tt.second}); err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
	}
}

// The ops of reports that are not shards are added up.
func TestMergeOfParts(t *testing.T) {
	one, two := shard(1, "a"), shard(2, "b", "c")
	one.Shard, two.Shard = Shard{}, Shard{}
	one.Of, two.Of = map[string]string{"ops": "a"}, map[string]string{"ops": "b"}
	if got, err := Merge([]string{"1.json", "2.json"}, []*Report{one, two}); err != nil || got.All != 3 || len(got.Ops) != 3 {
		t.Errorf("%v, %v", got, err)
	}
}

// If a shard is missing, the run still was of all ops.
func TestMergeWithoutAShard(t *testing.T) {
	got, err := Merge([]string{"2.json"}, []*Report{shard(2, "b")})
	if err == nil || err.Error() != "shard 1/2 is missing" || got == nil || got.All != 3 || len(got.Ops) != 1 {
		t.Errorf("%v, %v", got, err)
	}
}
