// child prints its environment, loads the library that is looked into, or maps it
// where that is none, and lives for as many milliseconds as its second argument says.
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

extern char **environ;

int main(int argc, char **argv) {
  for (char **e = environ; *e; e++) puts(*e);
  fflush(stdout);
  mmap(NULL, 64 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);  // as large as with a libtorch
  if (!dlopen(argv[1], RTLD_NOW)) mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE, open(argv[1], O_RDONLY), 0);
  usleep(1000 * atoi(argv[2]));
  return 3;
}
