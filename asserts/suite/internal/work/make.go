package work

import (
	"errors"
	"fmt"
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/probe"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
)

type maker struct {
	engine  engine.Engine
	tensors []engine.Tensor // of the case, in order; shared for Same
	specs   []*sample.TensorSpec
	extra   []engine.Tensor // further ones
	room    *[]byte         // reused for the bytes of one tensor
	yields  bool            // replace tensors that the library lacks
	lacks   map[string]int
	earlier []any // arguments
	probe.Setup
}

// args makes the arguments of a case. Failures are errors of the kernel that should make them.
func (m *maker) args(c *sample.Case) ([]any, error) {
	m.earlier = nil
	for i := range c.Args {
		v, err := m.value(&c.Args[i])
		if err != nil {
			return nil, err
		}
		m.earlier = append(m.earlier, v)
	}
	return m.earlier, nil
}

func (m *maker) value(v *sample.Value) (any, error) {
	switch v.Kind {
	case sample.DefaultValue:
		return engine.Default{}, nil
	case sample.TensorValue:
		return m.tensor(v.Tensor)
	case sample.IntValue:
		return v.Int, nil
	case sample.FloatValue:
		return v.Float, nil
	case sample.BoolValue:
		return v.Int != 0, nil
	case sample.ComplexValue:
		return v.Complex, nil
	case sample.TextValue:
		return v.Text, nil
	case sample.DTypeValue:
		return engine.DType(v.Text), nil
	case sample.LayoutValue:
		return engine.Layout(v.Text), nil
	case sample.FormatValue:
		return engine.MemoryFormat(v.Text), nil
	case sample.DeviceValue:
		return m.device(engine.Device(v.Text)), nil
	case sample.QSchemeValue:
		return engine.QScheme(v.Text), nil
	case sample.GeneratorValue:
		return m.engine.Generator(v.Int)
	case sample.StorageValue:
		return m.storage(v.Tensor)
	case sample.NoneValue:
		return nil, nil
	case sample.SameValue:
		if of := m.earlier[v.Int]; !isNew(of) {
			return of, nil
		}
		return engine.Same(v.Int), nil
	}
	list, err := m.list(v.List)
	if err != nil {
		return nil, err
	}
	switch v.Kind {
	case sample.TupleValue:
		return engine.Tuple(list), nil
	case sample.DictValue:
		return engine.Dict(list), nil
	case sample.NewValue:
		return engine.New{Class: v.Text, Args: list}, nil
	case sample.CallValue:
		return m.result(v.Text, list)
	case sample.AfterValue:
		return m.after(v.Text, list)
	}
	return list, nil
}

// device returns a device of a case, whose CPU is the device of its tensors.
func (m *maker) device(name engine.Device) engine.Device {
	if name == engine.CPU {
		return m.engine.Devices()[0]
	}
	return name
}

func isNew(v any) bool {
	_, ok := v.(engine.New)
	return ok
}

func (m *maker) result(op string, args []any) (any, error) {
	results, err := m.results(op, args)
	if err != nil {
		return nil, err
	}
	if len(results) == 0 {
		return nil, &engine.Thrown{Message: op + " returns nothing"}
	}
	return results[0], nil
}

func (m *maker) after(op string, args []any) (any, error) {
	if isNew(args[0]) {
		made, err := m.engine.Object(op, args)
		if err != nil {
			return nil, fmt.Errorf("make an argument of %s: %w", op, err)
		}
		m.hold(made)
		args[0] = made
	}
	_, err := m.results(op, args)
	return args[0], err
}

// hold keeps what a call returned until the end of the case.
func (m *maker) hold(v any) {
	if held, ok := v.(engine.Tensor); ok {
		m.extra = append(m.extra, held)
	}
}

func (m *maker) results(op string, args []any) ([]any, error) {
	out, err := m.engine.Call(op, args, asserts.Off)
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", op, err)
	}
	for _, r := range out.Results {
		m.hold(r)
	}
	return out.Results, nil
}

func (m *maker) list(vs []sample.Value) ([]any, error) {
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

func (m *maker) storage(spec *sample.TensorSpec) (any, error) {
	t, err := m.engine.Make(spec.Dense(m.room, 0), engine.Strided)
	if err != nil {
		return nil, err
	}
	m.extra = append(m.extra, t)
	return m.engine.Storage(t)
}

func (m *maker) tensor(spec *sample.TensorSpec) (engine.Tensor, error) {
	if spec.Same > 0 && spec.Same <= len(m.tensors) {
		t := m.tensors[spec.Same-1]
		m.tensors, m.specs = append(m.tensors, t), append(m.specs, m.specs[spec.Same-1])
		return t, nil
	}
	t, spec, err := m.fresh(spec)
	if err != nil {
		return nil, fmt.Errorf("make %v: %w", spec, err)
	}
	m.tensors, m.specs = append(m.tensors, t), append(m.specs, spec)
	return t, nil
}

// fresh makes a tensor that is not a reference to an earlier one, and returns its actual spec.
func (m *maker) fresh(spec *sample.TensorSpec) (engine.Tensor, *sample.TensorSpec, error) {
	var t engine.Tensor
	var err error
	have := spec
	if spec.View > 0 && spec.View <= len(m.tensors) {
		have = m.specs[spec.View-1]
		t, err = m.engine.View(m.tensors[spec.View-1], have.Layout())
	} else {
		turn := len(m.tensors)
		if spec.Usual() {
			turn += m.ValueSeed
		}
		t, err = m.engine.Make(spec.Among(m.room, turn, turn+m.NeighbourSeed), spec.Form)
	}
	var lacks *engine.Unsupported
	if m.yields && errors.As(err, &lacks) {
		*spec = *have
		t, err = m.makeLike(spec, lacks)
		return t, spec, err
	}
	return t, have, err
}

func (m *maker) release() {
	for _, t := range m.detach() {
		t.Release()
	}
}

// detach returns the tensors that were made, each once, and forgets them.
func (m *maker) detach() []engine.Tensor {
	var all []engine.Tensor
	had := make(map[engine.Tensor]bool)
	for _, t := range slices.Concat(m.tensors, m.extra) {
		if !had[t] {
			had[t] = true
			all = append(all, t)
		}
	}
	m.tensors, m.specs, m.extra = m.tensors[:0], m.specs[:0], m.extra[:0]
	return all
}

// makeLike makes a tensor similar to one that the library does not have, and changes the spec accordingly.
func (m *maker) makeLike(spec *sample.TensorSpec, lacks *engine.Unsupported) (engine.Tensor, error) {
	for _, other := range similarTensors(spec) {
		if t, err := m.engine.Make(other.Dense(m.room, len(m.tensors)), other.Form); err == nil {
			m.lack(lacks.What)
			other.View = 0
			*spec = *other
			return t, nil
		}
	}
	return nil, &engine.Thrown{Message: lacks.Error()}
}

func (m *maker) lack(what string) {
	if m.lacks == nil {
		m.lacks = make(map[string]int)
	}
	m.lacks[what]++
}

// made makes the arguments of a case, or of a similar one if the library lacks a tensor, and returns that case.
func (m *maker) made(c *sample.Case) (*sample.Case, []any, error) {
	args, err := m.args(c)
	var lacks *engine.Unsupported
	if !errors.As(err, &lacks) {
		return c, args, err
	}
	m.release()
	m.yields = true
	c = c.Clone()
	args, err = m.args(c)
	return c, args, err
}
