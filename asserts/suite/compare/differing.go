package compare

import (
	"slices"

	"github.com/opassert/opassert/asserts"
)

// A Difference is a tensor with elements that differ between two calls of an op.
type Difference struct {
	Argument  string               // a written argument; "": a return
	Return    int                  // one more than its position
	Bytes, Of int                  // how many bytes differ, 0 if not known, and of how many
	Tensors   [2]*asserts.Snapshot // the first tensor that differs, in each of the calls
}

// Same reports whether another difference is of the same return or argument.
func (d Difference) Same(e Difference) bool { return d.Argument == e.Argument && d.Return == e.Return }

// Differing returns the returns and written arguments whose elements differ between two calls, for a list with the
// first tensor that differs. Tensors of the same shape with unknown bytes are left out, and returns that are arguments.
func Differing(op *asserts.Op, a, b *asserts.Seen) []Difference {
	var all []Difference
	eachPair(op, a, b, func(d Difference, x, y *asserts.Snapshot) {
		d.Tensors = [2]*asserts.Snapshot{x, y}
		if d.Bytes, d.Of = differing(x, y); d.Bytes > 0 && (len(all) == 0 || !d.Same(all[len(all)-1])) {
			all = append(all, d)
		}
	})
	return all
}

// Unknown returns the tensors that Differing leaves out and whose digests differ.
func Unknown(op *asserts.Op, a, b *asserts.Seen) (all []Difference) {
	eachPair(op, a, b, func(d Difference, x, y *asserts.Snapshot) {
		if x != nil && y != nil && x.Digest != y.Digest && sameShape(x, y) && !known(x, y) {
			d.Of = int(x.Nbytes)
			all = append(all, d)
		}
	})
	return all
}

// eachPair calls add with each tensor of the returns and of the written arguments in two calls.
func eachPair(op *asserts.Op, a, b *asserts.Seen, add func(d Difference, x, y *asserts.Snapshot)) {
	_, after, results := a.Split(op)
	_, afterAgain, again := b.Split(op)
	each := func(d Difference, x, y []asserts.Observation) {
		for i := range min(len(x), len(y)) {
			add(d, x[i].Content, y[i].Content)
		}
	}
	for i, s := range op.Results {
		if !s.Write {
			each(Difference{Return: s.Index + 1}, results[i], again[i])
		}
	}
	for i, s := range op.Args {
		if s.Write {
			each(Difference{Argument: s.Name}, after[i], afterAgain[i])
		}
	}
}

func known(x, y *asserts.Snapshot) bool {
	return x.Nbytes == y.Nbytes && int64(len(x.Bytes)) == x.Nbytes && int64(len(y.Bytes)) == y.Nbytes && x.Within()
}

// differing returns how many bytes of a tensor's elements differ, and of how many; all if the shape
// differs. Bytes that no element covers are left out.
func differing(x, y *asserts.Snapshot) (differ, of int) {
	if x == nil || y == nil {
		return 0, 0
	}
	if n := int(max(x.Nbytes, y.Nbytes)); !sameShape(x, y) {
		return n, n
	}
	if !known(x, y) {
		return 0, 0
	}
	x.Runs(func(from, to int64) {
		for i := from; i < to; i++ {
			if of++; x.Bytes[i] != y.Bytes[i] {
				differ++
			}
		}
	})
	return differ, of
}

func sameShape(x, y *asserts.Snapshot) bool {
	return slices.Equal(x.Sizes, y.Sizes) && slices.Equal(x.Strides, y.Strides) && x.Offset == y.Offset &&
		x.DType == y.DType
}
