// shim.h is the C ABI between Go and libtorch: everything that cgo sees.
//
// A request is a []int64 without pointers into Go memory, a reply goes into a
// []int64 that the caller reuses. So no call allocates on either side of the
// border, and none calls back.
#ifndef OPASSERT_SHIM_H
#define OPASSERT_SHIM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// How a value is written down, in requests and in replies. Go's tags are held
// against these when the package is compiled.
enum oa_tag {
  OA_NONE,     // in a request: the index that a tensor there would have, -1 for none. In a reply: -
  OA_DEFAULT,  // - the schema's default; in requests only
  OA_TENSOR,   // in a request: the index among its tensors. In a reply: TensorImpl, owned by the receiver; 0 undefined
  OA_INT,      // value
  OA_FLOAT,    // bits
  OA_BOOL,     // 0 or 1
  OA_COMPLEX,  // real bits, imaginary bits
  OA_STRING,   // bytes, then the bytes in words
  OA_DEVICE,   // type, index
  OA_STREAM,   // device type, device index, stream id
  OA_LIST,     // length, then the values
  OA_OBJECT,   // address of an IValue; in a reply its type follows as a string, and the receiver owns it
  OA_TUPLE,    // length, then the values; in requests only, as are the next
  OA_DICT,     // length, then the keys, each before its value
  OA_NEW,      // the class, bytes and words, the number of arguments, and these: an object of a custom class
  OA_SAME      // the number of an earlier argument
};

// How a request ended: the first word of a reply.
enum oa_status {
  OA_OK,
  OA_REFUSED,  // the request is wrong; nothing was called
  OA_THREW     // what was called threw
};

// A reply starts with its status, its length in words, and the address of the
// words that did not fit, 0 for none. A reply that is not OA_OK goes on with
// two strings: the type of the exception and its message.
enum { OA_HEADER = 3 };

// The last two are contents without a copy of the bytes, and without their
// digest either.
enum oa_level { OA_OFF, OA_IDENTITY, OA_CONTENTS, OA_DIGESTS, OA_METADATA };

// What a tensor inside another is to it.
enum oa_part {
  OA_WHOLE,  // it is not inside
  OA_VALUE,  // of a functional wrapper
  OA_SCALES, OA_ZERO_POINTS,  // of a tensor quantized by channel
  OA_SIZES, OA_STRIDES,  // of a nested tensor
  OA_INDICES, OA_VALUES, OA_COMPRESSED_INDICES, OA_PLAIN_INDICES  // of a sparse tensor
};

// A use count that is not known; asserts.NotCounted.
enum { OA_UNCOUNTED = -1 };

// The bits of an observation's traits.
enum oa_trait {
  OA_META = 1,
  OA_FUNCTIONAL = 2,
  OA_DIRECT_SUBCLASS = 4,
  OA_WRAPPER_SUBCLASS = 8,
  OA_NO_VERSION = 16,
  OA_REPORTS_VIEWS = 32,  // set by the watcher alone: it takes Python to know
  OA_LAZY = 128,          // conj, neg or zero; 64 is the watcher's, for no storage
  OA_UNREAD = 256         // there are bytes, and they were not read: on another device, or in a subclass
};

// The bits of what else a tensor says of itself.
enum oa_metadata {
  OA_CONJ = 1,
  OA_NEG = 2,
  OA_GRAD = 4,
  OA_LEAF = 8,
  OA_UNOWNED = 16,  // the storage does not free its bytes
  OA_FOREIGN = 32   // it does by a function that is not the allocator's
};

// oa_start sets libtorch up for callers that count: one intra-op thread, no
// backtraces, no warnings. It replies with the version, a string.
void oa_start(int64_t* reply, int64_t cap);

// oa_schemas replies with one string that lists every operator with a schema;
// schemas.cpp says how.
void oa_schemas(int64_t* reply, int64_t cap);

// oa_load loads a shared library, which may register operators.
void oa_load(const char* path, int64_t n, int64_t* reply, int64_t cap);

// oa_call calls an operator; call.cpp says how a request reads.
void oa_call(const int64_t* request, int64_t n, int64_t* reply, int64_t cap);

// oa_observe replies with the observation of one tensor.
void oa_observe(int64_t impl, int64_t level, int64_t* reply, int64_t cap);

// oa_bytes copies up to n bytes of a tensor's storage to dst and replies with
// the size of the storage; a storage that is nowhere has size 0.
void oa_bytes(int64_t impl, char* dst, int64_t n, int64_t* reply, int64_t cap);

// oa_strided makes a tensor: dtype, device type, sort, base, storage bytes,
// offset, dimensions, sizes, strides. It has a storage of its own that starts
// with data, the rest is zero; or, where base is a TensorImpl, that of base,
// with its version counter.
enum { OA_PLAIN, OA_INFERENCE, OA_REQUIRES_GRAD };
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

// oa_spill moves the n words of a reply that did not fit to dst.
void oa_spill(int64_t spill, int64_t* dst, int64_t n);

// oa_release releases a TensorImpl, oa_drop an object.
void oa_release(int64_t impl);
void oa_drop(int64_t object);

#ifdef __cplusplus
}
#endif
#endif
