// loader.h: the functions of shim/shim.h, found when the shim is loaded. Each
// go_x calls oa_x with the types of the border, so that the C compiler checks
// them.
#ifndef OPASSERT_LOADER_H
#define OPASSERT_LOADER_H

#include "shim/shim.h"

// The table is filled once, by oa_open, before anything else is called.
extern struct oa_table {
#define OA_POINTER(f) __typeof__(oa_##f)* f;
  OA_FUNCTIONS(OA_POINTER)
#undef OA_POINTER
} oa_table;

// oa_open loads the shared libraries of a list, one a line, of which the last is
// the shim. It returns NULL, or a message that the caller frees.
char* oa_open(char* list);

// oa_remote fills the table with functions that call those of the process at the
// other end of a socket.
void oa_remote(int socket);

static inline void go_start(int64_t* r, int64_t c) { oa_table.start(r, c); }
static inline void go_schemas(const char* o, int64_t n, int64_t* r, int64_t c) { oa_table.schemas(o, n, r, c); }
static inline void go_load(const char* p, int64_t n, int64_t* r, int64_t c) { oa_table.load(p, n, r, c); }
static inline void go_device(const char* d, int64_t n, int64_t* r, int64_t c) { oa_table.device(d, n, r, c); }
static inline void go_call(const int64_t* q, int64_t n, int64_t* r, int64_t c) { oa_table.call(q, n, r, c); }
static inline void go_observe(int64_t i, int64_t l, int64_t* r, int64_t c) { oa_table.observe(i, l, r, c); }
static inline void go_bytes(int64_t i, char* d, int64_t n, int64_t* r, int64_t c) { oa_table.bytes(i, d, n, r, c); }
static inline void go_strided(const int64_t* q, int64_t n, const char* d, int64_t m, int64_t* r, int64_t c) { oa_table.strided(q, n, d, m, r, c); }
static inline void go_wrap(int64_t i, int64_t* r, int64_t c) { oa_table.wrap(i, r, c); }
static inline void go_mark(int64_t i, int64_t* r, int64_t c) { oa_table.mark(i, r, c); }
static inline void go_meta(const int64_t* i, int64_t n, int64_t* r, int64_t c) { oa_table.meta(i, n, r, c); }
static inline void go_generator(int64_t s, int64_t* r, int64_t c) { oa_table.generator(s, r, c); }
static inline void go_storage(int64_t i, int64_t* r, int64_t c) { oa_table.storage(i, r, c); }
static inline void go_seed(int64_t s, int64_t* r, int64_t c) { oa_table.seed(s, r, c); }
static inline void go_left(int64_t* r, int64_t c) { oa_table.left(r, c); }
static inline void go_threads(int64_t n, int64_t* r, int64_t c) { oa_table.threads(n, r, c); }
static inline void go_memory(int64_t a, int64_t f, int64_t* r, int64_t c) { oa_table.memory(a, f, r, c); }
static inline void go_fill(int64_t d, int64_t f, int64_t* r, int64_t c) { oa_table.fill(d, f, r, c); }
static inline void go_spill(int64_t s, int64_t* d, int64_t n) { oa_table.spill(s, d, n); }
static inline void go_release(int64_t i) { oa_table.release(i); }
static inline void go_drop(int64_t o) { oa_table.drop(o); }

#endif
