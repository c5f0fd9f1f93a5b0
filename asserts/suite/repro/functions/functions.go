//go:build ignore

// Functions for programs: each is copied into the programs that call it.
package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"slices"
)

func made[T any](t T, err error) T {
	if err != nil {
		raises(err)
	}
	return t
}

func raises(err any) {
	fmt.Println("the call raises:", err)
	os.Exit(2)
}

// refused ends the program if a kernel panics.
func refused() {
	if p := recover(); p != nil {
		raises(p)
	}
}

// spec describes a tensor for the function that makes it.
func spec(dtype string, sizes, strides []int64, offset int64, data []byte) (s struct {
	DType   string
	Sizes   []int64
	Strides []int64
	Offset  int64
	Data    []byte
}) {
	s.DType, s.Sizes, s.Strides, s.Offset, s.Data = dtype, sizes, strides, offset, data
	return s
}

// data returns the bytes of elements.
func data[E any](elements ...E) []byte {
	bytes, err := binary.Append(nil, binary.NativeEndian, elements)
	return made(bytes, err)
}

// seen returns the observation of a tensor with a method Observe.
func seen[O any, L ~uint8](observe func(*O, L)) *O {
	o := new(O)
	observe(o, 2)
	return o
}

// seenBy returns the observation of a tensor by its library's function.
func seenBy[T, O any, L ~uint8](observe func(T, *O, L), t T) *O {
	o := new(O)
	observe(t, o, 2)
	return o
}

func list[T any](all ...T) []T { return all }

func ptr[T any](v T) *T { return &v }

// options returns the settings of a library's options.
func options[O any, F ~func(*O)](all []F) *O {
	o := new(O)
	for _, set := range all {
		set(o)
	}
	return o
}

// receiver returns the value of that type.
func receiver[T any](all []any) (t T) {
	for _, v := range all {
		switch v := v.(type) {
		case T:
			return v
		case *T:
			return *v
		}
	}
	return t
}

// elements returns the positions of a tensor's elements in its storage.
func elements(sizes, strides []int64, offset int64) []int64 {
	all := []int64{offset}
	for d, n := range sizes {
		var next []int64
		for _, at := range all {
			for i := range n {
				next = append(next, at+i*strides[d])
			}
		}
		all = next
	}
	return all
}

// beside reports whether bytes changed that are not elements.
func beside(before, after []byte, elements []int64, size int64) bool {
	for i := range min(len(before), len(after)) {
		if before[i] != after[i] && !slices.Contains(elements, int64(i)/size) {
			return true
		}
	}
	return false
}

// beyond reports whether elements lie outside a storage of that size.
func beyond(elements []int64, storage int64) bool {
	return slices.ContainsFunc(elements, func(at int64) bool { return at < 0 || at >= storage })
}
