//go:build unix && cgo

#include "loader.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

__typeof__(oa_cross) *oa_crosses;

char *oa_open(char *list) {
  void *lib = NULL;
  char *rest = NULL;
  for (char *path = strtok_r(list, "\n", &rest); path != NULL; path = strtok_r(NULL, "\n", &rest)) {
    // A library of ops may not be linked to libtorch itself: it finds the symbols that it
    // needs because this is global.
    lib = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (lib == NULL) return strdup(dlerror());
  }
  *(void **)&oa_crosses = dlsym(lib, "oa_cross");
  if (oa_crosses == NULL) return strdup(dlerror());
  return NULL;
}
