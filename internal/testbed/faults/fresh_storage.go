package faults

import (
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/testbed/c10"
)

var _ = planting(asserts.FreshStorage, plant{
	acts: []act{
		{name: "keeps_storage", why: "keeps a hidden reference to the result's storage",
			at: slices.Concat(besideView, returnedNew, returnedNewAndWritten), do: change((*c10.Tensor).RetainStorage),
			library: &LibraryAct{At: "returned", Does: "keep(t.alias()); return t;", Trigger: "any call"}},
		{name: "in_buffer", library: &LibraryAct{At: "returned", Does: "return buffer(t).copy_(t);",
			Trigger: "the second call that is not empty"}},
	},
	impossible: []cells{{Single, View, "the one return of a view has an alias set"}},
})
