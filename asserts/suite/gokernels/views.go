package gokernels

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/slicesx"
	"github.com/opassert/opassert/internal/tensor"
	"github.com/opassert/opassert/schema"
)

// Tensors with strides that Make lacks come from view ops of the library that return the wanted layout: narrow returns
// padded rows, t a transposed matrix. The arguments of such a call are found by trial.

// views are the library's view ops, and the calls found for each layout.
type views struct {
	ops      []*schema.Op
	found    map[string][]viewCall // by the kind of layout
	searches map[string]int        // by the same
	copying  map[string][]string   // by the same: ops whose results have the sizes, and do not share the base's storage
}

// A viewCall is a call of a view op on a base of a layout, with its other arguments' positions among their candidates.
type viewCall struct {
	op     *schema.Op
	base   int
	values []int
}

const (
	mostViewCalls    = 4096 // tried of an op on a base
	mostFoundCalls   = 32   // remembered of a kind of layout
	mostViewSearches = 3    // of one kind: equal sizes hide which of them an op uses
	mostSearched     = 1024 // elements of a layout
)

func newViews(operators []engine.Operator) views {
	v := views{found: make(map[string][]viewCall), searches: make(map[string]int), copying: make(map[string][]string)}
	for _, o := range operators {
		if o.Missing == "" && isViewOp(&o.Schema.Func) {
			v.ops = append(v.ops, o.Schema)
		}
	}
	return v
}

// isViewOp reports whether an op returns a view of its only tensor argument.
func isViewOp(f *schema.Function) bool {
	tensors := slices.DeleteFunc(slices.Clone(f.Args), func(a schema.Argument) bool { return !a.Type.HoldsTensors() })
	isView := func(t schema.Type, a *schema.Alias) bool { return t.String() == "Tensor" && a != nil && !a.Write }
	return len(tensors) == 1 && len(f.Returns) == 1 && isView(tensors[0].Type, tensors[0].Alias) &&
		isView(f.Returns[0].Type, f.Returns[0].Alias)
}

// A viewLayout describes the sizes, strides and offset of a tensor in the storage of a base.
type viewLayout struct {
	engine.Dense
	bases [][]int64 // candidates for the sizes of the base
	on    *handle   // the base, if it exists already
	sort  string
}

func (e *Engine) viewed(l viewLayout) *handle {
	if h := e.repeatFound(l); h != nil || e.views.searches[l.sort] >= mostViewSearches {
		return h
	}
	e.views.searches[l.sort]++
	for _, op := range e.views.ops {
		for i := range l.bases {
			e.search(l, op, i)
		}
	}
	return e.repeatFound(l)
}

// lack is the error that there is no tensor of a layout, with the view ops that copied.
func (v *views) lack(l viewLayout, what string) error {
	if names := v.copying[l.sort]; names != nil {
		what += fmt.Sprintf(", as %s returns a copy", strings.Join(names, ", "))
	}
	return &engine.Unsupported{What: what}
}

// repeatFound makes one of the calls found for a layout of the same kind.
func (e *Engine) repeatFound(l viewLayout) *handle {
	for _, c := range e.views.found[l.sort] {
		if c.base >= len(l.bases) {
			continue
		}
		base := e.base(l, c.base)
		if base == nil {
			continue
		}
		if t := e.callView(c, l, base, observeBroken(base.Tensor, asserts.Content)); t != nil {
			h := e.lib.hold(t)
			if base != l.on {
				h.base = base
			}
			return h
		}
		l.drop(base)
	}
	return nil
}

// search notes the calls of an op on a base that return a layout.
func (e *Engine) search(l viewLayout, op *schema.Op, i int) {
	base := e.base(l, i)
	if base == nil || tensor.Numel(l.Sizes) > mostSearched {
		return
	}
	defer l.drop(base)
	before := observeBroken(base.Tensor, asserts.Content)
	choices, all := l.choices(op, i), 1
	for _, some := range choices {
		all *= len(some)
	}
	for n := range min(all, mostViewCalls) {
		c := viewCall{op: op, base: i}
		for _, some := range choices {
			c.values = append(c.values, some[n%len(some)])
			n /= len(some)
		}
		if len(e.views.found[l.sort]) >= mostFoundCalls {
			return
		}
		if t := e.callView(c, l, base, before); t != nil {
			e.lib.hold(t).Release()
			e.views.found[l.sort] = append(e.views.found[l.sort], c)
		}
	}
}

func (e *Engine) base(l viewLayout, i int) *handle {
	if l.on != nil {
		return l.on
	}
	d := engine.Dense{DType: l.DType, Sizes: l.bases[i], Strides: tensor.ContiguousStrides(l.bases[i])}
	bytes := int(tensor.Numel(d.Sizes)) * l.itemSize()
	for len(d.Data) < bytes {
		d.Data = append(d.Data, l.Data...)
	}
	d.Data = d.Data[:bytes]
	t, err := e.make(d, engine.Strided)
	if err != nil {
		return nil
	}
	return e.lib.hold(t)
}

func (l viewLayout) drop(base *handle) {
	if base != l.on {
		base.Release()
	}
}

// callView calls a view op, and returns its result if it has the layout and the base is unchanged.
func (e *Engine) callView(c viewCall, l viewLayout, base *handle, before asserts.Observation) asserts.Tensor {
	kernel := e.lib.kernel(c.op)
	in, err := e.arguments(c.op, kernel, l.arguments(c, base))
	if err != nil {
		return nil
	}
	results, err := call(kernel, in)
	if err != nil {
		return nil
	}
	t := e.lib.tensors(results[0])[0]
	if t == nil || before.Storage == 0 {
		return nil
	}
	view, after := observeBroken(t, asserts.Content), observeBroken(base.Tensor, asserts.Content)
	if view.Storage != before.Storage {
		if name := c.op.Func.Name.String(); view.Content != nil && slices.Equal(view.Content.Sizes, l.Sizes) &&
			!slices.Contains(e.views.copying[l.sort], name) {
			e.views.copying[l.sort] = append(e.views.copying[l.sort], name)
		}
		return nil
	}
	was, is := before.Content, after.Content
	if !l.hasLayout(view, after) ||
		was.Digest != is.Digest || !slices.Equal(was.Sizes, is.Sizes) || !slices.Equal(was.Strides, is.Strides) {
		return nil
	}
	return t
}

func (l viewLayout) hasLayout(view, base asserts.Observation) bool {
	v, b := view.Content, base.Content
	if v == nil || b == nil || view.Impl == base.Impl || !slices.Equal(v.Sizes, l.Sizes) || !hasStrides(v, l.Dense) {
		return false
	}
	offset := v.Offset - b.Offset
	if v.Memory != 0 && b.Memory != 0 {
		offset += int64(v.Memory-b.Memory) / int64(l.itemSize())
	}
	return l.on != nil && offset == 0 || l.on == nil && offset == l.Offset
}

// hasStrides reports whether a tensor of the sizes of d has its strides, where they matter.
func hasStrides(t *asserts.Snapshot, d engine.Dense) bool {
	for i, n := range d.Sizes {
		if n > 1 && (i >= len(t.Strides) || t.Strides[i] != d.Strides[i]) {
			return false
		}
	}
	return true
}

func (l viewLayout) itemSize() int {
	d, _ := tensor.ParseDType(l.DType)
	return max(d.Size(), 1)
}

// newLayout returns the layout of a tensor in the storage of a new, row-major base.
func newLayout(d engine.Dense) viewLayout {
	order := make([]int, 0, len(d.Sizes)) // dimensions with a stride, the largest first
	last := d.Offset
	for i, n := range d.Sizes {
		if d.Strides[i] > 0 {
			order = append(order, i)
			last += (n - 1) * d.Strides[i]
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(d.Strides[j], d.Strides[i]) })
	l := viewLayout{Dense: d, sort: fmt.Sprint(len(d.Sizes), order, d.Offset)}
	base, room := make([]int64, 0, len(d.Sizes)+1), last+1
	for k, i := range order {
		size := (room + d.Strides[i] - 1) / d.Strides[i]
		if k > 0 {
			size = d.Strides[order[k-1]] / d.Strides[i]
		}
		base = append(base, size)
		l.sort += fmt.Sprint(" ", size == d.Sizes[i])
	}
	l.bases = append(l.bases, base, []int64{room})
	if n := len(order); n > 0 && d.Strides[order[n-1]] > 1 {
		step := d.Strides[order[n-1]]
		merged := slices.Clone(base)
		merged[n-1] *= step
		l.bases = append(l.bases, append(slices.Clone(base), step), merged)
	}
	if len(order) < len(d.Sizes) {
		l.bases = append(l.bases, ones(base, d))
	}
	return l
}

// ones inserts dimensions of size 1 for those with stride 0.
func ones(base []int64, d engine.Dense) []int64 {
	base = slices.Clone(base)
	for i, stride := range d.Strides {
		if stride == 0 {
			base = slices.Insert(base, min(i, len(base)), 1)
		}
	}
	return base
}

func (l viewLayout) arguments(c viewCall, base *handle) []any {
	args := make([]any, len(c.op.Func.Args))
	for i, a := range c.op.Func.Args {
		if args[i] = l.values(a, c.base)[c.values[i]]; a.Type.HoldsTensors() {
			args[i] = base
		}
	}
	return args
}

// choices are the candidates of each argument of an op, as positions, without duplicates.
func (l viewLayout) choices(op *schema.Op, base int) [][]int {
	var all [][]int
	for _, a := range op.Func.Args {
		var some []int
		values := l.values(a, base)
		for i, v := range values {
			if !slices.ContainsFunc(values[:i], func(w any) bool { return reflect.DeepEqual(v, w) }) {
				some = append(some, i)
			}
		}
		all = append(all, some)
	}
	return all
}

// values are the candidates of an argument for a layout.
func (l viewLayout) values(a schema.Argument, base int) []any {
	var all []any
	if a.Default != "" {
		all = append(all, engine.Default{})
	}
	switch name := strings.TrimSuffix(a.Type.String(), "?"); {
	case a.Type.HoldsTensors():
		return []any{nil}
	case name == "bool":
		return append(all, false, true)
	case name == "int" || name == "SymInt":
		return append(all, l.numbers(base, strings.Contains(a.Name, "step") || strings.Contains(a.Name, "stride"))...)
	case strings.HasPrefix(name, "int[") || strings.HasPrefix(name, "SymInt["):
		return append(all, l.lists(base)...)
	}
	return all
}

// numbers are sizes and offsets; steps are at least 1, as some kernels hang on others.
func (l viewLayout) numbers(base int, step bool) []any {
	rank := int64(len(l.Sizes))
	var all []any
	for _, n := range slices.Concat(l.Sizes, l.bases[base], l.Strides, []int64{1, 2, 0, -1, rank - 1}) {
		if step {
			n = max(n, 1)
		}
		all = append(all, n)
	}
	return all
}

// lists are sizes, strides and permutations.
func (l viewLayout) lists(base int) []any {
	order, back := make([]int64, len(l.Strides)), make([]int64, len(l.Strides))
	for i := range order {
		order[i] = int64(i)
	}
	slices.SortStableFunc(order, func(i, j int64) int { return cmp.Compare(l.Strides[j], l.Strides[i]) })
	for i, d := range order {
		back[d] = int64(i)
	}
	zero := make([]int64, len(order))
	var all []any
	for _, list := range [][]int64{l.Sizes, l.bases[base], l.Strides, order, back, zero} {
		all = append(all, slicesx.Map(list, func(n int64) any { return n }))
	}
	return all
}
