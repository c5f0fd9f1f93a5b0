// Package typed decides the form of the operators of a real libtorch as Go functions: the Go type
// of each argument and result, and its conversion to a libtorch.Value and back.
package typed

import (
	"fmt"
	"go/scanner"
	"slices"
	"strings"

	"github.com/opassert/opassert/gen/plan"
	"github.com/opassert/opassert/schema"
)

// A Func is one function to generate.
type Func struct {
	Name    string // the function's Go name
	OpVar   string // the Go name of the op's table
	Out     string // the local variable with the results of the call
	Err     string // the error result's name
	Plan    plan.Plan
	Params  []GoValue
	Results []GoValue
}

// A GoValue is a parameter or a result.
type GoValue struct {
	Name string
	GoForm
}

// A Skipped op has no Go form, for the given reason.
type Skipped struct {
	Op     *schema.Op
	Reason string
}

// Funcs returns the functions, ordered by op name, and the ops without one. Two ops with one Go
// name are an error, a [scanner.ErrorList] with both positions.
func Funcs(ops []*schema.Op, planner *plan.Planner) ([]Func, []Skipped, error) {
	var funcs []Func
	var skipped []Skipped
	var clashes scanner.ErrorList
	first := map[string]*schema.Op{}
	ops = slices.Clone(ops)
	slices.SortFunc(ops, func(a, b *schema.Op) int { return strings.Compare(a.Name(), b.Name()) })
	for _, op := range ops {
		f, reason := newFunc(op, planner)
		if reason != "" {
			skipped = append(skipped, Skipped{op, reason})
			continue
		}
		if other := first[f.Name]; other != nil {
			clashes.Add(op.Pos, fmt.Sprintf("%s and %s (%v) would both be %s in Go; rename the overload of one of them",
				op.Name(), other.Name(), other.Pos, f.Name))
			continue
		}
		first[f.Name] = op
		funcs = append(funcs, f)
	}
	clashes.Sort()
	return funcs, skipped, clashes.Err()
}

func newFunc(op *schema.Op, planner *plan.Planner) (Func, string) {
	f := Func{Name: plan.GoName(op.Func.Name), Plan: planner.Plan(op)}
	f.OpVar = "op" + f.Name
	names := plan.NewNameSet("asserts", "libtorch", "enabled", "nil", f.OpVar)
	for _, a := range op.Func.Args {
		form, ok := formOf(a.Type)
		if !ok {
			return f, fmt.Sprintf("argument %s has type %v, which has no Go form", a.Name, a.Type)
		}
		f.Params = append(f.Params, GoValue{names.Pick(camel(a.Name), "arg"), form})
	}
	for i, r := range op.Func.Returns {
		form, _ := formOf(r.Type)
		if form.Take == "" {
			return f, fmt.Sprintf("return %d has type %v, which has no Go form", i, r.Type)
		}
		f.Results = append(f.Results, GoValue{names.Pick(camel(plan.LocalName(op, i)), "result"), form})
	}
	f.Out, f.Err = names.Pick("out", ""), names.Pick("err", "")
	return f, ""
}

// camel returns a local name in Go's form: grad_output is gradOutput.
func camel(snake string) string {
	words := strings.FieldsFunc(snake, func(r rune) bool { return r == '_' })
	for i, w := range words {
		if i > 0 {
			words[i] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, "")
}
