//go:build unix && cgo

// Messages to another process; see shim/remote.h.
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

static void ask(const struct oa_message *asked, const int64_t *words, const char *data, int64_t *reply, char *bytes) {
  static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&one);
  struct oa_message m = *asked;
  must(getrandom(&m.key, sizeof m.key, 0) == sizeof m.key);
  struct iovec parts[] = {{&m, sizeof m}, {(void *)words, m.words * 8}, {(void *)data, m.data}};
  put(parts, 3);
  struct oa_answer head;
  get(&head, sizeof head);
  must(head.key == m.key && head.words <= m.cap);
  get(reply, head.words * 8);
  get(bytes, m.bytes);
  pthread_mutex_unlock(&one);
}

void oa_remote(int socket) {
  socket_of_calls = socket;
  oa_asked = ask;
}
