package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/schema"
)

// subjects is an op seen as what its checks are about: the arguments and
// returns that hold tensors, side by side with their alias sets.
type subjects struct {
	op           *schema.Op
	args         []asserts.Subject
	results      []asserts.Subject
	argAliases   []*schema.Alias
	resultAlias  []*schema.Alias
	argLists     []string
	resultsLists []string
}

func newSubjects(op *schema.Op) *subjects {
	s := &subjects{op: op}
	for i, a := range op.Func.Args {
		if a.Type.IsTensorLike() {
			s.args = append(s.args, subject(i, a.Name, a.Type, a.Alias))
			s.argAliases = append(s.argAliases, a.Alias)
			s.argLists = append(s.argLists, a.Type.ListKind())
		}
	}
	for i, r := range op.Func.Returns {
		if r.Type.IsTensorLike() {
			s.results = append(s.results, subject(i, returnName(op, i), r.Type, r.Alias))
			s.resultAlias = append(s.resultAlias, r.Alias)
			s.resultsLists = append(s.resultsLists, r.Type.ListKind())
		}
	}
	return s
}

func subject(index int, name string, t schema.Type, alias *schema.Alias) asserts.Subject {
	kind := t.ListKind()
	return asserts.Subject{
		Index: index,
		Name:  name,
		Type:  schema.Return{Type: t, Alias: alias}.String(),
		List:  kind == "tensorlist" || kind == "opttensorlist",
		Write: alias != nil && alias.Write,
	}
}

// returnName names a return as PyTorch's generated code does: its own name,
// with _return behind it where an argument has that name too, or else result,
// or result0 and so on where there are several.
//
// Source: torchgen/api/cpp.py, return_names.
func returnName(op *schema.Op, i int) string {
	own := op.Func.Returns[i].Name
	if slices.ContainsFunc(op.Func.Args, func(a schema.Argument) bool { return a.Name == own }) {
		return own + "_return"
	}
	return LocalName(op, i)
}

// shareSet reports whether the schema gives two tensors a common alias set,
// before or after the call.
func shareSet(a, b *schema.Alias) bool {
	if a == nil || b == nil {
		return false
	}
	for _, set := range sets(a) {
		if slices.Contains(sets(b), set) {
			return true
		}
	}
	return false
}

func sets(a *schema.Alias) []string { return slices.Concat(a.Before, a.After) }

// carrier gives the first argument that has an alias set in common with the
// return, or false.
func (s *subjects) carrier(alias *schema.Alias) (asserts.Subject, bool) {
	for i, arg := range s.args {
		if shareSet(alias, s.argAliases[i]) {
			return arg, true
		}
	}
	return asserts.Subject{}, false
}

// An UnknownPreset is a preset name that does not exist.
type UnknownPreset struct{ Name string }

func (e *UnknownPreset) Error() string {
	return fmt.Sprintf("no preset %q; there are %s", e.Name, strings.Join(Presets(), ", "))
}
