package repro

import (
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/internal/probe"
	"github.com/opassert/opassert/internal/slicesx"
)

//go:embed rules.yaml
var ruleTexts []byte

// rules returns how programs tell whether a rule is broken: by code, and " alone" without a tensor to compare with.
var rules = sync.OnceValue(func() (all map[string]rule) {
	if err := yaml.Unmarshal(ruleTexts, &all); err != nil {
		panic(err) // it is embedded
	}
	return all
})

// A rule has a condition in each language that is true if it is violated.
type rule struct {
	Says string
	In   map[string]condition `yaml:",inline"`
}

type condition struct {
	Before []string // statements before the call
	After  string   // a statement between the call and the expression, or ""
	Fault  string
}

func programOf(v *asserts.Violation) probe.Program {
	if v.Code == asserts.UseAfterFree {
		return freed
	}
	return probe.ProgramOf(v.Code, v.Symptom)
}

var freed = probe.Program{
	Heap: true, Left: true, Fault: "any(strays for strays, _ in seen) or " + probe.Follows,
	Cpp:  "strayed || follows(seen)",
	Says: "freed memory is written, or the results depend on it",
}

type predicate struct {
	Twice bool // the call is also made before, and its result, earlier, held
	condition
	Says string
}

// predicate returns the condition of a violation; place returns the expression for a tensor, and more
// are further texts of the language, each before its replacement.
func (d *dialect) predicate(v *asserts.Violation, place func(asserts.Place) (string, error),
	more func(x, y string) []string) (*predicate, error) {
	all := rules()
	r := all[v.Code.String()]
	if v.Against.Name == "" && strings.Contains(r.In[d.language].Fault, "{y}") {
		var ok bool
		if r, ok = all[v.Code.String()+" alone"]; !ok {
			return nil, errors.New("the tensor that it is compared with is unknown")
		}
	}
	c := r.In[d.language]
	if c.Fault == "" {
		return nil, fmt.Errorf("%v has no form in %s", v.Code, d.language)
	}
	x, err := place(v.Subject)
	y := ""
	if err == nil && strings.Contains(c.Fault, "{y}") {
		y, err = place(v.Against)
	}
	if err != nil {
		return nil, err
	}
	fill := strings.NewReplacer(append(more(x, y), "{x}", x, "{y}", y)...).Replace
	c.Before, c.Fault = slicesx.Map(c.Before, fill), fill(c.Fault)
	says := strings.NewReplacer("{x}", v.Subject.String(), "{y}", v.Against.String()).Replace(r.Says)
	return &predicate{condition: c, Says: says}, nil
}
