// remote.h is the protocol between a worker and another process that has libtorch: a message for
// each call of a function of shim.h, and an answer, over a socket.
#ifndef OPASSERT_REMOTE_H
#define OPASSERT_REMOTE_H

#include "shim.h"

// The exit status of a worker when the process with libtorch is gone: the parent of both knows how that ended.
enum {
  OA_LOST = 77
};

// The words and the data of the request follow.
struct oa_message {
  int64_t key;            // which the answer repeats: what a kernel writes to the socket has another
  int64_t function;       // oa_function
  int64_t first, second;  // its numbers
  int64_t words, data;    // how many words follow, and bytes after them
  int64_t cap, bytes;     // the room for a reply, in words, and for bytes
};

// The words of the reply follow, and the bytes that fit.
struct oa_answer {
  int64_t key, words;
};

#ifdef __cplusplus
extern "C" {
#endif

// oa_serve answers the messages of a socket until it is closed. If a kernel crashes, the frames of its stack are
// written to the file stack, one a line, before the previous handlers of signals. after is called after each call of
// an operator, and with 1 after the default generator was seeded; collect runs Python's collector.
void oa_serve(int socket, int stack, void (*after)(int seeded), void (*collect)());

// oa_methods registers operators for the methods of custom classes, except the first ones.
void oa_methods(int64_t first);

#ifdef __cplusplus
}
#endif

#endif
