package asserts

import "regexp"

// elsewhere are the checks whose violations are notes if they show only in calls that are not ordinary.
const elsewhere Codes = 1<<MetaAlias | 1<<SchemaLint | 1<<AutogradKernel | 1<<NondeterministicResult

// Limit makes an error a note if only some calls show it: "where dtypes differ".
func (v *Violation) Limit(only string) {
	if only != "" && v.Note == "" && elsewhere.Has(v.Code) {
		v.Only, v.Note = only, "ordinary calls do not show it"
	}
}

// Detail returns what was seen, if the sentence does not say it.
func (v *Violation) Detail() string {
	if v.Code == UndeclaredWrite && v.Symptom == "" {
		return v.Saw
	}
	return ""
}

// Sentence returns what is wrong, with its subject: "the kernel writes argument x, and the schema does not declare it".
func (v *Violation) Sentence() string {
	if v.Only != "" {
		return "only " + v.Only + ": " + v.sentence()
	}
	return v.sentence()
}

func (v *Violation) sentence() string {
	if v.Detail() != "" {
		return "the kernel writes " + v.Subject.String() + ", and the schema does not declare it"
	}
	switch on := v.Subject.Name + v.Subject.element(); {
	case v.Subject == Process || on == "" || v.Symptom == NoFake || names(v.Saw, on):
		return v.Saw
	case v.Subject.Return && on == "result":
		return v.Saw
	}
	return v.Subject.String() + ": " + v.Saw
}

// names reports whether a text has a name as a word.
func names(text, name string) bool {
	return regexp.MustCompile(`(^|\W)` + regexp.QuoteMeta(name) + `(\W|$)`).MatchString(text)
}
