// Package kernels has kernels for the embedded engine, written as an op author would write them: ordinary functions,
// each marked with the op of ops.yaml that it is for. Together they have every shape of schema; two ops with the same
// arguments and returns treat them differently.
//
// The arithmetic is simple: values are computed as float64 and converted to the type of the result. Ops that only move
// values (clone, cat, index, ...) copy them bit for bit.
//
// Kernels own the tensors that they make. They release temporaries; a new return has one reference; an in-place or out=
// kernel returns its argument's handle, after MarkWritten.
package kernels

import _ "embed"

// Schemas is the schema file of the kernels, ops.yaml.
//
//go:embed ops.yaml
var Schemas []byte
