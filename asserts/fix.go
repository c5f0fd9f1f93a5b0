package asserts

import (
	"fmt"
	"slices"
	"strings"
)

// What to change, in the schema or in the code, for each check.

func fixInputImpl(v *Violation) string {
	if v.Subject.Element >= 0 {
		return fmt.Sprintf("leave the caller's list alone: work on a copy of %s", v.Subject.Name)
	}
	return fmt.Sprintf("write into the TensorImpl of %s rather than put another in its place", v.Subject.Name)
}

func fixInputStorage(v *Violation) string {
	if strings.Contains(v.Subject.Type, "!") {
		return fmt.Sprintf("write into, or resize, the StorageImpl that %s has; putting another in its place is for set_", v.Subject.Name)
	}
	return fmt.Sprintf("leave %s alone: work on a view of it, or on a clone", v.Subject.Name)
}

func fixViewStorage(v *Violation) string {
	return fmt.Sprintf("return a view: build the output on the storage of %s; or drop the alias set: %s",
		v.Against.Name, change(v.Subject, withSets(v.Subject.Type, "")))
}

func fixReturnedSelf(v *Violation) string {
	return fmt.Sprintf("return %s itself; or drop the alias set: %s",
		v.Against.Name, change(v.Subject, withSets(v.Subject.Type, "")))
}

func fixHeld(v *Violation) string {
	switch {
	case v.Code == FreshStorage && v.Against.Name == "":
		return "keep no view of what is returned, as a cache would, or return a clone of it"
	case v.Against.Name == "":
		return "keep no reference to what is returned, as a cache would, or return a clone of it"
	case v.Code == FreshStorage:
		return "clone before returning"
	}
	return fmt.Sprintf("return a TensorImpl of its own: a view of %s, or a clone", v.Against.Name)
}

// fixAlias is for OA007 and OA008.
func fixAlias(op *Op, v *Violation) string {
	if v.Code == OutputAlias {
		return fmt.Sprintf("clone %s before returning", strings.TrimPrefix(v.Subject.String(), "result "))
	}
	if v.Subject.Inside || v.Against.Inside {
		return fmt.Sprintf("clone %s before returning: no annotation speaks of what is inside a tensor", strings.TrimPrefix(v.Subject.String(), "result "))
	}
	sets := aliasSets(v.Against.Type)
	if len(sets) == 0 {
		sets = []string{freeSet(op)}
	}
	if strings.Contains(v.Against.Type, "!") {
		return fmt.Sprintf("clone before returning; or return %s itself and annotate: %s",
			v.Against.Name, change(v.Subject, withSets(v.Subject.Type, sets[0]+"!")))
	}
	sets = sets[:1]
	arg := change(v.Against, withSets(v.Against.Type, sets[0]))
	ret := change(v.Subject, withSets(v.Subject.Type, union(aliasSets(v.Subject.Type), sets)))
	fix := "clone before returning; or annotate: "
	if v.After.Impl == v.Other.Impl {
		fix = "clone before returning; or return a view of it and annotate: "
	}
	if len(aliasSets(v.Against.Type)) > 0 {
		return fix + ret
	}
	return fix + arg + ", " + ret
}

func fixUndeclaredWrite(op *Op, v *Violation) string {
	if v.Subject.Inside {
		return fmt.Sprintf("leave %s alone: work on a clone", strings.TrimPrefix(v.Subject.String(), "argument "))
	}
	set := freeSet(op)
	if sets := aliasSets(v.Subject.Type); len(sets) > 0 {
		set = sets[0]
	}
	fix := change(v.Subject, withSets(v.Subject.Type, set+"!"))
	if b, a := v.Before.Content, v.After.Content; changedBytes(b, a) == "" {
		fix = fmt.Sprintf("change the metadata of a view of %s; or annotate: %s", v.Subject.Name, fix)
	}
	return fix
}

func fixVersionBump(v *Violation) string {
	return fmt.Sprintf("raise the version of %s where it is written", v.Subject.Name)
}

// change shows a place's type in the schema before and after: "Tensor noise
// ->  Tensor(a!) noise".
func change(p Place, typ string) string {
	if p.Return {
		return fmt.Sprintf("return %s  ->  %s", p.Type, typ)
	}
	return fmt.Sprintf("%s %s  ->  %s %s", p.Type, p.Name, typ, p.Name)
}

// withSets gives the type with other alias sets: "Tensor[]" with "a!" is
// "Tensor(a!)[]".
func withSets(typ, sets string) string {
	before, rest, _ := strings.Cut(typ, "(")
	_, after, _ := strings.Cut(rest, ")")
	typ = before + after
	if sets == "" {
		return typ
	}
	at := len(typ)
	if i := strings.IndexAny(typ, "?["); i >= 0 {
		at = i
	}
	return typ[:at] + "(" + sets + ")" + typ[at:]
}

func union(a, b []string) string {
	sets := slices.Concat(a, b)
	slices.Sort(sets)
	return strings.Join(slices.Compact(sets), "|")
}

// freeSet gives the first letter that names no alias set of the op.
func freeSet(op *Op) string {
	var used []string
	for _, s := range slices.Concat(op.Args, op.Results) {
		used = append(used, aliasSets(s.Type)...)
	}
	set := 'a'
	for slices.Contains(used, string(set)) {
		set++
	}
	return string(set)
}
