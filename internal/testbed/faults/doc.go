// Package faults has kernels that each break one rule, with the calls that show it. The table proves that every check
// can fire, for every kind of subject and every class of op, or has the reason why it cannot.
//
// A fault is an act on one tensor, and a placement of that tensor in an op. The kernels and the schemas of the acts,
// and their healthy twins, are generated into kernels_gen.go and faults.yaml by package regen; the schemas of kernels
// that are written by hand are in known.yaml. The kernels are marked like those of package kernels, and get wrappers in
// the same way.
package faults
