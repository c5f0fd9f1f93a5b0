// serve.cpp calls the functions of shim.h for another process, which writes its calls to a socket:
// with Python kernels, libtorch is in the user's own interpreter, and the worker outside.
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

// A session serves one caller: its buffers grow as requested.
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

  void call() {
    std::vector<char>& d = ask.function == OA_FN_bytes ? bytes : data;
    oa_cross(ask.function, ask.first, ask.second, words.data(), ask.words, d.data(), d.size(), reply.data(), ask.cap);
  }

  // answer writes the words of the reply, and the bytes.
  bool answer() {
    int64_t n = ask.cap;
    if (ask.function != OA_FN_spill && n >= OA_HEADER_WORDS && reply[1] < n) n = reply[1];
    oa_answer head = {ask.key, n};
    return write_all(socket, &head, sizeof head) && write_all(socket, reply.data(), n * 8) && write_all(socket, bytes.data(), ask.bytes);
  }
};

}  // namespace

void oa_serve(int socket, int stack, void (*after)(int set), void (*collect)()) {
  oa_watch_crashes(stack, "", nullptr);
  oa_crashes.said = oa_said;
  opassert::read_aborts();
  opassert::count_python();
  opassert::collect = collect;
  Session s{socket};
  while (s.next()) {
    s.call();
    const bool set = s.ask.function == OA_FN_seed || s.ask.function == OA_FN_threads;
    if (set || s.ask.function == OA_FN_call) after(set);
    if (!s.answer()) return;
  }
}
