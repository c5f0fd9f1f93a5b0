package c10

import "fmt"

// An Error is the panic value of a kernel that rejects its arguments.
//
// Source: c10/util/Exception.h, c10::Error.
type Error struct{ Msg string }

func (e *Error) Error() string { return e.Msg }

// Check panics with an [Error] unless ok.
//
// Source: c10/util/Exception.h, TORCH_CHECK.
func Check(ok bool, format string, args ...any) {
	if !ok {
		panic(Errorf(format, args...))
	}
}

// Errorf makes an [Error], for kernels that return one.
func Errorf(format string, args ...any) *Error { return &Error{fmt.Sprintf(format, args...)} }
