// Package gokernels is an engine of the suite for kernels that are Go functions: a library makes its tensors, and every
// op of its schema file is called on generated cases.
package gokernels

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/slicesx"
	"github.com/opassert/opassert/internal/tensor"
	"github.com/opassert/opassert/schema"
)

// A Library is a set of Go kernels with their schemas and tensors.
type Library struct {
	Name    string                  // its name in reports
	Ops     []*schema.Op            // the ops
	Kernels map[string]any          // functions, or Placed ones, by op: "add.Tensor", "ns::op"
	Missing map[string]string       // why an op can't be called; may be nil
	Left    map[string]string       // why an op is left out although it has a kernel; may be nil
	Sites   map[string]asserts.Site // the positions of kernels; may be nil

	// Make makes a tensor of the library's own type. An unsupported form or dtype is an error.
	Make func(d engine.Dense, f engine.Form) (asserts.Tensor, error)

	// Observe observes tensors of the type Tensor; nil if they implement [asserts.Tensor].
	Observe func(v any, o *asserts.Observation, level asserts.Level)
	Tensor  reflect.Type

	// View makes a tensor in the storage of t, as d describes it; nil if the library has no views.
	View func(t asserts.Tensor, d engine.Dense) (asserts.Tensor, error)

	// Twins makes copies of tensors on another device; it has an entry for each device besides that of Make.
	Twins map[engine.Device]func(ts []asserts.Tensor) ([]asserts.Tensor, error)

	// Value turns a value of the suite into one of the library, such as its dtypes; false for other types. It may be nil.
	Value func(v any, to reflect.Type) (any, bool)

	// Release releases a tensor that a kernel returned or Make made. It may be nil.
	Release func(asserts.Tensor)

	// Seed sets the state of the library's default random number generator. It may be nil.
	Seed func(seed int64)
}

// Engine returns the library as an engine of the suite.
func (l *Library) Engine() (*Engine, error) {
	e := &Engine{lib: l, operators: make(map[string]engine.Operator), settled: make(map[string]int),
		leaky: make(map[string]int), goroutines: runtime.NumGoroutine()}
	for _, op := range l.Ops {
		o := engine.Operator{Schema: op, Below: !op.CompositeImplicit, Missing: l.missing(op), Cannot: l.Left[op.Name()],
			Site: l.Sites[op.Name()]}
		if o.Missing == "" {
			k := l.kernel(op)
			o.Function = k.function()
		}
		if e.operators[o.Name()].Schema != nil {
			return nil, fmt.Errorf("%s: two ops have this name", o.Name())
		}
		e.operators[o.Name()] = o
	}
	all, err := e.Operators()
	e.views = newViews(all)
	return e, err
}

func (l *Library) missing(op *schema.Op) string {
	if why := cmp.Or(l.Left[op.Name()], l.Missing[op.Name()]); why != "" {
		return why
	}
	if l.Kernels[op.Name()] == nil {
		return "it has no kernel"
	}
	kernel := l.kernel(op)
	// A Go function may leave out returned arguments.
	fresh := func(r schema.Return) bool { return r.Alias == nil || !r.Alias.Write }
	switch results := returns(kernel.Type()); {
	case kernel.Kind() != reflect.Func:
		return fmt.Sprintf("its kernel is %v, not a function", kernel.Type())
	case len(kernel.at) != len(op.Func.Args):
		return fmt.Sprintf("its kernel takes %d arguments, and the schema has %d", len(kernel.at), len(op.Func.Args))
	case results != len(op.Func.Returns) && (results > 0 || slices.ContainsFunc(op.Func.Returns, fresh)):
		return fmt.Sprintf("its kernel returns %d values, and the schema has %d", results, len(op.Func.Returns))
	}
	return ""
}

// An Engine runs a library's kernels.
type Engine struct {
	lib       *Library
	operators map[string]engine.Operator

	settled    map[string]int // by op: the calls after which settle waited
	goroutines int            // goroutines at the start
	inspected  int            // tensors inspected when they were made
	leaky      map[string]int // by op: the failed calls that left handles
	views      views
}

// mostInspected is the number of tensors that are observed with their contents when they are made.
const mostInspected = 16

// Version returns the library's name.
func (e *Engine) Version() string { return e.lib.Name }

// Operators returns every op of the library, sorted by name.
func (e *Engine) Operators() ([]engine.Operator, error) {
	byName := func(a, b engine.Operator) int { return strings.Compare(a.Name(), b.Name()) }
	return slices.SortedFunc(maps.Values(e.operators), byName), nil
}

// Operator returns an op by its name.
func (e *Engine) Operator(name string) (engine.Operator, error) {
	o, ok := e.operators[name]
	if !ok {
		return o, fmt.Errorf("unknown op %s", name)
	}
	return o, nil
}

// A foreign tensor is of a type without a method Observe.
type foreign struct {
	v   any
	lib *Library
}

// Foreign returns a tensor of the type Tensor as an [asserts.Tensor].
func (l *Library) Foreign(v any) asserts.Tensor { return foreign{v, l} }

// Observe observes the tensor.
func (f foreign) Observe(o *asserts.Observation, level asserts.Level) { f.lib.Observe(f.v, o, level) }

// Own returns a tensor as the library's own type.
func Own(t asserts.Tensor) any {
	if f, ok := t.(foreign); ok {
		return f.v
	}
	return t
}

// A handle is a tensor of the library with the method Release that the suite needs.
type handle struct {
	asserts.Tensor
	lib  *Library
	base *handle // the base of a view, if it was made for this one
}

func (l *Library) hold(t asserts.Tensor) *handle { return &handle{Tensor: t, lib: l} }

// Release releases the tensor.
func (h *handle) Release() {
	defer attribute("releases its tensors")
	if h.lib.Release == nil {
		return
	}
	h.lib.Release(h.Tensor)
	if h.base != nil {
		h.base.Release()
	}
}

// Make makes a tensor.
func (e *Engine) Make(d engine.Dense, f engine.Form) (engine.Tensor, error) {
	d.Data = slices.Clone(d.Data) // a copy: a library may keep it
	t, err := e.make(d, f)
	if err == nil && strided(d, f) && otherLayout(t, d) {
		e.lib.hold(t).Release()
		err = &engine.Unsupported{What: "such strides or offsets: a tensor that it makes has others"}
	}
	if err != nil {
		return e.viewOf(d, f, refused(err))
	}
	e.inspect(t, d)
	return e.lib.hold(t), nil
}

// strided reports whether a tensor is other than row-major from the start of its storage.
func strided(d engine.Dense, f engine.Form) bool {
	return f == engine.Strided && !slices.Contains(d.Sizes, 0) &&
		(d.Offset != 0 || !slices.Equal(d.Strides, tensor.ContiguousStrides(d.Sizes)))
}

// otherLayout reports whether a tensor is observed with the sizes of d, and other strides or another offset, except for
// 0, which is also that of a slice that begins at the tensor.
func otherLayout(t asserts.Tensor, d engine.Dense) bool {
	c := observeBroken(t, asserts.Content).Content
	return c != nil && slices.Equal(c.Sizes, d.Sizes) && (!hasStrides(c, d) || c.Offset != 0 && c.Offset != d.Offset)
}

// inspect panics if the observation of a tensor that the library made is impossible: findings of every op would follow.
func (e *Engine) inspect(t asserts.Tensor, d engine.Dense) {
	level := asserts.Identity
	if e.inspected < mostInspected {
		e.inspected++
		level = asserts.Content
	}
	seen, _ := observe([][]asserts.Tensor{{t}}, level, asserts.Observe)
	switch c := seen[0].Content; {
	case !seen[0].Defined() && !slices.Contains(d.Sizes, 0):
		panic(&engine.LibraryFault{Message: fmt.Sprintf("a tensor of the sizes %v that it makes is undefined: it is nil, or "+
			"Observe sets no Impl", d.Sizes)})
	case c != nil && !c.Within():
		panic(&engine.LibraryFault{Message: fmt.Sprintf("a tensor of the sizes %v that it makes reaches beyond its "+
			"storage of %d bytes, as it is observed with the sizes %v, strides %v and offset %d of %s; where elements share "+
			"bytes, ItemSize is asserts.Packed", d.Sizes, c.Nbytes, c.Sizes, c.Strides, c.Offset, c.DType)})
	case c != nil && c.Memory != 0 && c.Memory != deeper(t).Memory:
		panic(&engine.LibraryFault{Message: fmt.Sprintf("a tensor of the sizes %v that it makes is at another address each "+
			"time that it is observed: where Observe copies the elements, it sets Content.Memory to 0", d.Sizes)})
	}
}

// deeper observes a tensor further down the stack, where a copy has another address.
//
//go:noinline
func deeper(t asserts.Tensor) *asserts.Snapshot {
	var below [1024]byte
	defer runtime.KeepAlive(&below)
	return asserts.Observe(t, asserts.Content).Content
}

// viewOf returns a view of a tensor that the library can make, for one that it cannot.
func (e *Engine) viewOf(d engine.Dense, f engine.Form, refusal error) (engine.Tensor, error) {
	lacks, ok := refusal.(*engine.Unsupported)
	if !ok || !strided(d, f) {
		return nil, refusal
	}
	l := newLayout(d)
	if h := e.viewed(l); h != nil {
		return h, nil
	}
	return nil, e.views.lack(l, lacks.What)
}

func (e *Engine) make(d engine.Dense, f engine.Form) (t asserts.Tensor, err error) {
	defer kernelError(&err)
	return e.lib.Make(d, f)
}

// View makes a tensor in another one's storage.
func (e *Engine) View(t engine.Tensor, d engine.Dense) (_ engine.Tensor, err error) {
	if e.lib.View == nil {
		l := viewLayout{Dense: d, on: t.(*handle), bases: [][]int64{d.Sizes}, sort: fmt.Sprint("view ", len(d.Sizes))}
		if h := e.viewed(l); h != nil {
			return h, nil
		}
		return nil, e.views.lack(l, "views of one storage")
	}
	defer kernelError(&err)
	v, err := e.lib.View(t.(*handle).Tensor, d)
	if err != nil {
		return nil, refused(err)
	}
	return e.lib.hold(v), nil
}

// refused is an error of the library that can't make a tensor.
func refused(err error) error {
	if lacks, ok := errors.AsType[*engine.Unsupported](err); ok {
		return lacks
	}
	return &engine.Thrown{Message: err.Error()}
}

// Devices returns the CPU and the devices of the twins. They include meta even if the
// library lacks it, so that calls on it are counted as skipped.
func (e *Engine) Devices() []engine.Device {
	others := append(slices.Collect(maps.Keys(e.lib.Twins)), engine.Meta)
	slices.Sort(others)
	return append([]engine.Device{engine.CPU}, slices.Compact(others)...)
}

// Twins makes tensors on another device; a tensor that is passed twice has one twin.
func (e *Engine) Twins(ts []engine.Tensor, on engine.Device) (_ []engine.Tensor, err error) {
	make := e.lib.Twins[on]
	if make == nil {
		return nil, &engine.Thrown{Message: fmt.Sprintf("the library has no %s device", on)}
	}
	defer kernelError(&err)
	var distinct []asserts.Tensor
	for i, t := range ts {
		if slices.Index(ts, t) == i {
			distinct = append(distinct, t.(*handle).Tensor)
		}
	}
	made, err := make(distinct)
	if err != nil {
		return nil, &engine.Thrown{Message: err.Error()}
	}
	twins := slices.Clone(ts)
	for i, t := range ts {
		if first := slices.Index(ts, t); first < i {
			twins[i] = twins[first]
			continue
		}
		twins[i], made = e.lib.hold(made[0]), made[1:]
	}
	return twins, nil
}

// A GeneratorSeed describes a random number generator by its seed; Library.Value makes the library's.
type GeneratorSeed int64

// Generator returns a generator by its seed.
func (e *Engine) Generator(seed int64) (any, error) { return GeneratorSeed(seed), nil }

// Object fails: Go kernels take no objects of custom classes.
func (e *Engine) Object(string, []any) (any, error) {
	return nil, &engine.Thrown{Message: "Go kernels take no objects of custom classes"}
}

// Storage fails: Go kernels take no storages.
func (e *Engine) Storage(engine.Tensor) (any, error) {
	return nil, &engine.Thrown{Message: "Go kernels take no storages"}
}

// Seed sets the state of the default random number generator.
func (e *Engine) Seed(seed int64) error {
	defer attribute("seeds its generator")
	if e.lib.Seed != nil {
		e.lib.Seed(seed)
	}
	return nil
}

// Look observes a tensor and its parts.
func (e *Engine) Look(t engine.Tensor) []asserts.Observation {
	all := []asserts.Observation{observeBroken(t.(*handle).Tensor, asserts.Content)}
	if c := all[0].Content; c != nil {
		all = append(all, slicesx.Map(c.Parts, func(p asserts.Part) asserts.Observation { return p.Observation })...)
	}
	return all
}

// Write copies the slices of numbers that a program can reach, for a library without versions, where that is all.
func (e *Engine) Write(to, from engine.Tensor) bool {
	t, f := to.(*handle).Tensor, from.(*handle).Tensor
	write(reflect.Indirect(reflect.ValueOf(Own(t))), reflect.Indirect(reflect.ValueOf(Own(f))))
	written, other := observeBroken(t, asserts.Content), observeBroken(f, asserts.Content)
	w, o := written.Content, other.Content
	return written.Traits == asserts.NoVersion && w != nil && o != nil && w.Digest == o.Digest
}

func write(to, from reflect.Value) {
	switch to.Kind() {
	case reflect.Slice:
		if k := to.Type().Elem().Kind(); k >= reflect.Bool && k <= reflect.Complex128 {
			reflect.Copy(to, from)
		}
	case reflect.Struct:
		for i := range to.NumField() {
			if to.Type().Field(i).IsExported() {
				write(to.Field(i), from.Field(i))
			}
		}
	}
}

// Harmless returns the reason why a part that a declared view shares with its base is not a fault.
func (e *Engine) Harmless(op *asserts.Op, v *asserts.Violation) string {
	on, against := v.Subject, v.Against
	if v.Code != asserts.ViewStorage && on.Inside && against.Inside && op.Base(on, against) &&
		on.Part() == against.Part() {
		return "a part of a view, and the same part of its base"
	}
	return ""
}

// Subjects returns the op unchanged.
func (e *Engine) Subjects(op *asserts.Op) *asserts.Op { return op }
