package libtorch

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/opassert/opassert/asserts"
)

// ReadOp parses one operator from its line in the list that another process's schemas.cpp wrote. It
// describes the operator, which cannot be called.
func ReadOp(listed string) (op *Op, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("an operator's record is cut short")
		}
	}()
	ops := parseListing(listed)
	for _, r := range ops {
		op = r.read()
	}
	if len(ops) != 1 {
		return nil, fmt.Errorf("the record has %d operators instead of one", len(ops))
	}
	return op, nil
}

// ReadSeen reads what observe.h wrote about a call of the operator in another process: for each argument that holds
// tensors their number; the tensors before the call and after it; the number of tensors added to lists, and these, each
// after the index of its argument; for each return that holds tensors their number and the tensors; the number of
// storages that earlier calls returned, and for each its address, the address of its bytes, and their number.
func (op *Op) ReadSeen(level asserts.Level, record []byte) (seen asserts.Seen, err error) {
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("%s: the record of a call is cut short", op.Name)
		}
	}()
	words := make([]int64, len(record)/8)
	for i := range words {
		words[i] = int64(binary.NativeEndian.Uint64(record[8*i:]))
	}
	r := &reader{words: words}
	var out Outcome
	for range op.subjects {
		out.argLens = append(out.argLens, r.count())
	}
	out.Seen.Level = level
	inputs := out.takeArguments(r, op)
	for i := range op.Returns {
		if !op.Returns[i].holds.subject() {
			continue
		}
		n := r.count()
		for element := range n {
			out.take(r, result, len(out.resultLens), element)
		}
		out.resultLens = append(out.resultLens, n)
	}
	for range r.count() {
		id := asserts.ID(r.word())
		o := asserts.Observation{Impl: id, Storage: id,
			Content: &asserts.Snapshot{Memory: uintptr(r.word()), Nbytes: r.word()}}
		out.Seen.Earlier = append(out.Seen.Earlier, asserts.Earlier{Then: o, Now: o})
	}
	out.complete(inputs)
	return out.Seen, nil
}
