package asserts

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/opassert/opassert/internal/dev/golden"
	"github.com/opassert/opassert/internal/dev/must"
)

// The page of checks lists the symptoms that are notes, with their reasons.
func TestNotesOnThePage(t *testing.T) {
	const path, head = "../docs/reference/checks.md", "| symptom | why |\n|---|---|\n"
	var want strings.Builder
	for _, r := range symptoms() {
		if r.Note != "" {
			fmt.Fprintf(&want, "| %s | %s |\n", r.Symptom.Of(r.Code), r.Note)
		}
	}
	page := string(must.Get(os.ReadFile(path))(t))
	before, after, _ := strings.Cut(page, head)
	_, after, _ = strings.Cut(after, "\n\n")
	whole := before + head + want.String() + "\n" + after
	if *golden.Update {
		must.Do(t, os.WriteFile(path, []byte(whole), 0o666))
	} else if page != whole {
		t.Errorf("%s differs: go test ./asserts -run TestNotesOnThePage -update writes\n%s", path, &want)
	}
}

// Each symptom has its own sentences, once, in order.
func TestSymptomTable(t *testing.T) {
	last := ""
	for _, r := range symptoms() {
		name := r.Symptom.Of(r.Code)
		if r.Code == 0 || name <= last {
			t.Errorf("%s is out of order, after %s", name, last)
		}
		if last = name; r.Symptom != "" && (r.Rule == "" || r.Breaks == "" || r.Rule == r.Code.Rule() || r.Breaks == r.Code.Breaks()) || r.Fix == "" {
			t.Errorf("%s lacks a sentence of its own: %+v", name, r)
		}
	}
	for _, r := range UndeclaredWrite.Symptoms() {
		if v := (&Violation{Code: r.Code, Symptom: r.Symptom, Subject: Process}).Error(); !strings.Contains(v, r.Rule) || !strings.Contains(v, r.Breaks) {
			t.Errorf("a report has not the sentences of %s:\n%s", r.Symptom, v)
		}
	}
}

// A check has a code and a name, its symptoms follow either.
func TestParseSymptom(t *testing.T) {
	for text, want := range map[string]string{
		"OA009": "OA009 ", "OA009/state": "OA009 state", "undeclared-write/restored": "OA009 restored", "OA021/": `OA021 unknown symptom "OA021/"; OA021 has after-throw, default-seed, `,
		"OA009/stat": `OA009 unknown symptom "OA009/stat"; OA009 has restored, state`, "OA009/vmap": `OA009 unknown symptom "OA009/vmap"; OA009 has restored, state`,
		"OA001/state": `OA001 unknown symptom "OA001/state"; OA001 has no symptoms`, "OA099/state": `OA000 unknown check "OA099"; a check is a code`, "": `OA000 unknown check ""`,
	} {
		code, symptom, err := ParseSymptom(text)
		got := code.String() + " " + string(symptom)
		if err != nil {
			got += err.Error()
		}
		if !strings.HasPrefix(got, want) || err == nil && got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}

// A symptom is a note of its own check alone, and an error that some calls show is one, with the calls before it.
func TestNoteAndLimit(t *testing.T) {
	if here, there := Symptom("threads").In(NondeterministicResult).Note, Symptom("threads").In(MetaAlias).Note; here == "" || there != "" {
		t.Errorf("OA021/threads is noted as %q, OA011/threads as %q", here, there)
	}
	for _, tt := range []struct {
		code       Code
		only, want string
		note       bool
	}{
		{MetaAlias, "where dtypes differ", "only where dtypes differ: x is wrong", true},
		{MetaAlias, "", "x is wrong", false},
		{FreshImpl, "where dtypes differ", "x is wrong", false},
	} {
		v := Violation{Code: tt.code, Subject: Process, Saw: "x is wrong"}
		if v.Limit(tt.only); v.Sentence() != tt.want || (v.Note != "") != tt.note {
			t.Errorf("%v, %q: %q, note %q", tt.code, tt.only, v.Sentence(), v.Note)
		}
	}
}

// A call is written with its lists, and without what is inside of an argument.
func TestTensorsOfACall(t *testing.T) {
	op := &Op{Name: "ns::f", Args: []Subject{{Name: "x"}, {Name: "xs", List: true}, {Name: "in", Inside: true}}}
	seen := &Seen{Before: make([]Observation, 4), ArgLens: []int{1, 2, 1}}
	for i := range seen.Before {
		seen.Before[i] = Observation{Impl: ID(i + 1), Content: &Snapshot{DType: "int8", Sizes: []int64{int64(i)}}}
	}
	if got, want := seen.Tensors(op, "n=3"), "f(x=int8[0], xs=[int8[1], int8[2]], n=3)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A sentence begins with its subject, unless it has that already.
func TestSentenceHasItsSubject(t *testing.T) {
	x := Place{Name: "x", Element: -1}
	for saw, want := range map[string]string{"it is wrong": "argument x: it is wrong", "x is wrong": "x is wrong"} {
		if got := (&Violation{Code: FreshImpl, Subject: x, Saw: saw}).Sentence(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for want, v := range map[string]Violation{
		"it has no fake":     {Code: MetaAlias, Symptom: NoFake, Subject: x, Saw: "it has no fake"},
		"it is old":          {Code: FreshImpl, Subject: Place{Return: true, Name: "result", Element: -1}, Saw: "it is old"},
		"result1: it is old": {Code: FreshImpl, Subject: Place{Return: true, Name: "result1", Element: -1}, Saw: "it is old"},
		"x was restored":     {Code: UndeclaredWrite, Symptom: Restored, Subject: x, Saw: "x was restored"},
		"the kernel writes argument x, and the schema does not declare it": {Code: UndeclaredWrite, Subject: x, Saw: "1 byte"},
	} {
		if got := v.Sentence(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Bytes that are not known are not those of a write behind the elements.
func TestUnknownCapacity(t *testing.T) {
	s := &Snapshot{DType: "uint8", Sizes: []int64{8}, Strides: []int64{1}, Nbytes: 8}
	if inCapacity(s, s) {
		t.Error("no byte is known")
	}
}

// A tensor changes with its impl and its storage too; one that is undefined, or whose contents are not known, has no shape.
func TestChangedAndShape(t *testing.T) {
	before := Observation{Impl: 1, Storage: 2, Content: &Snapshot{}}
	for _, tt := range []struct {
		impl, storage ID
		want          bool
	}{{1, 2, false}, {3, 2, true}, {1, 3, true}} {
		if after := (Observation{Impl: tt.impl, Storage: tt.storage, Content: &Snapshot{}}); before.Changed(&after) != tt.want {
			t.Errorf("changed to impl %d, storage %d: %v", tt.impl, tt.storage, !tt.want)
		}
	}
	if after := (Observation{Impl: 1, Storage: 2, Content: &Snapshot{Sizes: []int64{1}}}); !before.Changed(&after) {
		t.Error("changed to other sizes: false")
	}
	if got := (&Observation{}).shape() + ", " + (&Observation{Impl: 1}).shape(); got != "none, a tensor" {
		t.Error(got)
	}
}

// The call is found below a deep stack, as of a panic of Observe.
func TestCallSiteOfADeepStack(t *testing.T) {
	var site Site
	var line int
	var fall func(n int)
	fall = func(n int) {
		if n == 0 {
			site, _ = callSite()
			return
		}
		fall(n - 1)
	}
	func() {
		defer func() { _ = recover() }() // of a call without a plan
		c := &Call{settings: &settings{}, level: Identity}
		_, _, line, _ = runtime.Caller(0)
		c.After(nil, func() { fall(100) })
	}()
	if site.Line != line+2 {
		t.Errorf("the site is %v, want line %d, of the caller's caller", site, line+2)
	}
}
