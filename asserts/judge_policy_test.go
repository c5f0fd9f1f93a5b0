package asserts_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/dev/golden"
)

// TestPresets compares, for each check, the tensors that the presets skip and the rows responsible
// with a golden file. Each check has a file: a new one changes no other's.
func TestPresets(t *testing.T) {
	for code := range asserts.AllCodes.All() {
		var b strings.Builder
		for _, p := range asserts.Presets() {
			fmt.Fprintf(&b, "%s\n", p.Name)
			for _, l := range p.Table() {
				if l.Skips.Has(code) {
					fmt.Fprintf(&b, "  %s\n", l.For)
				}
			}
		}
		for _, p := range asserts.Presets() {
			fmt.Fprintf(&b, "%s, row by row\n", p.Name)
			for _, r := range p.Rows {
				if r.Skip.Has(code) {
					fmt.Fprintf(&b, "  %b unless %b: %s\n", r.Trait, r.Unless, r.Reason)
				}
			}
		}
		golden.Compare(t, filepath.Join("policy", code.Name()+".txt"), b.String())
	}
}

// everything violates as many rules at once as one tensor of each sort can.
func everything(traits asserts.Traits) (*asserts.Op, *asserts.Seen) {
	mark := func(o asserts.Observation) asserts.Observation { o.Traits = traits; return o }
	op := opOf("f(Tensor a, Tensor b, Tensor c, Tensor(v) d, Tensor(w!) e, Tensor(x!) g) -> (Tensor, Tensor(v), Tensor, Tensor(x!), Tensor, Tensor, Tensor)")
	before := list{
		mark(see(1, 2, holding("aa"))), mark(see(3, 4, holding("aa"))), mark(see(5, 6, holding("aa"))),
		mark(see(7, 8, holding("aa"))), mark(see(9, 10, holding("aa"))), mark(see(11, 12, holding("aa"))),
	}
	after := list{
		mark(see(101, 102, holding("aa"))), // OA001
		mark(see(3, 104, holding("aa"))),   // OA002
		mark(see(5, 6, holding("ab"))),     // OA009
		before[3], mark(see(9, 10, holding("ab"))) /* OA010 */, before[5],
	}
	results := list{
		mark(see(201, 202, uses(2, 1))), // OA003
		mark(see(203, 204)),             // OA004
		mark(see(205, 206, uses(1, 2))), // OA005
		mark(see(207, 208)),             // OA006
		mark(see(209, 8, uses(1, 2))),   // OA007
		mark(see(211, 212, uses(1, 2))),
		mark(see(213, 212, uses(1, 2))), // OA008
	}
	return op, &asserts.Seen{Level: asserts.Content, Before: before, After: after, Results: results}
}

func codesOf(vs []*asserts.Violation) asserts.Codes {
	var codes asserts.Codes
	for _, v := range vs {
		codes |= asserts.CodesOf(v.Code)
	}
	return codes
}

func skippedBy(v asserts.Verdict) asserts.Codes {
	var codes asserts.Codes
	for _, s := range v.Skips {
		codes |= asserts.CodesOf(s.Code)
	}
	return codes & callCodes
}

// callCodes are the checks that everything violates.
var callCodes = asserts.CodesOf(
	asserts.InputImpl, asserts.InputStorage, asserts.FreshImpl, asserts.ViewStorage, asserts.FreshStorage,
	asserts.ReturnedSelf, asserts.UndeclaredAlias, asserts.OutputAlias, asserts.UndeclaredWrite, asserts.VersionBump,
)

// For every sort of tensor, the judged and the skipped checks follow the policy's own table.
func TestPolicyTraits(t *testing.T) {
	sorts := map[string]struct {
		traits asserts.Traits
		skips  asserts.Codes // under the preset aware
	}{
		"plain":              {0, 0},
		"meta":               {asserts.MetaTensor, 0},
		"functional wrapper": {asserts.FunctionalWrapper, 0},
		"direct subclass":    {asserts.DirectSubclass, asserts.CodesOf(asserts.FreshImpl)},
		"wrapper subclass":   {asserts.WrapperSubclass, asserts.CodesOf(asserts.FreshImpl, asserts.ViewStorage)},
		"reporting wrapper":  {asserts.WrapperSubclass | asserts.ReportsViews, asserts.CodesOf(asserts.FreshImpl)},
		"no version":         {asserts.NoVersion, asserts.CodesOf(asserts.VersionBump)},
	}
	for name, sort := range sorts {
		t.Run(name, func(t *testing.T) {
			op, seen := everything(sort.traits)
			verdict := asserts.Judge(op, seen, asserts.Aware())
			if got, want := codesOf(verdict.Violations), callCodes&^sort.skips; got != want {
				t.Errorf("violated %v, want %v", got, want)
			}
			var skipped asserts.Codes
			for _, s := range verdict.Skips {
				skipped |= asserts.CodesOf(s.Code)
				if s.Reason == "" || s.Count == 0 || verdict.Judged[s.Code] > 0 && s.Code != asserts.UndeclaredWrite {
					t.Errorf("skip %+v, judged %d", s, verdict.Judged[s.Code])
				}
			}
			if skipped&callCodes != sort.skips {
				t.Errorf("skipped %v, want %v", skipped, sort.skips)
			}
			subclass := sort.traits & (asserts.DirectSubclass | asserts.WrapperSubclass)
			verdict = asserts.Judge(op, seen, asserts.PyTorch())
			if subclass != 0 && len(verdict.Violations) > 0 {
				t.Errorf("under pytorch: %v", codesOf(verdict.Violations))
			}
			if subclass != 0 && skippedBy(verdict) != callCodes {
				t.Errorf("under pytorch: skipped %v", skippedBy(verdict))
			}
			if subclass == 0 && codesOf(verdict.Violations) != callCodes&^sort.skips {
				t.Errorf("under pytorch: %v, want %v", codesOf(verdict.Violations), callCodes&^sort.skips)
			}
		})
	}
}

func TestPolicyStorageless(t *testing.T) {
	op := opOf("f(Tensor(a) self, Tensor other, Tensor(b!) out) -> (Tensor(a), Tensor, Tensor(b!))")
	seen := &asserts.Seen{
		Level:   asserts.Content,
		Before:  list{see(1, 0), see(3, 0), see(5, 0)},
		After:   list{see(1, 0), see(3, 0), see(5, 0)},
		Results: list{see(7, 0, uses(1, 0)), see(9, 0, uses(1, 0)), see(5, 0)},
	}
	verdict := asserts.Judge(op, seen, asserts.Aware())
	if len(verdict.Violations) > 0 {
		t.Errorf("healthy sparse tensors: %v", verdict.Violations)
	}
	want := []asserts.Skip{
		{Code: asserts.InputStorage, Reason: "no storage", Count: 3},
		{Code: asserts.ViewStorage, Reason: "no storage", Count: 1},
		{Code: asserts.FreshStorage, Reason: "no storage", Count: 1},
		{Code: asserts.UndeclaredWrite, Reason: "no storage", Count: 2},
		{Code: asserts.VersionBump, Reason: "no storage", Count: 1},
	}
	if diff := cmp.Diff(want, verdict.Skips); diff != "" {
		t.Error(diff)
	}
	// Checks that need no storage are judged.
	seen.After = list{see(11, 0), see(3, 0), see(5, 0)}
	seen.Results = list{see(7, 0, uses(2, 0)), see(3, 0, uses(2, 0)), see(13, 0)}
	broken := asserts.CodesOf(asserts.InputImpl, asserts.FreshImpl, asserts.UndeclaredAlias, asserts.ReturnedSelf)
	if got := codesOf(asserts.Judge(op, seen, asserts.Aware()).Violations); got != broken {
		t.Errorf("violated %v, want %v", got, broken)
	}
	// A storageless view of a base with storage, and the reverse, are skipped, too.
	for _, pair := range [][2]asserts.Observation{{see(1, 0), see(7, 8)}, {see(1, 2), see(7, 0)}} {
		v := opOf("f(Tensor(a) self) -> Tensor(a)")
		verdict := asserts.Judge(v, &asserts.Seen{Level: asserts.Identity, Before: list{pair[0]}, After: list{pair[0]}, Results: list{pair[1]}}, asserts.Aware())
		if len(verdict.Violations) > 0 || verdict.Judged[asserts.ViewStorage] > 0 {
			t.Errorf("view of %v: %v", pair, verdict)
		}
	}
}

func TestPolicyModes(t *testing.T) {
	op, seen := everything(0)
	fresh := asserts.CodesOf(asserts.FreshImpl, asserts.FreshStorage)
	logging := asserts.Mode{Name: "logging", Invalidates: fresh}
	tests := []struct {
		name   string
		modes  []asserts.Mode
		policy *asserts.Policy
		skips  asserts.Codes
		reason string
	}{
		{"none", nil, asserts.Aware(), 0, ""},
		{"harmless", []asserts.Mode{{Name: "timing"}}, asserts.Aware(), 0, ""},
		{"logging", []asserts.Mode{logging}, asserts.Aware(), fresh, "mode logging"},
		{"two", []asserts.Mode{{Name: "timing"}, logging}, asserts.Aware(), fresh, "mode logging"},
		{"any, as PyTorch", []asserts.Mode{{Name: "timing"}}, asserts.PyTorch(), callCodes, "mode timing"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := *seen
			s.Modes = test.modes
			verdict := asserts.Judge(op, &s, test.policy)
			if got, want := codesOf(verdict.Violations), callCodes&^test.skips; got != want {
				t.Errorf("violated %v, want %v", got, want)
			}
			if got := skippedBy(verdict); got != test.skips {
				t.Errorf("skipped %v, want %v", got, test.skips)
			}
			for _, skip := range verdict.Skips {
				if skip.Reason != test.reason {
					t.Errorf("skipped %+v", skip)
				}
			}
		})
	}
}

// Two returns share under a mode.
func TestSkipsAreCountedOnce(t *testing.T) {
	j := judgement{
		schema: "f(Tensor self) -> (Tensor, Tensor)", modes: []asserts.Mode{{Name: "m", Invalidates: asserts.CodesOf(asserts.OutputAlias)}},
		before: list{see(1, 2)}, results: list{see(3, 4), see(5, 4)},
	}
	op, seen := j.call()
	seen.Level = asserts.Identity
	want := []asserts.Skip{{Code: asserts.OutputAlias, Reason: "mode m", Count: 1}}
	if diff := cmp.Diff(want, asserts.Judge(op, seen, asserts.Aware()).Skips); diff != "" {
		t.Error(diff)
	}
}

// Checks about two tensors, one of which is skipped.
func TestPolicyOfPairs(t *testing.T) {
	wrapper := traits(asserts.WrapperSubclass)
	tests := []judgement{
		{
			name: "argument and return", schema: "f(Tensor self) -> Tensor", drop: "OA005", skips: "OA001 OA002 OA007 OA009",
			before: list{see(1, 2, wrapper)}, results: list{see(3, 2)},
		},
		{
			name: "base and view", schema: "f(Tensor(a) self) -> Tensor(a)", skips: "OA001 OA002 OA004 OA009",
			before: list{see(1, 2, wrapper)}, results: list{see(3, 4)},
		},
		{
			name: "return and return", schema: "f(Tensor self) -> (Tensor, Tensor)", drop: "OA005", skips: "OA003 OA007 OA008",
			before: list{see(1, 2)}, results: list{see(3, 4, wrapper), see(5, 4)},
		},
	}
	for _, test := range tests {
		test.policy = asserts.PyTorch()
		t.Run(test.name, test.test)
	}
}

func TestEnterMode(t *testing.T) {
	c := collect(t)
	op := newAdd()
	retaining := func(self, other *tensor) *tensor {
		r := newTensor(4)
		r.impl.uses = 2
		return r
	}
	leave := asserts.EnterMode(asserts.Mode{Name: "logging", Invalidates: asserts.CodesOf(asserts.FreshImpl)})
	inner := asserts.EnterMode(asserts.Mode{Name: "inner"})
	binary(op, retaining, newTensor(4), newTensor(4))
	inner()
	binary(op, retaining, newTensor(4), newTensor(4))
	leave()
	if got := linesOf(c); got != nil {
		t.Errorf("under the mode: %v", got)
	}
	binary(op, retaining, newTensor(4), newTensor(4))
	if got := linesOf(c); len(got) != 1 || !strings.HasPrefix(got[0], "OA003") {
		t.Errorf("after the mode: %v, want OA003", got)
	}
}

func TestCodes(t *testing.T) {
	codes := asserts.CodesOf(asserts.FreshStorage, asserts.FreshImpl)
	text, err := json.Marshal(codes)
	if err != nil || string(text) != `"OA003 OA005"` {
		t.Errorf("%s, %v", text, err)
	}
	var back asserts.Codes
	if err := json.Unmarshal(text, &back); err != nil || back != codes {
		t.Errorf("read back %v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`"OA003 OA999"`), &back); err == nil {
		t.Error("OA999 is taken for a check")
	}
	for c := range asserts.AllCodes.All() {
		for _, name := range []string{c.String(), c.Name()} {
			if got, ok := asserts.ParseCode(name); !ok || got != c {
				t.Errorf("%s is parsed as %v, %v", name, got, ok)
			}
		}
		if c.Rule() == "" || c.Breaks() == "" {
			t.Errorf("%v has no rule, or breaks nothing", c)
		}
	}
	for c := range asserts.AllCodes.All() {
		if c == asserts.InputStorage {
			break
		}
	}
	var code asserts.Code
	for text, want := range map[string]asserts.Code{`"OA007"`: asserts.UndeclaredAlias, `"fresh-impl"`: asserts.FreshImpl, `"OA000"`: 0} {
		if err := json.Unmarshal([]byte(text), &code); err != nil || code != want {
			t.Errorf("%s is read as %v, %v", text, code, err)
		}
	}
	if err := json.Unmarshal([]byte(`"OA099"`), &code); err == nil {
		t.Error("OA099 is taken for a check")
	}
	if none := asserts.Code(200); none.Name() != "" || none.Rule() != "" || none.String() != "OA200" {
		t.Errorf("code 200 is %s %q", none, none.Name())
	}
}

// A row for either of two traits: each alone skips, in the judge as in the table, and then no call
// is usual.
func TestRowOfTwoTraits(t *testing.T) {
	either := asserts.MetaTensor | asserts.FunctionalWrapper
	skip := asserts.CodesOf(asserts.FreshImpl)
	policy := asserts.Aware().With(
		asserts.Row{Trait: either, Skip: skip, Reason: "either"},
		asserts.Row{Trait: asserts.DirectSubclass, Unless: either, Skip: asserts.CodesOf(asserts.FreshStorage), Reason: "neither"},
		asserts.Row{Trait: 1 << 16, Skip: skip, Reason: "a library's own subclass"},
	)
	for _, test := range []struct {
		traits asserts.Traits
		skips  asserts.Codes
		reason string
	}{
		{0, 0, ""},
		{asserts.MetaTensor, skip, "either"},
		{asserts.FunctionalWrapper, skip, "either"},
		{1 << 16, skip, "a library's own subclass"},
		{either, skip, "either"},
		{asserts.DirectSubclass | asserts.MetaTensor, skip, "direct subclass"},
		{asserts.DirectSubclass | asserts.FunctionalWrapper, skip, "direct subclass"},
		{asserts.DirectSubclass, skip | asserts.CodesOf(asserts.FreshStorage), "direct subclass"},
	} {
		if got, want := policy.ForTensor(test.traits), asserts.Aware().ForTensor(test.traits)|test.skips; got != want {
			t.Errorf("traits %b: skips %v, want %v", test.traits, got, want)
		}
		op := opOf("f(Tensor self) -> Tensor")
		seen := &asserts.Seen{Level: asserts.Identity, Before: list{see(1, 2)}, After: list{see(1, 2)}, Results: list{see(3, 4, traits(test.traits))}}
		verdict := asserts.Judge(op, seen, policy)
		if got := skippedBy(verdict); got != test.skips || test.reason != "" && verdict.Skips[0].Reason != test.reason {
			t.Errorf("traits %b: skipped %v", test.traits, verdict.Skips)
		}
		if usual := asserts.LooksUsual(op, seen, policy); usual != (test.skips == 0) {
			t.Errorf("traits %b: usual is %v", test.traits, usual)
		}
	}
}

// No copy of a policy changes another.
func TestPoliciesAreApart(t *testing.T) {
	base := asserts.Aware()
	base.Rows = slices.Grow(base.Rows, 8) // capacity that two copies could share
	table := fmt.Sprint(base.Table())
	one, two := base.With(asserts.Row{Trait: asserts.MetaTensor, Reason: "one"}), base.With(asserts.Row{Trait: asserts.MetaTensor, Reason: "two"})
	if got := fmt.Sprint(base.Table()); got != table {
		t.Errorf("the policy became\n%s\nfrom\n%s", got, table)
	}
	if a, b := one.Rows[len(one.Rows)-1].Reason, two.Rows[len(two.Rows)-1].Reason; a != "one" || b != "two" {
		t.Errorf("the last rows are %q and %q", a, b)
	}
	// The presets share no memory either.
	asserts.PyTorch().Rows[0].Skip = 0
	if asserts.PyTorch().ForTensor(asserts.DirectSubclass) == 0 {
		t.Error("a preset was changed")
	}
}

func TestCountsInJSON(t *testing.T) {
	var counts asserts.Counts
	counts[asserts.InputImpl], counts[asserts.UndeclaredWrite] = 3, 7
	text, err := json.Marshal(counts)
	if err != nil || string(text) != `{"OA001":3,"OA009":7}` {
		t.Errorf("%s, %v", text, err)
	}
	got := asserts.Counts{asserts.FreshImpl: 1}
	if err := json.Unmarshal(text, &got); err != nil || got != counts {
		t.Errorf("read back as %v, %v", got, err)
	}
	for _, bad := range []string{`{"OA001": "x"}`, `{"OA999": 1}`, `[1]`} {
		if err := json.Unmarshal([]byte(bad), &got); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
}

// A check shares a row of a preset only if trait and reason are the same.
func TestAddSkip(t *testing.T) {
	row := asserts.Row{Trait: asserts.DirectSubclass, Unless: asserts.WrapperSubclass, Reason: "why"}
	first := asserts.AddSkip(nil, asserts.InputImpl, row)
	for name, test := range map[string]struct {
		skip asserts.Row
		want int
	}{
		"the same":       {row, 1},
		"another trait":  {asserts.Row{Trait: asserts.Contended, Unless: row.Unless, Reason: row.Reason}, 2},
		"another unless": {asserts.Row{Trait: row.Trait, Unless: asserts.Contended, Reason: row.Reason}, 2},
		"another reason": {asserts.Row{Trait: row.Trait, Unless: row.Unless, Reason: "why else"}, 2},
	} {
		rows := asserts.AddSkip(slices.Clone(first), asserts.FreshImpl, test.skip)
		if last := rows[len(rows)-1]; len(rows) != test.want || last.Reason != test.skip.Reason || !last.Skip.Has(asserts.FreshImpl) {
			t.Errorf("%s: rows %+v, want %d", name, rows, test.want)
		}
	}
}
