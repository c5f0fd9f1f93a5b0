// loader.h: how Go calls the functions of shim/shim.h, once the shim is loaded.
#ifndef OPASSERT_LOADER_H
#define OPASSERT_LOADER_H

#include "shim/shim.h"

// It is set once, by oa_open or oa_remote, before anything is asked.
extern __typeof__(oa_ask)* oa_asked;

// oa_open loads the shared libraries of a list, one a line, of which the last is
// the shim. It returns NULL, or a message that the caller frees.
char* oa_open(char* list);

// oa_remote has messages go to the process at the other end of a socket.
void oa_remote(int socket);

static inline void go_ask(const struct oa_message* m, const int64_t* words, const char* data, int64_t* reply, char* bytes) {
  oa_asked(m, words, data, reply, bytes);
}

#endif
