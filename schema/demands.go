package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/opassert/opassert/internal/slicesx"
)

// Note [Demands of torchgen on a file]: torchgen also refuses files whose ops do not fit together,
// such as one with an out= op without other variants, though each op is valid. A file of another
// backend, or of an op author, may have only the ops that it needs; so these are warnings. Two of
// them, about a view without its copy and an op that returns no tensor, would be wrong for most
// such files, and are reported only if a tags.yaml is beside the file, which torchgen requires.

// dumped reports whether opassert dump wrote the file. Such a file has all ops of a dispatcher,
// including those that torchgen derived, and is not meant for torchgen.
func (r *reader) dumped() bool {
	line := r.FirstLine()
	return strings.HasPrefix(line, "#") && strings.HasSuffix(line, ", written by opassert dump.")
}

// demands warns of combinations of ops that torchgen refuses: derived are those that it makes for each group.
//
// Source: torchgen/model.py, NativeFunctionsGroup and NativeFunctionsViewGroup;
// torchgen/native_function_generation.py, add_generated_native_functions;
// torchgen/gen.py, error_check_native_functions, get_grouped_native_functions
// and get_grouped_by_view_native_functions.
func (r *reader) demands(entries []*entry, groups []*group, rev *revision, derived map[*group][]Function) {
	for _, e := range entries {
		r.demandArguments(e)
		r.demandTags(e)
	}
	r.demandNamespaces(entries)
	for _, g := range groups {
		r.demandVariants(g, rev)
		r.demandStructure(g, derived[g])
		r.demandAutogen(g, derived[g])
		r.demandFunctional(g, derived[g])
	}
	if r.tags != nil {
		r.demandCopies(entries, derived)
	}
}

// keywords are those of Python, which its bindings cannot name an argument.
var keywords = strings.Fields(`False None True and as assert async await break class continue def del elif else except
	finally for from global if import in is lambda nonlocal not or pass raise return try while with yield`)

// Named so before torchgen checked.
var namedFrom = []string{"can_cast", "_has_compatible_shallow_copy_type", "random_.from", "uniform_"}

func (r *reader) demandArguments(e *entry) {
	for _, a := range e.op.Func.Args {
		if slices.Contains(keywords, a.Name) && !(a.Name == "from" && slices.Contains(namedFrom, e.op.Func.Name.String())) {
			r.warnAt(a.Pos, "torchgen refuses the argument %s: it is a keyword of Python", a.Name)
		}
	}
}

func (r *reader) demandTags(e *entry) {
	if slices.Contains(e.op.Tags, generatedTag) {
		r.warn(e.values[keyTags], "torchgen refuses the tag %s: it is for ops that torchgen derives, which autogen lists", generatedTag)
	}
}

// demandNamespaces reports ops of two namespaces that torchgen does not distinguish: variants of
// one function by their signatures, or kernels of one name.
func (r *reader) demandNamespaces(entries []*entry) {
	first := make(map[string]*Op, len(entries))
	for _, e := range entries {
		for _, key := range append(e.dispatchesAs(), e.op.Func.signature().String()) {
			if first[key] == nil {
				first[key] = e.op
			} else if other := first[key]; other.Namespace != e.op.Namespace {
				r.warnAt(e.op.Pos, "torchgen refuses %s beside %s::%s, in line %d: it does not distinguish namespaces", e.op.Name(),
					other.Namespace, other.Func.Name, other.Pos.Line)
				break
			}
		}
	}
}

// dispatchesAs returns the names by which torchgen identifies the entry's kernels.
func (e *entry) dispatchesAs() []string {
	name := e.op.Func.Name.String()
	if e.op.CompositeImplicit && !e.has(compositeImplicit) {
		return []string{compositeImplicit + " " + name}
	}
	return slicesx.Map(e.kernels, func(k dispatchEntry) string { return k.key + " " + name })
}

// otherwiseGrouped are the out= ops that torchgen takes alone, since their other
// variants have another signature; noTensor the ops that it knows to return none.
// Source: torchgen/native_function_generation.py, its lists in all versions.
var (
	otherwiseGrouped = []string{"adaptive_avg_pool3d_backward.grad_input", "_slow_conv2d_backward.grad_input"}
	noTensor         = strings.Fields(`_assert_async _assert_async.msg _assert_scalar _assert_tensor_metadata
		_chunk_grad_outputs_efficient_attention _cslt_sparse_mm_search _cummax_helper _cummin_helper _dimI _dimV _fused_sdp_choice
		_has_same_storage_numel _linalg_check_errors _local_scalar_dense _nested_get_ragged_idx _nested_tensor_from_mask_left_aligned
		_nested_tensor_offsets _nested_tensor_storage_offsets _nnz _print _sink_tokens _use_cudnn_ctc_loss _use_cudnn_ctc_loss.Tensor
		_use_miopen_ctc_loss _use_miopen_ctc_loss.Tensor _validate_compressed_sparse_indices allclose dense_dim equal is_coalesced
		is_pinned is_same_size is_set_to q_per_channel_axis q_scale q_zero_point qscheme record_stream sparse_dim
		sym_constrain_range sym_constrain_range_for_size`)
)

// demandVariants reports ops that torchgen cannot group.
func (r *reader) demandVariants(g *group, rev *revision) {
	base := g.base(rev)
	if base == nil || !g.grouped(rev) || g.members[Out] != nil && len(g.entries) > 1 {
		return
	}
	name := base.op.Func.Name.String()
	switch {
	case g.members[Out] != nil && !slices.Contains(otherwiseGrouped, name):
		r.warnAt(base.op.Pos, "torchgen refuses %s: an out= op needs a functional or in-place variant with the same arguments", name)
	case r.tags != nil && g.members[Out] == nil && !base.op.Func.canHaveOut() && !slices.Contains(noTensor, name):
		r.warnAt(base.op.Pos, "torchgen refuses %s: it returns no tensor, so it cannot have an out= variant, but has a kernel of its own", name)
	}
}

// demandStructure reports groups with structured and other ops.
func (r *reader) demandStructure(g *group, derived []Function) {
	out := g.members[Out]
	for _, e := range g.entries {
		switch {
		case e == out:
		case out == nil && e.delegate != nil:
			r.warn(e.values[keyStructuredDelegate], "structured_delegate %s is not the out= variant of %s: its other arguments differ", e.delegate, e.op.Func.Name)
		case out != nil && out.structured && e.delegate == nil:
			r.warnAt(e.op.Pos, "torchgen refuses %s beside the structured %s, in line %d: add structured_delegate: %s",
				e.op.Func.Name, out.op.Func.Name, out.op.Pos.Line, out.op.Func.Name)
		case e.delegate != nil && *e.delegate != out.op.Func.Name:
			r.warn(e.values[keyStructuredDelegate],
				"torchgen refuses structured_delegate %s: the out= variant of %s is %s, in line %d", e.delegate, e.op.Func.Name,
				out.op.Func.Name, out.op.Pos.Line)
		}
	}
	if out == nil || !out.structured {
		return
	}
	for _, v := range derived {
		r.warnAt(out.op.Pos, "torchgen refuses the structured %s without a functional variant: add %s, with structured_delegate: %s", out.op.Func.Name, v.Name, out.op.Func.Name)
	}
	for _, k := range out.kernels {
		if k.key == compositeImplicit || k.key == compositeImplicitNested {
			r.warnAt(k.pos, "torchgen refuses %s beside a structured kernel", k.key)
		}
	}
}

// demandAutogen reports derived ops that no autogen line lists.
func (r *reader) demandAutogen(g *group, derived []Function) {
	var all []string
	missing := false
	listed := g.listed()
	for _, v := range derived {
		all = append(all, v.Name.String())
		missing = missing || !slices.ContainsFunc(listed, func(l listedName) bool { return l.name == v.Name })
	}
	if !missing || g.members[Out] != nil && g.members[Out].structured {
		return
	}
	slices.Sort(all)
	pos := g.entries[0].op.Pos
	for _, e := range g.entries {
		if n := e.values[keyAutogen]; n != nil {
			pos = r.Pos(n)
		}
	}
	r.warnAt(pos, "torchgen derives %s, and requires the line autogen: %s", strings.Join(all, ", "), strings.Join(all, ", "))
}

// demandFunctional reports a group without its functional variant, or with one that is an overload
// of an op that writes an argument.
func (r *reader) demandFunctional(g *group, derived []Function) {
	functional, mutable := g.members[Functional], g.members[Mutable]
	switch {
	case functional == nil && len(g.entries) > 1 && len(derived) == 0:
		r.warnAt(g.entries[0].op.Pos, "torchgen refuses %s and %s, in line %d, without a functional variant",
			g.entries[0].op.Func.Name, g.entries[1].op.Func.Name, g.entries[1].op.Pos.Line)
	case functional != nil && mutable != nil && !functional.op.Func.Name.Functional && (g.members[Out] != nil || len(derived) > 0):
		r.warnAt(functional.op.Pos,
			"torchgen refuses %s beside %s, in line %d: the name of the functional variant ends in _functional",
			functional.op.Func.Name, mutable.op.Func.Name, mutable.op.Pos.Line)
	}
}

// demandCopies reports views without a copying variant, and those whose in-place variant decomposes
// although they do not.
func (r *reader) demandCopies(entries []*entry, derived map[*group][]Function) {
	others := make(map[string]*entry, len(entries))
	inplace := make(map[string]*entry)
	for _, e := range entries {
		switch {
		case e.op.View() == NotView && e.op.Kind() == Functional:
			key := e.op.Func.viewSignature()
			if first := others[key]; first != nil {
				r.warnAt(e.op.Pos, "torchgen refuses %s beside %s, in line %d: it considers both the copy of one view",
					e.op.Func.Name, first.op.Func.Name, first.op.Pos.Line)
			}
			others[key] = e
		case e.op.View() != NotView && e.op.Func.Name.Inplace:
			inplace[e.op.Func.viewSignature()] = e
		}
	}
	generated := make(map[string]bool)
	for _, list := range derived {
		for _, v := range list {
			if v.Kind() == Functional {
				generated[v.viewSignature()] = true
			}
		}
	}
	for _, e := range entries {
		if e.op.View() == NotView || e.op.Func.Name.Inplace {
			continue
		}
		key := e.op.Func.viewSignature()
		if write := inplace[key]; write != nil && e.op.CompositeImplicit && !write.op.CompositeImplicit {
			r.warnAt(write.op.Pos, "torchgen refuses %s beside %s, in line %d, which decomposes: either both have kernels or neither", write.op.Func.Name, e.op.Func.Name, e.op.Pos.Line)
		}
		copied := others[key]
		switch {
		case copied != nil:
			r.demandCopy(e, copied)
		case e.op.CompositeImplicit, strings.HasSuffix(e.op.Func.Name.Base, "_inverse"), generated[key]:
		default:
			name := e.op.Func.Name
			name.Base += "_copy"
			r.warnAt(e.op.Pos, "torchgen refuses the view %s with a kernel of its own, but without %s, which returns a copy", e.op.Func.Name, name)
		}
	}
}

// demandCopy checks the copying variant of a view.
func (r *reader) demandCopy(view, copied *entry) {
	name := copied.op.Func.Name
	switch {
	case !strings.HasSuffix(name.Base, "_copy") && !strings.HasSuffix(name.Base, "_scatter"):
		r.warnAt(copied.op.Pos, "torchgen refuses %s beside the view %s, in line %d: its name ends in _copy or _scatter", name, view.op.Func.Name, view.op.Pos.Line)
	case !slices.Contains(copied.op.Tags, viewCopyTag):
		r.warnAt(copied.op.Pos, "torchgen refuses %s, the copy of the view %s: tags: %s", name, view.op.Func.Name, viewCopyTag)
	}
}

const (
	generatedTag = "generated"
	viewCopyTag  = "view_copy"
)

// viewSignature is the part of the signature that a view and its variants share.
func (f *Function) viewSignature() string {
	s := f.signature()
	base := s.Name.Base
	for _, suffix := range []string{"_copy", "_scatter"} {
		base = strings.TrimSuffix(base, suffix)
	}
	s.Name.Base = cmp.Or(base, s.Name.Base)
	return fmt.Sprint(s)
}
