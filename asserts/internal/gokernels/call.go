package gokernels

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/schema"
)

var (
	contextType = reflect.TypeFor[context.Context]()
	errorType   = reflect.TypeFor[error]()
)

// parameters returns the types of what a kernel takes, besides a context.
func parameters(kernel reflect.Type) []reflect.Type {
	var types []reflect.Type
	for i := range numIn(kernel) {
		if t := kernel.In(i); i > 0 || t != contextType {
			types = append(types, t)
		}
	}
	return types
}

func numIn(kernel reflect.Type) int {
	if kernel.Kind() != reflect.Func {
		return 0
	}
	return kernel.NumIn()
}

// returns is how many values a kernel returns besides an error.
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
	kernel := reflect.ValueOf(e.lib.Kernels[op.Name()])
	in, err := e.arguments(op, kernel.Type(), args)
	if err != nil {
		return out, &engine.Thrown{Message: err.Error()}
	}
	passed := in[len(in)-len(args):]
	given := e.lib.held(op.Func.Args, passed)
	out.Seen.Level, out.Seen.Plain = level, true
	out.Seen.Before, out.Seen.ArgLens = observe(given, level)
	results, err := call(kernel, in)
	if err != nil {
		return out, err
	}
	returned := e.take(&out, op, results, slices.Concat(given...))
	out.Seen.After, _ = observeAgain(e.lib.held(op.Func.Args, passed), level)
	out.Seen.Results, out.Seen.ResultLens = observeAgain(returned, level)
	if level >= asserts.Content && e.settle(name) {
		late, _ := observeAgain(e.lib.held(op.Func.Args, passed), level)
		results, _ := observeAgain(returned, level)
		out.Seen.Late = slices.Concat(late, results)
	}
	return out, nil
}

// arguments makes what the kernel is called with.
func (e *Engine) arguments(op *schema.Op, kernel reflect.Type, args []any) (in []reflect.Value, err error) {
	defer thrown(&err)
	types := parameters(kernel)
	if len(types) < kernel.NumIn() {
		in = append(in, reflect.ValueOf(context.Background()))
	}
	for i, arg := range op.Func.Args {
		v := args[i]
		if _, ok := v.(engine.Default); ok {
			if v, err = defaultOf(arg); err != nil {
				return nil, err
			}
		}
		converted, err := e.lib.convert(v, types[i])
		if err != nil {
			return nil, fmt.Errorf("argument %s: %w", arg.Name, err)
		}
		in = append(in, converted)
	}
	return in, nil
}

// call calls a kernel. What it panics with, or returns as an error, is how it
// refuses its arguments.
func call(kernel reflect.Value, in []reflect.Value) (results []reflect.Value, err error) {
	defer thrown(&err)
	results = kernel.Call(in)
	if n := len(results); n > 0 && kernel.Type().Out(n-1) == errorType {
		if failed, _ := results[n-1].Interface().(error); failed != nil {
			return nil, &engine.Thrown{Message: failed.Error()}
		}
		results = results[:n-1]
	}
	return results, nil
}

// thrown turns a panic into an error of the kernel.
func thrown(err *error) {
	if p := recover(); p != nil {
		*err = &engine.Thrown{Message: fmt.Sprint(p)}
	}
}

// held returns the tensors of each argument that holds some. Those of a slice
// are the ones in it now.
func (l *Library) held(schemas []schema.Argument, passed []reflect.Value) [][]asserts.Tensor {
	var all [][]asserts.Tensor
	for i, arg := range schemas {
		if arg.Type.IsTensorLike() {
			all = append(all, l.tensors(passed[i]))
		}
	}
	return all
}

// observe looks at the tensors of every argument, and counts those of each.
func observe(args [][]asserts.Tensor, level asserts.Level) (all []asserts.Observation, lens []int) {
	defer blame("observes its tensors")
	for _, ts := range args {
		for _, t := range ts {
			all = append(all, asserts.Observe(t, level))
		}
		lens = append(lens, len(ts))
	}
	return all, lens
}

// observeAgain looks at the tensors of a call that is over: one that can no longer
// be observed the kernel broke.
func observeAgain(args [][]asserts.Tensor, level asserts.Level) (all []asserts.Observation, lens []int) {
	for _, ts := range args {
		for _, t := range ts {
			all = append(all, observeBroken(t, level))
		}
		lens = append(lens, len(ts))
	}
	return all, lens
}

func observeBroken(t asserts.Tensor, level asserts.Level) (o asserts.Observation) {
	defer func() {
		if p := recover(); p != nil {
			o = asserts.Observation{Content: &asserts.Snapshot{Panic: fmt.Sprintf("%v, in %s", p, asserts.PanicSite())}}
		}
	}()
	return asserts.Observe(t, level)
}

// blame makes a panic the library's, in what does something for it.
func blame(does string) {
	if p := recover(); p != nil {
		panic(&engine.LibraryFault{Message: fmt.Sprintf("what %s panics: %v, in %s", does, p, asserts.PanicSite())})
	}
}

// take returns the tensors of each return of a kernel, and records them.
// A handle that the caller passed is the caller's still.
func (e *Engine) take(out *engine.Outcome, op *schema.Op, results []reflect.Value, given []asserts.Tensor) (returned [][]asserts.Tensor) {
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

// tensors returns the tensors of one value; nil is an undefined one.
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
