package report

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/dev/must"
)

// compared is a run of a few ops on a version of a library.
func compared(version string, ops ...*OpResult) *Report {
	return &Report{Engine: "lib " + version, Level: asserts.Content, Seed: 1, Cases: 5, Command: "opassert check -libtorch " + version, All: len(ops), Ops: ops}
}

func ran(name string, findings ...*Finding) *OpResult {
	r := &OpResult{Op: "aten::" + name, Schema: name + "(Tensor self) -> Tensor", Cases: 5, Ran: 5, Findings: findings}
	r.Devices = Devices{engine.CPU: judged()}
	return r
}

// judged is the tally of an op for which every check was judged, except those given.
func judged(not ...asserts.Code) (t Tally) {
	for c := range asserts.AllCodes.All() {
		if !slices.Contains(not, c) {
			t.Judged[c] = 5
		}
	}
	return t
}

func finds(code asserts.Code, index int, name, saw string) *Finding {
	return &Finding{Case: 3, Times: 1, Violation: &asserts.Violation{
		Code: code, Subject: asserts.Place{Index: index, Name: name, Element: -1}, Saw: saw, Repro: "-op x -case 3",
	}}
}

func comparison() *Comparison {
	moved := ran("moved", finds(asserts.InputImpl, 1, "self", "still"))
	moved.Schema = "moved(int n, Tensor self) -> Tensor"
	never := &OpResult{Op: "aten::hides", Schema: "hides(Tensor self) -> Tensor", Cases: 5, Error: "not implemented"}
	crashing, crashed := ran("dies"), ran("heals")
	crashing.Crashes = []Crash{{Case: 1, Cause: "SIGSEGV", Alone: true}}
	crashed.Crashes = []Crash{{Case: 2, Cause: "SIGFPE", Alone: true}}
	lucky := ran("lucky")
	lucky.Crashes = []Crash{{Case: 2, Cause: "SIGFPE"}} // not confirmed alone
	unjudged := ran("unjudged")
	unjudged.Devices = Devices{engine.CPU: judged(asserts.InputImpl)}
	gone := ran("gone", finds(asserts.InputImpl, 0, "self", "bad"))
	gone.Crashes = []Crash{{Case: 1, Cause: "SIGSEGV", Alone: true}}
	added := ran("new", finds(asserts.InputImpl, 0, "self", "bad"))
	added.Crashes = []Crash{{Case: 1, Cause: "SIGSEGV", Alone: true}}
	renamed := ran("repaired", finds(asserts.InputImpl, 0, "other", "bad"))
	renamed.Schema = "repaired(Tensor self, Tensor other) -> Tensor"
	returned := finds(asserts.InputImpl, 0, "self", "bad")
	returned.Violation.Subject.Return = true
	shares := finds(asserts.UndeclaredAlias, 0, "self", "bad")
	shares.Violation.Against = asserts.Place{Name: "a"}
	sharesOther, sharesResult := finds(asserts.UndeclaredAlias, 0, "self", "bad"), finds(asserts.UndeclaredAlias, 0, "self", "bad")
	sharesOther.Violation.Against = asserts.Place{Name: "b"}
	sharesResult.Violation.Against = asserts.Place{Name: "a", Return: true}
	worse := finds(asserts.FreshStorage, 0, "self", "worse <b>")
	worse.Program = &ReproProgram{File: "2-2.0/breaks.py", Reproduced: true}
	misnamed := ran("misnamed")
	misnamed.Devices = Devices{engine.CPU: judged(asserts.SchemaLint)}
	return &Comparison{Reports: []*Report{
		compared("1.0", ran("breaks"), ran("dies"), gone, crashed,
			ran("hides", finds(asserts.InputImpl, 0, "self", "bad")), ran("lucky"), ran("repaired", finds(asserts.InputImpl, 0, "self", "bad")),
			ran("moved", finds(asserts.InputImpl, 0, "self", "bad")), ran("unjudged", finds(asserts.InputImpl, 0, "self", "bad")),
			ran("code", finds(asserts.InputImpl, 0, "self", "bad")), ran("return", finds(asserts.InputImpl, 0, "self", "bad")),
			ran("shares", shares), ran("shares_result", shares), ran("misnamed", finds(asserts.SchemaLint, 0, "self", "bad"))),
		compared("2.0", ran("breaks", worse), crashing, ran("heals"), never, lucky,
			renamed, moved, added, unjudged,
			ran("code", finds(asserts.InputStorage, 0, "self", "bad")), ran("return", returned), ran("shares", sharesOther), ran("shares_result", sharesResult), misnamed),
	}}
}

func TestChanges(t *testing.T) {
	c := comparison()
	var got []string
	for _, change := range c.Changes() {
		words := []string{string(change.Kind), change.Op}
		if change.Code != 0 {
			words = append(words, change.Code.String(), change.Subject)
		}
		if change.Why != "" {
			words = append(words, change.Why)
		}
		got = append(got, strings.Join(words, " "))
	}
	want := []string{
		"finding new aten::breaks OA005 argument self",
		"finding new aten::code OA002 argument self",
		"finding new aten::new OA001 argument self",
		"finding new aten::repaired OA001 argument other",
		"finding new aten::return OA001 result self",
		"finding new aten::shares OA007 argument self",
		"finding new aten::shares_result OA007 argument self",
		"finding gone aten::code OA001 argument self",
		"finding gone aten::misnamed OA012 argument self",
		"finding gone aten::repaired OA001 argument self",
		"finding gone aten::return OA001 argument self",
		"finding gone aten::shares OA007 argument self",
		"finding gone aten::shares_result OA007 argument self",
		"finding unseen aten::hides OA001 argument self the op never ran: not implemented",
		"finding unseen aten::unjudged OA001 argument self OA001 was not judged",
		"crash new aten::dies",
		"crash new aten::new",
		"crash gone aten::heals",
		"op gone aten::gone",
		"op new aten::new",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	same := &Comparison{Reports: []*Report{c.Reports[0], c.Reports[0]}}
	if len(same.Changes()) != 0 {
		t.Errorf("between the same: %v", same.Changes())
	}
}

func TestComparisonJSONAndPage(t *testing.T) {
	var b bytes.Buffer
	must.Do(t, comparison().WriteJSON(&b))
	var got struct {
		Runs     []comparedRun
		Findings []comparedFinding
		Changes  []engineChange
	}
	must.Do(t, json.Unmarshal(b.Bytes(), &got))
	if diff := cmp.Diff(comparison().findings(), got.Findings); diff != "" {
		t.Errorf("findings -want +got:\n%s", diff)
	}
	if diff := cmp.Diff(comparison().Changes(), got.Changes); diff != "" || len(got.Runs) != 2 || got.Runs[0].Findings != 10 {
		t.Errorf("runs %v, changes -want +got:\n%s", got.Runs, diff)
	}
	if n := len(comparison().findings()); n != 17 { // moved is one finding in both runs
		t.Errorf("%d findings in rows", n)
	}
	b.Reset()
	must.Do(t, comparison().WriteHTML(&b))
	for _, want := range []string{
		`<td>OA001<td><code>aten::gone</code><td>argument self<td class="found">found<td class="no op">no op`,
		`<td>OA001<td><code>aten::unjudged</code><td>argument self<td class="found">found<td class="not judged">not judged`,
		`<td>OA001<td><code>aten::moved</code><td>argument self<td class="found">found<td class="found">found`,
		`<td>OA001<td><code>aten::repaired</code><td>argument self<td class="found">found<td class="holds">holds`,
		"worse &lt;b&gt;",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}
