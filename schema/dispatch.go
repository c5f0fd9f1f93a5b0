package schema

import (
	"go/token"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/opassert/opassert/internal/slicesx"
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

func (e *entry) has(key string) bool {
	return slices.ContainsFunc(e.kernels, func(k dispatchEntry) bool { return k.key == key })
}

// keys returns the dispatch keys of the table, sorted.
func (e *entry) keys() []string {
	keys := slicesx.Map(e.kernels, func(k dispatchEntry) string { return k.key })
	slices.Sort(keys)
	return keys
}

// hasBackend reports whether the entry has a kernel that serves some backends only.
func (e *entry) hasBackend() bool {
	return slices.ContainsFunc(e.kernels, func(k dispatchEntry) bool { return !strings.HasPrefix(k.key, "Composite") })
}

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
		if strings.Count(value.Value, "::") > maxKernelNamespaces {
			r.Report(value, "a kernel has at most 3 namespaces")
		}
		r.dispatchKeys(e, keys, value.Value)
	}
}

const maxKernelNamespaces = 3

func (r *reader) dispatchKeys(e *entry, n *yaml.Node, function string) {
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
		default:
			e.kernels = append(e.kernels, dispatchEntry{key, function, pos})
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

func (r *reader) checkDispatch(e *entry) {
	if e.values[keyDispatch] == nil {
		r.checkImplicit(e)
		return
	}
	if e.manualRegistration {
		r.Report(e.values[keyDispatch], "dispatch has no effect beside manual_kernel_registration: delete one")
	}
	r.checkComposites(e)
	r.checkRedundant(e)
	if e.delegate == nil {
		return
	}
	for _, k := range e.kernels {
		switch k.key {
		case "CPU", "CUDA", "MPS":
			r.ReportAt(k.pos, "%s is left to structured_delegate: delete one", k.key)
		case "XPU", "MTIA": // in new versions
			r.warnAt(k.pos, "%s is left to structured_delegate: delete one", k.key)
		}
	}
}

// checkImplicit reports a factory function that would decompose.
func (r *reader) checkImplicit(e *entry) {
	if e.op == nil || !e.op.CompositeImplicit {
		return
	}
	f := &e.op.Func
	name := f.Name.Root()
	takesTensor := slices.ContainsFunc(f.Args, func(a Argument) bool { return a.Type.IsTensorLike() })
	if strings.HasPrefix(name, "new_") || strings.HasSuffix(name, "_like") || f.optionsIndex(0) >= 0 && !takesTensor {
		r.ReportAt(e.op.Pos, "the factory function %s must not decompose: give it a dispatch table with %s", name, compositeExplicit)
	}
}

// checkComposites reports kernels that make each other pointless. Two can
// stand together only if one is for nested tensors.
func (r *reader) checkComposites(e *entry) {
	list := slices.DeleteFunc(slices.Clone(e.kernels), func(k dispatchEntry) bool { return !slices.Contains(composites, k.key) })
	if len(list) < 2 || len(list) == 2 && e.has(compositeImplicitNested) && !e.has(compositeExplicitNonFunctional) {
		return
	}
	r.ReportAt(list[1].pos, "%s can't be used with %s: each serves every backend", list[1].key, list[0].key)
}

// checkRedundant reports a table that equals, or nearly equals, the default.
func (r *reader) checkRedundant(e *entry) {
	if e.op == nil || len(e.kernels) != 1 || e.kernels[0].key != compositeImplicit {
		return
	}
	k := e.kernels[0]
	standard := e.op.Func.kernelName()
	function := k.value[strings.LastIndex(k.value, ":")+1:]
	switch {
	case k.value == standard:
		r.ReportAt(k.pos, "this dispatch table equals the default: delete it")
	case e.delegate == nil && !strings.Contains(function, "_symint"):
		r.ReportAt(k.pos, "the only kernel is %s: rename it to %s and delete the dispatch table", k.value, standard)
	}
}

// kernelName returns the C++ name of the kernel of an op without a dispatch table.
//
// Source: torchgen/api/cpp.py, name.
func (f *Function) kernelName() string {
	if slices.ContainsFunc(f.Args, func(a Argument) bool { return a.Out }) {
		return f.Name.Root() + "_out"
	}
	return f.Name.Root()
}
