// imports.h replaces functions of libtorch by the watcher's wherever a library calls
// these through its table of imports.
#pragma once

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace opassert {

// Imports are the functions that are replaced.
class Imports {
  struct Import {
    std::string name;
    void* ours;
  };
  std::vector<Import> all_;
  std::mutex mutex_;
  std::set<ElfW(Addr)> looked_;  // where objects are loaded
  const void* self_ = nullptr;   // where the watcher is, which calls libtorch's own

#if defined(__x86_64__)
  static bool is_import(const ElfW(Rela) & r) { return ELF64_R_TYPE(r.r_info) == R_X86_64_JUMP_SLOT || ELF64_R_TYPE(r.r_info) == R_X86_64_GLOB_DAT; }
#elif defined(__aarch64__)
  static bool is_import(const ElfW(Rela) & r) { return ELF64_R_TYPE(r.r_info) == R_AARCH64_JUMP_SLOT || ELF64_R_TYPE(r.r_info) == R_AARCH64_GLOB_DAT; }
#else
  static bool is_import(const ElfW(Rela) &) { return false; }
#endif

  // Tables are those of an object that say what it imports.
  struct Tables {
    ElfW(Addr) base;
    const ElfW(Sym) * symbols = nullptr;
    const char* names = nullptr;
    const ElfW(Rela) * calls = nullptr, *data = nullptr;
    size_t calls_size = 0, data_size = 0;
    ElfW(Addr) sealed = 0;  // read-only after loading
    size_t sealed_size = 0;

    explicit Tables(const dl_phdr_info& object) : base(object.dlpi_addr) {
      for (int i = 0; i < object.dlpi_phnum; i++) {
        const auto& segment = object.dlpi_phdr[i];
        if (segment.p_type == PT_GNU_RELRO) sealed = base + segment.p_vaddr, sealed_size = segment.p_memsz;
        if (segment.p_type == PT_DYNAMIC) read(reinterpret_cast<const ElfW(Dyn)*>(base + segment.p_vaddr));
      }
    }

    template <class T>
    const T* at(const ElfW(Dyn) & entry) const {  // libc has made an address of most
      const ElfW(Addr) p = entry.d_un.d_ptr;
      return reinterpret_cast<const T*>(p < base ? base + p : p);
    }

    void read(const ElfW(Dyn) * entry) {
      for (; entry->d_tag != DT_NULL; entry++) {
        switch (entry->d_tag) {
          case DT_SYMTAB: symbols = at<ElfW(Sym)>(*entry); break;
          case DT_STRTAB: names = at<char>(*entry); break;
          case DT_JMPREL: calls = at<ElfW(Rela)>(*entry); break;
          case DT_PLTRELSZ: calls_size = entry->d_un.d_val / sizeof *calls; break;
          case DT_RELA: data = at<ElfW(Rela)>(*entry); break;
          case DT_RELASZ: data_size = entry->d_un.d_val / sizeof *data; break;
        }
      }
    }
  };

  void replace(const Tables& t, const ElfW(Rela) & r) const {
    if (!is_import(r)) return;
    const char* name = t.names + t.symbols[ELF64_R_SYM(r.r_info)].st_name;
    if (std::strncmp(name, "_ZN3c10", 7) != 0 && std::strncmp(name, "_ZNK3c10", 8) != 0) return;
    for (const Import& import : all_) {
      if (import.name == name) put(t, reinterpret_cast<void**>(t.base + r.r_offset), import.ours);
    }
  }

  static void put(const Tables& t, void** slot, void* ours) {
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE)), at = reinterpret_cast<uintptr_t>(slot);
    auto* start = reinterpret_cast<void*>(at & ~(page - 1));
    const bool sealed = at - t.sealed < t.sealed_size;
    if (sealed && mprotect(start, page, PROT_READ | PROT_WRITE) != 0) return;
    __atomic_store_n(slot, ours, __ATOMIC_RELEASE);
    if (sealed) mprotect(start, page, PROT_READ);
  }

  static int look(dl_phdr_info* object, size_t, void* imports) {
    auto& all = *static_cast<Imports*>(imports);
    if (object->dlpi_addr == reinterpret_cast<ElfW(Addr)>(all.self_) || !all.looked_.insert(object->dlpi_addr).second) return 0;
    const Tables t(*object);
    if (t.symbols == nullptr || t.names == nullptr) return 0;
    for (size_t i = 0; i < t.calls_size; i++) all.replace(t, t.calls[i]);
    for (size_t i = 0; i < t.data_size; i++) all.replace(t, t.data[i]);
    return 0;
  }

 public:
  // add replaces a function by one of the same type.
  template <class R, class... A>
  void add(R (*theirs)(A...), R (*ours)(A...)) {
    named(reinterpret_cast<void*>(theirs), reinterpret_cast<void*>(ours));
  }

  // A member function that is not virtual takes its object first.
  template <class R, class C, class... A>
  void add(R (C::*theirs)(A...), R (*ours)(C*, A...)) {
    void* address;
    std::memcpy(&address, &theirs, sizeof address);
    named(address, reinterpret_cast<void*>(ours));
  }

  template <class R, class C, class... A>
  void add(R (C::*theirs)(A...) const, R (*ours)(const C*, A...)) {
    add(reinterpret_cast<R (C::*)(A...)>(theirs), reinterpret_cast<R (*)(C*, A...)>(ours));
  }

  void add(const char* name, void* ours) { all_.push_back({name, ours}); }

  // replace looks at what has been loaded since it last did.
  void replace() {
    std::lock_guard<std::mutex> lock(mutex_);
    Dl_info self;
    if (dladdr(reinterpret_cast<void*>(&look), &self)) self_ = self.dli_fbase;
    dl_iterate_phdr(look, this);
  }

  void forked() { new (&mutex_) std::mutex; }

 private:
  void named(void* theirs, void* ours) {
    Dl_info info;
    if (dladdr(theirs, &info) && info.dli_sname) add(info.dli_sname, ours);
  }
};

}  // namespace opassert
