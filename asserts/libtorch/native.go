//go:build unix

package libtorch

/*
#cgo linux LDFLAGS: -ldl
#cgo noescape go_cross
#cgo nocallback go_cross
#include <stdlib.h>
#include "loader.h"
*/
import "C"

import (
	"errors"
	"strings"
	"unsafe"
)

const cgo = true

// open loads shared libraries, the last of which is the shim, which loads libtorch.
func open(libraries []string) error {
	list := C.CString(strings.Join(libraries, "\n"))
	defer C.free(unsafe.Pointer(list))
	if message := C.oa_open(list); message != nil {
		defer C.free(unsafe.Pointer(message))
		return errors.New(C.GoString(message))
	}
	return nil
}

// openRemote makes crossings call the functions of the shim in another process.
func openRemote(socket int) { C.oa_remote(C.int(socket)) }

func ints(s []int64) *C.int64_t { return (*C.int64_t)(unsafe.SliceData(s)) }

func chars(s []byte) *C.char { return (*C.char)(unsafe.Pointer(unsafe.SliceData(s))) }

// cross calls a function of the shim.
func cross(c crossing, request, reply []int64) {
	C.go_cross(C.int64_t(c.function), C.int64_t(c.first), C.int64_t(c.second), ints(request), C.int64_t(len(request)),
		chars(c.data), C.int64_t(len(c.data)), ints(reply), C.int64_t(len(reply)))
}
