package asserts

import "strings"

// A Write is whether a call changed a tensor of an argument that the op's schema lets it
// write.
type Write struct {
	Arg     int     `json:"arg"` // position in the schema
	Sizes   []int64 `json:"sizes,omitempty"`
	Changed bool    `json:"changed,omitempty"`
}

// WritesOf returns what became of the arguments with (a!) whose contents were seen before
// and after a call. Optional ones, tensors without elements, those that are not plain,
// and those that share their storage with another are left out.
func WritesOf(op *Op, seen *Seen) []Write {
	if seen == nil || len(seen.ArgLens) > len(op.Args) {
		return nil
	}
	storages := make(map[ID]int)
	for i := range seen.Before {
		storages[seen.Before[i].Storage]++
	}
	before, after := split(seen.Before, seen.ArgLens, op.Args), split(seen.After, seen.ArgLens, op.Args)
	var writes []Write
	for a, on := range op.Args {
		if !on.Write || on.Inside || strings.HasSuffix(on.Type, "?") {
			continue
		}
		for e := range min(len(before[a]), len(after[a])) {
			b, n := &before[a][e], &after[a][e]
			if legible(b) && legible(n) && storages[b.Storage] == 1 {
				writes = append(writes, Write{on.Index, b.Content.Sizes, changed(b, n)})
			}
		}
	}
	return writes
}

// legible reports whether a tensor is plain and has bytes that were seen.
func legible(o *Observation) bool {
	return o.Defined() && o.Traits == 0 && o.Content != nil && o.Content.Nbytes > 0
}

func changed(b, a *Observation) bool {
	return b.Impl != a.Impl || b.Storage != a.Storage || b.Version != a.Version ||
		changedBytes(b.Content, a.Content) != "" || len(changedMetadata(b.Content, a.Content)) > 0
}
