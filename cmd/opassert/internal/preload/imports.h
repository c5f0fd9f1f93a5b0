// imports.h, after preload.h, replaces functions in the import tables of all libraries.
struct import {
  const char *name;
  void *ours;
  uint64_t beginning;  // of the name
  ElfW(Addr) within;   // where the object with our function is loaded, which calls the real one
};

static struct {
  pthread_mutex_t lock;
  struct import *all;
  size_t count;
  ElfW(Addr) * looked;  // where the inspected objects are loaded, in order
  size_t known;
} imports = {.lock = PTHREAD_MUTEX_INITIALIZER};

// Tables are the tables with an object's imports.
struct tables {
  ElfW(Addr) base;
  const ElfW(Sym) * symbols;
  const char *names;
  struct {
    const ElfW(Rela) * at;
    size_t size;
  } calls, data;
  size_t relative;  // of data, which precede those of functions and have no names
  ElfW(Addr) sealed;  // read-only after loading
  size_t sealed_size;
};

#if defined(__x86_64__)
static int is_import(const ElfW(Rela) * r) { return ELF64_R_TYPE(r->r_info) == R_X86_64_JUMP_SLOT || ELF64_R_TYPE(r->r_info) == R_X86_64_GLOB_DAT; }
#elif defined(__aarch64__)
static int is_import(const ElfW(Rela) * r) { return ELF64_R_TYPE(r->r_info) == R_AARCH64_JUMP_SLOT || ELF64_R_TYPE(r->r_info) == R_AARCH64_GLOB_DAT; }
#else
static int is_import(const ElfW(Rela) * r) { return 0; }
#endif

static void read_dynamic(struct tables *t, const ElfW(Dyn) * d) {
  for (; d->d_tag != DT_NULL; d++) {
    const ElfW(Addr) value = d->d_un.d_ptr;
    const void *at = (const void *)(value < t->base ? t->base + value : value);  // libc has relocated most
    switch (d->d_tag) {
      case DT_SYMTAB: t->symbols = at; break;
      case DT_STRTAB: t->names = at; break;
      case DT_JMPREL: t->calls.at = at; break;
      case DT_PLTRELSZ: t->calls.size = value / sizeof *t->calls.at; break;
      case DT_RELA: t->data.at = at; break;
      case DT_RELASZ: t->data.size = value / sizeof *t->data.at; break;
      case DT_RELACOUNT: t->relative = value; break;
    }
  }
}

// beginning packs the first bytes of a name.
static uint64_t beginning(const char *name) {
  uint64_t packed = 0;
  for (int i = 0; i < 8 && name[i] != 0; i++) packed = packed << 8 | (unsigned char)name[i];
  return packed;
}

static void put_import(const struct tables *t, void **slot, void *ours) {
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)slot;
  void *start = (void *)(at & ~(page - 1));
  const int sealed = at - t->sealed < t->sealed_size;
  if (sealed && mprotect(start, page, PROT_READ | PROT_WRITE) != 0) return;
  __atomic_store_n(slot, ours, __ATOMIC_RELEASE);
  if (sealed) mprotect(start, page, PROT_READ);
}

static void replace_import(const struct tables *t, const ElfW(Rela) * r) {
  const char *name = t->names + t->symbols[ELF64_R_SYM(r->r_info)].st_name;
  const uint64_t begins = beginning(name);
  for (const struct import *i = imports.all; i < imports.all + imports.count; i++) {
    if (i->beginning == begins && i->within != t->base && strcmp(i->name, name) == 0) put_import(t, (void **)(t->base + r->r_offset), i->ours);
  }
}

// is_new adds an object to the inspected ones, and reports whether it was new.
static int is_new(ElfW(Addr) base) {
  size_t from = 0, to = imports.known;
  while (from < to) {
    const size_t middle = (from + to) / 2;
    if (imports.looked[middle] < base) from = middle + 1;
    else to = middle;
  }
  if (from < imports.known && imports.looked[from] == base) return 0;
  ElfW(Addr) *looked = realloc(imports.looked, (imports.known + 1) * sizeof *looked);
  if (looked == NULL) return 1;
  imports.looked = looked;
  memmove(looked + from + 1, looked + from, (imports.known++ - from) * sizeof *looked);
  looked[from] = base;
  return 1;
}

static int replace_in(struct dl_phdr_info *object, size_t size, void *unused) {
  struct tables t = {.base = object->dlpi_addr};
  if (!is_new(t.base)) return 0;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
    if (segment->p_type == PT_GNU_RELRO) t.sealed = t.base + segment->p_vaddr, t.sealed_size = segment->p_memsz;
    if (segment->p_type == PT_DYNAMIC) read_dynamic(&t, (const ElfW(Dyn) *)(t.base + segment->p_vaddr));
  }
  if (t.symbols == NULL || t.names == NULL) return 0;
  for (const ElfW(Rela) *r = t.calls.at; r < t.calls.at + t.calls.size; r++) {
    if (is_import(r)) replace_import(&t, r);
  }
  for (const ElfW(Rela) *r = t.data.at + t.relative; r < t.data.at + t.data.size; r++) {
    if (is_import(r)) replace_import(&t, r);
  }
  return 0;
}

// replace replaces imports of the objects loaded since its last call.
static void replace(void) {
  if (imports.count == 0) return;
  pthread_mutex_lock(&imports.lock);
  dl_iterate_phdr(replace_in, NULL);
  pthread_mutex_unlock(&imports.lock);
}

// stand_in registers a replacement of the same type for a function; name is not copied. The next replace applies it.
static void stand_in(const char *name, void *ours) {
  Dl_info self;
  struct import *all = realloc(imports.all, (imports.count + 1) * sizeof *all);
  if (all == NULL || !dladdr(ours, &self)) return;
  all[imports.count++] = (struct import){name, ours, beginning(name), (ElfW(Addr))self.dli_fbase};
  imports.all = all;
  imports.known = 0;
}
