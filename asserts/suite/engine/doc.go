// Package engine is the contract between the suite and what runs kernels: the
// ops that there are, the tensors that they take, and the observations of calls.
package engine
