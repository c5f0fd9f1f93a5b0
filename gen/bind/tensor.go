package bind

import (
	"cmp"
	"go/types"
	"slices"
	"strings"
)

// assertsPath is the package that the tensor type's Observe speaks to.
const assertsPath = "github.com/opassert/opassert/asserts"

// findTensor gives the Go type of tensors: the named one, or the one that
// stands most often where a schema says Tensor.
func (b *binder) findTensor(pairs []pair, name string) types.Type {
	if len(pairs) == 0 {
		return nil
	}
	at := b.pkg.Kernels[0].Pos
	found := candidates(pairs)
	if len(found) == 0 {
		b.errorf(at, "no kernel takes a plain Tensor, so its Go type can't be told: name it with -tensor import/path.Type")
		return nil
	}
	best := slices.MaxFunc(found, func(x, y candidate) int { return cmp.Compare(x.votes, y.votes) })
	if name != "" {
		i := slices.IndexFunc(found, func(c candidate) bool { return types.TypeString(c.tensor, nil) == name })
		if i < 0 {
			b.errorf(at, "no kernel takes a Tensor as %s; the signatures have %s", name, typeNames(found))
			return nil
		}
		best = found[i]
	}
	if !observes(best.tensor) {
		b.errorf(at, "tensor type %v has no method Observe(*asserts.Observation, asserts.Level), which the checks look through; "+
			"implement it, or name another type with -tensor", best.tensor)
		return nil
	}
	return best.tensor
}

// A candidate is a type that stands where a schema says Tensor.
type candidate struct {
	tensor types.Type
	votes  int
}

// candidates gives the candidates in the order in which they first stand. A
// kernel with too few parameters counts as far as it goes.
func candidates(pairs []pair) []candidate {
	var found []candidate
	for _, p := range pairs {
		params, args := kernelParams(p.kernel), p.op.Func.Args
		for i := range min(len(params), len(args)) {
			t := params[i].Type()
			if args[i].Type.Name != "Tensor" {
				continue
			}
			at := slices.IndexFunc(found, func(c candidate) bool { return types.Identical(c.tensor, t) })
			if at < 0 {
				at = len(found)
				found = append(found, candidate{tensor: t})
			}
			found[at].votes++
		}
	}
	return found
}

func typeNames(found []candidate) string {
	var names []string
	for _, c := range found {
		names = append(names, types.TypeString(c.tensor, nil))
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// observes reports whether t has Observe(*asserts.Observation, asserts.Level).
func observes(t types.Type) bool {
	obj, _, _ := types.LookupFieldOrMethod(t, false, nil, "Observe")
	fn, ok := obj.(*types.Func)
	if !ok {
		return false
	}
	sig := fn.Signature()
	return sig.Params().Len() == 2 && sig.Results().Len() == 0 &&
		types.TypeString(sig.Params().At(0).Type(), nil) == "*"+assertsPath+".Observation" &&
		types.TypeString(sig.Params().At(1).Type(), nil) == assertsPath+".Level"
}
