package optest

import (
	"reflect"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/internal/gokernels"
)

// An Option says more of a library than how a tensor is made.
type Option func(*settings)

type settings struct {
	receivers []any
	observe   func(v any, o *asserts.Observation, level asserts.Level)
	value     func(v any, to reflect.Type) (any, bool)
	release   func(asserts.Tensor)
	seed      func(int64)
	skipped   map[string]string
	cases     int
	job       Job
}

// Receiver is the value that kernels are called on which are methods of its type,
// or of the type that it points to. There is one for each type that has some.
func Receiver(v any) Option { return func(s *settings) { s.receivers = append(s.receivers, v) } }

// Observe looks at tensors of a type that has no method for it, as the function
// with the mark //opassert:observe does in the generated package.
func Observe[T any](observe func(t T, o *asserts.Observation, level asserts.Level)) Option {
	return func(s *settings) {
		s.observe = func(v any, o *asserts.Observation, level asserts.Level) { observe(v.(T), o, level) }
	}
}

// Value turns an argument that is no tensor and no Go value, such as a
// [suite.DType], into the type that kernels take; it returns false for others.
func Value(convert func(v any, to reflect.Type) (any, bool)) Option {
	return func(s *settings) { s.value = convert }
}

// Release is called once for each tensor that was made or returned, for a
// library that counts references.
func Release[T any](release func(T)) Option {
	return func(s *settings) { s.release = func(t asserts.Tensor) { release(gokernels.Own(t).(T)) } }
}

// RandomSeed sets the state of the library's default random number generator,
// before every call, so that a case is the same in every run.
func RandomSeed(seed func(int64)) Option { return func(s *settings) { s.seed = seed } }

// Skip leaves an op out, with a reason.
func Skip(op, reason string) Option {
	return func(s *settings) {
		if s.skipped == nil {
			s.skipped = make(map[string]string)
		}
		if !strings.Contains(op, "::") {
			op = "aten::" + op
		}
		s.skipped[op] = reason
	}
}

// Cases is how many cases each op gets; where no option says so, each value class
// of each argument is tried.
func Cases(n int) Option { return func(s *settings) { s.cases = n } }

// Seed is what cases are made from, 1 where no option says so.
func Seed(seed uint64) Option { return func(s *settings) { s.job.Seed = seed } }
