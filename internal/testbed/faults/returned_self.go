package faults

import (
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/testbed/c10"
	"github.com/opassert/opassert/internal/testbed/kernels"
)

var _ = planting(asserts.ReturnedSelf, plant{
	acts: []act{
		{name: "returns_copy", why: "writes an argument and returns a copy of it", at: returnedSelves, do: clone},
	},
	also: []SubjectKind{Out},
	impossible: []cells{
		{class: View, why: "an op that returns (a!) writes an argument, so it is in-place"},
		{class: OutOfPlace, why: "an op that returns (a!) writes an argument, so it is in-place"},
		{kind: Returned, why: "an op that writes a list returns nothing"},
	},
})

func clone(t, _ *c10.Tensor) *c10.Tensor { return kernels.Clone(t, nil) }
