// tensors.cpp makes what only C++ can make; ops, called as any other, make
// the rest from it.
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

at::Tensor borrow(int64_t impl) {
  using Pointer = c10::intrusive_ptr<TensorImpl, c10::UndefinedTensorImpl>;
  return at::Tensor(Pointer::reclaim_copy(reinterpret_cast<TensorImpl*>(impl)));
}

void give(at::Tensor&& t, Reply& out) {
  out.word(reinterpret_cast<int64_t>(t.unsafeReleaseTensorImpl()));
}

void give(c10::IValue&& v, Reply& out) {
  std::string type = v.type()->str();
  out.word(reinterpret_cast<int64_t>(new c10::IValue(std::move(v))));
  out.text(type);
}

// resolves reports whether the copy of a backend ends where a tensor is conjugated or
// negated. The fallbacks of these keys copy their arguments, by aten::_copy_from where the
// backend has that, and it begins with the fallback.
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

// twin returns a meta tensor that is to its storage what t is to its own.
at::Tensor twin(const at::Tensor& t, c10::Storage storage) {
  return new_tensor(std::move(storage), c10::DeviceType::Meta, t.dtype(), t.sizes(), t.strides(), t.storage_offset());
}

}  // namespace
}  // namespace opassert

using namespace opassert;

void oa_start(int64_t* words, int64_t cap) {
  reply(words, cap, [&](Reply& out) {
    at::set_num_threads(1);
    // A backtrace costs two hundred times what the throw does, and names none
    // of the user's frames.
    c10::SetStackTraceFetcher(std::function<std::string()>([] { return std::string(); }));
    remember_state();
    out.text(OPASSERT_LIBTORCH_VERSION);
  });
}

void oa_strided(const int64_t* request, int64_t n, const char* data, int64_t ndata, int64_t* words, int64_t cap) {
  reply(words, cap, [&](Reply& out) {
    Request in(request, n);
    auto dtype = c10::scalarTypeToTypeMeta(static_cast<c10::ScalarType>(in.word()));
    auto device = static_cast<c10::DeviceType>(in.word());
    const c10::Device place(device, static_cast<c10::DeviceIndex>(in.word()));
    int64_t sort = in.word();
    auto* base = reinterpret_cast<TensorImpl*>(in.word());
    int64_t nbytes = in.word(), offset = in.word(), dims = in.word();
    c10::IntArrayRef sizes(in.words(dims), dims), strides(in.words(dims), dims);
    const bool elsewhere = device != c10::DeviceType::CPU && device != c10::DeviceType::Meta;
    int64_t need = at::detail::computeStorageNbytes(sizes, strides, dtype.itemsize(), offset);
    if (nbytes < need || ndata > nbytes) {
      throw Refusal("a storage of " + std::to_string(nbytes) + " bytes is too small: the tensor needs " +
                    std::to_string(need) + ", the data has " + std::to_string(ndata));
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
      t = moved(at::TensorOptions(dtype).device(place), c10::Storage(), nbytes, data, ndata, sizes, strides, offset);
    } else {
      Aligned elements(dtype.itemsize());  // as those of a slice are
      c10::Storage storage = new_storage(nbytes, device);
      if (device == c10::DeviceType::CPU && nbytes > 0) {
        char* bytes = static_cast<char*>(storage.data_ptr().get());
        std::memcpy(bytes, data, ndata);
        std::memset(bytes + ndata, 0, nbytes - ndata);
      }
      t = new_tensor(std::move(storage), device, dtype, sizes, strides, offset);
    }
    if (sort == OA_REQUIRES_GRAD) t.unsafeGetTensorImpl()->set_requires_grad(true);
    give(std::move(t), out);
  });
}

void oa_device(const char* name, int64_t n, int64_t* words, int64_t cap) {
  reply(words, cap, [&](Reply& out) {
    const c10::Device device = found(std::string(name, n));
    out.word(static_cast<int64_t>(device.type()));
    out.word(device.index());
    const c10::DispatchKey key = at::TensorOptions().device(device).computeDispatchKey();
    out.word(c10::Dispatcher::singleton().hasBackendFallbackForDispatchKey(key));
    out.word(resolves(key));
    out.text(c10::toString(key));
  });
}

void oa_fill(int64_t device, int64_t byte, int64_t* words, int64_t cap) {
  reply(words, cap, [&](Reply& out) { out.word(fill(static_cast<c10::DeviceType>(device), static_cast<unsigned char>(byte))); });
}

void oa_wrap(int64_t impl, int64_t* words, int64_t cap) {
  reply(words, cap, [&](Reply& out) {
    give(at::functionalization::impl::to_functional_tensor(borrow(impl)), out);
  });
}

void oa_mark(int64_t impl, int64_t* words, int64_t cap) {
  reply(words, cap, [&](Reply&) { reinterpret_cast<TensorImpl*>(impl)->set_python_dispatch(true); });
}

void oa_meta(const int64_t* impls, int64_t n, int64_t* words, int64_t cap) {
  reply(words, cap, [&](Reply& out) {
    std::unordered_map<c10::StorageImpl*, c10::Storage> storages;
    std::vector<at::Tensor> twins;
    for (int64_t i = 0; i < n; i++) {
      at::Tensor t = borrow(impls[i]);
      const c10::Storage& storage = t.unsafeGetTensorImpl()->unsafe_storage();
      if (!storage || t.is_quantized() || t.is_nested()) {
        throw Refusal("tensor " + std::to_string(i) + " has no twin on meta: it is not a plain strided one");
      }
      c10::Storage& meta = storages[storage.unsafeGetStorageImpl()];
      if (!meta) meta = new_storage(storage.nbytes(), c10::DeviceType::Meta);
      twins.push_back(twin(t, meta));
    }
    for (at::Tensor& t : twins) give(std::move(t), out);
  });
}

void oa_generator(int64_t seed, int64_t* words, int64_t cap) {
  reply(words, cap, [&](Reply& out) { give(c10::IValue(at::detail::createCPUGenerator(seed)), out); });
}

void oa_storage(int64_t impl, int64_t* words, int64_t cap) {
  reply(words, cap, [&](Reply& out) {
    const c10::Storage& storage = reinterpret_cast<TensorImpl*>(impl)->unsafe_storage();
    if (!storage) throw Refusal("the tensor has no storage");
    give(c10::IValue(storage), out);
  });
}

void oa_observe(int64_t impl, int64_t level, int64_t* words, int64_t cap) {
  reply(words, cap, [&](Reply& out) {
    observe(reinterpret_cast<TensorImpl*>(impl), static_cast<oa_level>(level), out);
  });
}

void oa_bytes(int64_t impl, char* dst, int64_t n, int64_t* words, int64_t cap) {
  reply(words, cap, [&](Reply& out) {
    const c10::Storage& storage = reinterpret_cast<TensorImpl*>(impl)->unsafe_storage();
    const auto* from = storage.unsafeGetStorageImpl();
    at::Tensor copy = from && n > 0 && on_device(from) ? copied(from) : at::Tensor();
    if (!copy_fault.empty()) throw std::runtime_error(std::exchange(copy_fault, ""));
    const void* data = copy.defined() ? copy.data_ptr() : from ? bytes_of(from)
                                                               : nullptr;
    int64_t nbytes = data || (from && on_device(from)) ? storage.nbytes() : 0;
    if (n > 0 && nbytes > 0) std::memcpy(dst, data, std::min(n, nbytes));
    out.word(nbytes);
  });
}

void oa_spill(int64_t spill, int64_t* dst, int64_t n) {
  std::unique_ptr<std::vector<int64_t>> words(reinterpret_cast<std::vector<int64_t>*>(spill));
  std::memcpy(dst, words->data(), std::min<size_t>(n, words->size()) * sizeof(int64_t));
}
