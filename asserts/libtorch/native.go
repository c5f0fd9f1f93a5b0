//go:build unix

package libtorch

/*
#cgo linux LDFLAGS: -ldl
#cgo noescape go_start
#cgo nocallback go_start
#cgo noescape go_schemas
#cgo nocallback go_schemas
#cgo noescape go_load
#cgo nocallback go_load
#cgo noescape go_device
#cgo nocallback go_device
#cgo noescape go_call
#cgo nocallback go_call
#cgo noescape go_observe
#cgo nocallback go_observe
#cgo noescape go_bytes
#cgo nocallback go_bytes
#cgo noescape go_strided
#cgo nocallback go_strided
#cgo noescape go_wrap
#cgo nocallback go_wrap
#cgo noescape go_mark
#cgo nocallback go_mark
#cgo noescape go_meta
#cgo nocallback go_meta
#cgo noescape go_generator
#cgo nocallback go_generator
#cgo noescape go_storage
#cgo nocallback go_storage
#cgo noescape go_seed
#cgo nocallback go_seed
#cgo noescape go_left
#cgo nocallback go_left
#cgo noescape go_threads
#cgo nocallback go_threads
#cgo noescape go_memory
#cgo nocallback go_memory
#cgo noescape go_fill
#cgo nocallback go_fill
#cgo noescape go_spill
#cgo nocallback go_spill
#cgo nocallback go_release
#cgo nocallback go_drop
#include <stdlib.h>
#include "loader.h"
*/
import "C"

import (
	"errors"
	"strings"
	"unsafe"

	"github.com/opassert/opassert/asserts"
)

const cgo = true

// open loads shared libraries, of which the last is the shim, and libtorch with
// it.
func open(libraries []string) error {
	list := C.CString(strings.Join(libraries, "\n"))
	defer C.free(unsafe.Pointer(list))
	if message := C.oa_open(list); message != nil {
		defer C.free(unsafe.Pointer(message))
		return errors.New(C.GoString(message))
	}
	return nil
}

// openRemote has the functions of the shim called by another process.
func openRemote(socket int) { C.oa_remote(C.int(socket)) }

func ints(s []int64) *C.int64_t { return (*C.int64_t)(unsafe.SliceData(s)) }

func chars[T byte](s []T) *C.char { return (*C.char)(unsafe.Pointer(unsafe.SliceData(s))) }

func nativeStart(reply []int64) { C.go_start(ints(reply), C.int64_t(len(reply))) }

func nativeSchemas(name string, reply []int64) {
	C.go_schemas((*C.char)(unsafe.Pointer(unsafe.StringData(name))), C.int64_t(len(name)), ints(reply), C.int64_t(len(reply)))
}

func nativeLoad(path string, reply []int64) {
	C.go_load((*C.char)(unsafe.Pointer(unsafe.StringData(path))), C.int64_t(len(path)), ints(reply), C.int64_t(len(reply)))
}

func nativeDevice(name string, reply []int64) {
	C.go_device((*C.char)(unsafe.Pointer(unsafe.StringData(name))), C.int64_t(len(name)), ints(reply), C.int64_t(len(reply)))
}

func nativeCall(request, reply []int64) {
	C.go_call(ints(request), C.int64_t(len(request)), ints(reply), C.int64_t(len(reply)))
}

func nativeObserve(impl int64, level asserts.Level, reply []int64) {
	C.go_observe(C.int64_t(impl), C.int64_t(level), ints(reply), C.int64_t(len(reply)))
}

func nativeBytes(impl int64, dst []byte, reply []int64) {
	C.go_bytes(C.int64_t(impl), chars(dst), C.int64_t(len(dst)), ints(reply), C.int64_t(len(reply)))
}

func nativeStrided(request []int64, data []byte, reply []int64) {
	C.go_strided(ints(request), C.int64_t(len(request)), chars(data), C.int64_t(len(data)), ints(reply), C.int64_t(len(reply)))
}

func nativeWrap(impl int64, reply []int64) {
	C.go_wrap(C.int64_t(impl), ints(reply), C.int64_t(len(reply)))
}

func nativeMark(impl int64, reply []int64) {
	C.go_mark(C.int64_t(impl), ints(reply), C.int64_t(len(reply)))
}

func nativeMeta(impls, reply []int64) {
	C.go_meta(ints(impls), C.int64_t(len(impls)), ints(reply), C.int64_t(len(reply)))
}

func nativeGenerator(seed int64, reply []int64) {
	C.go_generator(C.int64_t(seed), ints(reply), C.int64_t(len(reply)))
}

func nativeStorage(impl int64, reply []int64) {
	C.go_storage(C.int64_t(impl), ints(reply), C.int64_t(len(reply)))
}

func nativeSeed(seed int64, reply []int64) {
	C.go_seed(C.int64_t(seed), ints(reply), C.int64_t(len(reply)))
}

func nativeThreads(count int64, reply []int64) {
	C.go_threads(C.int64_t(count), ints(reply), C.int64_t(len(reply)))
}

func nativeMemory(ahead, fill int64, reply []int64) {
	C.go_memory(C.int64_t(ahead), C.int64_t(fill), ints(reply), C.int64_t(len(reply)))
}

func nativeFill(device, fill int64, reply []int64) {
	C.go_fill(C.int64_t(device), C.int64_t(fill), ints(reply), C.int64_t(len(reply)))
}

func nativeLeft(reply []int64) { C.go_left(ints(reply), C.int64_t(len(reply))) }

func nativeSpill(spill int64, dst []int64) {
	C.go_spill(C.int64_t(spill), ints(dst), C.int64_t(len(dst)))
}

func nativeRelease(impl int64) { C.go_release(C.int64_t(impl)) }

func nativeDrop(object int64) { C.go_drop(C.int64_t(object)) }
