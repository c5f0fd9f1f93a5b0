package bind

import (
	"fmt"
	"go/scanner"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/packages"
)

// observeMark is the directive that makes a function observe the tensors of a
// type of another package, which can't be given a method:
//
//	//opassert:observe
//	func Observe(m *mat.Dense, o *asserts.Observation, level asserts.Level)
const observeMark = "//opassert:observe"

// An Observer is a function that replaces the method Observe of a tensor type.
type Observer struct {
	Pos  token.Position
	Func *types.Func
}

// Tensor returns the tensor type: a pointer to a named type.
func (o *Observer) Tensor() types.Type { return o.Func.Signature().Params().At(0).Type() }

// findObserver reads the package's mark of an observer, if there is one.
func (pkg *Package) findObserver(p *packages.Package) error {
	var errs scanner.ErrorList
	for _, file := range p.Syntax {
		fit, unfit := Directives(file, p.TypesInfo)
		for _, u := range unfit {
			errs.Add(position(p.Fset, u.Pos), u.Why)
		}
		for _, d := range fit {
			o := &Observer{position(p.Fset, d.Func.Pos()), d.Func}
			switch {
			case d.Directive != observeMark:
			case pkg.Observer != nil:
				errs.Add(o.Pos, fmt.Sprintf("%s is a second observer; the first is %s at %v",
					d.Func.Name(), pkg.Observer.Func.Name(), pkg.Observer.Pos))
			default:
				pkg.Observer = o
			}
		}
	}
	errs.Sort()
	return errs.Err()
}

func unfitObserver(fn *types.Func) string {
	const want = "func(*T, *asserts.Observation, asserts.Level)"
	sig := fn.Signature()
	if sig.Recv() != nil || sig.Results().Len() != 0 || sig.Params().Len() != 3 ||
		!looks(sig.Params().At(1), sig.Params().At(2)) {
		return "is not a " + want
	}
	named := func(t types.Type) bool { _, ok := types.Unalias(t).(*types.Named); return ok }
	if isPointerTo(sig.Params().At(0).Type(), named) {
		return ""
	}
	return "is not a " + want + ", of a named type T; " +
		"around tensors that are values declare a type of your own, with a method Observe"
}

// looks reports whether two parameters are those of an Observe.
func looks(observation, level *types.Var) bool {
	return typeName(observation.Type()) == "*"+assertsPath+".Observation" &&
		typeName(level.Type()) == assertsPath+".Level"
}
