#include "imports.h"

#include "keys.h"
#include "kernels.h"
#include "others.h"
#include "registrations.h"
#include "watched.h"
#include "works.h"

namespace opassert {
namespace {

// The functions below replace libtorch's functions of similar names.

c10::RegistrationHandleRAII register_fallback(c10::Dispatcher* dispatcher, DispatchKey key, c10::KernelFunction kernel, std::string debug) {
  return keys::fallback(*dispatcher, key, std::move(kernel), std::move(debug));
}

c10::RegistrationHandleRAII register_kernel(
    c10::Dispatcher* dispatcher, c10::OperatorName name, c10::optional<DispatchKey> key, c10::KernelFunction kernel,
    c10::optional<c10::impl::CppSignature> signature, std::unique_ptr<c10::FunctionSchema> inferred, std::string debug) {
  if (key) {
    keys::want(DispatchKeySet(*key));
    kernel = keys::theirs(*key, std::move(kernel));
  }
  const bool of_others = key && others::registers(name, *key, debug);
  auto registered = dispatcher->registerImpl(name, key, std::move(kernel), std::move(signature), std::move(inferred), std::move(debug));
  if (registrations::dirty) registrations::look(&name);  // its next call may be the program's first
  if (!of_others) return registered;
  operators::forget(name);
  auto theirs = std::make_shared<c10::RegistrationHandleRAII>(std::move(registered));
  return c10::RegistrationHandleRAII([name, theirs]() mutable {
    theirs.reset();
    operators::forget(name);
  });
}

// register_definition removes the watcher's kernel before the definition: an operator with a kernel left is not
// deleted, and a new one of its name would have its Python object.
c10::RegistrationHandleRAII register_definition(c10::Dispatcher* dispatcher, c10::FunctionSchema schema, std::string debug, std::vector<at::Tag> tags) {
  const c10::OperatorName name = schema.operator_name();
  auto definition = std::make_shared<c10::RegistrationHandleRAII>(dispatcher->registerDef(std::move(schema), std::move(debug), std::move(tags)));
  if (registrations::dirty) registrations::look(&name);  // its kernels may be there
  return c10::RegistrationHandleRAII([name, definition]() mutable {
    registrations::unwatch(name);
    definition.reset();
  });
}

bool is_included(DispatchKey key) { return keys::visible(c10::impl::tls_local_dispatch_key_set().included_).has(key); }

void set_included(DispatchKey key, bool included) {
  keys::want(DispatchKeySet(key));
  c10::impl::tls_set_dispatch_key_included(key, included);
}

void include(c10::impl::IncludeDispatchKeyGuard* guard, DispatchKeySet set) {
  keys::want(set);
  new (guard) c10::impl::IncludeDispatchKeyGuard(set);
}

void force(c10::impl::LocalDispatchKeySet set) {
  keys::want(keys::visible(set.included_));
  if (keys::excluded_by_program) set.excluded_ = *keys::excluded_by_program ? set.excluded_.remove(kBelow) : set.excluded_.add(kBelow);
  c10::impl::_force_tls_local_dispatch_key_set(keys::renewed(set));
}

}  // namespace

python::Difference included_difference() { return {keys::ours(c10::impl::tls_local_dispatch_key_set().included_), {}}; }

python::Difference excluded_difference() {
  const DispatchKeySet below(kBelow);
  if (!keys::excluded_by_program) return {};
  return *keys::excluded_by_program ? python::Difference{{}, below} : python::Difference{below, {}};
}

void replace_imports() {
  replace_import(&c10::Dispatcher::registerFallback, &register_fallback);
  replace_import(&c10::Dispatcher::registerImpl, &register_kernel);
  replace_import(&c10::Dispatcher::registerDef, &register_definition);
  replace_import(&c10::impl::tls_is_dispatch_key_included, &is_included);
  replace_import(&c10::impl::tls_set_dispatch_key_included, &set_included);
  replace_import(&c10::impl::_force_tls_local_dispatch_key_set, &force);
  for (const char* constructor : {"_ZN3c104impl23IncludeDispatchKeyGuardC1ENS_14DispatchKeySetE", "_ZN3c104impl23IncludeDispatchKeyGuardC2ENS_14DispatchKeySetE"}) {
    host.stand_in(constructor, reinterpret_cast<void*>(&include));
  }
  list_without_ours();
  works::replace_imports();
  host.replace();
}

}  // namespace opassert
