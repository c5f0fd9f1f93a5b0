package asserts

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/opassert/opassert/internal/slicesx"
)

// A Symptom distinguishes violations of one check: each has a program and a remedy of its own. All are in symptoms.txt.
type Symptom string

// The symptoms that code refers to.
const (
	EarlierValues  Symptom = "earlier-values"
	FirstCall      Symptom = "first-call"
	ReturnedBefore Symptom = "returned-before"
	Restored       Symptom = "restored"
	Decomposes     Symptom = "decomposes"
	NoFake         Symptom = "no-fake"
	Overlapping    Symptom = "overlapping"
	Overreleased   Symptom = "overreleased"
	OtherContents  Symptom = "other-contents"
	SymbolicSizes  Symptom = "symbolic-sizes"
	SizeGuard      Symptom = "size-guard"
	Backward       Symptom = "backward"
	WithoutTensor  Symptom = "without-tensor"
	FakeRaises     Symptom = "fake-raises"
	Unwritten      Symptom = "unwritten"
	Vmap           Symptom = "vmap"
)

// A SymptomRow has the sentences of a symptom of a check.
type SymptomRow struct {
	Code              Code
	Symptom           Symptom // "": what has no symptom of its own
	Rule, Breaks, Fix string  // "": those of the check, or of the call
	Note              string  // why it is one: it fails loudly where a program does more, or no schema promises otherwise
}

//go:embed symptoms.txt
var symptomTable string

// symptoms are the rows of the table, by code and name. What has no note is an error, unless it shows only in calls
// that are not ordinary: see [Violation.Only].
var symptoms = sync.OnceValue(func() (all []SymptomRow) {
	for line := range strings.Lines(symptomTable) {
		text, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.HasPrefix(text, "OA") {
			check, name, _ := strings.Cut(text, "/")
			code, _ := ParseCode(check)
			all = append(all, SymptomRow{Code: code, Symptom: Symptom(name)})
			continue
		}
		if text != "" {
			row := &all[len(all)-1]
			fields := map[string]*string{"rule": &row.Rule, "breaks": &row.Breaks, "fix": &row.Fix, "note": &row.Note}
			*fields[text] = strings.TrimSpace(value)
		}
	}
	return all
})

// Symptoms returns the rows of a check's symptoms, by name.
func (c Code) Symptoms() []SymptomRow {
	return slices.DeleteFunc(slices.Clone(symptoms()), func(r SymptomRow) bool { return r.Code != c || r.Symptom == "" })
}

// In returns the symptom's row of a check, or an empty row if the table has none.
func (s Symptom) In(c Code) SymptomRow {
	for _, r := range symptoms() {
		if r.Code == c && r.Symptom == s {
			return r
		}
	}
	return SymptomRow{}
}

// ParseSymptom reads a check, "OA009" or "undeclared-write", or one of its symptoms, "OA009/state". The code is that of
// the check even if it has no such symptom.
func ParseSymptom(text string) (Code, Symptom, error) {
	check, name, named := strings.Cut(text, "/")
	code, ok := ParseCode(check)
	switch {
	case !ok:
		return 0, "", fmt.Errorf("unknown check %q; a check is a code such as OA003, or a name such as fresh-impl", check)
	case named && Symptom(name).In(code).Symptom == "":
		has := slicesx.Join(code.Symptoms(), ", ", func(r SymptomRow) string { return string(r.Symptom) })
		return code, "", fmt.Errorf("unknown symptom %q; %v has %s", text, code, cmp.Or(has, "no symptoms"))
	}
	return code, Symptom(name), nil
}

// Of returns the name of the symptom of a check, as reports and allowlists write it: "OA021/threads".
func (s Symptom) Of(c Code) string {
	if s == "" {
		return c.String()
	}
	return c.String() + "/" + string(s)
}
