// Package engine is the contract between the suite and what runs kernels: the
// ops that there are, the tensors that they take, and what a call shows.
package engine
