// Package deep is a library that makes its handles below many calls of its own, like libraries of
// several packages.
package deep

import "github.com/opassert/opassert/asserts/preserve"

var handles = preserve.NewRegistry("deep.Handle")

// Make makes a handle below a number of calls.
//
//go:noinline
func Make(depth int) preserve.Token {
	if depth == 0 {
		return handles.Made(8)
	}
	return Make(depth - 1)
}

// Leaks returns the handles that are not released.
func Leaks() []*preserve.RuleError { return handles.Leaks() }
