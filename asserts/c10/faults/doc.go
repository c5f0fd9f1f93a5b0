// Package faults has kernels that each break one rule, with the calls that
// show it. The table of them proves that every check can fire, for every kind
// of subject and every class of op, or says why it cannot.
//
// The kernels are marked, and their schemas are in faults.yaml, as those of
// package kernels: wrappers are generated for them in the same way.
package faults
