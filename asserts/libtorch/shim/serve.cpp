// serve.cpp calls the functions of shim.h by messages, also for another process, which
// writes them to a socket: where the kernels are Python's, libtorch lives in the user's own
// interpreter, and the worker outside.
#include "aborts.h"
#include "observe.h"
#include "remote.h"
#include "stack.h"

#include <sys/socket.h>

#include <vector>

namespace {

bool read_all(int socket, void* to, size_t n) {
  for (char* p = static_cast<char*>(to); n > 0;) {
    ssize_t got = read(socket, p, n);
    if (got <= 0) return false;
    p += got;
    n -= got;
  }
  return true;
}

bool write_all(int socket, const void* from, size_t n) {
  for (const char* p = static_cast<const char*>(from); n > 0;) {
    ssize_t put = send(socket, p, n, MSG_NOSIGNAL);
    if (put <= 0) return false;
    p += put;
    n -= put;
  }
  return true;
}

// A session is one caller's: its buffers grow to what it asks for.
struct Session {
  int socket;
  oa_message ask;
  std::vector<int64_t> words, reply;
  std::vector<char> data, bytes;

  bool next() {
    if (!read_all(socket, &ask, sizeof ask)) return false;
    words.resize(ask.words);
    data.resize(ask.data);
    reply.resize(ask.cap);
    bytes.resize(ask.bytes);
    return read_all(socket, words.data(), ask.words * 8) && read_all(socket, data.data(), ask.data);
  }

  // answer writes as many words as the reply has, and the bytes.
  bool answer() {
    int64_t n = ask.cap;
    if (ask.function != OA_FUNCTION_SPILL && n >= OA_HEADER_WORDS && reply[1] < n) n = reply[1];
    oa_answer head = {ask.key, n};
    return write_all(socket, &head, sizeof head) && write_all(socket, reply.data(), n * 8) && write_all(socket, bytes.data(), ask.bytes);
  }
};

}  // namespace

void oa_ask(const oa_message* m, const int64_t* words, const char* data, int64_t* r, char* bytes) {
  const int64_t a = m->first, b = m->second, c = m->cap;
  switch (m->function) {
    case OA_FUNCTION_START: return oa_start(r, c);
    case OA_FUNCTION_SCHEMAS: return oa_schemas(r, c);
    case OA_FUNCTION_LOAD: return oa_load(data, m->data, r, c);
    case OA_FUNCTION_DEVICE: return oa_device(data, m->data, r, c);
    case OA_FUNCTION_CALL: return oa_call(words, m->words, r, c);
    case OA_FUNCTION_OBSERVE: return oa_observe(a, b, r, c);
    case OA_FUNCTION_BYTES: return oa_bytes(a, bytes, m->bytes, r, c);
    case OA_FUNCTION_STRIDED: return oa_strided(words, m->words, data, m->data, r, c);
    case OA_FUNCTION_WRAP: return oa_wrap(a, r, c);
    case OA_FUNCTION_MARK: return oa_mark(a, r, c);
    case OA_FUNCTION_META: return oa_meta(words, m->words, r, c);
    case OA_FUNCTION_GENERATOR: return oa_generator(a, r, c);
    case OA_FUNCTION_STORAGE: return oa_storage(a, r, c);
    case OA_FUNCTION_SEED: return oa_seed(a, r, c);
    case OA_FUNCTION_MEMORY: return oa_memory(a, b, r, c);
    case OA_FUNCTION_SPILL: return oa_spill(a, r, c);
    case OA_FUNCTION_RELEASE: return oa_release(a);
    case OA_FUNCTION_DROP: return oa_drop(a);
  }
}

void oa_serve(int socket, int stack, void (*after)(int seeded)) {
  oa_watch_crashes(stack, "", nullptr);
  oa_crashes.said = oa_said;
  opassert::read_aborts();
  const pid_t server = getpid();
  opassert::count_python();
  Session s{socket};
  while (s.next()) {
    oa_ask(&s.ask, s.words.data(), s.data.data(), s.reply.data(), s.bytes.data());
    if (getpid() != server) _exit(0);  // a kernel has forked, and returned in the child too
    if (s.ask.function == OA_FUNCTION_CALL || s.ask.function == OA_FUNCTION_SEED) after(s.ask.function == OA_FUNCTION_SEED);
    if (!s.answer()) return;
  }
}
