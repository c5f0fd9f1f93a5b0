package faults

import (
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/testbed/c10"
)

var _ = planting(asserts.KeptArgument, plant{
	acts: []act{
		{name: "retains", why: "keeps a reference to an argument", at: slices.Concat(inView, outOfPlace), do: change(keep),
			library: &LibraryAct{At: "read", Does: "keep(t);", Trigger: "a tensor"}},
		{name: "retains_storage", why: "keeps a view of an argument", at: slices.Concat(inPlace, inOut),
			do: change((*c10.Tensor).RetainStorage)},
	},
})

// CachesCopy keeps a copy that nothing else references.
//
//opassert:kernel fault::caches_copy
func CachesCopy(self *c10.Tensor) *c10.Tensor {
	kept := negated(self)
	keep(kept)
	kept.Release()
	return negated(self)
}
