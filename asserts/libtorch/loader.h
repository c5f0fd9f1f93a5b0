// loader.h: the functions of the shim, found when it is loaded.
#ifndef OPASSERT_LOADER_H
#define OPASSERT_LOADER_H

#include "shim/shim.h"

// oa_crosses is oa_cross of the shim, here or in the process that has it. oa_open or oa_remote sets
// it once, before any other call.
extern __typeof__(oa_cross)* oa_crosses;

// oa_open loads the shared libraries of a list, one a line, the last of which is the shim. It
// returns NULL, or a message that the caller frees.
char* oa_open(char* list);

// oa_remote makes calls of the shim's functions in the process at the other end of a socket.
void oa_remote(int socket);

static inline void go_cross(int64_t f, int64_t a, int64_t b, const int64_t* q, int64_t n, char* d, int64_t nd, int64_t* r, int64_t c) {
  oa_crosses(f, a, b, q, n, d, nd, r, c);
}

#endif
