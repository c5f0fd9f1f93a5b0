// shim.h is the C ABI between Go and libtorch: everything that cgo sees.
//
// A request is a []int64 without pointers into Go memory, a reply goes into a
// []int64 that the caller reuses. So no call allocates on either side of the
// border, and none calls back.
#ifndef OPASSERT_SHIM_H
#define OPASSERT_SHIM_H

#include <stdint.h>

#include "words.h"

#ifdef __cplusplus
extern "C" {
#endif

// oa_cross calls a function of this border, with those of its arguments that the function has: two
// numbers, the words of a request, data, and room for a reply.
void oa_cross(int64_t function, int64_t first, int64_t second, const int64_t* words, int64_t n, char* data, int64_t ndata, int64_t* reply, int64_t cap);

// oa_start sets libtorch up for callers that count: one intra-op thread, no
// backtraces, no warnings. It replies with the version, a string.
void oa_start(int64_t* reply, int64_t cap);

// oa_schemas replies with one string that lists every operator with a schema, or that of
// a name alone, "aten::add.Tensor"; schemas.cpp says how.
void oa_schemas(const char* name, int64_t n, int64_t* reply, int64_t cap);

// oa_load loads a shared library, which may register operators.
void oa_load(const char* path, int64_t n, int64_t* reply, int64_t cap);

// oa_device replies with the type and the index of a device, which may have a name
// that a package brings, whether it has a kernel for operators that have none, whether its
// copy ends for conjugated and negated tensors, and the dispatch key of its kernels, a string.
void oa_device(const char* name, int64_t n, int64_t* reply, int64_t cap);

// oa_said returns what a kernel that ends its process wrote to stderr, as far as aborts
// are read.
const char* oa_said(void);

// oa_call calls an operator; call.cpp says how a request reads.
void oa_call(const int64_t* request, int64_t n, int64_t* reply, int64_t cap);

// oa_observe replies with the observation of one tensor.
void oa_observe(int64_t impl, int64_t level, int64_t* reply, int64_t cap);

// oa_bytes copies up to n bytes of a tensor's storage to dst and replies with
// the size of the storage; a storage that is nowhere has size 0.
void oa_bytes(int64_t impl, char* dst, int64_t n, int64_t* reply, int64_t cap);

// oa_strided makes a tensor: dtype, device type, device index, sort, base, storage bytes,
// offset, dimensions, sizes, strides. It has a storage of its own that starts
// with data, the rest is zero; or, where base is a TensorImpl, that of base,
// with its version counter.
void oa_strided(const int64_t* request, int64_t n, const char* data, int64_t ndata, int64_t* reply, int64_t cap);

// oa_wrap makes a FunctionalTensorWrapper around a tensor.
void oa_wrap(int64_t impl, int64_t* reply, int64_t cap);

// oa_mark sets the python dispatch key of a tensor, the mark of a subclass.
void oa_mark(int64_t impl, int64_t* reply, int64_t cap);

// oa_meta replies with meta twins of n tensors: the same sizes, strides,
// offsets and dtypes, sharing a storage where the originals share one.
void oa_meta(const int64_t* impls, int64_t n, int64_t* reply, int64_t cap);

// oa_generator makes a CPU generator, oa_storage a reference to a tensor's
// storage: both reply with an object.
void oa_generator(int64_t seed, int64_t* reply, int64_t cap);
void oa_storage(int64_t impl, int64_t* reply, int64_t cap);

// oa_seed seeds the default CPU generator.
void oa_seed(int64_t seed, int64_t* reply, int64_t cap);

// oa_threads sets the number of threads among which operators divide their work, except
// operators that others call: these keep to one.
void oa_threads(int64_t count, int64_t* reply, int64_t cap);

// oa_memory has the tensors of this process lie between pages that can't be touched,
// behind one where ahead is 1, else before one, and filled with a byte until they are
// written. It replies with the bytes that the last observed call touched and may not touch;
// memory.cpp says how.
void oa_memory(int64_t ahead, int64_t fill, int64_t* reply, int64_t cap);

// oa_fill makes memory allocated on a type of devices hold a byte until it is written. It
// replies whether it does.
void oa_fill(int64_t device, int64_t fill, int64_t* reply, int64_t cap);

// oa_left replies with the changes of the process besides those of tensors since the last
// library was loaded or it was last called, and undoes them: a string, a line each.
void oa_left(int64_t* reply, int64_t cap);

// oa_spill moves the n words of a reply that did not fit to dst.
void oa_spill(int64_t spill, int64_t* dst, int64_t n);

// oa_release releases a TensorImpl, oa_drop an object.
void oa_release(int64_t impl);
void oa_drop(int64_t object);

#ifdef __cplusplus
}
#endif
#endif
