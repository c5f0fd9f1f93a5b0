//go:build unix && cgo

#include "loader.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

struct oa_table oa_table;

char *oa_open(char *list) {
  void *lib = NULL;
  char *rest = NULL;
  for (char *path = strtok_r(list, "\n", &rest); path != NULL; path = strtok_r(NULL, "\n", &rest)) {
    // A library of ops may not be linked to libtorch itself: it finds what it
    // needs because this is global.
    lib = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (lib == NULL) return strdup(dlerror());
  }
  const struct {
    const char *name;
    void **at;
  } all[] = {
#define ENTRY(f) {"oa_" #f, (void **)&oa_table.f},
      OA_FUNCTIONS(ENTRY)};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if ((*all[i].at = dlsym(lib, all[i].name)) == NULL) return strdup(dlerror());
  }
  return NULL;
}
