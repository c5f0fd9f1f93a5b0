package bind

import (
	"cmp"
	"fmt"
	"go/types"
	"slices"
	"strings"

	"github.com/opassert/opassert/internal/slicesx"
	"github.com/opassert/opassert/schema"
)

// findTensor returns the Go type of tensors: the option's, or the most frequent type of parameters
// for which the schema has Tensor.
func (b *binder) findTensor(pairs []pair, name string) types.Type {
	if len(pairs) == 0 {
		return nil
	}
	at := b.pkg.Kernels[0].Pos
	found := b.candidates(pairs)
	if len(found) == 0 {
		b.errorf(at, "no kernel takes or returns a plain Tensor or a list of them, "+
			"so the Go type of tensors is unknown: use one of them in a kernel")
		return nil
	}
	best := slices.MaxFunc(found, func(x, y candidate) int { return cmp.Compare(x.votes, y.votes) })
	if o := b.pkg.Observer; o != nil && name == "" {
		name, at = typeName(o.Tensor()), o.Pos
	}
	if name != "" {
		i := slices.IndexFunc(found, func(c candidate) bool { return typeName(c.tensor) == name })
		if i < 0 {
			names := slicesx.Map(found, func(c candidate) string { return typeName(c.tensor) })
			slices.Sort(names)
			b.errorf(at, "no kernel takes a Tensor as %s; the signatures have %s", name, strings.Join(names, ", "))
			return nil
		}
		best = found[i]
	}
	if !observes(best.tensor) && !b.observed(best.tensor) {
		cure := "implement it"
		if observes(types.NewPointer(best.tensor)) {
			cure = fmt.Sprintf("its pointer has: mark functions that take and return *%s", b.typeString(best.tensor))
		}
		if b.foreign(best.tensor) {
			cure = fmt.Sprintf("write func Observe(t %v, o *asserts.Observation, level asserts.Level) with the mark %s",
				best.tensor, observeMark)
		}
		b.errorf(at, "tensor type %v has no method Observe(*asserts.Observation, asserts.Level), which the checks need; "+
			"%s, or name another type with -tensor", best.tensor, cure)
		return nil
	}
	return best.tensor
}

// observed reports whether the package's observer is for the type.
func (b *binder) observed(t types.Type) bool {
	return b.pkg.Observer != nil && types.Identical(b.pkg.Observer.Tensor(), t)
}

// foreign reports whether a type is a pointer to a type of another package, which may be of another
// module and cannot get methods.
func (b *binder) foreign(t types.Type) bool {
	return isPointerTo(t, func(t types.Type) bool {
		named, ok := types.Unalias(t).(*types.Named)
		return ok && named.Obj().Pkg() != nil && named.Obj().Pkg() != b.pkg.Types
	})
}

// A candidate is a type of parameters for which a schema has Tensor.
type candidate struct {
	tensor types.Type
	votes  int
}

// candidates returns the candidates in order of appearance. A kernel with too few parameters or
// results counts with those that it has.
func (b *binder) candidates(pairs []pair) []candidate {
	var found []candidate
	vote := func(declared schema.Type, v *types.Var) {
		t := tensorIn(declared, v.Type())
		if t == nil {
			return
		}
		at := slices.IndexFunc(found, func(c candidate) bool { return types.Identical(c.tensor, t) })
		if at < 0 {
			at = len(found)
			found = append(found, candidate{tensor: t})
		}
		found[at].votes++
	}
	for _, p := range pairs {
		vars, args := given(p.op, p.kernel), p.op.Func.Args
		quiet := binder{pkg: b.pkg} // its errors are reported later
		for i, at := range quiet.order(p, vars) {
			if at >= 0 {
				vote(args[i].Type, vars[at])
			}
		}
		results, returns := kernelResults(p.kernel), p.op.Func.Returns
		for i := range min(len(results), len(returns)) {
			vote(returns[i].Type, results[i])
		}
	}
	return found
}

// tensorIn returns the Go type of a Tensor, or of the elements of a list of them; nil if the schema has another type.
func tensorIn(declared schema.Type, t types.Type) types.Type {
	if declared.Name == "Tensor" {
		if of, ok := t.(interface{ Elem() types.Type }); ok && !observes(t) && observes(of.Elem()) {
			return of.Elem() // does not fit, as the error tells
		}
		return t
	}
	slice, ok := t.Underlying().(*types.Slice)
	if ok && declared.Kind == schema.List && declared.Elem[0].Name == "Tensor" {
		return slice.Elem()
	}
	return nil
}

// observes reports whether t has Observe(*asserts.Observation, asserts.Level).
func observes(t types.Type) bool {
	obj, _, _ := types.LookupFieldOrMethod(t, false, nil, "Observe")
	fn, ok := obj.(*types.Func)
	if !ok {
		return false
	}
	sig := fn.Signature()
	return sig.Params().Len() == 2 && sig.Results().Len() == 0 && looks(sig.Params().At(0), sig.Params().At(1))
}
