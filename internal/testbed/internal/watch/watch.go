// Package watch calls kernels of the embedded engine for tests without wrappers: it makes the same record as these.
package watch

import (
	"reflect"
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/testbed/c10"
)

// A CallRecord is one call. Seen has no results when the kernel failed.
type CallRecord struct {
	Seen    *asserts.Seen
	Results []*c10.Tensor // of all returns in order
	Err     error         // the kernel's error
}

// Call calls a kernel with arguments in the order of its parameters. A panic of the kernel passes through.
func Call(kernel any, args []any, level asserts.Level) CallRecord {
	fn := reflect.ValueOf(kernel)
	in := make([]reflect.Value, len(args))
	for i, arg := range args {
		in[i] = reflect.New(fn.Type().In(i)).Elem()
		in[i].Set(reflect.ValueOf(arg))
	}
	seen := &asserts.Seen{Level: level}
	seen.Before, seen.ArgLens = observe(in, level)
	out := fn.Call(in)
	seen.After, _ = observe(in, level)
	r := CallRecord{Seen: seen}
	if n := len(out); n > 0 && out[n-1].Type() == reflect.TypeFor[error]() {
		r.Err, _ = out[n-1].Interface().(error)
		out = out[:n-1]
	}
	if r.Err == nil {
		seen.Results, seen.ResultLens = observe(out, level)
		for _, v := range out {
			ts, _ := Tensors(v.Interface())
			r.Results = append(r.Results, ts...)
		}
	}
	return r
}

// Tensors returns the tensors of an argument or a result, and whether its type holds tensors.
func Tensors(v any) (ts []*c10.Tensor, holds bool) {
	switch v := v.(type) {
	case *c10.Tensor:
		return []*c10.Tensor{v}, true
	case []*c10.Tensor:
		return v, true
	}
	return nil, false
}

func observe(values []reflect.Value, level asserts.Level) (obs []asserts.Observation, lens []int) {
	for _, v := range values {
		ts, holds := Tensors(v.Interface())
		if !holds {
			continue
		}
		lens = append(lens, len(ts))
		for _, t := range ts {
			obs = append(obs, asserts.Observe(t, level))
		}
	}
	return obs, lens
}

// OnMeta returns the arguments with meta tensors in place of tensors.
func OnMeta(args []any) []any {
	out := slices.Clone(args)
	for i, arg := range args {
		if t, ok := arg.(*c10.Tensor); ok {
			out[i] = t.OnMeta()
		}
	}
	return out
}
