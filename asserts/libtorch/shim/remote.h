// remote.h is the conversation of a worker with the process that has libtorch,
// where that is another: an oa_message with its words and data behind it, and an answer,
// over a socket. The answer repeats the key of the message: what a kernel writes to the
// socket has another.
#ifndef OPASSERT_REMOTE_H
#define OPASSERT_REMOTE_H

#include "shim.h"

// How a worker exits when the process that has libtorch is gone: whoever started
// both knows how that ended.
enum {
  OA_LOST = 77
};

// The words of the reply follow, and the bytes that there was room for.
struct oa_answer {
  int64_t key, words;
};

#ifdef __cplusplus
extern "C" {
#endif

// oa_serve answers the messages of a socket until it is closed. Where a kernel
// crashes, the frames of its stack go to the file stack, a line each, before the
// handlers of signals that were there. after is called after each call of an operator,
// and with 1 after the default generator was seeded.
void oa_serve(int socket, int stack, void (*after)(int seeded));

// oa_methods registers operators for the methods of custom classes, except the first so many.
void oa_methods(int64_t first);

#ifdef __cplusplus
}
#endif

#endif
