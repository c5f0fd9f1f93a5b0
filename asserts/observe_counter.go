package asserts

import (
	"fmt"
	"reflect"
	"sync/atomic"
	"unsafe"
)

// Counter returns a function that reads the reference count of a T, for an Observe where its field is not exported:
//
//	var uses = asserts.Counter[array.Data]("refCount")
//
// The field is an integer of 4 or 8 bytes, or such a type of package sync/atomic, of T or of a struct embedded in it.
// Counter panics if T has no such field, as in another version of the library.
func Counter[T any](field string) func(*T) int32 {
	t := reflect.TypeFor[T]()
	if t.Kind() != reflect.Struct {
		panic(fmt.Sprintf("asserts.Counter: %v is not a struct", t))
	}
	found, ok := t.FieldByName(field)
	if !ok {
		panic(fmt.Sprintf("asserts.Counter: %v has no field %s", t, field))
	}
	offset := uintptr(0)
	for i := range found.Index {
		f := t.FieldByIndex(found.Index[:i+1])
		if i < len(found.Index)-1 && f.Type.Kind() != reflect.Struct {
			panic(fmt.Sprintf("asserts.Counter: %s of %v lies behind a pointer", field, t))
		}
		offset += f.Offset
	}
	switch {
	case counts32[found.Type]:
		return func(x *T) int32 { return atomic.LoadInt32((*int32)(unsafe.Add(unsafe.Pointer(x), offset))) }
	case counts64[found.Type]:
		return func(x *T) int32 { return int32(atomic.LoadInt64((*int64)(unsafe.Add(unsafe.Pointer(x), offset)))) }
	}
	panic(fmt.Sprintf("asserts.Counter: %s of %v is of type %v; want an integer of 4 or 8 bytes, or one of package "+
		"sync/atomic", field, t, found.Type))
}

// Types of reference counts.
var (
	counts32 = map[reflect.Type]bool{
		reflect.TypeFor[int32](): true, reflect.TypeFor[uint32](): true, reflect.TypeFor[atomic.Int32](): true,
		reflect.TypeFor[atomic.Uint32](): true,
	}
	counts64 = map[reflect.Type]bool{
		reflect.TypeFor[int64](): true, reflect.TypeFor[uint64](): true, reflect.TypeFor[atomic.Int64](): true,
		reflect.TypeFor[atomic.Uint64](): true,
	}
)
