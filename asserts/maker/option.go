package maker

import (
	"reflect"
	"strings"

	"github.com/opassert/opassert/asserts"
)

// An Option is a fact about a library besides how a tensor is made.
type Option func(*Options)

// Options are the facts set by Option values, for a run of the kernels.
type Options struct {
	Receivers  []any
	Observe    func(v any, o *asserts.Observation, level asserts.Level)
	Value      func(v any, to reflect.Type) (any, bool)
	Release    func(v any)
	RandomSeed func(int64)
	Skipped    map[string]string // reasons, by op
	Cases      int               // for each op; 0: as many as its values require
	Seed       uint64            // of the cases; 0: the default
}

// Receiver is the value on which kernels are called that are methods of its type, or of the type
// that it points to. There is one for each type with kernels.
func Receiver(v any) Option { return func(o *Options) { o.Receivers = append(o.Receivers, v) } }

// Observe observes tensors of a type without a method for it, like a function with the mark //opassert:observe.
func Observe[T any](observe func(t T, o *asserts.Observation, level asserts.Level)) Option {
	return func(o *Options) {
		o.Observe = func(v any, seen *asserts.Observation, level asserts.Level) { observe(v.(T), seen, level) }
	}
}

// Value converts an argument that is neither a tensor nor a Go value, such as an engine.DType, to
// the type of the kernels' parameter; it returns false for other types.
func Value(convert func(v any, to reflect.Type) (any, bool)) Option {
	return func(o *Options) { o.Value = convert }
}

// Release is called once for each tensor that was made or returned, for a library that counts references.
func Release[T any](release func(T)) Option {
	return func(o *Options) { o.Release = func(v any) { release(v.(T)) } }
}

// RandomSeed sets the state of the library's default random number generator before every call: runs are equal.
func RandomSeed(seed func(int64)) Option { return func(o *Options) { o.RandomSeed = seed } }

// Cases sets the number of cases of each op in a test; without this option, each value class of each argument is tried.
func Cases(n int) Option { return func(o *Options) { o.Cases = n } }

// Seed sets the seed of the cases of a test; the default is 1.
func Seed(seed uint64) Option { return func(o *Options) { o.Seed = seed } }

// Skip leaves out an op, with a reason.
func Skip(op, reason string) Option {
	return func(o *Options) {
		if o.Skipped == nil {
			o.Skipped = make(map[string]string)
		}
		if !strings.Contains(op, "::") {
			op = "aten::" + op
		}
		o.Skipped[op] = reason
	}
}
