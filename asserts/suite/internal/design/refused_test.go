package design

import (
	"errors"
	"testing"

	"github.com/opassert/opassert/asserts/suite/internal/sample"
)

func TestClassDType(t *testing.T) {
	for _, tt := range []struct {
		arg, class  string
		scalar      bool
		on          *sample.Case
		want, dtype string
		more        bool
	}{
		{arg: "self", class: "int64", want: "self", dtype: "int64"},
		{arg: "", class: "int64 const:1", dtype: "int64", more: true},
		{arg: "self", class: "float64[]", want: "self", dtype: "float64", more: true},
		{arg: "self", class: "int64[1] const:1", want: "self", dtype: "int64", more: true},
		{arg: "all", class: "last uint8", want: "all last", dtype: "uint8"},
		{arg: "self", class: "conj", want: "self", dtype: "complex64", more: true},
		{arg: "self", class: "transposed"},
		{arg: "dtype", class: "int64", scalar: true},
		{arg: "self", class: "int64", on: new(sample.Case)},
	} {
		d := &Design{Classes: []argClass{{arg: tt.arg, valueClass: valueClass{name: tt.class}, scalar: tt.scalar}}}
		if got := d.DType(ClassRow{Classes: []int{0}, on: tt.on}); got != (ClassDType{tt.want, tt.dtype, tt.more}) {
			t.Errorf("%s: %s asks for %+v", tt.arg, tt.class, got)
		}
		if got := d.DType(ClassRow{Classes: []int{0, 0}}); got != (ClassDType{}) {
			t.Errorf("two classes ask for %+v", got)
		}
	}
}

// One base counts for the others if all refused three dtypes of a sort, unless a later one accepted
// what the first refused; the classes of a dtype that none accepts are not tried.
func TestRefused(t *testing.T) {
	r, not := NewRefused(), errors.New("not implemented")
	alone := func(dtype string) ClassDType { return ClassDType{"self", dtype, false} }
	r.Add(ClassDType{"self", "uint8", true}, not)
	r.Add(ClassDType{}, not)
	r.Add(alone("uint64"), nil)
	for range enough {
		r.Add(ClassDType{arg: "self"}, not)
	}
	if r.Enough(ClassDType{arg: "self"}) || r.Enough(alone("float64")) {
		t.Error("classes that leave tensors their dtypes are refused dtypes")
	}
	for i, dtype := range []string{"int64", "int32", "int8"} {
		if r.Enough(alone("int16")) {
			t.Errorf("%d dtypes were enough", i)
		}
		r.Add(alone(dtype), not)
	}
	if r.Enough(ClassDType{"self", "int16", true}) || r.Enough(alone("float64")) || r.Enough(ClassDType{"other", "int16", false}) || r.Enough(ClassDType{}) {
		t.Error("what was refused is enough for others")
	}
	r.Took(ClassDType{"self", "uint8", true})
	if !r.Enough(alone("int16")) {
		t.Error("three dtypes are not enough")
	}
	r.Took(alone("uint8"))
	if r.Enough(alone("int16")) {
		t.Error("a later base took one, and the first speaks for it")
	}
	if r.Error(ClassDType{"self", "int64", true}) != not || r.Error(alone("int64")) != nil || r.Error(ClassDType{"self", "uint8", true}) != nil || r.Error(ClassDType{"other", "int64", true}) != nil {
		t.Error("the errors of dtypes are others")
	}
}
