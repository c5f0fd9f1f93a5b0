package optest

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/maker"
	"github.com/opassert/opassert/asserts/suite"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/gokernels"
	"github.com/opassert/opassert/schema"
)

// A library describes the kernels to a test: their ops, and how to make a tensor.
type library struct {
	maker.Options
	job     Job
	kernels map[string]asserts.Kernel // by schema.Op.Name
	engine  *gokernels.Engine
}

// open prepares the kernels' ops for calls.
func open[T any](kernels []asserts.Kernel, newTensor func(maker.Spec) (T, error), job Job,
	options []maker.Option) (*library, error) {
	l := &library{job: job, kernels: make(map[string]asserts.Kernel)}
	for _, o := range options {
		o(&l.Options)
	}
	lib := gokernels.Library{
		Name: l.job.Engine, Kernels: make(map[string]any), Sites: make(map[string]asserts.Site),
		Missing: make(map[string]string), Left: make(map[string]string), Tensor: reflect.TypeFor[T](),
		Value: l.Value, Observe: l.Observe, Seed: l.RandomSeed,
	}
	if l.Release != nil {
		lib.Release = func(t asserts.Tensor) { l.Release(gokernels.Own(t)) }
	}
	lib.Make = func(d engine.Dense, f engine.Form) (asserts.Tensor, error) {
		if f != engine.Strided {
			return nil, &engine.Unsupported{What: "tensors of other layouts"}
		}
		t, err := newTensor(d)
		if errors.Is(err, maker.ErrUnsupported) {
			return nil, &engine.Unsupported{What: strings.TrimPrefix(err.Error(), maker.ErrUnsupported.Error()+": ")}
		}
		if err != nil {
			return nil, err
		}
		if l.Observe != nil {
			return lib.Foreign(t), nil
		}
		return any(t).(asserts.Tensor), nil
	}
	left := maps.Clone(l.Skipped)
	for _, k := range kernels {
		op, err := parse(k.Op)
		if err != nil {
			return nil, err
		}
		if l.job.Namespace != "" {
			op.Namespace = l.job.Namespace + "." + op.Namespace
		}
		lib.Ops = append(lib.Ops, op)
		receiver, _ := l.receiver(reflect.TypeOf(k.Func))
		lib.Kernels[op.Name()] = gokernels.Placed{Func: k.Func, Receiver: receiver, Order: k.Order}
		lib.Sites[op.Name()] = k.Site()
		if why := l.lacksReceiver(k); why != "" {
			lib.Missing[op.Name()] = why
		}
		if reason, ok := left[k.Op.Name]; ok {
			lib.Left[op.Name()] = "maker.Skip leaves it out: " + reason
			delete(left, k.Op.Name)
		}
		l.kernels[op.Name()] = k
	}
	for _, op := range slices.Sorted(maps.Keys(left)) {
		return nil, fmt.Errorf("maker.Skip: unknown op %s", op)
	}
	if l.Observe == nil && !reflect.TypeFor[T]().Implements(reflect.TypeFor[asserts.Tensor]()) {
		return nil, fmt.Errorf("%v has no method Observe; pass a function that observes it with maker.Observe",
			reflect.TypeFor[T]())
	}
	var err error
	l.engine, err = lib.Engine()
	return l, err
}

func parse(op *asserts.Op) (*schema.Op, error) {
	parsed, err := schema.ParseOp(op.Schema)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op.Name, err)
	}
	parsed.Namespace, _, _ = strings.Cut(op.Name, "::")
	parsed.CompositeImplicit = op.Composite
	return parsed, nil
}

func (l *library) receiver(method reflect.Type) (reflect.Value, bool) {
	for _, r := range l.Receivers {
		v := reflect.ValueOf(r)
		if v.Kind() == reflect.Pointer && !v.IsNil() && method.NumIn() > 0 && v.Type().Elem() == method.In(0) {
			v = v.Elem()
		}
		if method.NumIn() > 0 && v.Type().AssignableTo(method.In(0)) {
			return v, true
		}
	}
	return reflect.Value{}, false
}

// lacksReceiver returns the reason why a kernel can't be called that is a method without a receiver, or "".
func (l *library) lacksReceiver(k asserts.Kernel) string {
	t := reflect.TypeOf(k.Func)
	if t.Kind() == reflect.Func && len(k.Order) > 0 && len(k.Order) == len(gokernels.Inputs(t)) {
		return "" // the receiver is an argument
	}
	if name := k.Site().Func; t.Kind() == reflect.Func &&
		strings.Count(name[strings.LastIndexByte(name, '/')+1:], ".") > 1 {
		if _, ok := l.receiver(t); !ok {
			return fmt.Sprintf("its kernel is a method of %v: set its receiver with maker.Receiver", t.In(0))
		}
	}
	return ""
}

func (l *library) config() suite.Config {
	return suite.Config{
		Level: l.job.Level, Seed: l.job.Seed,
		Plan: func(op *schema.Op) engine.Checks {
			planned := *l.kernels[op.Name()].Op
			planned.Name = op.Namespace + "::" + op.Func.Name.String()
			planned.Notes = slices.Concat(planned.Notes, l.job.Notes[planned.Name])
			waived := l.job.Waived[planned.Name]
			for _, code := range planned.Waived {
				waived = append(waived, asserts.Excuse{Code: code,
					Reason: "an allowlist waives it; the reason is in the generated code"})
			}
			waived = append(waived, planned.Excused...)
			planned.Waived, planned.Excused = nil, nil // all checks are judged: one fault is one violation
			return engine.Checks{Op: planned, Waived: waived}
		},
	}
}
