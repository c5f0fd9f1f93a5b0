// watch.cpp starts the watcher: loaded into a program after libtorch, it observes each call of an operator, tests
// whether the call looks usual, and sends opassert those that do not. It judges nothing.
#include <pthread.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "channel.h"
#include "fakes.h"
#include "imports.h"
#include "kernels.h"
#include "keys.h"
#include "observedcall.h"
#include "others.h"
#include "python.h"
#include "record.h"
#include "registrations.h"
#include "site.h"
#include "watched.h"
#include "works.h"

namespace opassert {
namespace {

void forked() {
  for (Mutex* m = Mutex::last; m != nullptr; m = m->before) new (static_cast<std::mutex*>(m)) std::mutex;
  channel::about.resize(channel::about.rfind('\n') + 1);  // one thread is left, which is watched
  channel::forked();
  site::forked();
  keys::forked();
  fakes::forked();
  registrations::dirty = true;
  holders = 1;
}

// greet reports whether opassert has answered with its settings.
bool greet() {
  std::string facts = "\n";
  site::start(facts);
  channel::about = std::string(OPASSERT_LIBTORCH_VERSION) + "\n" + facts;
  if (!channel::connect_now() || channel::settings.size() < sizeof settings) return false;
  holders += std::max(0, atoi(facts.c_str() + facts.rfind('\n') + 1) - 1);  // the present Python threads
  std::memcpy(&settings, channel::settings.data(), sizeof settings);
  std::istringstream lines(channel::settings.substr(sizeof settings));
  std::getline(lines, operators::own_namespaces);
  for (std::string source; std::getline(lines, source);) others::own(source);
  return true;
}

// fault returns why the process can't be watched, "" if it is.
const char* fault() {
  if (!greet()) return "the watcher can't reach opassert";
  if (!map_counts()) return "the watcher can't map its counts";
  if (!keys::claim(boxed_fallback(), registrations::moved, not_watched)) return "the program uses every dispatch key that opassert can see calls at";
  return "";
}

}  // namespace
}  // namespace opassert

using namespace opassert;

extern "C" void ow_thread(void* (*run)(void*)) {
  threads++;
  if (python::starts(run)) holders++;
  keys::enter();
}

extern "C" void ow_loaded() {
  if (registrations::dirty) registrations::look();
}

// ow_fakes is for a program that needs the findings of fakes before it ends. Its thread has Python's lock.
extern "C" void ow_fakes() { fakes::call_all(); }

// ow_start reports whether the process is watched from now on; if not, it has reported why.
extern "C" int ow_start(const Host* functions) {
  host = *functions;
  if (const char* why = fault(); *why != 0) return not_watched(why), 0;
  registrations::listen();
  registrations::watch_frequent();
  pthread_atfork(nullptr, nullptr, forked);
  atexit(ow_loaded);
  if (python::start()) {
    see_python();
    python::hide(included_difference, excluded_difference, fakes::call_all);
  }
  threads++;
  keys::enter();
  replace_imports();
  ow_loaded();
  return 1;
}
