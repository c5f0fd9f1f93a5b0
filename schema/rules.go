package schema

import (
	"slices"
	"strings"

	"github.com/opassert/opassert/internal/yamlfile"
)

// checkEntry reports torchgen's errors about one entry, except those about the form of its keys.
//
// Source: torchgen/model.py, NativeFunction.from_yaml and __post_init__.
func (r *reader) checkEntry(e *entry) {
	method := r.checkVariants(e)
	if n := r.text(e, keyPythonModule); n != nil && method {
		r.Report(n, "a function in a module can't be a method: delete method from variants")
	}
	if n := e.values[keyStructuredInherits]; n != nil && !e.structured {
		r.Report(n, "structured_inherits needs structured: True")
	}
	r.checkDeviceCheck(e)
	r.checkDispatch(e)
	if e.op == nil {
		return
	}
	r.checkNoDefaultArgs(e)
	r.checkStructured(e)
	r.checkRandom(e)
}

// checkVariants reports whether the op is a method.
func (r *reader) checkVariants(e *entry) (method bool) {
	n := r.text(e, keyVariants)
	if n == nil {
		return false
	}
	for _, w := range r.words(n) {
		switch w.text {
		case "method":
			method = true
		case "function":
		default:
			r.ReportAt(w.pos, "unknown variant %q: write function, method, or both", yamlfile.Clip(w.text))
		}
	}
	if method && e.op != nil && slices.ContainsFunc(e.op.Func.Args, func(a Argument) bool { return a.Out }) {
		r.Report(n, "an op with an out argument can only be a function: variants: function")
	}
	return method
}

func (r *reader) checkDeviceCheck(e *entry) {
	n := r.text(e, keyDeviceCheck)
	if n != nil && n.Value != "NoCheck" && n.Value != "ExactSame" {
		r.Report(n, "unknown device_check %q: write NoCheck or ExactSame", yamlfile.Clip(n.Value))
	}
	if e.op != nil && strings.HasPrefix(e.op.Func.Name.String(), "_foreach") && (n == nil || n.Value != "NoCheck") {
		r.ReportAt(e.op.Pos, "%s takes tensors of several devices: device_check: NoCheck", e.op.Func.Name)
	}
}

func (r *reader) checkNoDefaultArgs(e *entry) {
	for _, item := range r.texts(e.values[keyCppNoDefaultArgs], "cpp_no_default_args: a list of arguments", "the name of an argument") {
		if !slices.ContainsFunc(e.op.Func.Args, func(a Argument) bool { return a.Name == item.Value && a.Default != "" }) {
			r.Report(item, "%s has no argument %s with a default value", e.op.Func.Name, yamlfile.Clip(item.Value))
		}
	}
}

func (r *reader) checkStructured(e *entry) {
	structured, delegates := e.op.Structured, e.values[keyStructuredDelegate] != nil
	kind := e.op.Kind()
	switch {
	case structured && delegates:
		r.Report(e.values[keyStructured], "an op is structured or has a structured_delegate, not both")
	case structured && kind != Out:
		r.Report(e.values[keyStructured], "only an out= op can be structured, and %s is %s: use structured_delegate", e.op.Func.Name, kind)
	case delegates && kind == Out:
		r.Report(e.values[keyStructuredDelegate], "an out= op cannot have structured_delegate: use structured")
	case (structured || delegates) && !e.guarded:
		r.Report(e.values[keyDeviceGuard], "a structured kernel always has its device guard: delete device_guard")
	}
}

// checkRandom warns about an op that looks random but lacks the tag. The names that count as
// random, and the exempt ops, differ between versions: these are the rules that all have in common,
// and those of versions with pt2_compliant_tag.
func (r *reader) checkRandom(e *entry) {
	if slices.Contains(e.op.Tags, seededTag) {
		return
	}
	f := &e.op.Func
	name := f.Name.String()
	dropout := strings.Contains(name, "dropout")
	if r.tags != nil && r.tags.has(compliantTag) {
		dropout = dropout || slices.ContainsFunc(f.Args, func(a Argument) bool { return strings.Contains(a.Name, "dropout") })
	}
	dropout = dropout && !strings.Contains(name, "backward") && f.Name.Root() != "_cudnn_init_dropout_state"
	random := strings.Contains(name, "rand") && !strings.Contains(name, "_philox_")
	generator := slices.ContainsFunc(f.Args, func(a Argument) bool { return a.Type.is("Generator") })
	if random || dropout || generator {
		r.warnAt(e.op.Pos, "%s is random, by its name or its arguments: tags: %s", name, seededTag)
	}
}

const seededTag = "nondeterministic_seeded"

// checkDuplicates reports ops of one name, and ops that differ only in their overload names.
func (r *reader) checkDuplicates(entries []*entry) {
	r.named = make(map[string]*Op, len(entries))
	for _, e := range entries {
		if e.op == nil {
			continue
		}
		name := e.op.Name()
		if first := r.named[name]; first != nil {
			r.ReportAt(e.op.Pos, "%s is defined twice, first in line %d", name, first.Pos.Line)
			continue
		}
		r.named[name] = e.op
	}
}

// checkReferences reports entries that name, or need, others that do not exist.
//
// Source: torchgen/gen.py, error_check_native_functions.
func (r *reader) checkReferences(entries []*entry) {
	roots := make(map[string]bool, len(entries))
	for _, e := range entries {
		roots[e.op.Namespace+"::"+e.op.Func.Name.Root()] = true
	}
	for _, e := range entries {
		if e.delegate != nil {
			r.checkDelegate(e)
		}
		r.checkInplaceView(e, roots)
	}
}

func (r *reader) checkDelegate(e *entry) {
	target := Op{Namespace: e.op.Namespace, Func: Function{Name: *e.delegate}}
	switch found := r.named[target.Name()]; {
	case found == nil:
		r.Report(e.values[keyStructuredDelegate], "structured_delegate %s: there is no such op in this file", e.delegate)
	case !found.Structured:
		r.Report(e.values[keyStructuredDelegate], "structured_delegate %s: that op, in line %d, is not structured", e.delegate, found.Pos.Line)
	}
}

// checkInplaceView requires a view variant of an in-place view. See Note [resize_ is not a view]; set_ has none either.
func (r *reader) checkInplaceView(e *entry, roots map[string]bool) {
	name := e.op.Func.Name
	if !slices.Contains(e.op.Tags, inplaceViewTag) || isResize(name) || name.Root() == "set_" {
		return
	}
	if !name.Inplace {
		r.ReportAt(e.op.Pos, "%s has the tag %s, but its name does not end in _", name, inplaceViewTag)
		return
	}
	view := Name{Base: name.Base, Dunder: name.Dunder}
	if !roots[e.op.Namespace+"::"+view.String()] {
		r.ReportAt(e.op.Pos, "%s has the tag %s, so the file must have its out-of-place view %s; an op without one is not tagged, and is allowed to violate OA013", name, inplaceViewTag, view)
	}
}
