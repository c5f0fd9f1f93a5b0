//go:build cgo && unix

// Package regex is a small binding of the C library's regular expressions (POSIX regex.h). It shows
// how a binding tracks its handles, and its test how the author and the users find those that were
// not released.
package regex

// #include <regex.h>
// #include <stdlib.h>
import "C"

import (
	"errors"
	"runtime"
	"unsafe"

	"github.com/opassert/opassert/asserts/preserve"
)

var handles = preserve.NewRegistry("regex.Regexp")

// A Regexp is a compiled expression in C's heap. Close releases it.
type Regexp struct {
	c     *C.regex_t
	token preserve.Token
	lost  runtime.Cleanup
}

// Compile compiles an extended regular expression.
func Compile(expr string) (*Regexp, error) {
	s := C.CString(expr)
	defer C.free(unsafe.Pointer(s))
	c := (*C.regex_t)(C.malloc(C.sizeof_regex_t))
	if code := C.regcomp(c, s, C.REG_EXTENDED|C.REG_NOSUB); code != 0 {
		var text [256]C.char
		C.regerror(code, c, &text[0], 256)
		C.free(unsafe.Pointer(c))
		return nil, errors.New(C.GoString(&text[0]))
	}
	re := &Regexp{c: c, token: handles.Made(int64(C.sizeof_regex_t))}
	re.lost = runtime.AddCleanup(re, func(token preserve.Token) {
		free(c)
		handles.Collected(token)
	}, re.token)
	return re, nil
}

// Match reports whether a text contains a match of the expression.
func (re *Regexp) Match(text string) (bool, error) {
	if err := handles.Use(re.token); err != nil {
		return false, err
	}
	if re.c == nil {
		return false, errors.New("regex: used after Close")
	}
	s := C.CString(text)
	defer C.free(unsafe.Pointer(s))
	found := C.regexec(re.c, s, 0, nil, 0) == 0
	runtime.KeepAlive(re)
	return found, nil
}

// Close releases the expression. It must be called once.
func (re *Regexp) Close() error {
	if err := handles.Release(re.token); err != nil {
		return err
	}
	if re.c == nil {
		return errors.New("regex: closed before")
	}
	re.lost.Stop()
	free(re.c)
	re.c = nil
	return nil
}

func free(c *C.regex_t) {
	C.regfree(c)
	C.free(unsafe.Pointer(c))
}
