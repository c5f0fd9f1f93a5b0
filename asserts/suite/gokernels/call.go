package gokernels

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/preserve"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/slicesx"
	"github.com/opassert/opassert/schema"
)

var (
	contextType = reflect.TypeFor[context.Context]()
	errorType   = reflect.TypeFor[error]()
)

// A Placed kernel is a function whose parameters are not the schema's arguments in order.
type Placed struct {
	Func     any
	Receiver reflect.Value // the first parameter of a method of the library; or none
	Order    []int         // the parameter of each argument, among the others; nil: in order
}

// A goKernel is a function that can be called.
type goKernel struct {
	reflect.Value
	receiver reflect.Value
	at       []int // the parameter of each argument of the schema
}

// kernel returns the kernel of an op, without parameters if it is not a function.
func (l *Library) kernel(op *schema.Op) goKernel {
	p, ok := l.Kernels[op.Name()].(Placed)
	if !ok {
		p.Func = l.Kernels[op.Name()]
	}
	k := goKernel{Value: reflect.ValueOf(p.Func), receiver: p.Receiver}
	if k.Kind() != reflect.Func {
		return k
	}
	k.at = Inputs(k.Type())
	if p.Receiver.IsValid() {
		k.at = k.at[1:]
	}
	if p.Order != nil {
		inputs := k.at
		k.at = nil
		for _, i := range p.Order {
			k.at = append(k.at, inputs[i])
		}
	}
	return k
}

// Inputs returns the positions of a function's parameters other than a context.
func Inputs(fn reflect.Type) (at []int) {
	for i := range fn.NumIn() {
		if fn.In(i) != contextType {
			at = append(at, i)
		}
	}
	return at
}

// returns is the number of values that a kernel returns besides an error.
func returns(kernel reflect.Type) int {
	if kernel.Kind() != reflect.Func {
		return 0
	}
	n := kernel.NumOut()
	if n > 0 && kernel.Out(n-1) == errorType {
		n--
	}
	return n
}

// Call calls a kernel and observes its tensors before and after.
func (e *Engine) Call(name string, args []any, level asserts.Level) (out engine.Outcome, err error) {
	operator, err := e.Operator(name)
	if err != nil {
		return out, err
	}
	op := operator.Schema
	kernel := e.lib.kernel(op)
	in, err := e.arguments(op, kernel, args)
	if err != nil {
		return out, &engine.Thrown{Message: err.Error()}
	}
	passed := slicesx.Map(kernel.at, func(at int) reflect.Value { return in[at] })
	given := e.lib.heldTensors(op.Func.Args, passed)
	out.Seen.Level, out.Seen.Plain = level, true
	settles := level >= asserts.Content
	level = max(level, asserts.Content) // views are found by where their elements lie
	out.Seen.Before, out.Seen.ArgLens = observe(given, level, asserts.Observe)
	handles := preserve.Handles()
	results, err := call(kernel, in)
	out.Seen.After, _ = observe(e.lib.heldTensors(op.Func.Args, passed), level, observeBroken)
	if err != nil {
		return out, e.leaves(name, kernel, in, handles, err)
	}
	returned := e.results(&out, op, results, slices.Concat(given...))
	out.Seen.Results, out.Seen.ResultLens = observe(returned, level, observeBroken)
	if settles && e.settle(name) {
		late, _ := observe(e.lib.heldTensors(op.Func.Args, passed), level, observeBroken)
		results, _ := observe(returned, level, observeBroken)
		out.Seen.Late = slices.Concat(late, results)
	}
	return out, nil
}

func (e *Engine) arguments(op *schema.Op, k goKernel, args []any) (in []reflect.Value, err error) {
	defer kernelError(&err)
	in = slices.Repeat([]reflect.Value{reflect.ValueOf(context.Background())}, k.Type().NumIn())
	if k.receiver.IsValid() {
		in[0] = k.receiver
	}
	for i, arg := range op.Func.Args {
		v := args[i]
		if _, ok := v.(engine.Default); ok {
			if v, err = defaultOf(arg); err != nil {
				return nil, err
			}
		}
		if in[k.at[i]], err = e.lib.convert(v, k.Type().In(k.at[i])); err != nil {
			return nil, fmt.Errorf("argument %s: %w", arg.Name, err)
		}
	}
	return in, nil
}

func call(kernel goKernel, in []reflect.Value) (results []reflect.Value, err error) {
	defer kernelError(&err)
	if kernel.Type().IsVariadic() {
		results = kernel.CallSlice(in)
	} else {
		results = kernel.Call(in)
	}
	if n := len(results); n > 0 && kernel.Type().Out(n-1) == errorType {
		if failed, _ := results[n-1].Interface().(error); failed != nil {
			return nil, &engine.Thrown{Message: failed.Error()}
		}
		results = results[:n-1]
	}
	return results, nil
}

// mostLeaky is the number of failed calls of an op that left handles for which the collector, which is slow, is run.
const mostLeaky, collections = 5, 6

// leaves adds to the error of a call the handles that it made since there were n, and that are not released. The
// call is repeated, as the first may have made what the library keeps.
func (e *Engine) leaves(op string, kernel goKernel, in []reflect.Value, n int64, err error) error {
	thrown, ok := errors.AsType[*engine.Thrown](err)
	if !ok || preserve.Handles() == n || len(preserve.LeaksSince(n, 0)) == 0 {
		return err
	}
	if e.leaky[op] == mostLeaky {
		thrown.Skip = "handles that a failed call left, without the collector: it is run after at most 5 such calls per op"
		return err
	}
	e.leaky[op]++
	for range 2 {
		n = preserve.Handles()
		if _, again := call(kernel, in); again == nil {
			thrown.Skip = "handles that a failed call left: the same call did not fail when it was repeated"
			return err
		}
	}
	if leaks := preserve.LeaksSince(n, collections); len(leaks) > 0 {
		by, _, _ := strings.Cut(strings.TrimSpace(leaks[0].Made), "\n")
		thrown.Left = []asserts.Fault{{
			Code: asserts.KeptArgument,
			Saw:  fmt.Sprintf("a handle of %s, made by %s, has a reference left", leaks[0].Kind, by),
			Fix:  "release on each return what the kernel made, by defer",
		}}
	}
	return err
}

// kernelError returns a panic as an error of the kernel.
func kernelError(err *error) {
	if p := recover(); p != nil {
		*err = &engine.Thrown{Message: fmt.Sprint(p)}
	}
}

func (l *Library) heldTensors(schemas []schema.Argument, passed []reflect.Value) [][]asserts.Tensor {
	var all [][]asserts.Tensor
	for i, arg := range schemas {
		if arg.Type.IsTensorLike() {
			all = append(all, l.tensors(passed[i]))
		}
	}
	return all
}

type observer func(t asserts.Tensor, level asserts.Level) asserts.Observation

// observe observes the tensors of every argument, and returns the number of each.
func observe(args [][]asserts.Tensor, level asserts.Level, look observer) (all []asserts.Observation, lens []int) {
	defer attribute("observes its tensors")
	for _, ts := range args {
		for _, t := range ts {
			all = append(all, look(t, level))
		}
		lens = append(lens, len(ts))
	}
	return all, lens
}

// observeBroken observes a tensor after a call: if that panics, the kernel broke the tensor.
func observeBroken(t asserts.Tensor, level asserts.Level) (o asserts.Observation) {
	defer func() {
		if p := recover(); p != nil {
			o = asserts.Observation{Content: &asserts.Snapshot{Panic: fmt.Sprintf("%v, in %s", p, asserts.PanicSite())}}
		}
	}()
	return asserts.Observe(t, level)
}

// attribute reports a panic in a function of the library as the library's fault.
func attribute(does string) {
	if p := recover(); p != nil {
		panic(&engine.LibraryFault{Message: fmt.Sprintf("the function that %s panics: %v, in %s", does, p,
			asserts.PanicSite())})
	}
}

// results returns the tensors of each return of a kernel, and records them. A handle passed belongs to the caller.
func (e *Engine) results(out *engine.Outcome, op *schema.Op, results []reflect.Value,
	given []asserts.Tensor) (returned [][]asserts.Tensor) {
	for i, r := range op.Func.Returns {
		if len(results) == 0 || !r.Type.IsTensorLike() {
			continue
		}
		ts := e.lib.tensors(results[i])
		for _, t := range ts {
			if t != nil && !(reflect.ValueOf(t).Comparable() && slices.Contains(given, t)) {
				out.Results = append(out.Results, e.lib.hold(t))
			}
		}
		returned = append(returned, ts)
	}
	return returned
}

// tensors returns the tensors of one value; nil is an undefined tensor.
func (l *Library) tensors(v reflect.Value) []asserts.Tensor {
	if t, ok := v.Interface().(asserts.Tensor); ok {
		if v.Kind() == reflect.Pointer && v.IsNil() {
			return []asserts.Tensor{nil}
		}
		return []asserts.Tensor{t}
	}
	if l.Observe != nil && v.Type() == l.Tensor {
		if v.IsNil() {
			return []asserts.Tensor{nil}
		}
		return []asserts.Tensor{l.Foreign(v.Interface())}
	}
	if v.Kind() != reflect.Slice {
		return []asserts.Tensor{nil}
	}
	var ts []asserts.Tensor
	for i := range v.Len() {
		ts = append(ts, l.tensors(v.Index(i))...)
	}
	return ts
}

// A kernel may continue in the background after its call. So tensors are observed again some milliseconds later: in the
// first calls of an op, as pending timers cannot be detected, and in more calls if there are new goroutines.
const (
	settling    = 5 * time.Millisecond
	settledCold = 3  // calls of an op after which it waits
	settledWarm = 24 // the same, in a process with new goroutines
)

// settle waits after a call of the op, if it is one of those, and reports whether it did.
func (e *Engine) settle(op string) bool {
	if n := e.settled[op]; n >= settledWarm || n >= settledCold && runtime.NumGoroutine() <= e.goroutines {
		return false
	}
	e.settled[op]++
	time.Sleep(settling)
	return true
}

// KeepsArguments returns true: kernels may keep an argument and write it later.
func (e *Engine) KeepsArguments() {}
