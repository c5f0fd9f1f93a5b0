// imports.h replaces functions of libtorch by the watcher's in the import tables of other libraries.
#pragma once

#include <dlfcn.h>

#include <cstring>

#include "channel.h"
#include "python.h"

namespace opassert {

// replace_import registers a function that replaces one of the same type.
template <class R, class... A>
void replace_import(R (*theirs)(A...), R (*ours)(A...)) {
  Dl_info info;
  const bool found = dladdr(reinterpret_cast<void*>(theirs), &info) && info.dli_sname;
  if (found) host.stand_in(info.dli_sname, reinterpret_cast<void*>(ours));
}

// A non-virtual member function has its object as first argument.
template <class R, class C, class... A>
void replace_import(R (C::*theirs)(A...), R (*ours)(C*, A...)) {
  R (*address)(C*, A...);
  std::memcpy(&address, &theirs, sizeof address);
  replace_import(address, ours);
}

template <class R, class C, class... A>
void replace_import(R (C::*theirs)(A...) const, R (*ours)(const C*, A...)) {
  replace_import(reinterpret_cast<R (C::*)(A...)>(theirs), reinterpret_cast<R (*)(C*, A...)>(ours));
}

// replace_imports replaces the functions that use keys and register kernels, and list_without_ours those that list
// them, in all libraries: callers do not see the watcher's.
void replace_imports();
void list_without_ours();

// included_difference and excluded_difference are the keys of this thread's sets to hide from Python.
python::Difference included_difference();
python::Difference excluded_difference();

}  // namespace opassert
