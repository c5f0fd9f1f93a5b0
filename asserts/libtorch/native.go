//go:build libtorch

package libtorch

/*
#cgo CXXFLAGS: -std=c++17 -O1 -g0 -Wno-deprecated-declarations
#cgo LDFLAGS: -ltorch -ltorch_cpu -lc10
#cgo noescape oa_start
#cgo nocallback oa_start
#cgo noescape oa_schemas
#cgo nocallback oa_schemas
#cgo noescape oa_load
#cgo nocallback oa_load
#cgo noescape oa_call
#cgo nocallback oa_call
#cgo noescape oa_observe
#cgo nocallback oa_observe
#cgo noescape oa_bytes
#cgo nocallback oa_bytes
#cgo noescape oa_strided
#cgo nocallback oa_strided
#cgo noescape oa_wrap
#cgo nocallback oa_wrap
#cgo noescape oa_mark
#cgo nocallback oa_mark
#cgo noescape oa_meta
#cgo nocallback oa_meta
#cgo noescape oa_generator
#cgo nocallback oa_generator
#cgo noescape oa_storage
#cgo nocallback oa_storage
#cgo noescape oa_seed
#cgo nocallback oa_seed
#cgo noescape oa_spill
#cgo nocallback oa_spill
#cgo nocallback oa_release
#cgo nocallback oa_drop
#include "shim.h"
*/
import "C"

import (
	"unsafe"

	"github.com/opassert/opassert/asserts"
)

// Built tells whether the package was built with the tag libtorch. Without
// it, whatever needs libtorch gives [ErrNotBuilt].
const Built = true

// Both sides of the border mean the same by a number, or this does not compile.
const (
	_ = -uint(tagNone ^ C.OA_NONE)
	_ = -uint(tagDefault ^ C.OA_DEFAULT)
	_ = -uint(tagTensor ^ C.OA_TENSOR)
	_ = -uint(tagInt ^ C.OA_INT)
	_ = -uint(tagFloat ^ C.OA_FLOAT)
	_ = -uint(tagBool ^ C.OA_BOOL)
	_ = -uint(tagComplex ^ C.OA_COMPLEX)
	_ = -uint(tagString ^ C.OA_STRING)
	_ = -uint(tagDevice ^ C.OA_DEVICE)
	_ = -uint(tagStream ^ C.OA_STREAM)
	_ = -uint(tagList ^ C.OA_LIST)
	_ = -uint(tagObject ^ C.OA_OBJECT)
	_ = -uint(statusOK ^ C.OA_OK)
	_ = -uint(statusRefused ^ C.OA_REFUSED)
	_ = -uint(statusThrew ^ C.OA_THREW)
	_ = -uint(headerWords ^ C.OA_HEADER)
	_ = -uint(asserts.NotCounted ^ C.OA_UNCOUNTED)
	_ = -uint(asserts.Off ^ C.OA_OFF)
	_ = -uint(asserts.Identity ^ C.OA_IDENTITY)
	_ = -uint(asserts.Contents ^ C.OA_CONTENTS)
	_ = -uint(traitMeta ^ C.OA_META)
	_ = -uint(traitFunctional ^ C.OA_FUNCTIONAL)
	_ = -uint(traitDirectSubclass ^ C.OA_DIRECT_SUBCLASS)
	_ = -uint(traitWrapperSubclass ^ C.OA_WRAPPER_SUBCLASS)
	_ = -uint(traitNoVersion ^ C.OA_NO_VERSION)
)

func ints(s []int64) *C.int64_t { return (*C.int64_t)(unsafe.SliceData(s)) }

func chars[T byte](s []T) *C.char { return (*C.char)(unsafe.Pointer(unsafe.SliceData(s))) }

func nativeStart(reply []int64) { C.oa_start(ints(reply), C.int64_t(len(reply))) }

func nativeSchemas(reply []int64) { C.oa_schemas(ints(reply), C.int64_t(len(reply))) }

func nativeLoad(path string, reply []int64) {
	C.oa_load((*C.char)(unsafe.Pointer(unsafe.StringData(path))), C.int64_t(len(path)), ints(reply), C.int64_t(len(reply)))
}

func nativeCall(request, reply []int64) {
	C.oa_call(ints(request), C.int64_t(len(request)), ints(reply), C.int64_t(len(reply)))
}

func nativeObserve(impl int64, level asserts.Level, reply []int64) {
	C.oa_observe(C.int64_t(impl), C.int64_t(level), ints(reply), C.int64_t(len(reply)))
}

func nativeBytes(impl int64, dst []byte, reply []int64) {
	C.oa_bytes(C.int64_t(impl), chars(dst), C.int64_t(len(dst)), ints(reply), C.int64_t(len(reply)))
}

func nativeStrided(request []int64, data []byte, reply []int64) {
	C.oa_strided(ints(request), C.int64_t(len(request)), chars(data), C.int64_t(len(data)), ints(reply), C.int64_t(len(reply)))
}

func nativeWrap(impl int64, reply []int64) {
	C.oa_wrap(C.int64_t(impl), ints(reply), C.int64_t(len(reply)))
}

func nativeMark(impl int64, reply []int64) {
	C.oa_mark(C.int64_t(impl), ints(reply), C.int64_t(len(reply)))
}

func nativeMeta(impls, reply []int64) {
	C.oa_meta(ints(impls), C.int64_t(len(impls)), ints(reply), C.int64_t(len(reply)))
}

func nativeGenerator(seed int64, reply []int64) {
	C.oa_generator(C.int64_t(seed), ints(reply), C.int64_t(len(reply)))
}

func nativeStorage(impl int64, reply []int64) {
	C.oa_storage(C.int64_t(impl), ints(reply), C.int64_t(len(reply)))
}

func nativeSeed(seed int64, reply []int64) {
	C.oa_seed(C.int64_t(seed), ints(reply), C.int64_t(len(reply)))
}

func nativeSpill(spill int64, dst []int64) {
	C.oa_spill(C.int64_t(spill), ints(dst), C.int64_t(len(dst)))
}

func nativeRelease(impl int64) { C.oa_release(C.int64_t(impl)) }

func nativeDrop(object int64) { C.oa_drop(C.int64_t(object)) }
