// imports.h replaces functions of libtorch by the watcher's in the import tables of
// other libraries.
#pragma once

#include <dlfcn.h>

#include <cstring>

#include "channel.h"

namespace opassert {

// Imports are the functions that the preloaded object replaces.
struct Imports {
  const Host& host;

  // add replaces a function by one of the same type.
  template <class R, class... A>
  void add(R (*theirs)(A...), R (*ours)(A...)) const {
    named(reinterpret_cast<void*>(theirs), reinterpret_cast<void*>(ours));
  }

  // A non-virtual member function has its object as first argument.
  template <class R, class C, class... A>
  void add(R (C::*theirs)(A...), R (*ours)(C*, A...)) const {
    void* address;
    std::memcpy(&address, &theirs, sizeof address);
    named(address, reinterpret_cast<void*>(ours));
  }

  template <class R, class C, class... A>
  void add(R (C::*theirs)(A...) const, R (*ours)(const C*, A...)) const {
    add(reinterpret_cast<R (C::*)(A...)>(theirs), reinterpret_cast<R (*)(C*, A...)>(ours));
  }

  void add(const char* name, void* ours) const { host.stand_in(name, ours); }

 private:
  void named(void* theirs, void* ours) const {
    Dl_info info;
    if (dladdr(theirs, &info) && info.dli_sname) add(info.dli_sname, ours);
  }
};

}  // namespace opassert
