#include "confine.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

namespace opassert {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kMachine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kMachine = AUDIT_ARCH_AARCH64;
#else
constexpr uint32_t kMachine = 0;
#endif

// kComputes are the system calls that compute, allocate and read. Others fail: those
// that write files, access other processes or the network, or wait for them.
constexpr long kComputes[] = {
    SYS_read, SYS_pread64, SYS_write, SYS_close, SYS_lseek, SYS_fstat, SYS_getdents64, SYS_readlinkat, SYS_getcwd,
    SYS_mmap, SYS_munmap, SYS_mprotect, SYS_mremap, SYS_madvise, SYS_brk, SYS_futex, SYS_exit, SYS_exit_group,
    SYS_getpid, SYS_gettid, SYS_getuid, SYS_geteuid, SYS_sched_yield, SYS_sched_getaffinity, SYS_clock_gettime,
    SYS_clock_nanosleep, SYS_nanosleep, SYS_gettimeofday, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_sigaltstack,
    SYS_set_robust_list, SYS_getrandom, SYS_getrusage, SYS_sysinfo, SYS_uname, SYS_membarrier, SYS_faccessat,
    SYS_restart_syscall
#ifdef SYS_rseq
    ,
    SYS_rseq
#endif
#ifdef SYS_statx
    ,
    SYS_statx
#endif
#ifdef SYS_newfstatat
    ,
    SYS_newfstatat
#endif
#ifdef SYS_stat
    ,
    SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_arch_prctl
#endif
};

// filters allows those, opening files for reading, and threads.
bool filters() {
  using Step = sock_filter;
  constexpr uint32_t kNumber = offsetof(seccomp_data, nr), kArguments = offsetof(seccomp_data, args);
  const auto load = [](uint32_t at) { return Step BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at); };
  const auto answer = [](uint32_t what) { return Step BPF_STMT(BPF_RET | BPF_K, what); };
  const auto skip_unless = [](uint32_t is, uint8_t n) { return Step BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, is, 0, n); };
  const Step allow = answer(SECCOMP_RET_ALLOW), refuse = answer(SECCOMP_RET_ERRNO | EPERM);
  std::vector<Step> steps = {load(offsetof(seccomp_data, arch)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kMachine, 1, 0), refuse, load(kNumber)};
  for (long number : kComputes) {
    steps.push_back(skip_unless(number, 1));
    steps.push_back(allow);
  }
  // where allows a call only if an argument has, or does not have, some bits.
  const auto where = [&](long number, int argument, uint32_t bits, bool has) {
    steps.push_back(skip_unless(number, 4));
    steps.push_back(load(kArguments + argument * sizeof(uint64_t)));
    steps.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, uint8_t(!has), uint8_t(has)));
    steps.push_back(allow);
    steps.push_back(refuse);
  };
  constexpr uint32_t kWrites = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC;
  where(SYS_openat, 2, kWrites, false);
#ifdef SYS_open
  where(SYS_open, 1, kWrites, false);
#endif
  where(SYS_clone, 0, CLONE_THREAD, true);
  steps.push_back(skip_unless(435 /* clone3, whose flags are in memory: glibc calls clone instead */, 1));
  steps.push_back(answer(SECCOMP_RET_ERRNO | ENOSYS));
  steps.push_back(refuse);
  const sock_fprog program{static_cast<unsigned short>(steps.size()), steps.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// close_files closes all files except one, and replaces the standard ones by /dev/null.
bool close_files(int but) {
  DIR* files = opendir("/proc/self/fd");
  if (files == nullptr) return false;
  std::vector<int> open;
  for (const dirent* file; (file = readdir(files)) != nullptr;) open.push_back(atoi(file->d_name));
  closedir(files);
  for (int fd : open) {
    if (fd > STDERR_FILENO && fd != but) close(fd);
  }
  return true;
}

// close_memory makes memory that is shared with other processes read-only.
bool close_memory() {
  FILE* maps = fopen("/proc/self/maps", "re");
  if (maps == nullptr) return false;
  std::vector<std::pair<size_t, size_t>> shared;
  char line[4096 + 128], may[5];
  for (size_t begin, end; fgets(line, sizeof line, maps) != nullptr;) {
    if (sscanf(line, "%zx-%zx %4s", &begin, &end, may) == 3 && may[1] == 'w' && may[3] == 's') shared.push_back({begin, end});
  }
  fclose(maps);
  bool closed = true;
  for (const auto& s : shared) closed = mprotect(reinterpret_cast<void*>(s.first), s.second - s.first, PROT_READ) == 0 && closed;
  return closed;
}

}  // namespace

bool confine(int to, unsigned seconds) {
  if (kMachine == 0) return false;
  const rlimit none{};
  signal(SIGALRM, SIG_DFL);
  sigset_t all;
  sigemptyset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  setrlimit(RLIMIT_CORE, &none);
  alarm(seconds);
  return close_files(to) && close_memory() && filters();
}

}  // namespace opassert
