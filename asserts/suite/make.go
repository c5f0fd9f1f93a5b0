package suite

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/opassert/opassert/asserts"
)

// A maker turns a case into an engine's values, and takes them back.
type maker struct {
	engine  Engine
	tensors []Tensor // of the case, in order; others' handles for Same
	extra   []Tensor // made on the way
}

// args makes the arguments of a case. What cannot be made is an error of the
// kernel that was to make it.
func (m *maker) args(c *Case) ([]any, error) {
	args := make([]any, len(c.Args))
	for i := range c.Args {
		v, err := m.value(&c.Args[i])
		if err != nil {
			return nil, err
		}
		args[i] = v
	}
	return args, nil
}

func (m *maker) value(v *Value) (any, error) {
	switch v.Kind {
	case DefaultValue:
		return Default{}, nil
	case TensorValue:
		return m.tensor(v.Tensor)
	case IntValue:
		return v.Int, nil
	case FloatValue:
		return v.Float, nil
	case BoolValue:
		return v.Int != 0, nil
	case ComplexValue:
		return complex(v.Float, 1), nil
	case TextValue:
		return v.Text, nil
	case DTypeValue:
		return DType(v.Text), nil
	case LayoutValue:
		return Layout(v.Text), nil
	case FormatValue:
		return MemoryFormat(v.Text), nil
	case DeviceValue:
		return Device(v.Text), nil
	case QSchemeValue:
		return QScheme(v.Text), nil
	case GeneratorValue:
		return m.engine.Generator(v.Int)
	case StorageValue:
		return m.storage(v.Tensor)
	case ListValue:
		return m.list(v.List)
	}
	return nil, nil
}

func (m *maker) list(vs []Value) ([]any, error) {
	out := make([]any, len(vs))
	for i := range vs {
		v, err := m.value(&vs[i])
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

func (m *maker) storage(spec *TensorSpec) (any, error) {
	t, err := m.engine.Strided(spec.strided())
	if err != nil {
		return nil, err
	}
	m.extra = append(m.extra, t)
	return m.engine.Storage(t)
}

func (m *maker) tensor(spec *TensorSpec) (Tensor, error) {
	if spec.Same > 0 && spec.Same <= len(m.tensors) {
		t := m.tensors[spec.Same-1]
		m.tensors = append(m.tensors, t)
		return t, nil
	}
	t, err := m.engine.Strided(spec.strided())
	if err != nil {
		return nil, err
	}
	t, err = m.form(t, spec)
	if err != nil {
		return nil, fmt.Errorf("make %v: %w", spec, err)
	}
	m.tensors = append(m.tensors, t)
	return t, nil
}

// A conversion is the op, with its arguments after self, that gives a tensor
// another form.
type conversion struct {
	op   string
	args []any
}

var conversions = map[Form]conversion{
	COO:       {op: "aten::to_sparse"},
	CSR:       {op: "aten::to_sparse_csr"},
	CSC:       {op: "aten::to_sparse_csc"},
	BSR:       {op: "aten::to_sparse_bsr", args: []any{[]any{int64(1), int64(1)}}},
	BSC:       {op: "aten::to_sparse_bsc", args: []any{[]any{int64(1), int64(1)}}},
	Mkldnn:    {op: "aten::to_mkldnn"},
	Quantized: {op: "aten::quantize_per_tensor", args: []any{0.125, int64(2), DType("quint8")}},
	Conjugate: {op: "aten::_conj"},
	Negative:  {op: "aten::_neg_view"},
}

// form gives a dense tensor another form; it takes the tensor over.
func (m *maker) form(t Tensor, spec *TensorSpec) (Tensor, error) {
	switch spec.Form {
	case Dense, Inference:
		return t, nil
	case Functional:
		defer t.Release()
		return m.engine.Wrap(t)
	case Zero:
		defer t.Release()
		return m.call("aten::_efficientzerotensor", sizesArg(spec.Sizes), DType(spec.DType))
	case PerChannel:
		return m.perChannel(t, spec)
	case Nested:
		return m.nested(t, spec)
	case Named:
		return m.named(t, spec)
	}
	defer t.Release()
	conv := conversions[spec.Form]
	return m.call(conv.op, append([]any{t}, conv.args...)...)
}

func sizesArg(sizes []int64) []any {
	out := make([]any, len(sizes))
	for i, n := range sizes {
		out[i] = n
	}
	return out
}

func (m *maker) call(op string, args ...any) (Tensor, error) {
	out, err := m.engine.Call(op, args, asserts.Off)
	if err != nil {
		return nil, err
	}
	if len(out.Results) > 0 {
		if t, ok := out.Results[0].(Tensor); ok {
			return t, nil
		}
	}
	return nil, errors.New(op + " gave no tensor")
}

func (m *maker) perChannel(t Tensor, spec *TensorSpec) (Tensor, error) {
	defer t.Release()
	n := spec.Sizes[0]
	scales := TensorSpec{DType: "float64", Sizes: []int64{n}}
	zeros := TensorSpec{DType: "int64", Sizes: []int64{n}}
	s, err := m.engine.Strided(scales.strided())
	if err != nil {
		return nil, err
	}
	defer s.Release()
	z, err := m.engine.Strided(zeros.strided())
	if err != nil {
		return nil, err
	}
	defer z.Release()
	return m.call("aten::quantize_per_channel", t, s, z, int64(0), DType("qint8"))
}

// nested makes a nested tensor of two equal ones.
func (m *maker) nested(t Tensor, spec *TensorSpec) (Tensor, error) {
	defer t.Release()
	element := TensorSpec{DType: spec.DType, Sizes: slices.Clone(spec.Sizes[1:])}
	list := make([]any, max(1, spec.Sizes[0]))
	for i := range list {
		e, err := m.engine.Strided(element.strided())
		if err != nil {
			return nil, err
		}
		defer e.Release()
		list[i] = e
	}
	return m.call("aten::_nested_tensor_from_tensor_list", list)
}

func (m *maker) named(t Tensor, spec *TensorSpec) (Tensor, error) {
	names := make([]any, len(spec.Sizes))
	for i := range names {
		names[i] = dimname(i).Text
	}
	named, err := m.call("aten::rename_", t, names)
	if err != nil {
		return nil, err
	}
	t.Release() // named is another handle of the same tensor
	return named, nil
}

// release gives up what was made.
func (m *maker) release() {
	released := make(map[Tensor]bool)
	for _, t := range slices.Concat(m.tensors, m.extra) {
		if !released[t] {
			released[t] = true
			t.Release()
		}
	}
	m.tensors, m.extra = m.tensors[:0], m.extra[:0]
}

// releaseResults gives up the tensors among results.
func releaseResults(results []any) {
	for _, r := range results {
		switch r := r.(type) {
		case Tensor:
			if r != nil {
				r.Release()
			}
		case []any:
			releaseResults(r)
		}
	}
}

// plain tells whether every tensor of the case has a twin on meta.
func (c *Case) plain() bool {
	return !slices.ContainsFunc(c.tensors(), func(t *TensorSpec) bool { return t.Same == 0 && t.Form != Dense })
}

// elements counts what the case's tensors hold, so that minimising knows
// which of two is the smaller.
func (c *Case) elements() int64 {
	n := int64(0)
	for _, t := range c.tensors() {
		if t.Same == 0 {
			n += min(size(t.Sizes), math.MaxInt32)
		}
	}
	return n
}
