package bind

import (
	"go/types"
	"slices"
	"strings"

	"github.com/opassert/opassert/schema"
)

// assertsPath is the package that the tensor type's Observe speaks to.
const assertsPath = "github.com/opassert/opassert/asserts"

// findTensor gives the Go type of tensors: the named one, or the one that
// stands most often where a schema says Tensor.
func (b *binder) findTensor(pairs []pair, name string) types.Type {
	votes := map[string]int{}
	candidates := map[string]types.Type{}
	for _, p := range pairs {
		for arg, t := range alignedTypes(p) {
			key := types.TypeString(t, nil)
			if arg.IsTensorLike() && arg.ListKind() == "none" {
				votes[key]++
				candidates[key] = t
			}
		}
	}
	best := name
	if name == "" {
		best = mostVotes(votes)
	}
	t := candidates[best]
	switch {
	case len(pairs) == 0:
		return nil
	case t == nil && name != "":
		b.errorf(b.pkg.position(), "no kernel takes a Tensor as %s; the signatures have %s", name, strings.Join(sortedKeys(votes), ", "))
		return nil
	case t == nil:
		b.errorf(b.pkg.position(), "no kernel takes a plain Tensor, so its Go type can't be told: name it with -tensor import/path.Type")
		return nil
	case !observes(t):
		b.errorf(b.pkg.position(), "tensor type %s has no method Observe(asserts.Level) asserts.Observation, which the checks look through; "+
			"implement it, or name another type with -tensor", best)
		return nil
	}
	return t
}

// alignedTypes pairs the schema's arguments with the kernel's parameter types
// as far as both go.
func alignedTypes(p pair) func(yield func(*schema.Type, types.Type) bool) {
	return func(yield func(*schema.Type, types.Type) bool) {
		params := kernelParams(p.kernel)
		for i := range min(len(params), len(p.op.Func.Args)) {
			if !yield(&p.op.Func.Args[i].Type, params[i].Type()) {
				return
			}
		}
	}
}

func mostVotes(votes map[string]int) string {
	best := ""
	for _, key := range sortedKeys(votes) {
		if votes[key] > votes[best] {
			best = key
		}
	}
	return best
}

func sortedKeys(m map[string]int) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// observes reports whether t has Observe(asserts.Level) asserts.Observation.
func observes(t types.Type) bool {
	obj, _, _ := types.LookupFieldOrMethod(t, false, nil, "Observe")
	fn, ok := obj.(*types.Func)
	if !ok {
		return false
	}
	sig := fn.Signature()
	return sig.Params().Len() == 1 && sig.Results().Len() == 1 &&
		types.TypeString(sig.Params().At(0).Type(), nil) == assertsPath+".Level" &&
		types.TypeString(sig.Results().At(0).Type(), nil) == assertsPath+".Observation"
}
