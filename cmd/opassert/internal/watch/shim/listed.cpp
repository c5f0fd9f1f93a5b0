// listed.cpp hides the watcher's kernels and keys from libtorch's listings: texts of
// errors, debug output, and queries whether an operator has a kernel for a key.
#include <c10/core/impl/PythonDispatcherTLS.h>

#include <sstream>
#include <string>
#include <vector>

#include "imports.h"
#include "keys.h"

namespace opassert {
namespace {

using c10::impl::OperatorEntry;

// is_ours reports whether a line "KEY: [fallthrough ]REGISTRAR ..." is about a kernel of the watcher's.
bool is_ours(const std::string& line) {
  static const std::string fallthrough = "fallthrough ", ours = kRegistrar;
  size_t at = line.find(": ") + 2;
  if (line.compare(at, fallthrough.size(), fallthrough) == 0) at += fallthrough.size();
  if (line.compare(at, ours.size(), ours) != 0) return false;
  at += ours.size();
  return line.compare(at, 2, " [") == 0 || line.compare(at, 4, " :: ") == 0;
}

std::string without_ours(const std::string& dump) {
  std::istringstream lines(dump);
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    if (!is_ours(line)) kept += line + "\n";
  }
  return kept;
}

// The functions below replace libtorch's functions of similar names.

std::string dump_state(const OperatorEntry* op) { return without_ours(op->dumpState()); }

std::string dump_table(const OperatorEntry* op) { return without_ours(op->dumpComputedTable()); }

// asked_to_dispatch reports whether the caller may be the Python dispatcher, which
// must find every kernel: it calls those that it finds.
//
// Source: torch/_ops.py, resolve_key.
bool asked_to_dispatch() { return c10::impl::PythonDispatcherTLS::get_state() != nullptr; }

bool has_kernel(const OperatorEntry* op, DispatchKey key) {
  return (asked_to_dispatch() || !keys::registers(key)) && op->hasKernelForDispatchKey(key);
}

bool has_any_kernel(const OperatorEntry* op, DispatchKeySet keys) {
  return op->hasKernelForAnyDispatchKey(keys::gone() || asked_to_dispatch() ? keys : keys.remove(keys::above()).remove(kBelow));
}

bool has_computed(const OperatorEntry* op, DispatchKey key) {
  return op->hasComputedKernelForDispatchKey(key) && (has_kernel(op, key) || !keys::held().has(key));
}

// list_keys is "[KEY, KEY]".
std::string list_keys(const OperatorEntry* op) {
  std::string list = op->listAllDispatchKeys();
  for (DispatchKey key : keys::held()) {
    const std::string name = std::string(", ") + toString(key);
    const size_t at = list.find(name + (list.find(name + ",") == std::string::npos ? "]" : ","));
    if (at != std::string::npos && !has_kernel(op, key)) list.erase(at, name.size());
  }
  return list;
}

std::vector<c10::OperatorName> registrations_for(const c10::Dispatcher* dispatcher, c10::optional<DispatchKey> key) {
  if (key && keys::registers(*key)) return {};
  return dispatcher->getRegistrationsForDispatchKey(key);
}

std::string text(DispatchKeySet set) { return toString(keys::shown(set)); }

std::ostream& print(std::ostream& to, DispatchKeySet set) { return to << keys::shown(set); }

}  // namespace

void list_without_ours() {
  replace_import(&OperatorEntry::dumpState, &dump_state);
  replace_import(&OperatorEntry::dumpComputedTable, &dump_table);
  replace_import(&OperatorEntry::listAllDispatchKeys, &list_keys);
  replace_import(&OperatorEntry::hasKernelForDispatchKey, &has_kernel);
  replace_import(&OperatorEntry::hasKernelForAnyDispatchKey, &has_any_kernel);
  replace_import(&OperatorEntry::hasComputedKernelForDispatchKey, &has_computed);
  replace_import(&c10::Dispatcher::getRegistrationsForDispatchKey, &registrations_for);
  replace_import<std::string, DispatchKeySet>(&c10::toString, &text);
  replace_import<std::ostream&, std::ostream&, DispatchKeySet>(&c10::operator<<, &print);
}

}  // namespace opassert
