package libtorch

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/opassert/opassert/internal/slicesx"
	"github.com/opassert/opassert/internal/tensor"
)

// A ValueKind is the kind of a [Value], which determines the fields in use.
type ValueKind uint8

const (
	KindNone    ValueKind = tagNone    // None, for an optional argument
	KindDefault ValueKind = tagDefault // the argument's default in the schema
	KindTensor  ValueKind = tagTensor  // Tensor
	KindInt     ValueKind = tagInt     // Int; also SymInt, ScalarType, Layout, MemoryFormat, QScheme
	KindFloat   ValueKind = tagFloat   // Float
	KindBool    ValueKind = tagBool    // Int is not 0
	KindComplex ValueKind = tagComplex // Float and Imag
	KindString  ValueKind = tagString  // Str
	KindDevice  ValueKind = tagDevice  // Str: "cpu", "meta", "cuda:1"
	KindStream  ValueKind = tagStream  // Str is the device, Int the stream's id
	KindList    ValueKind = tagList    // List, of values other than ints or tensors
	KindObject  ValueKind = tagObject  // Object; in a result Str is its type
	KindTuple   ValueKind = tagTuple   // List; in arguments only, like the next
	KindDict    ValueKind = tagDict    // List, each key before its value
	KindNew     ValueKind = tagNew     // an object of the custom class Str, made by its constructor from List
	KindSame    ValueKind = tagSame    // the earlier argument number Int; in arguments only
	KindInts    ValueKind = iota       // Ints, a list
	KindTensors                        // Tensors, a list
)

// A Value is an argument or a result of an operator, as plain data. An int is valid for a float argument; a Scalar
// argument is an int, a float, a bool or a complex number. The error for an invalid value names the argument.
type Value struct {
	Kind        ValueKind
	Int         int64
	Float, Imag float64
	Str         string
	Tensor      Tensor
	Object      Object
	Ints        []int64
	Tensors     []Tensor
	List        []Value
}

// None is the absence of a value.
func None() Value { return Value{} }

// Default is the schema's default, which omitted last arguments have, too.
func Default() Value { return Value{Kind: KindDefault} }

// Value returns the tensor as an argument. An undefined one is None if the schema accepts that.
func (t Tensor) Value() Value { return Value{Kind: KindTensor, Tensor: t} }

// Value returns the object as an argument; the zero Object is None.
func (o Object) Value() Value { return Value{Kind: KindObject, Object: o} }

// Int is an int, or the number of an enumerator.
func Int(v int64) Value { return Value{Kind: KindInt, Int: v} }

// Float is a float.
func Float(v float64) Value { return Value{Kind: KindFloat, Float: v} }

// Bool is a bool.
func Bool(v bool) Value {
	if v {
		return Value{Kind: KindBool, Int: 1}
	}
	return Value{Kind: KindBool}
}

// Complex is a complex Scalar.
func Complex(v complex128) Value { return Value{Kind: KindComplex, Float: real(v), Imag: imag(v)} }

// String is a str.
func String(v string) Value { return Value{Kind: KindString, Str: v} }

// Dimname is the name of a dimension, "*" for none. Schemas show such an argument as str.
func Dimname(name string) Value { return String("dimname::" + name) }

// Device is a device: "cpu", "meta", "cuda:1".
func Device(name string) Value { return Value{Kind: KindDevice, Str: name} }

// Stream is a stream of a device; 0 is its default stream.
func Stream(device string, id int64) Value { return Value{Kind: KindStream, Str: device, Int: id} }

// Ints is a list of ints.
func Ints(v ...int64) Value { return Value{Kind: KindInts, Ints: v} }

// Tensors is a list of tensors; the zero Tensor is an undefined one.
func Tensors(v ...Tensor) Value { return Value{Kind: KindTensors, Tensors: v} }

// List is a list of anything.
func List(v ...Value) Value { return Value{Kind: KindList, List: v} }

// Tuple is a tuple; a result of that type is an [Object].
func Tuple(v ...Value) Value { return Value{Kind: KindTuple, List: v} }

// Dict is a dict of keys, each before its value.
func Dict(v ...Value) Value { return Value{Kind: KindDict, List: v} }

// New is an object of a custom class, "__torch__.torch.classes.my.Class", that its constructor makes from arguments.
func New(class string, args ...Value) Value { return Value{Kind: KindNew, Str: class, List: args} }

// Same is an earlier argument of the call, such as an object from a constructor: both are then one object.
func Same(argument int) Value { return Value{Kind: KindSame, Int: int64(argument)} }

// Floats is a list of floats.
func Floats(v ...float64) Value { return listOf(v, Float) }

// Bools is a list of bools.
func Bools(v ...bool) Value { return listOf(v, Bool) }

// Strings is a list of strs.
func Strings(v ...string) Value { return listOf(v, String) }

// Dimnames is a list of names of dimensions.
func Dimnames(v ...string) Value { return listOf(v, Dimname) }

// Maybe returns wrap of the value that a pointer points to, or None for nil.
func Maybe[T any](v *T, wrap func(T) Value) Value {
	if v == nil {
		return None()
	}
	return wrap(*v)
}

// MaybeList returns wrap of the values of a list, or None for a nil one.
func MaybeList[T any](v []T, wrap func(...T) Value) Value {
	if v == nil {
		return None()
	}
	return wrap(v...)
}

func listOf[T any](items []T, value func(T) Value) Value { return List(slicesx.Map(items, value)...) }

// The numbers of enumerators that arguments of type Layout and MemoryFormat take.
const (
	LayoutStrided   = tensor.LayoutStrided
	LayoutSparse    = tensor.LayoutSparse
	LayoutSparseCsr = tensor.LayoutSparseCsr
	LayoutMkldnn    = tensor.LayoutMkldnn
	LayoutSparseCsc = tensor.LayoutSparseCsc
	LayoutSparseBsr = tensor.LayoutSparseBsr
	LayoutSparseBsc = tensor.LayoutSparseBsc

	ContiguousFormat = tensor.ContiguousFormat
	PreserveFormat   = tensor.PreserveFormat
	ChannelsLast     = tensor.FormatChannelsLast
	ChannelsLast3d   = tensor.FormatChannelsLast3d
)

// String returns the value as written in a call.
func (v Value) String() string {
	switch v.Kind {
	case KindDefault:
		return "default"
	case KindTensor:
		if !v.Tensor.Defined() {
			return "undefined"
		}
		return fmt.Sprintf("tensor#%d", v.Tensor.h.slot)
	case KindInt:
		return fmt.Sprint(v.Int)
	case KindFloat:
		return fmt.Sprint(v.Float)
	case KindBool:
		return fmt.Sprint(v.Int != 0)
	case KindComplex:
		return fmt.Sprint(complex(v.Float, v.Imag))
	case KindString:
		return fmt.Sprintf("%q", v.Str)
	case KindDevice:
		return v.Str
	case KindStream:
		return fmt.Sprintf("stream %d of %s", v.Int, v.Str)
	case KindInts:
		return show(v.Ints, func(n int64) string { return fmt.Sprint(n) })
	case KindTensors:
		return show(v.Tensors, func(t Tensor) string { return t.Value().String() })
	case KindList, KindTuple, KindDict, KindNew:
		return v.Str + show(v.List, Value.String)
	case KindObject:
		return fmt.Sprintf("object#%d", v.Object.h.slot)
	case KindSame:
		return fmt.Sprintf("argument %d", v.Int)
	}
	return "None"
}

func show[T any](items []T, text func(T) string) string {
	return "[" + slicesx.Join(items, ", ", text) + "]"
}

// write writes the value to a request. next is the index of its first tensor there; the result, that after its last.
func (s *scratch) write(v *Value, next int64) (int64, error) {
	switch v.Kind {
	case KindNone:
		s.put(tagNone, next)
	case KindDefault:
		s.put(tagDefault)
	case KindTensor:
		s.put(tagTensor, next)
		next++
	case KindInt, KindBool, KindSame:
		s.put(int64(v.Kind), v.Int)
	case KindFloat:
		s.put(tagFloat, int64(math.Float64bits(v.Float)))
	case KindComplex:
		s.put(tagComplex, int64(math.Float64bits(v.Float)), int64(math.Float64bits(v.Imag)))
	case KindString:
		s.put(tagString)
		s.putText(v.Str)
	case KindDevice, KindStream:
		switch typ, index, ok := parseDevice(v.Str); {
		case !ok:
			return next, fmt.Errorf("there is no device %q", v.Str)
		case v.Kind == KindDevice:
			s.put(tagDevice, typ, index)
		default:
			s.put(tagStream, typ, index, v.Int)
		}
	case KindInts:
		s.put(tagList, int64(len(v.Ints)))
		for _, n := range v.Ints {
			s.put(tagInt, n)
		}
	case KindTensors:
		s.put(tagList, int64(len(v.Tensors)))
		for range v.Tensors {
			s.put(tagTensor, next)
			next++
		}
	case KindList, KindTuple, KindDict, KindNew:
		s.put(int64(v.Kind))
		n := int64(len(v.List))
		switch v.Kind {
		case KindDict:
			n /= 2
		case KindNew:
			s.putText(v.Str)
		}
		s.put(n)
		for i := range v.List {
			// An undefined tensor in a list of tensors has an index in the request.
			none := v.List[i].Kind == KindNone
			n, err := s.write(&v.List[i], next)
			if err != nil {
				return next, err
			}
			if next = n; none {
				next++
			}
		}
	case KindObject:
		switch address, err := s.hold(v.Object.h); {
		case err != nil:
			return next, err
		case address == 0:
			s.put(tagNone, noTensor)
		default:
			s.put(tagObject, address)
		}
	default:
		return next, fmt.Errorf("unknown kind of value %d", v.Kind)
	}
	return next, nil
}

// tensors writes the tensors of a value to a request, in the order in which write numbers them.
func (s *scratch) tensors(v *Value) (n int, err error) {
	switch v.Kind {
	case KindTensor:
		address, err := s.hold(v.Tensor.h)
		s.put(address)
		return 1, err
	case KindTensors:
		for _, t := range v.Tensors {
			address, err := s.hold(t.h)
			if err != nil {
				return 0, err
			}
			s.put(address)
		}
		return len(v.Tensors), nil
	case KindList, KindTuple, KindDict, KindNew:
		for i := range v.List {
			if v.List[i].Kind == KindNone {
				s.put(0)
				n++
				continue
			}
			k, err := s.tensors(&v.List[i])
			if err != nil {
				return 0, err
			}
			n += k
		}
	}
	return n, nil
}

func (r *reader) value() Value {
	switch r.word() {
	case tagTensor:
		if address := r.word(); address != 0 {
			return newTensor(address).Value()
		}
		return Tensor{}.Value()
	case tagInt:
		return Int(r.word())
	case tagFloat:
		return Float(r.float())
	case tagBool:
		return Bool(r.truth())
	case tagComplex:
		return Complex(complex(r.float(), r.float()))
	case tagString:
		return String(r.text())
	case tagDevice:
		return Device(deviceName(r.word(), r.word()))
	case tagList:
		return r.listValue()
	case tagObject:
		v := r.object().Value()
		v.Str = r.text()
		return v
	}
	return None()
}

func (r *reader) listValue() Value {
	list := make([]Value, r.word())
	for i := range list {
		list[i] = r.value()
	}
	other := func(kind ValueKind) bool {
		return slices.ContainsFunc(list, func(v Value) bool { return v.Kind != kind })
	}
	v := List(list...)
	switch {
	case len(list) == 0:
	case !other(KindTensor):
		v = Tensors(slicesx.Map(list, func(item Value) Tensor { return item.Tensor })...)
	case !other(KindInt):
		v = Ints(slicesx.Map(list, func(item Value) int64 { return item.Int })...)
	}
	return v
}

// Release releases all handles in the value, and returns the first error.
func (v Value) Release() (err error) {
	switch v.Kind {
	case KindTensor:
		return v.Tensor.Release()
	case KindObject:
		return v.Object.Release()
	}
	for _, t := range v.Tensors {
		err = cmp.Or(err, t.Release())
	}
	for _, item := range v.List {
		err = cmp.Or(err, item.Release())
	}
	return err
}
