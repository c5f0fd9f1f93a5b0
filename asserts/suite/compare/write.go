package compare

import (
	"fmt"
	"strings"

	"github.com/opassert/opassert/asserts"
)

// A Write reports whether a call changed a tensor of an argument that the op's schema lets it write.
type Write struct {
	Arg     int         `json:"arg"` // position in the schema
	Of      ElementRole `json:"of,omitempty"`
	DType   string      `json:"dtype,omitempty"`
	Sizes   []int64     `json:"sizes,omitempty"`
	Strided bool        `json:"-"` // a view of it with one dimension would need a copy
	Changed bool        `json:"changed,omitempty"`
}

// An ElementRole is the role of a tensor in an argument: the only one, the last of a list of several, or another.
type ElementRole string

const (
	Itself ElementRole = ""
	Other  ElementRole = "other element"
	Last   ElementRole = "last element"
)

const (
	manyCalls = 20
	manySizes = 3
)

// EnoughCalls reports whether a number of calls, on tensors of some sizes, shows that an argument is never written.
func EnoughCalls(calls, sizes int) bool { return calls >= manyCalls && sizes >= manySizes }

// Unwritten returns a violation of an argument, or the last of its elements, that the schema lets its op
// write and that none of many calls changed.
func Unwritten(op, schema string, argument asserts.Place, of ElementRole, calls, sizes int) *asserts.Violation {
	it, alike := "it", "sizes"
	if sizes == 1 {
		alike = "size"
	}
	if of != Itself {
		it = "its " + string(of)
	}
	saw := fmt.Sprintf("none of %d calls, on tensors of %d %s, changed %s, and the schema lets the op write it", calls,
		sizes, alike, it)
	return linted(op, schema, argument, asserts.Unwritten, saw)
}

// UnwrittenAs returns a violation of an argument that calls change, except all those where it has one of these dtypes.
func UnwrittenAs(op, schema string, argument asserts.Place, calls int, dtypes []string) *asserts.Violation {
	saw := fmt.Sprintf("other calls change it, but none of %d calls where it is %s", calls, strings.Join(dtypes, " or "))
	return linted(op, schema, argument, "lost-dtype", saw)
}

func linted(op, schema string, argument asserts.Place, symptom asserts.Symptom, saw string) *asserts.Violation {
	row := symptom.In(asserts.SchemaLint)
	return &asserts.Violation{
		Code: asserts.SchemaLint, Op: op, Schema: schema, Subject: argument, Symptom: symptom, Saw: saw, Fix: row.Fix,
		Note: row.Note,
	}
}

// WritesOf returns a Write for each argument with (a!) whose contents were observed before and after a call, without
// absent ones, tensors that have no elements or are not plain, and those that share a storage.
func WritesOf(op *asserts.Op, seen *asserts.Seen) []Write {
	if seen == nil {
		return nil
	}
	storages := make(map[asserts.ID]int)
	for i := range seen.Before {
		storages[seen.Before[i].Storage]++
	}
	before, after, _ := seen.Split(op)
	var writes []Write
	for a, on := range op.Args {
		if !on.Write || on.Inside {
			continue
		}
		for e := range min(len(before[a]), len(after[a])) {
			b, n := &before[a][e], &after[a][e]
			if bytesRead(b, seen) && bytesRead(n, seen) && storages[b.Storage] == 1 {
				writes = append(writes, Write{on.Index, which(e, len(before[a])), b.Content.DType, b.Content.Sizes,
					needsCopy(b.Content), b.Changed(n) || !op.Raises && b.Version != n.Version})
			}
		}
	}
	return writes
}

// which returns the role of element number i of n.
func which(i, n int) ElementRole {
	switch {
	case n == 1:
		return Itself
	case i == n-1:
		return Last
	}
	return Other
}

// bytesRead reports whether a tensor is plain, which in Go it is without a version, and its bytes were read.
func bytesRead(o *asserts.Observation, seen *asserts.Seen) bool {
	return (o.Traits == 0 || seen.Plain && o.Traits == asserts.NoVersion) && o.Content != nil && o.Content.Nbytes > 0
}

// needsCopy reports whether only a copy of the tensor can have one dimension.
func needsCopy(c *asserts.Snapshot) bool {
	next := int64(0) // the stride that merges the dimensions before; 0 means any
	for d := min(len(c.Sizes), len(c.Strides)) - 1; d >= 0; d-- {
		if c.Sizes[d] == 1 {
			continue
		}
		if next != 0 && c.Strides[d] != next {
			return true
		}
		next = c.Strides[d] * c.Sizes[d]
	}
	return false
}
