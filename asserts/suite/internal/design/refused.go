package design

import (
	"strings"

	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/tensor"
)

// A ClassDType is the dtype of an argument's tensors in the calls of a value class.
type ClassDType struct {
	arg, dtype string
	more       bool // it also sets something else
}

// DType returns the ClassDType of a row's only class; the zero value if the class sets none.
func (d *Design) DType(r ClassRow) ClassDType {
	if len(r.Classes) != 1 || r.on != nil || d.Classes[r.Classes[0]].scalar {
		return ClassDType{}
	}
	class := d.Classes[r.Classes[0]]
	name, last := strings.CutPrefix(class.name, "last ")
	if last {
		class.arg += " last"
	}
	if name == tensor.Forms[engine.Conjugate] {
		return ClassDType{class.arg, "complex64", true}
	}
	dtype, _, _ := strings.Cut(name, " ")
	dtype, _, _ = strings.Cut(dtype, "[")
	if !isDType(dtype) {
		return ClassDType{}
	}
	return ClassDType{class.arg, dtype, dtype != name}
}

// enough is the number of dtypes of a sort that every base must refuse before one base counts for
// all.
const enough = 3

// Refused holds the dtypes that no base accepts, so that no base is called for a known answer.
type Refused struct {
	errors map[ClassDType]error
	sorts  map[sort]int  // how many of each
	later  map[sort]bool // a base accepted one that the first did not
}

// A sort is the dtypes of one class, for one argument.
type sort struct {
	arg string
	of  tensor.DTypeClass
}

// only reports whether a class sets a dtype and nothing else.
func (c ClassDType) only() bool { return c.dtype != "" && !c.more }

func (c ClassDType) sort() sort { return sort{c.arg, sample.Element(c.dtype).Class()} }

// NewRefused returns an empty Refused.
func NewRefused() *Refused {
	return &Refused{make(map[ClassDType]error), make(map[sort]int), make(map[sort]bool)}
}

// Error returns the error with which the dtype alone was refused, for a class that sets it and
// something else.
func (r *Refused) Error(c ClassDType) error {
	if !c.more {
		return nil
	}
	c.more = false
	return r.errors[c]
}

// Enough reports whether the other bases are known to refuse the dtypes that one refuses.
func (r *Refused) Enough(c ClassDType) bool {
	return c.only() && r.sorts[c.sort()] >= enough && !r.later[c.sort()]
}

// Add records that every base refused with the error; nil if no base has a place for the class.
func (r *Refused) Add(c ClassDType, err error) {
	if c.only() && err != nil {
		r.errors[c] = err
		r.sorts[c.sort()]++
	}
}

// Took records that a base accepts the dtype which the first refused.
func (r *Refused) Took(c ClassDType) {
	if c.only() {
		r.later[c.sort()] = true
	}
}
