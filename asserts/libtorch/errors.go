package libtorch

import (
	"strings"

	"github.com/opassert/opassert/asserts/preserve"
)

// An Error is an exception of libtorch, or a call that the shim refused.
type Error struct {
	Op      string // "aten::add.Tensor", or the request
	Refused bool   // the request was invalid: nothing was called
	Type    string // of the C++ exception: "c10::NotImplementedError"
	Message string // without its backtrace
}

func (e *Error) Error() string {
	message := strings.TrimSpace(e.Message)
	if e.Type != "" && e.Type != "c10::Error" {
		return e.Op + ": " + message + " (" + e.Type + ")"
	}
	return e.Op + ": " + message
}

// A HandleError is the error of using, or releasing, a handle after its release.
type HandleError struct {
	Released bool                // it was released a second time
	Fault    *preserve.RuleError // with the stacks that made and misused the handle; nil except in the debug build
}

func (e *HandleError) Error() string {
	what := "handle used after it was released"
	if e.Released {
		what = "handle released a second time"
	}
	if e.Fault == nil {
		return "libtorch: " + what + "; a build with -tags opassert tells where it was made"
	}
	return "libtorch: " + what + "\n" + e.Fault.Error()
}

// Unwrap returns the fault, so that errors.As finds a [*preserve.RuleError].
func (e *HandleError) Unwrap() error {
	if e.Fault == nil {
		return nil
	}
	return e.Fault
}
