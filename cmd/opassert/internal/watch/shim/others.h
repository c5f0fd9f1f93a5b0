// others.h finds the kernels that others than PyTorch registered for its operators, as the package of a device does.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <string>
#include <vector>

namespace opassert::others {

// own adds a part of the paths of PyTorch's own sources.
void own(std::string source);

// registers reports whether a kernel is one of others, for an operator of PyTorch's and a device.
bool registers(const c10::OperatorName& name, c10::DispatchKey key, const std::string& debug);

// keys returns the dispatch keys whose kernels of an operator of PyTorch's are of others.
std::vector<c10::DispatchKey> keys(const c10::OperatorHandle& handle);

// device returns the name of the one that kernels for keys are for, "" where these are several or PyTorch has no name for it.
std::string device(const std::vector<c10::DispatchKey>& keys);

// run reports whether kernels of others may run in a call with these keys, directly or called by PyTorch's.
bool run(c10::DispatchKeySet keys);

// key returns the key of the kernel that a call gets to, which for a factory is that of the device that is asked for.
c10::DispatchKey key(c10::DispatchKeySet keys, const torch::jit::Stack& stack, size_t arguments);

}  // namespace opassert::others
