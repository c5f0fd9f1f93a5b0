// Package engine is the contract between the suite and a library of kernels: its
// ops, the tensors that they take, and the observations of calls.
package engine
