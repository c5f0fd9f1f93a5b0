// tensors.cpp makes what only C++ can make; ops, called like any other, make the rest from it.
#include "entry.h"
#include "device.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/EmptyTensor.h>
#include <ATen/FunctionalTensorWrapper.h>
#include <ATen/Parallel.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/InferenceMode.h>
#include <c10/util/Logging.h>
#include <torch/csrc/autograd/autograd.h>

#include <mutex>
#include <unordered_map>

#include "memory.h"
#include "state.h"
#include "wire.h"

namespace opassert {
namespace {

using c10::TensorImpl;

c10::Storage new_storage(size_t nbytes, c10::DeviceType device) {
  return c10::Storage(c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), nbytes, c10::GetAllocator(device), /*resizable=*/true));
}

at::Tensor new_tensor(c10::Storage storage, c10::DeviceType device, caffe2::TypeMeta dtype, c10::IntArrayRef sizes,
                      c10::IntArrayRef strides, int64_t offset) {
  c10::DispatchKey key = device == c10::DeviceType::Meta ? c10::DispatchKey::Meta : c10::DispatchKey::CPU;
  auto t = at::detail::make_tensor<TensorImpl>(std::move(storage), c10::DispatchKeySet(key), dtype);
  t.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides, offset);
  return t;
}

void give(at::Tensor&& t, Reply& out) {
  out.word(t.defined() ? reinterpret_cast<int64_t>(t.unsafeReleaseTensorImpl()) : 0);
}

void give(c10::IValue&& v, Reply& out) {
  std::string type = v.type()->str();
  out.word(reinterpret_cast<int64_t>(new c10::IValue(std::move(v))));
  out.text(type);
}

// resolves reports whether a backend's copy resolves conjugated or negated tensors. The fallbacks for these keys copy
// their arguments, by aten::_copy_from if the backend has that, which begins with the fallback.
//
// Source: aten/src/ATen/native/Copy.cpp, copy_impl; aten/src/ATen/native/MathBitsFallback.h.
bool resolves(c10::DispatchKey backend) {
  auto has = [](const char* name, c10::DispatchKey key) {
    auto op = c10::Dispatcher::singleton().findSchema({name, ""});
    return op && op->hasKernelForDispatchKey(key);
  };
  return !has("aten::_copy_from", backend) || has("aten::copy_", backend) ||
         (has("aten::_copy_from", c10::DispatchKey::Conjugate) && has("aten::_copy_from", c10::DispatchKey::Negative));
}

}  // namespace
}  // namespace opassert

using namespace opassert;

// start initializes libtorch for exact counts: one intra-op thread, no backtraces, no warnings. It
// replies with the version, a string.
void opassert::entry::start(const Crossing& in, Reply& out) {
  at::set_num_threads(1);
  // A backtrace costs two hundred times what the throw does, and names none of the user's frames.
  c10::SetStackTraceFetcher(std::function<std::string()>([] { return std::string(); }));
  remember_state(false);
  out.text(OPASSERT_LIBTORCH_VERSION);
}

// strided makes a tensor: dtype, device type, device index, sort, base, storage bytes, offset,
// dimensions, sizes, strides. Its storage starts with data, followed by zeros; or, if base is a
// TensorImpl, is that of base, with its version counter.
void opassert::entry::strided(const Crossing& in, Reply& out) {
  Request request(in.words, in.n);
  auto dtype = c10::scalarTypeToTypeMeta(static_cast<c10::ScalarType>(request.word()));
  auto device = static_cast<c10::DeviceType>(request.word());
  const c10::Device place(device, static_cast<c10::DeviceIndex>(request.word()));
  int64_t sort = request.word();
  auto* base = reinterpret_cast<TensorImpl*>(request.word());
  int64_t nbytes = request.word(), offset = request.word(), dims = request.word();
  c10::IntArrayRef sizes(request.words(dims), dims), strides(request.words(dims), dims);
  const bool elsewhere = device != c10::DeviceType::CPU && device != c10::DeviceType::Meta;
  int64_t need = at::detail::computeStorageNbytes(sizes, strides, dtype.itemsize(), offset);
  if (nbytes < need || in.size > nbytes) {
    throw Refusal("a storage of " + std::to_string(nbytes) + " bytes is too small: the tensor needs " +
                  std::to_string(need) + ", the data has " + std::to_string(in.size));
  }
  if (base != nullptr) {
    const c10::Storage& shared = base->unsafe_storage();
    if (!shared || shared.device_type() != device || static_cast<int64_t>(shared.nbytes()) < need) {
      throw Refusal("a view needs " + std::to_string(need) + " bytes of a storage on the same device");
    }
    at::Tensor view = elsewhere ? moved(at::TensorOptions(dtype).device(place), shared, 0, nullptr, 0, sizes, strides, offset)
                                : new_tensor(shared, device, dtype, sizes, strides, offset);
    view.unsafeGetTensorImpl()->set_version_counter(base->version_counter());
    return give(std::move(view), out);
  }
  c10::InferenceMode guard(sort == OA_INFERENCE);
  at::Tensor t;
  if (elsewhere) {
    t = moved(at::TensorOptions(dtype).device(place), c10::Storage(), nbytes, in.data, in.size, sizes, strides, offset);
  } else {
    Aligned elements(dtype.itemsize());  // as those of a slice are
    c10::Storage storage = new_storage(nbytes, device);
    if (device == c10::DeviceType::CPU && nbytes > 0) {
      char* bytes = static_cast<char*>(storage.data_ptr().get());
      std::memcpy(bytes, in.data, in.size);
      std::memset(bytes + in.size, 0, nbytes - in.size);
    }
    t = new_tensor(std::move(storage), device, dtype, sizes, strides, offset);
  }
  if (sort == OA_REQUIRES_GRAD) t.unsafeGetTensorImpl()->set_requires_grad(true);
  give(std::move(t), out);
}

// device replies with the type and the index of a device, whose name may be one that a package
// brings, whether it has a kernel for operators without one, whether its copy resolves conjugated
// and negated tensors, and the dispatch key of its kernels, a string.
void opassert::entry::device(const Crossing& in, Reply& out) {
  const c10::Device device = found(in.text());
  out.word(static_cast<int64_t>(device.type()));
  out.word(device.index());
  const c10::DispatchKey key = at::TensorOptions().device(device).computeDispatchKey();
  out.word(c10::Dispatcher::singleton().hasBackendFallbackForDispatchKey(key));
  out.word(resolves(key));
  out.text(c10::toString(key));
}

// fill makes memory allocated on a type of devices contain a byte until it is written. It replies whether it does.
void opassert::entry::fill(const Crossing& in, Reply& out) {
  out.word(opassert::fill(static_cast<c10::DeviceType>(in.first), static_cast<unsigned char>(in.second)));
}

// wrap makes a FunctionalTensorWrapper around a tensor.
void opassert::entry::wrap(const Crossing& in, Reply& out) {
  give(at::functionalization::impl::to_functional_tensor(borrowed(in.tensor())), out);
}

// mark sets the python dispatch key of a tensor, the mark of a subclass.
void opassert::entry::mark(const Crossing& in, Reply&) { in.tensor()->set_python_dispatch(true); }

// meta replies with meta twins of n tensors: the same sizes, strides, offsets and dtypes, sharing a
// storage if the originals do.
void opassert::entry::meta(const Crossing& in, Reply& out) {
  std::unordered_map<c10::StorageImpl*, c10::Storage> storages;
  std::vector<at::Tensor> twins;
  for (int64_t i = 0; i < in.n; i++) {
    at::Tensor t = borrowed(reinterpret_cast<TensorImpl*>(in.words[i]));
    const c10::Storage& storage = t.unsafeGetTensorImpl()->unsafe_storage();
    if (!storage || t.is_quantized() || t.is_nested()) {
      throw Refusal("tensor " + std::to_string(i) + " has no twin on meta: it is not a plain strided one");
    }
    c10::Storage& meta = storages[storage.unsafeGetStorageImpl()];
    if (!meta) meta = new_storage(storage.nbytes(), c10::DeviceType::Meta);
    twins.push_back(new_tensor(meta, c10::DeviceType::Meta, t.dtype(), t.sizes(), t.strides(), t.storage_offset()));
  }
  for (at::Tensor& t : twins) give(std::move(t), out);
}

// grad calls the formulas of the second tensors with the third ones, and replies with the gradients of the first.
void opassert::entry::grad(const Crossing& in, Reply& out) {
  std::vector<at::Tensor> all;
  for (int64_t i = 0; i < in.n; i++) all.push_back(borrowed(reinterpret_cast<TensorImpl*>(in.words[i])));
  const auto first = all.begin(), second = first + in.first, third = second + in.second;
  const bool keep = false, create_graph = false, allow_unused = true;
  for (at::Tensor& t : torch::autograd::grad({second, third}, {first, second}, {third, all.end()}, keep, create_graph, allow_unused)) {
    give(std::move(t), out);
  }
}

// generator makes a CPU generator, and replies with that object.
void opassert::entry::generator(const Crossing& in, Reply& out) { give(c10::IValue(at::detail::createCPUGenerator(in.first)), out); }

// storage makes a reference to a tensor's storage, and replies with that object.
void opassert::entry::storage(const Crossing& in, Reply& out) {
  const c10::Storage& storage = in.tensor()->unsafe_storage();
  if (!storage) throw Refusal("the tensor has no storage");
  give(c10::IValue(storage), out);
}

// observe replies with the observation of one tensor.
void opassert::entry::observe(const Crossing& in, Reply& out) { observe(in.tensor(), static_cast<oa_level>(in.second), out); }

// bytes copies up to n bytes of a tensor's storage to dst and replies with the size of the storage;
// a storage without memory has size 0.
void opassert::entry::bytes(const Crossing& in, Reply& out) {
  const c10::Storage& storage = in.tensor()->unsafe_storage();
  const auto* from = storage.unsafeGetStorageImpl();
  at::Tensor copy = from && in.size > 0 && on_device(from) ? copied(from) : at::Tensor();
  if (!copy_fault.empty()) throw std::runtime_error(std::exchange(copy_fault, ""));
  const void* data = copy.defined() ? copy.data_ptr() : from ? bytes_of(from)
                                                             : nullptr;
  int64_t nbytes = data || (from && on_device(from)) ? storage.nbytes() : 0;
  if (in.size > 0 && nbytes > 0) std::memcpy(in.data, data, std::min(in.size, nbytes));
  out.word(nbytes);
}
