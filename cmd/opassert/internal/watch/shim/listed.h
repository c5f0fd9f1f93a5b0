// listed.h hides the watcher's kernels and keys from libtorch's listings: texts of
// errors, debug output, and queries whether an operator has a kernel for a key.
#pragma once

#include "imports.h"
#include "keys.h"

#include <c10/core/impl/PythonDispatcherTLS.h>

#include <sstream>
#include <string>
#include <vector>

namespace opassert {

using c10::impl::OperatorEntry;

// is_ours reports whether a line "KEY: [fallthrough ]REGISTRAR ..." is about a
// kernel of the watcher's.
inline bool is_ours(const std::string& line) {
  static const std::string fallthrough = "fallthrough ", ours = kRegistrar;
  size_t at = line.find(": ") + 2;
  if (line.compare(at, fallthrough.size(), fallthrough) == 0) at += fallthrough.size();
  if (line.compare(at, ours.size(), ours) != 0) return false;
  at += ours.size();
  return line.compare(at, 2, " [") == 0 || line.compare(at, 4, " :: ") == 0;
}

inline std::string without_ours(const std::string& dump) {
  std::istringstream lines(dump);
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    if (!is_ours(line)) kept += line + "\n";
  }
  return kept;
}

// The functions below replace libtorch's functions of similar names.

inline std::string dump_state(const OperatorEntry* op) { return without_ours(op->dumpState()); }

inline std::string dump_table(const OperatorEntry* op) { return without_ours(op->dumpComputedTable()); }

// asked_to_dispatch reports whether the caller may be the Python dispatcher, which
// must find every kernel: it calls those that it finds.
//
// Source: torch/_ops.py, resolve_key.
inline bool asked_to_dispatch() { return c10::impl::PythonDispatcherTLS::get_state() != nullptr; }

inline bool has_kernel(const OperatorEntry* op, DispatchKey key) {
  return (asked_to_dispatch() || !our_keys.registers(key)) && op->hasKernelForDispatchKey(key);
}

inline bool has_any_kernel(const OperatorEntry* op, DispatchKeySet keys) {
  return op->hasKernelForAnyDispatchKey(our_keys.gone() || asked_to_dispatch() ? keys : keys.remove(our_keys.above()).remove(kBelow));
}

inline bool has_computed(const OperatorEntry* op, DispatchKey key) {
  return op->hasComputedKernelForDispatchKey(key) && (has_kernel(op, key) || !our_keys.holds().has(key));
}

// list_keys is "[KEY, KEY]".
inline std::string list_keys(const OperatorEntry* op) {
  std::string list = op->listAllDispatchKeys();
  for (DispatchKey key : our_keys.holds()) {
    const std::string name = std::string(", ") + toString(key);
    const size_t at = list.find(name + (list.find(name + ",") == std::string::npos ? "]" : ","));
    if (at != std::string::npos && !has_kernel(op, key)) list.erase(at, name.size());
  }
  return list;
}

inline std::vector<c10::OperatorName> registrations_for(const c10::Dispatcher* dispatcher, c10::optional<DispatchKey> key) {
  if (key && our_keys.registers(*key)) return {};
  return dispatcher->getRegistrationsForDispatchKey(key);
}

inline std::string text(DispatchKeySet set) { return toString(our_keys.shown(set)); }

inline std::ostream& print(std::ostream& to, DispatchKeySet set) { return to << our_keys.shown(set); }

// list_without_ours replaces these functions in all libraries.
inline void list_without_ours(const Imports& imports) {
  imports.add(&OperatorEntry::dumpState, &dump_state);
  imports.add(&OperatorEntry::dumpComputedTable, &dump_table);
  imports.add(&OperatorEntry::listAllDispatchKeys, &list_keys);
  imports.add(&OperatorEntry::hasKernelForDispatchKey, &has_kernel);
  imports.add(&OperatorEntry::hasKernelForAnyDispatchKey, &has_any_kernel);
  imports.add(&OperatorEntry::hasComputedKernelForDispatchKey, &has_computed);
  imports.add(&c10::Dispatcher::getRegistrationsForDispatchKey, &registrations_for);
  imports.add<std::string, DispatchKeySet>(&c10::toString, &text);
  imports.add<std::ostream&, std::ostream&, DispatchKeySet>(&c10::operator<<, &print);
}

}  // namespace opassert
