package libtorch

import (
	"sync"

	"github.com/opassert/opassert/asserts"
)

// contents is locked by a call that reads the bytes of its tensors: another call on views of the
// same storages would look like an undeclared write.
var contents sync.Mutex

// outcomes are pooled, so that a call makes little garbage.
var outcomes = sync.Pool{New: func() any { return new(Outcome) }}

// Invoke runs the operator that the op names, for generated functions; if check is set, it judges the call like a
// wrapper of a Go kernel. The caller releases the results. If a violation panics, Invoke releases them.
func Invoke(check bool, op *asserts.Op, args ...Value) (results []Value, err error) {
	live, err := Lookup(op.Name)
	if err != nil {
		return nil, err
	}
	out := outcomes.Get().(*Outcome)
	defer outcomes.Put(out)
	defer out.Release() // which has results only if a violation panics
	var call asserts.Call
	level := asserts.Off
	if check {
		level = call.BeginSeen(op)
	}
	if level >= asserts.Content {
		contents.Lock()
	}
	err = live.Call(level, out, args...)
	if level >= asserts.Content {
		contents.Unlock()
	}
	if err != nil {
		return nil, err
	}
	if check {
		call.JudgeSeen(&out.Seen)
	}
	results, out.Results = out.Results, nil
	return results, nil
}
