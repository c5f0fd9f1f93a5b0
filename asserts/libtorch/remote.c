//go:build unix && cgo

// The functions of shim.h, called in another process; see shim/remote.h.
#include "loader.h"

#include "shim/remote.h"

#include <pthread.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <unistd.h>

static int socket_of_calls;

static void must(int ok) {
  if (!ok) _exit(OA_LOST);
}

static void get(void *to, size_t n) {
  for (char *p = to; n > 0;) {
    ssize_t got = read(socket_of_calls, p, n);
    must(got > 0);
    p += got;
    n -= got;
  }
}

static void put(struct iovec *parts, int n) {
  for (int i = 0; i < n;) {
    ssize_t done = writev(socket_of_calls, parts + i, n - i);
    must(done > 0);
    for (; i < n && (size_t)done >= parts[i].iov_len; i++) done -= parts[i].iov_len;
    if (i < n) {
      parts[i].iov_base = (char *)parts[i].iov_base + done;
      parts[i].iov_len -= done;
    }
  }
}

static void cross(int64_t function, int64_t first, int64_t second, const int64_t *words, int64_t n, char *data, int64_t ndata, int64_t *reply, int64_t cap) {
  static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
  const int fills = function == OA_FN_bytes;
  struct oa_message m = {.function = function, .first = first, .second = second, .words = n, .data = fills ? 0 : ndata, .cap = cap, .bytes = fills ? ndata : 0};
  pthread_mutex_lock(&one);
  must(getrandom(&m.key, sizeof m.key, 0) == sizeof m.key);
  struct iovec parts[] = {{&m, sizeof m}, {(void *)words, n * 8}, {data, m.data}};
  put(parts, 3);
  struct oa_answer head;
  get(&head, sizeof head);
  must(head.key == m.key && head.words <= cap);
  get(reply, head.words * 8);
  get(data, m.bytes);
  pthread_mutex_unlock(&one);
}

void oa_remote(int socket) {
  socket_of_calls = socket;
  oa_crosses = cross;
}
