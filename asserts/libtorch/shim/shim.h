// shim.h is the C ABI between Go and libtorch: everything that cgo sees.
//
// A request is a []int64 without pointers into Go memory, a reply is written to a []int64 that the
// caller reuses. So no call allocates in Go or in C++, and none calls back.
#ifndef OPASSERT_SHIM_H
#define OPASSERT_SHIM_H

#include <stdint.h>

#include "words.h"

#ifdef __cplusplus
extern "C" {
#endif

// oa_cross calls a function of entry.h, with those of its arguments that the function has: two
// numbers, the words of a request, data, and memory for a reply.
void oa_cross(int64_t function, int64_t first, int64_t second, const int64_t* words, int64_t n, char* data, int64_t size, int64_t* reply, int64_t cap);

// oa_said returns what a kernel that ends its process wrote to stderr, if aborts are read.
const char* oa_said(void);

// oa_changed returns the settings that changed since they were remembered, one a line, and undoes the
// changes, for a Python that looks at the handlers of signals itself.
const char* oa_changed(void);

// oa_logged returns a line that calls wrote to stderr, if several did since its last call; else "".
const char* oa_logged(void);

#ifdef __cplusplus
}
#endif
#endif
