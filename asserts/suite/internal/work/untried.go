package work

import "github.com/opassert/opassert/asserts"

// What is not tried of whether a result is the same in each call.
const (
	twoThreads = "no call with two threads was made: "
	largeOne   = "no call with two threads was made with a large tensor: "
	morePairs  = "a call was not repeated after one that differs in one thing: "
)

// untried is the skip of a check that a result is the same in each call.
func untried(what, reason string) []asserts.Skip {
	return []asserts.Skip{{Code: asserts.NondeterministicResult, Reason: what + reason, Count: 1}}
}
