#include "others.h"

#include <c10/core/TensorOptions.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <sstream>
#include <unordered_map>

namespace opassert::others {
namespace {

using c10::DispatchKey;
using c10::DispatchKeySet;

auto& sources = *new std::vector<std::string>;  // parts of the paths of PyTorch's own
std::atomic<uint64_t> registered{0};            // the backends that have a kernel of others, as a set of keys

// theirs reports whether others registered a kernel, by what the dispatcher says of it.
bool theirs(const std::string& debug) {
  constexpr const char* kFile = "registered at ";
  if (debug.rfind(kFile, 0) != 0) return false;
  const std::string file = "/" + debug.substr(strlen(kFile));
  if (file.find("/torch/library.py:") != std::string::npos) return true;  // for who calls torch.library.impl
  return std::none_of(sources.begin(), sources.end(), [&](const auto& part) { return file.find(part) != std::string::npos; });
}

// of_devices are the keys of kernels for devices that have memory, by their names.
const std::unordered_map<std::string, DispatchKey>& of_devices() {
  static const auto& all = *[] {
    auto* keys = new std::unordered_map<std::string, DispatchKey>;
    const int last = static_cast<int>(DispatchKey::EndOfRuntimeBackendKeys);
    for (int k = static_cast<int>(DispatchKey::EndOfFunctionalityKeys) + 1; k <= last; k++) {
      const auto key = static_cast<DispatchKey>(k);
      const std::string name = c10::toString(key);
      if (name.find("Autograd") == std::string::npos && name.find("Meta") == std::string::npos) keys->emplace(name, key);
    }
    return keys;
  }();
  return all;
}

}  // namespace

void own(std::string source) { sources.push_back(std::move(source)); }

bool registers(const c10::OperatorName& name, DispatchKey key, const std::string& debug) {
  const bool of_others = name.name.rfind("aten::", 0) == 0 && of_devices().count(c10::toString(key)) > 0 && theirs(debug);
  if (of_others) registered |= DispatchKeySet(c10::toBackendComponent(key)).raw_repr();
  return of_others;
}

std::vector<DispatchKey> keys(const c10::OperatorHandle& handle) {
  std::vector<DispatchKey> all;
  std::istringstream state(handle.dumpState());  // a kernel that is not hidden by another is a line "CPU: registered at file.cpp:7 :: ..."
  for (std::string line; std::getline(state, line);) {
    const size_t end = line.find(": ");
    const auto key = of_devices().find(line.substr(0, end));
    if (key != of_devices().end() && registers(handle.operator_name(), key->second, line.substr(end + 2))) all.push_back(key->second);
  }
  return all;
}

std::string device(const std::vector<DispatchKey>& keys) try {
  std::string name;
  for (DispatchKey key : keys) {
    const std::string of = c10::Device(c10::dispatchKeyToDeviceType(key)).str();
    if (!name.empty() && name != of) return "";
    name = of;
  }
  return name;
} catch (const std::exception&) {
  return "";
}

bool run(DispatchKeySet keys) {
  const uint64_t theirs = registered.load(std::memory_order_relaxed), backends = keys.raw_repr() & c10::full_backend_mask;
  return theirs != 0 && (backends == 0 || (backends & theirs) != 0);
}

DispatchKey key(DispatchKeySet keys, const torch::jit::Stack& stack, size_t arguments) {
  const DispatchKey key = keys.remove(DispatchKey::BackendSelect).highestPriorityTypeId();
  if (key != DispatchKey::Undefined) return key;
  const auto device = std::find_if(stack.end() - arguments, stack.end(), [](const c10::IValue& v) { return v.isDevice(); });
  return device == stack.end() ? DispatchKey::CPU : c10::computeDispatchKey(c10::nullopt, c10::nullopt, device->toDevice());
}

}  // namespace opassert::others
