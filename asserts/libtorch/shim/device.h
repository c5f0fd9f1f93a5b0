// device.h: the bytes of storages on devices whose memory the CPU must not access.
#pragma once

#include "observe.h"

namespace opassert {

// address_of returns the address of a storage in the memory of its device, null if it has none, or
// is shared by copy-on-write.
const void* address_of(const c10::StorageImpl* storage);

// on_device reports whether the bytes of a storage are accessible only through its backend.
bool on_device(const c10::StorageImpl* storage);

// copied returns the bytes of a storage on a device, as its backend copies them to the CPU once the
// work of the device is done. It is undefined while a graph is captured, or may be, and if the
// backend threw: copy_fault has the error. Its calls are not seen by a mode, a watcher or autograd.
at::Tensor copied(const c10::StorageImpl* storage);

// found returns the named device, initialized, with an index. It throws if there is no such device.
c10::Device found(const std::string& name);

// moved returns a tensor on a device: on the storage, or on a new one of n bytes, which starts with
// data followed by zeros.
at::Tensor moved(const at::TensorOptions& options, c10::Storage storage, int64_t n, const char* data, int64_t ndata, c10::IntArrayRef sizes,
                 c10::IntArrayRef strides, int64_t offset);

// fill makes memory allocated on a type of devices contain a byte until it is written, and reports whether it does.
bool fill(c10::DeviceType type, unsigned char byte);

// copy_fault is the last error of the backend in this thread since it was cleared.
inline thread_local std::string copy_fault;

}  // namespace opassert
