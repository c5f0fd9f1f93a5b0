#include "watched.h"

#include <algorithm>
#include <sstream>
#include <unordered_map>

#include "channel.h"
#include "operators.h"
#include "others.h"
#include "unboxed.h"

namespace opassert {

Settings settings;

const Watched& Watched::serving(c10::DispatchKeySet keys, const torch::jit::Stack& stack) const {
  if (C10_LIKELY(others == nullptr)) return *this;
  const auto key = opassert::others::key(keys, stack, args);
  return std::find(others_keys.begin(), others_keys.end(), key) == others_keys.end() ? *this : *others;
}

namespace operators {

std::string& own_namespaces = *new std::string;
std::atomic<int64_t> generation{1};

namespace {

using c10::DispatchKey;
using c10::OperatorHandle;

Mutex mutex;
auto& known = *new std::unordered_map<const void*, std::unique_ptr<Watched>>;

// Which operators a setting applies to.
constexpr int64_t CUSTOM_CONTENT = 1, ALL_CONTENT = 2;

bool among(int64_t which, bool custom) { return which == ALL_CONTENT || (which == CUSTOM_CONTENT && custom); }

// in_python reports whether a kernel that calls reach was registered in Python, in a file or what stands for one.
bool in_python(const OperatorHandle& handle) {
  std::istringstream state(handle.dumpState());
  for (std::string line; std::getline(state, line);) {
    const bool reached = line.rfind("Meta: ", 0) != 0 && line.rfind("debug: ", 0) != 0;
    if (reached && (line.find(".py:") != std::string::npos || line.find(" at <") != std::string::npos)) return true;
  }
  return false;
}

std::unique_ptr<Watched> ask(const OperatorHandle& handle, const std::string& kernels) {
  auto w = std::make_unique<Watched>();
  const auto& schema = handle.schema();
  w->schema = &schema;
  w->args = schema.arguments().size();
  w->returns = schema.returns().size();
  for (const auto& arg : schema.arguments()) {
    w->writes |= arg.alias_info() != nullptr && arg.alias_info()->isWrite();
  }
  // A kernel for autograd raises versions after the call that is observed here.
  const bool raised = handle.hasKernelForDispatchKey(DispatchKey::ADInplaceOrView);
  const std::string record = (raised ? "A" : "-") + kernels + "\n" + listed(*describe(handle));
  std::string reply;
  if (!channel::ask(FRAME_OP, record, reply) || reply.size() < sizeof(About) + sizeof(Expectation)) return w;
  std::vector<int64_t> words(reply.size() / 8);
  std::memcpy(words.data(), reply.data(), words.size() * 8);
  const int64_t* at = words.data();
  About about;
  take(at, about);
  w->number = about.number;
  w->custom = about.custom != 0;
  w->sampled = own(handle.operator_name().name);
  w->watched = about.watched != 0 && w->number < kCounted;
  w->recorded = about.recorded != 0;
  w->followed = about.followed != 0;
  w->autograd = has_autograd(handle);
  w->expected = Expected(at);
  w->in_python = w->custom && in_python(handle);
  w->decomposes = w->custom && handle.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd);
  w->content = among(settings.content, w->custom);
  w->fakes = among(settings.fakes, w->custom);
  w->counts = counts_of(w->number);
  w->unboxed = w->watched && !w->custom && !w->content && !w->fakes && !w->recorded && !w->followed && UnboxedCall::takes(w->expected);
  return w;
}

std::unique_ptr<Watched> ask(const OperatorHandle& handle) {
  auto w = ask(handle, "-");
  w->others_keys = others::keys(handle);
  if (w->others_keys.empty()) return w;
  w->others = ask(handle, "K" + others::device(w->others_keys));
  w->unboxed = false;
  return w;
}

const Watched& look_up(const OperatorHandle& handle) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    const auto at = known.find(&handle.schema());
    if (at != known.end()) return *at->second;
  }
  auto made = ask(handle);
  std::lock_guard<std::mutex> lock(mutex);
  auto& w = known[&handle.schema()];
  if (w == nullptr) w = std::move(made);
  return *w;
}

}  // namespace

bool own(const std::string& name) { return own_namespaces.find(" " + name.substr(0, name.find("::")) + " ") != std::string::npos; }

const Watched& find(const OperatorHandle& handle) {
  struct Slot {
    const void* schema;
    int64_t generation;
    const Watched* watched;
  };
  static thread_local Slot slots[1024];
  const void* key = &handle.schema();
  const int64_t now = generation.load(std::memory_order_relaxed);
  Slot& slot = slots[reinterpret_cast<uintptr_t>(key) * 0x9E3779B97F4A7C15u >> 54];
  if (slot.schema != key || slot.generation != now) slot = {key, now, &look_up(handle)};
  return *slot.watched;
}

void forget(const c10::OperatorName& name) {
  // Calls under way still use the Watched, so it stays.
  std::lock_guard<std::mutex> lock(mutex);
  const auto at = std::find_if(known.begin(), known.end(), [&](const auto& one) { return one.second->schema->operator_name() == name; });
  if (at == known.end()) return;
  at->second.release();
  known.erase(at);
  generation++;
}

}  // namespace operators
}  // namespace opassert
