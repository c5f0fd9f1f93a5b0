package schema

import (
	"go/token"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/opassert/opassert/internal/tensor"
	"github.com/opassert/opassert/internal/yamlfile"
)

// Dispatch keys that serve every backend.
const (
	compositeImplicit              = "CompositeImplicitAutograd"
	compositeImplicitNested        = "CompositeImplicitAutogradNestedTensor"
	compositeExplicit              = "CompositeExplicitAutograd"
	compositeExplicitNonFunctional = "CompositeExplicitAutogradNonFunctional"
)

var composites = []string{compositeImplicit, compositeImplicitNested, compositeExplicit, compositeExplicitNonFunctional}

// dispatchKeys are the keys that a file may use, in any version up to 2.8, and those of backends outside of PyTorch.
var dispatchKeys = func() []string {
	keys := append(slices.Clone(composites), "ZeroTensor", "MkldnnCPU")
	for _, backend := range slices.Concat(tensor.DeviceKeys, []string{"PrivateUse2", "PrivateUse3"}) {
		for _, layout := range []string{"", "Quantized", "Sparse", "SparseCsr", "NestedTensor"} {
			keys = append(keys, layout+backend)
		}
	}
	return keys
}()

func (e *entry) has(key string) bool { return slices.Contains(e.kernels, key) }

// dispatch reads the table of kernels: one or several keys, with commas between, and a function.
func (r *reader) dispatch(e *entry) {
	n := e.values[keyDispatch]
	if n == nil {
		return
	}
	if n.Kind != yaml.MappingNode {
		r.ReportKind(n, "dispatch: keys with their kernels")
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		keys, value := n.Content[i], n.Content[i+1]
		if !yamlfile.IsText(keys) {
			r.ReportKind(keys, "a dispatch key")
			continue
		}
		if !yamlfile.IsText(value) {
			r.ReportKind(value, "the name of a kernel")
			continue
		}
		r.dispatchKeys(e, keys)
	}
}

func (r *reader) dispatchKeys(e *entry, n *yaml.Node) {
	at, off := r.Inside(n), 0
	for text := range strings.SplitSeq(n.Value, ",") {
		key := strings.TrimSpace(text)
		pos := at(off + strings.Index(text, key))
		off += len(text) + 1
		switch {
		case !slices.Contains(dispatchKeys, key):
			r.unknownDispatchKey(pos, key)
		case e.has(key):
			r.ReportAt(pos, "the dispatch key %s is given twice", key)
		case e.excludes(key) != "":
			r.ReportAt(pos, "%s can't be used with %s: each serves every backend", key, e.excludes(key))
		default:
			e.kernels = append(e.kernels, key)
		}
	}
}

// unknownDispatchKey adds a warning: every version, and many a backend, has keys of its own. A
// mistyped composite key is an error, since it changes the op.
func (r *reader) unknownDispatchKey(pos token.Position, key string) {
	if yamlfile.Suggest(key, composites) != "" {
		r.ReportAt(pos, "unknown dispatch key %q%s", yamlfile.Clip(key), yamlfile.Suggest(key, composites))
		return
	}
	r.warnAt(pos, "unknown dispatch key %q%s", yamlfile.Clip(key), yamlfile.Suggest(key, dispatchKeys))
}

// excludes returns the key of a kernel that leaves nothing to one for a composite key, or "". Two can
// stand together only if one is for nested tensors.
func (e *entry) excludes(key string) string {
	partial := func(k string) bool { return !slices.Contains(composites, k) }
	others := slices.DeleteFunc(slices.Clone(e.kernels), partial)
	both := append(slices.Clone(others), key)
	nested := slices.Contains(both, compositeImplicitNested) && !slices.Contains(both, compositeExplicitNonFunctional)
	if partial(key) || len(others) == 0 || len(others) == 1 && nested {
		return ""
	}
	return others[0]
}

// checkFactory reports a factory function that would decompose.
func (r *reader) checkFactory(e *entry) {
	f, tensor := &e.op.Func, func(a Argument) bool { return a.Type.IsTensorLike() }
	name := f.Name.Root()
	factory := strings.HasPrefix(name, "new_") || strings.HasSuffix(name, "_like") ||
		f.optionsIndex() >= 0 && !slices.ContainsFunc(f.Args, tensor)
	if factory && e.op.CompositeImplicit && e.values[keyDispatch] == nil {
		r.ReportAt(e.op.Pos, "the factory function %s must not decompose: give it a dispatch table with %s",
			name, compositeExplicit)
	}
}
