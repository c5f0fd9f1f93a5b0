//go:build opassert

package vector_test

import (
	"errors"
	"testing"

	"github.com/opassert/opassert/asserts"

	"example.com/vector"
	"example.com/vector/ops"
)

// violation returns what the run time says of the call.
func violation(call func()) (v *asserts.Violation) {
	defer func() {
		if err, ok := recover().(error); ok {
			errors.As(err, &v)
		}
	}()
	call()
	return nil
}

func TestHealthyKernelsAreSilent(t *testing.T) {
	a, b := vector.New(1, 2, 3), vector.New(4, 5, 6)
	v := violation(func() {
		ops.Add(a, b)
		ops.AddInplace(a, a)
		ops.Cat([]*vector.Vector{a, b, ops.Narrow(a, 1, 2)})
		ops.Clamp(a, 0, 1)
	})
	if v != nil {
		t.Error(v)
	}
}

func TestClampGivesItsInputBack(t *testing.T) {
	v := violation(func() { ops.Clamp(vector.New(1, 2, 3), 0, 9) })
	if v == nil || v.Code != asserts.UndeclaredAlias {
		t.Errorf("got %v, want OA007", v)
	}
}
