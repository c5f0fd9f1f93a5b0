//go:build unix

package libtorch

/*
#cgo linux LDFLAGS: -ldl
#cgo noescape go_ask
#cgo nocallback go_ask
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

// openRemote has messages go to another process.
func openRemote(socket int) { C.oa_remote(C.int(socket)) }

func ints(s []int64) *C.int64_t { return (*C.int64_t)(unsafe.SliceData(s)) }

func chars(s []byte) *C.char { return (*C.char)(unsafe.Pointer(unsafe.SliceData(s))) }

// native has the function of a message called, which replies.
func native(m *message, reply []int64) {
	asked := C.struct_oa_message{
		function: C.int64_t(m.function), first: C.int64_t(m.first), second: C.int64_t(m.second),
		words: C.int64_t(len(m.words)), data: C.int64_t(len(m.data)), cap: C.int64_t(len(reply)), bytes: C.int64_t(len(m.bytes)),
	}
	C.go_ask(&asked, ints(m.words), chars(m.data), ints(reply), chars(m.bytes))
}
