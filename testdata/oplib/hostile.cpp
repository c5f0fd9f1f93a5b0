// hostile is a library of operators that attack the worker they run in. All except
// those of the namespace peaceful return their argument, against their schemas, and
// some try to hide it: each of these must have a finding. With
// OPASSERT_TEST_HOSTILE in the environment the library does so while it is loaded.
#include <ATen/core/Tensor.h>
#include <ATen/ops/clone.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <torch/library.h>
#include <unistd.h>

#include <string>
#include <vector>

using at::Tensor;

namespace {

// lines is a worker's answer to any request: all cases ran, and nothing was found.
std::string lines(const std::string& before) {
  std::string all;
  for (int i = 0; i < 64; i++) {
    std::string n = std::to_string(i);
    all += before + "start " + n + " \n" + before + "end {\"case\":" + n + ",\"ran\":true,\"cpu\":{\"judged\":{}}}\n";
  }
  return all + before + "done\n";
}

// tell writes to all files that may be the worker's.
void tell(const std::string& text) {
  for (int fd = 3; fd < 64; fd++) {
    struct pollfd ready = {fd, POLLOUT, 0};
    if (poll(&ready, 1, 0) == 1 && (ready.revents & POLLOUT)) {
      ssize_t n = write(fd, text.data(), text.size());
      (void)n;
    }
  }
}

std::string content(const std::string& path) {
  std::string all;
  char some[4096];
  int fd = open(path.c_str(), O_RDONLY | O_NONBLOCK);
  for (ssize_t n; fd >= 0 && all.size() < 1 << 20 && (n = read(fd, some, sizeof some)) > 0;) all.append(some, n);
  if (fd >= 0) close(fd);
  return all;
}

// spy tries everything that looks like a key in what /proc shows of this process
// and of the three before it.
void spy() {
  std::string all;
  int process = getpid();
  for (int generation = 0; generation < 4 && process > 1; generation++) {
    std::string proc = "/proc/" + std::to_string(process);
    all += content(proc + "/environ") + " " + content(proc + "/cmdline") + " ";
    for (int fd = 0; fd < 16; fd++) all += content(proc + "/fd/" + std::to_string(fd)) + " ";
    std::string stat = content(proc + "/stat");
    process = atoi(stat.c_str() + std::min(stat.size(), stat.rfind(')') + 4));
  }
  for (size_t from = 0; from < all.size();) {
    size_t n = strspn(all.c_str() + from, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567");
    if (n >= 26) tell(lines(all.substr(from, n) + " "));
    from += n + 1;
  }
}

void daemonize() {
  if (fork() != 0) return;
  setsid();
  if (fork() != 0) _exit(0);
  sleep(600);
  _exit(0);
}

void breed() {
  for (int i = 0; i < 800; i++) {
    int child = fork();
    if (child == 0) {
      setsid();
      sleep(600);
      _exit(0);
    }
    usleep(200);
  }
}

int child() { return fork(); }

}  // namespace

#define OP(name, what)                                                                                   \
  m.def(#name "(Tensor self) -> Tensor", torch::dispatch(c10::DispatchKey::CPU, [](const Tensor& self) { \
    what;                                                                                                \
    return self;                                                                                         \
  }))
#define HEALTHY(name, what)                                                                              \
  m.def(#name "(Tensor self) -> Tensor", torch::dispatch(c10::DispatchKey::CPU, [](const Tensor& self) { \
    what;                                                                                                \
    return self.clone();                                                                                 \
  }))

TORCH_LIBRARY(hostile, m) {
  OP(answers, tell(lines("")));
  OP(answers_and_waits, tell(lines("")); pause());
  OP(answers_without_end, tell("end {"));
  OP(dies_in_words, tell("died SIGSEGV\n"));
  OP(dies_and_waits, tell("died SIGSEGV\nready 1\n"); pause());
  OP(spies, spy());
  OP(child_answers, if (child() == 0) { for (int i = 0; i < 50; i++) { tell(lines("")); usleep(10000); } _exit(0); });
  OP(child_returns, child());
  OP(child_spins, if (child() == 0) for (;;){});
  OP(closes_all, for (int fd = 0; fd < 64; fd++) close(fd));
  OP(closes_and_spins, close(3); for (;;){});
  OP(shuts_and_waits, shutdown(3, SHUT_RDWR); pause());
  OP(replaces, int fd = open("answers", O_CREAT | O_RDWR, 0600); dup2(fd, 3));
  OP(floods, std::string much(1 << 20, 'x'); for (int i = 0; i < 64; i++) tell(much));
  OP(reads_requests, char c; while (read(0, &c, 1) > 0){});
  OP(stops, raise(SIGSTOP));
  OP(ends, _exit(0));
  OP(kills_itself, raise(SIGKILL));
  OP(kills_parent, kill(getppid(), SIGKILL); sleep(600));
  OP(kills_group, kill(0, SIGKILL); sleep(600));
  OP(breeds, breed());
}

TORCH_LIBRARY(peaceful, m) {
  HEALTHY(daemon, daemonize());
  HEALTHY(child_crashes, if (child() == 0) raise(SIGSEGV));
  HEALTHY(child_ends, if (child() == 0) exit(3));
  HEALTHY(shell, int status = system("cat >/dev/null; (sleep 600 &) "); (void)status);
}

__attribute__((constructor)) static void load() {
  const char* how = getenv("OPASSERT_TEST_HOSTILE");
  if (how == nullptr || getenv("OPASSERT_WORKER") == nullptr) return;
  std::string what = how;
  if (what == "answers") tell("ready 1\n" + lines(""));
  if (what == "spies") spy();
  if (what == "forks") child();
  if (what == "daemon") daemonize();
  if (what == "waits") pause();
  if (what == "spins")
    for (volatile int i = 0;; i++);
  if (what == "is killed") raise(SIGKILL);
  if (what == "kills its group") kill(0, SIGKILL);
  if (what == "aborts") abort();
  if (what == "ends") _exit(0);
  if (what == "crashes") *(volatile int*)8 = 1;
  if (what == "dies in words") tell("died SIGSEGV\n");
}
