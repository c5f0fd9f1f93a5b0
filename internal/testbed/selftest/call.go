// Package selftest tests the checks: every planted fault is reported once with the expected report, and no healthy
// kernel is reported, for every kind of tensor and mode. All calls go through generated wrappers.
package selftest

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/opassert/opassert/asserts"
)

// A CallOutcome is the outcome of one call of a wrapper.
type CallOutcome struct {
	Violations []*asserts.Violation
	Panic      any   // the value of the kernel's panic
	Err        error // the kernel's error
}

var levels = []asserts.Level{asserts.Identity, asserts.Content}

// call calls a wrapper at a level and collects its reports. It sets the process's reporter, so calls run one at a time.
func call(level asserts.Level, wrapper any, args []any) (ran CallOutcome) {
	var found asserts.Collector
	defer asserts.SetReporter(&found)()
	defer asserts.SetLevel(level)()
	defer asserts.SetAlone(true)()
	defer func() {
		ran.Panic = recover()
		for _, f := range found.Found() {
			for range f.Count {
				ran.Violations = append(ran.Violations, f.Violation)
			}
		}
	}()
	fn := reflect.ValueOf(wrapper)
	results := fn.Call(values(fn.Type(), args))
	if n := len(results); n > 0 && fn.Type().Out(n-1) == reflect.TypeFor[error]() {
		ran.Err, _ = results[n-1].Interface().(error)
	}
	return ran
}

// values makes the arguments of a call; nil is the zero value of its parameter.
func values(fn reflect.Type, args []any) []reflect.Value {
	in := make([]reflect.Value, len(args))
	for i, a := range args {
		in[i] = reflect.ValueOf(a)
		if a == nil {
			in[i] = reflect.Zero(fn.In(i))
		}
	}
	return in
}

func lookup(wrappers map[string]any, op string) (any, error) {
	if w, ok := wrappers[op]; ok {
		return w, nil
	}
	return nil, fmt.Errorf("no wrapper for %s: %w", op, errMissing)
}

var errMissing = errors.New("run go generate ./internal/testbed/gentest")

// Calls are those of healthy kernels.
type Calls struct {
	Made  int
	Wrong []string // the failures
}

func (c *Calls) add(err error, format string, args ...any) {
	c.Made++
	if err != nil {
		c.Wrong = append(c.Wrong, fmt.Sprintf(format, args...)+": "+err.Error())
	}
}
