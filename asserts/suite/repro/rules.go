package repro

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts"
)

// A rule describes how its violation shows, in words for which each language has a text: a fact of
// its subject, {x}, that changed, was kept or has grown since before the call, or its relation to
// the tensor that it is compared with, {y}.
type rule struct {
	fault string
	alone string // the same without a {y}
	says  string // the fault
}

// rules are those of the checks that a call can show.
var rules = map[asserts.Code]rule{
	asserts.InputImpl:       {fault: "changed impl", says: "{x} is another tensor than before"},
	asserts.InputStorage:    {fault: "changed storage", says: "{x} has another storage than before"},
	asserts.FreshImpl:       {fault: "same", alone: "held", says: "{x} is not a new tensor"},
	asserts.ViewStorage:     {fault: "apart", says: "{x} is not a view: it does not share the storage of {y}"},
	asserts.FreshStorage:    {fault: "shares", alone: "used", says: "the memory of {x} is not its own"},
	asserts.ReturnedSelf:    {fault: "other", says: "{x} is not the argument that was written"},
	asserts.UndeclaredAlias: {fault: "shares", says: "{x} shares memory with {y}"},
	asserts.OutputAlias:     {fault: "shares", says: "{x} shares memory with {y}"},
	asserts.UndeclaredWrite: {fault: "changed memory or changed look or changed version", says: "{x} was changed"},
	asserts.VersionBump:     {fault: "changed memory and kept version", says: "{x} was written, but its version did not change"},
	asserts.InplaceMetadata: {fault: "changed look", says: "{x} has other sizes, strides, offset, dtype or names than before"},
	asserts.WriteBeside:     {fault: "beside memory", says: "bytes of the storage of {x} changed that are not elements of {x}"},
	asserts.KeptArgument:    {fault: "grown holders or grown uses", says: "{x} is still referenced after the call"},
	asserts.WithinStorage:   {fault: "beyond", says: "elements of {x} lie outside its storage"},
	asserts.AutogradKernel:  {fault: "constant", says: "{x} was made from tensors that require grad, and has no gradient"},
}

// A predicate is a rule in a language, about the tensors of a program.
type predicate struct {
	twice  bool     // the call is also made before, and its result, earlier, held
	before []string // statements before the call
	after  string   // a statement after it, or ""
	fault  string   // an expression that is true if the rule is violated
	says   string
}

// joint joins the words of a rule.
var joint = regexp.MustCompile(` (and|or) `)

// comparisons are the operators between a fact after the call and before it.
var comparisons = map[string]string{"changed": " != ", "kept": " == ", "grown": " > "}

// predicate returns the rule of a violation; place returns the expression for a tensor,
// and more are further texts of the dialect, each before its replacement.
func (d *dialect) predicate(v *asserts.Violation, place func(asserts.Place) (string, error), more func(x, y string) []string) (*predicate, error) {
	r := rules[v.Code]
	if v.Against.Name == "" && strings.Contains(d.words[r.fault].fault, "{y}") {
		if r.fault = r.alone; r.fault == "" {
			return nil, errors.New("the tensor that it is compared with is unknown")
		}
	}
	p := new(predicate)
	joints := joint.FindAllStringSubmatch(r.fault, -1)
	for i, said := range joint.Split(r.fault, -1) {
		if i > 0 {
			p.fault += d.joints[joints[i-1][1]]
		}
		if !d.says(p, said) {
			return nil, fmt.Errorf("%v has no form in %s", v.Code, d.language)
		}
	}
	x, err := place(v.Subject)
	y := ""
	if err == nil && strings.Contains(p.fault, "{y}") {
		y, err = place(v.Against)
	}
	if err != nil {
		return nil, err
	}
	fill := strings.NewReplacer(append(more(x, y), "{x}", x, "{y}", y)...).Replace
	for i := range p.before {
		p.before[i] = fill(p.before[i])
	}
	p.fault = fill(p.fault)
	p.says = strings.NewReplacer("{x}", v.Subject.String(), "{y}", v.Against.String()).Replace(r.says)
	return p, nil
}

// says adds a rule about a tensor to a predicate, and reports whether the language can express it.
func (d *dialect) says(p *predicate, said string) bool {
	comparison, name, compared := strings.Cut(said, " ")
	w, ok := d.words[comparison]
	f, known := d.facts[name]
	if compared != known || !compared && !ok {
		return false
	}
	note := strings.NewReplacer("{fact}", name, "{of}", f.of).Replace
	by := func(noted string) string { return strings.ReplaceAll(cmp.Or(f.by, "{}"), "{}", noted) }
	if compared {
		w.before = note(d.noted)
	}
	if !ok {
		w.fault = by(f.of) + comparisons[comparison] + by(note(d.was))
	}
	if comparison == "grown" {
		p.after = d.release
	}
	if w.before != "" && !slices.Contains(p.before, w.before) {
		p.before = append(p.before, w.before)
	}
	p.fault += strings.ReplaceAll(w.fault, "{was}", note(d.was))
	return true
}
