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

static void ask(struct oa_message m, const int64_t *words, const char *data, int64_t *reply, char *bytes) {
  static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&one);
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

static void remote_start(int64_t *r, int64_t c) { ask((struct oa_message){.function = OA_FN_start, .cap = c}, NULL, NULL, r, NULL); }
static void remote_schemas(const char *o, int64_t n, int64_t *r, int64_t c) { ask((struct oa_message){.function = OA_FN_schemas, .data = n, .cap = c}, NULL, o, r, NULL); }
static void remote_load(const char *p, int64_t n, int64_t *r, int64_t c) { ask((struct oa_message){.function = OA_FN_load, .data = n, .cap = c}, NULL, p, r, NULL); }
static void remote_device(const char *d, int64_t n, int64_t *r, int64_t c) { ask((struct oa_message){.function = OA_FN_device, .data = n, .cap = c}, NULL, d, r, NULL); }
static void remote_call(const int64_t *q, int64_t n, int64_t *r, int64_t c) { ask((struct oa_message){.function = OA_FN_call, .words = n, .cap = c}, q, NULL, r, NULL); }
static void remote_observe(int64_t i, int64_t l, int64_t *r, int64_t c) { ask((struct oa_message){.function = OA_FN_observe, .first = i, .second = l, .cap = c}, NULL, NULL, r, NULL); }
static void remote_bytes(int64_t i, char *d, int64_t n, int64_t *r, int64_t c) { ask((struct oa_message){.function = OA_FN_bytes, .first = i, .cap = c, .bytes = n}, NULL, NULL, r, d); }
static void remote_strided(const int64_t *q, int64_t n, const char *d, int64_t m, int64_t *r, int64_t c) { ask((struct oa_message){.function = OA_FN_strided, .words = n, .data = m, .cap = c}, q, d, r, NULL); }
static void remote_wrap(int64_t i, int64_t *r, int64_t c) { ask((struct oa_message){.function = OA_FN_wrap, .first = i, .cap = c}, NULL, NULL, r, NULL); }
static void remote_mark(int64_t i, int64_t *r, int64_t c) { ask((struct oa_message){.function = OA_FN_mark, .first = i, .cap = c}, NULL, NULL, r, NULL); }
static void remote_meta(const int64_t *q, int64_t n, int64_t *r, int64_t c) { ask((struct oa_message){.function = OA_FN_meta, .words = n, .cap = c}, q, NULL, r, NULL); }
static void remote_generator(int64_t s, int64_t *r, int64_t c) { ask((struct oa_message){.function = OA_FN_generator, .first = s, .cap = c}, NULL, NULL, r, NULL); }
static void remote_storage(int64_t i, int64_t *r, int64_t c) { ask((struct oa_message){.function = OA_FN_storage, .first = i, .cap = c}, NULL, NULL, r, NULL); }
static void remote_seed(int64_t s, int64_t *r, int64_t c) { ask((struct oa_message){.function = OA_FN_seed, .first = s, .cap = c}, NULL, NULL, r, NULL); }
static void remote_threads(int64_t n, int64_t *r, int64_t c) { ask((struct oa_message){.function = OA_FN_threads, .first = n, .cap = c}, NULL, NULL, r, NULL); }
static void remote_memory(int64_t a, int64_t f, int64_t *r, int64_t c) { ask((struct oa_message){.function = OA_FN_memory, .first = a, .second = f, .cap = c}, NULL, NULL, r, NULL); }
static void remote_fill(int64_t d, int64_t f, int64_t *r, int64_t c) { ask((struct oa_message){.function = OA_FN_fill, .first = d, .second = f, .cap = c}, NULL, NULL, r, NULL); }
static void remote_left(int64_t *r, int64_t c) { ask((struct oa_message){.function = OA_FN_left, .cap = c}, NULL, NULL, r, NULL); }
static void remote_spill(int64_t s, int64_t *d, int64_t n) { ask((struct oa_message){.function = OA_FN_spill, .first = s, .cap = n}, NULL, NULL, d, NULL); }
static void remote_release(int64_t i) { ask((struct oa_message){.function = OA_FN_release, .first = i}, NULL, NULL, NULL, NULL); }
static void remote_drop(int64_t o) { ask((struct oa_message){.function = OA_FN_drop, .first = o}, NULL, NULL, NULL, NULL); }

void oa_remote(int socket) {
  socket_of_calls = socket;
#define REMOTE(f) .f = remote_##f,
  oa_table = (struct oa_table){OA_FUNCTIONS(REMOTE)};
}
