package optest

import (
	"reflect"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/maker"
)

// What a test says of its library is that of package maker, which a library's own
// files import without this package.
type (
	// A Spec says what tensor to make.
	Spec = maker.Spec
	// An Option says more of a library than how a tensor is made.
	Option = maker.Option
)

// ErrUnsupported is what Unsupported wraps.
var ErrUnsupported = maker.ErrUnsupported

// Unsupported is [maker.Unsupported].
func Unsupported(format string, args ...any) error { return maker.Unsupported(format, args...) }

// Storage is [maker.Storage].
func Storage[E asserts.Element](s Spec) ([]E, error) { return maker.Storage[E](s) }

// Elements is [maker.Elements].
func Elements[E asserts.Element](s Spec, dims ...int) ([]E, error) {
	return maker.Elements[E](s, dims...)
}

// Observe is [maker.Observe].
func Observe[T any](observe func(t T, o *asserts.Observation, level asserts.Level)) Option {
	return maker.Observe(observe)
}

// Release is [maker.Release].
func Release[T any](release func(T)) Option { return maker.Release(release) }

// Receiver is [maker.Receiver].
func Receiver(v any) Option { return maker.Receiver(v) }

// Value is [maker.Value].
func Value(convert func(v any, to reflect.Type) (any, bool)) Option { return maker.Value(convert) }

// RandomSeed is [maker.RandomSeed].
func RandomSeed(seed func(int64)) Option { return maker.RandomSeed(seed) }

// Skip is [maker.Skip].
func Skip(op, reason string) Option { return maker.Skip(op, reason) }

// Cases is [maker.Cases].
func Cases(n int) Option { return maker.Cases(n) }

// Seed is [maker.Seed].
func Seed(seed uint64) Option { return maker.Seed(seed) }
