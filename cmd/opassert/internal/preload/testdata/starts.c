// starts HOW CHILD LIBRARY MILLISECONDS starts the child in one of the ways that
// there are, with an environment that holds A=b alone.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>

static char *env[] = {"A=b", NULL};
static char *args[4], command[3 * 4096];
static const char *how;
static char **own;  // environment, where the kernel put it

static int is(const char *name) { return strcmp(how, name) == 0; }

static void no_sockets(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) perror("seccomp");
}

// in_memory becomes the child, from a file without a name.
static void in_memory(void) {
  const int from = open(args[0], O_RDONLY), to = memfd_create("child", 0);
  while (sendfile(to, from, NULL, 1 << 20) > 0);
  close(from);
  fexecve(to, args, env);
}

// rename_process overwrites the environment, as setproctitle does.
static void rename_process(void) {
  for (char **e = own; *e; e++) memset(*e, 'x', strlen(*e));
}

static void become(void) {
  if (is("execv")) environ = env, execv(args[0], args);
  if (is("execvp")) environ = env, execvp(args[0], args);
  if (is("execl")) environ = env, execl(args[0], args[0], args[1], args[2], NULL);
  if (is("execlp")) environ = env, execlp(args[0], args[0], args[1], args[2], NULL);
  if (is("execle")) execle(args[0], args[0], args[1], args[2], NULL, env);
  if (is("execvpe")) execvpe(args[0], args, env);
  if (is("fexecve")) fexecve(open(args[0], O_RDONLY), args, env);
  if (is("execveat")) execveat(AT_FDCWD, args[0], args, env, 0);
  if (is("no env")) execve(args[0], args, NULL);
  if (is("setuid") && setuid(65534) != 0) perror("setuid");
  if (is("network namespace") && unshare(CLONE_NEWNET) != 0) perror("unshare");
  if (is("no sockets")) no_sockets();
  if (is("no descriptors")) setrlimit(RLIMIT_NOFILE, &(struct rlimit){4, 4});
  if (is("setgid") && setgid(65534) != 0) perror("setgid");
  if (is("closed")) close_range(0, 0, 0), close_range(2, ~0U, 0);
  if (is("memfd")) in_memory();
  if (strstr(how, "system call") != NULL) syscall(SYS_execve, args[0], args, env);
  execve(args[0], args, env);
  _exit(errno);
}

static pid_t split(void) { return strstr(how, "system calls") ? syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork(); }

static int child(void) {
  pid_t pid;
  if (is("posix_spawn")) return posix_spawn(&pid, args[0], NULL, NULL, args, env);
  if (is("posix_spawnp")) return posix_spawnp(&pid, args[0], NULL, NULL, args, env);
  if (is("double fork") || strstr(how, "daemon") != NULL) {
    if (split() == 0) {
      setsid();
      if (split() == 0) {
        if (is("renamed daemon, system call")) rename_process();
        if (strncmp(how, "sudden", 6) != 0) usleep(300000);  // alone
        become();
      }
      if (is("double fork")) wait(NULL);
      _exit(0);
    }
  } else if (is("clone")) {
    if (syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) == 0) become();
  } else if (is("clone3")) {
    struct clone_args a = {.exit_signal = SIGCHLD};
    if (syscall(SYS_clone3, &a, sizeof a) == 0) become();
  } else if (is("fork")) {
    if (fork() == 0) become();
  } else if (vfork() == 0) {
    become();
  }
  return 0;
}

int main(int argc, char **argv) {
  int status = 0;
  how = argv[1];
  own = argv + argc + 1;
  memcpy(args, argv + 2, sizeof args);
  snprintf(command, sizeof command, "%s %s %s", args[0], args[1], args[2]);
  if (is("system") || is("popen") || is("wordexp")) clearenv(), putenv(env[0]);
  if (is("system")) {
    status = system(command);
  } else if (is("popen")) {
    char line[4096];
    FILE *f = popen(command, "r");
    while (fgets(line, sizeof line, f)) fputs(line, stdout);
    status = pclose(f);
  } else if (is("wordexp")) {
    wordexp_t words;
    char substituted[4 * 4096];
    snprintf(substituted, sizeof substituted, "$(%s)", command);
    if (wordexp(substituted, &words, 0) == 0) {
      for (size_t i = 0; i < words.we_wordc; i++) puts(words.we_wordv[i]);
    }
  } else if (child() == 0) {
    wait(&status);
  }
  for (char **e = environ; *e; e++) printf("mine %s\n", *e);
  printf("status %d\n", status);
  return 0;
}
