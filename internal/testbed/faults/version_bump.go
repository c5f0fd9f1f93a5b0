package faults

import (
	"slices"

	"github.com/opassert/opassert/asserts"
)

var _ = planting(asserts.VersionBump, plant{
	acts: []act{
		{name: "forgets_version", why: "writes without a version bump", at: slices.Concat(inWritten, inOut),
			do:      change(scribble),
			library: &LibraryAct{At: "written", Does: "zero_bytes(t);", Trigger: "a contiguous tensor that is not zero"}},
	},
	impossible: onlyInPlace,
})

var onlyInPlace = []cells{
	{class: View, why: "an op that may write an argument is in-place"},
	{class: OutOfPlace, why: "an op that may write an argument is in-place"},
}
