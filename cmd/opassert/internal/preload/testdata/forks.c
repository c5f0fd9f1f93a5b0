// forks LIBRARY forks while a thread opens a library; the child lives a second.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void *load(void *file) { return dlopen(file, RTLD_NOW); }

static int is_mapped(const char *file) {
  char line[4096];
  int found = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps)) found |= strstr(line, file) != NULL;
  fclose(maps);
  return found;
}

int main(int argc, char **argv) {
  pthread_t thread;
  mmap(NULL, 64 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);  // as large as with a libtorch
  pthread_create(&thread, NULL, load, argv[1]);
  while (!is_mapped(argv[1])) usleep(10000);
  usleep(200000);
  if (fork() == 0) {
    sleep(1);
    _exit(0);
  }
  wait(NULL);
  pthread_join(thread, NULL);
  return 0;
}
