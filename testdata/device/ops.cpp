// ops.cpp has kernels for a device whose memory the CPU may not touch: those of the
// namespace broken break their schemas, one way each, those of whole do not.
#include <ATen/ATen.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <torch/library.h>
#include <unistd.h>

#ifdef DEVICE // such as CUDA: the kernels are for that one
#define PrivateUse1 DEVICE
#endif

namespace {

using at::Tensor;
using at::TensorList;

Tensor bytes_of(const Tensor& t) {
  return at::empty({0}, t.options().dtype(at::kByte)).set_(t.storage(), 0, {int64_t(t.storage().nbytes())}, {1});
}

// poke changes a byte of a tensor's storage, and no version.
void poke(const Tensor& t, int64_t at) {
  at::AutoDispatchBelowADInplaceOrView silent;
  const int64_t n = t.storage().nbytes();
  if (n == 0 || t.numel() == 0) return;
  Tensor byte = bytes_of(t).narrow(0, at < 0 ? n + at : at, 1);
  byte.copy_(byte.cpu().bitwise_not());
}

// fresh computes on the CPU and returns what has no part in its argument.
Tensor fresh(const Tensor& t) { return t.detach().cpu().clone().to(t.device()); }

Tensor first(TensorList all) { return all.empty() ? Tensor() : fresh(all[0]); }

const Tensor& keep(const Tensor& t) {
  static std::mutex mutex;
  static auto* kept = new std::vector<Tensor>;  // the device is gone before what is static
  std::lock_guard<std::mutex> lock(mutex);
  if (kept->size() > 8) kept->erase(kept->begin());
  kept->push_back(t);
  return t;
}

Tensor strided_view(const Tensor& x) {
  at::AutoDispatchBelowADInplaceOrView silent;
  return x.as_strided(x.sizes(), x.strides(), x.storage_offset());
}

// Shared is what processes have in common: memory, and the ends of a pipe.
struct Shared {
  int* memory = static_cast<int*>(mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  int ends[2];
  Shared() { pipe(ends); }
};
Shared& shared() {
  static auto* all = new Shared;
  return *all;
}

// reaches reports whether a process can do what is felt outside of it.
bool reaches() {
  const int file = open("felt-outside", O_WRONLY | O_CREAT, 0600), found = open("/dev/null", O_RDONLY);
  const bool opens = file >= 0, connects = socket(AF_UNIX, SOCK_STREAM, 0) >= 0, signals = kill(getppid(), 0) == 0, forks = fork() >= 0;
  return opens || connects || signals || forks || write(shared().ends[1], "", 1) == 1 || unlink("felt-outside") == 0 || found < 0;
}

using c10::impl::DeviceGuardImplInterface;

// A Capturing is the device's guard while its stream captures a graph: then nothing may wait for
// the device, and nothing copies from it.
struct Capturing final : DeviceGuardImplInterface {
  const DeviceGuardImplInterface* backend = c10::impl::getDeviceGuardImpl(c10::DeviceType::PrivateUse1);
  mutable int64_t waits = 0;

  c10::DeviceType type() const override { return backend->type(); }
  c10::Device exchangeDevice(c10::Device d) const override { return backend->exchangeDevice(d); }
  c10::Device getDevice() const override { return backend->getDevice(); }
  void setDevice(c10::Device d) const override { backend->setDevice(d); }
  void uncheckedSetDevice(c10::Device d) const noexcept override { backend->uncheckedSetDevice(d); }
  c10::Stream getStream(c10::Device d) const override { return backend->getStream(d); }
  c10::Stream exchangeStream(c10::Stream s) const override { return backend->exchangeStream(s); }
  c10::DeviceIndex deviceCount() const noexcept override { return backend->deviceCount(); }
  void synchronizeDevice(const c10::DeviceIndex) const override { waits++; }
  bool isStreamCapturing(const c10::Stream&) const { return true; }  // of 2.15 and later
};

}  // namespace

TORCH_LIBRARY(graph, m) {
  static Capturing* capturing = nullptr;
  m.def("begin() -> ()", [] {
    capturing = new Capturing;
    c10::impl::device_guard_impl_registry[size_t(capturing->type())] = capturing;
  });
  m.def("end() -> int", [] {
    c10::impl::device_guard_impl_registry[size_t(capturing->type())] = capturing->backend;
    return capturing->waits;
  });
}

TORCH_LIBRARY(broken, m) {
  m.def("writes(Tensor x) -> Tensor");
  m.def("writes_last_byte(Tensor x) -> Tensor");
  m.def("writes_second(Tensor x, Tensor y) -> Tensor");
  m.def("writes_list(Tensor[] x) -> Tensor");
  m.def("writes_optional(Tensor x, Tensor? y=None) -> Tensor");
  m.def("writes_padding(Tensor x) -> Tensor");
  m.def("writes_other(Tensor(a!) x, Tensor y) -> ()");
  m.def("writes_beside(Tensor(a!) x) -> ()");
  m.def("keeps_version(Tensor(a!) x) -> ()");
  m.def("returns_input(Tensor x) -> Tensor");
  m.def("returns_view(Tensor x) -> Tensor");
  m.def("returns_memory(Tensor x) -> Tensor");
  m.def("copies_view(Tensor(a) x) -> Tensor(a)");
  m.def("same_twice(Tensor x) -> (Tensor, Tensor)");
  m.def("keeps_result(Tensor x) -> Tensor");
  m.def("keeps_storage(Tensor x) -> Tensor");
  m.def("keeps_argument(Tensor x) -> Tensor");
  m.def("swaps_storage(Tensor x) -> Tensor");
  m.def("returns_other_(Tensor(a!) x) -> Tensor(a!)");
  m.def("resizes_(Tensor(a!) x) -> Tensor(a!)");
  m.def("strides(Tensor x) -> Tensor");
  m.def("number(Tensor x) -> float");
  m.def("moves(Tensor x) -> Tensor");
  m.def("values(Tensor x) -> Tensor");
  m.def("throws_late(Tensor x) -> Tensor");
  m.def("stays(Tensor x) -> Tensor");
  m.def("strays(Tensor x) -> Tensor");
  m.def("rows(Tensor x) -> Tensor");
  m.def("leaves(Tensor x) -> Tensor");
  m.def("begins(Tensor(a) x) -> Tensor(a)");
  m.def("drops(Tensor(a!) x) -> ()");
  m.def("misses(Tensor(a!) x, Tensor(b!) count) -> ()");
  m.def("makes(Tensor x, *, Device device) -> Tensor");
}

TORCH_LIBRARY_IMPL(broken, PrivateUse1, m) {
  m.impl("writes", [](const Tensor& x) { poke(x, x.storage_offset() * x.itemsize()); return fresh(x); });
  m.impl("writes_last_byte", [](const Tensor& x) { poke(x, -1); return fresh(x); });
  m.impl("writes_second", [](const Tensor& x, const Tensor& y) { poke(y, 0); return fresh(x); });
  m.impl("writes_list", [](TensorList x) { if (!x.empty()) poke(x[x.size() - 1], 0); return first(x); });
  m.impl("writes_optional", [](const Tensor& x, const std::optional<Tensor>& y) { if (y && y->defined()) poke(*y, 0); return fresh(x); });
  m.impl("writes_padding", [](const Tensor& x) {
    if (x.is_contiguous() && x.storage_offset() == 0 && x.storage().nbytes() > x.nbytes()) poke(x, x.nbytes());
    return fresh(x);
  });
  m.impl("writes_other", [](Tensor& x, const Tensor& y) { x.copy_(fresh(x)); poke(y, 0); });
  m.impl("writes_beside", [](Tensor& x) {
    x.copy_(fresh(x));
    x.unsafeGetTensorImpl()->bump_version();
    if (x.is_contiguous() && x.storage_offset() > 0) poke(x, 0);
    if (x.is_contiguous() && x.storage_offset() == 0 && x.storage().nbytes() > x.nbytes()) poke(x, -1);
  });
  m.impl("keeps_version", [](Tensor& x) { poke(x, x.storage_offset() * x.itemsize()); });
  m.impl("returns_input", [](const Tensor& x) { return x; });
  m.impl("returns_view", [](const Tensor& x) { return strided_view(x); });
  m.impl("returns_memory", [](const Tensor& x) {
    at::Storage storage(c10::Storage::use_byte_size_t(), x.storage().nbytes(), c10::DataPtr(x.storage().data_ptr().get(), x.device()), nullptr, false);
    return at::empty({0}, x.options()).set_(storage, x.storage_offset(), x.sizes(), x.strides());
  });
  m.impl("copies_view", [](const Tensor& x) { return fresh(x); });
  m.impl("same_twice", [](const Tensor& x) { Tensor y = fresh(x); return std::make_tuple(y, y); });
  m.impl("keeps_result", [](const Tensor& x) { return keep(fresh(x)); });
  m.impl("keeps_storage", [](const Tensor& x) { Tensor y = fresh(x); keep(strided_view(y)); return y; });
  m.impl("keeps_argument", [](const Tensor& x) { keep(x); return fresh(x); });
  m.impl("swaps_storage", [](const Tensor& x) {
    at::AutoDispatchBelowADInplaceOrView silent;
    const_cast<Tensor&>(x).set_(fresh(x).storage(), 0, x.sizes(), fresh(x).strides());
    return fresh(x);
  });
  m.impl("returns_other_", [](Tensor& x) { x.copy_(fresh(x)); return fresh(x); });
  m.impl("strides", [](const Tensor& x) { return x.dim() == 2 ? fresh(x.t().contiguous()).t() : fresh(x); });
  m.impl("number", [](const Tensor& x) { return double(x.dim()); });
  m.impl("moves", [](const Tensor& x) {
    const c10::impl::VirtualGuardImpl backend(x.device().type());
    backend.setDevice(c10::Device(x.device().type(), 1 - backend.getDevice().index()));
    return x.clone();
  });
  m.impl("values", [](const Tensor& x) { return fresh(x).copy_(x.cpu().logical_not()); });
  m.impl("resizes_", [](Tensor& x) -> Tensor& { return x.unsqueeze_(0); });
  m.impl("throws_late", [](const Tensor& x) -> Tensor { poke(x, x.storage_offset() * x.itemsize()); TORCH_CHECK(x.dim() == 1, "the launch failed"); return fresh(x); });
  m.impl("stays", [](const Tensor& x) { return x.cpu(); });
  m.impl("strays", [](const Tensor& x) { return x.cpu().to(at::Device(x.device().type(), 1 - x.device().index())); });
  m.impl("rows", [](const Tensor& x) { return fresh(x); });
  m.impl("leaves", [](const Tensor& x) {
    Tensor y = at::empty({x.numel() + 1}, x.options());
    y.narrow(0, 0, x.numel()).copy_(fresh(x).reshape({-1}));
    return y;
  });
  m.impl("begins", [](const Tensor& x) { return x.narrow(0, 0, 1); });
  m.impl("drops", [](Tensor& x) { fresh(x).zero_(); });
  m.impl("misses", [](Tensor& x, Tensor&) { x.zero_(); });
  m.impl("makes", [](const Tensor&, at::Device) { return at::ones({8}); });
}

// What the kernels for the device are held against. No kernel for the CPU says where strays returns.
TORCH_LIBRARY_IMPL(broken, Meta, m) {
  m.impl("rows", [](const Tensor& x) { return x.unsqueeze(0).clone(); });
}

TORCH_LIBRARY_IMPL(broken, CPU, m) {
  m.impl("number", [](const Tensor& x) { return double(x.numel()); });
  m.impl("moves", [](const Tensor& x) { return x.clone(); });
  m.impl("values", [](const Tensor& x) { return x.clone(at::MemoryFormat::Contiguous); });
  m.impl("strides", [](const Tensor& x) { return x.clone(at::MemoryFormat::Contiguous); });
  m.impl("stays", [](const Tensor& x) { return x.clone(at::MemoryFormat::Contiguous); });
  m.impl("begins", [](const Tensor& x) { return x.narrow(0, x.size(0) - 1, 1); });
  m.impl("drops", [](Tensor& x) { x.zero_(); });
  m.impl("misses", [](Tensor& x, Tensor& count) { x.zero_(); count.add_(1); });
}

// Ops of PyTorch's, of which it returns the argument itself to a program that records gradients.
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("erfinv_", [](Tensor& x) -> Tensor& {
    static auto* made = new Tensor;
    x.copy_(x.cpu().erfinv_());
    return *made = fresh(x);
  });
  m.impl("digamma_", [](Tensor& x) -> Tensor& { return x.copy_(x.cpu().digamma_()); });
}

TORCH_LIBRARY(whole, m) {
  m.def("reads(Tensor x) -> Tensor");
  m.def("reads_padding(Tensor x) -> Tensor");
  m.def("reads_second(Tensor x, Tensor y) -> Tensor");
  m.def("reads_list(Tensor[] x) -> Tensor");
  m.def("reads_optional(Tensor x, Tensor? y=None) -> Tensor");
  m.def("writes_and_restores(Tensor x) -> Tensor");
  m.def("reads_other(Tensor(a!) x, Tensor y) -> ()");
  m.def("writes(Tensor(a!) x) -> ()");
  m.def("writes_both(Tensor(a!) x, Tensor(b!) y) -> ()");
  m.def("writes_list(Tensor(a!)[] x) -> ()");
  m.def("writes_nothing(Tensor(a!) x) -> ()");
  m.def("returns_view(Tensor(a) x) -> Tensor(a)");
  m.def("returns_views(Tensor(a) x) -> Tensor(a)[]");
  m.def("returns_two(Tensor x) -> (Tensor, Tensor)");
  m.def("returns_list(Tensor x) -> Tensor[]");
  m.def("returns_undefined(Tensor x) -> (Tensor, Tensor)");
  m.def("returns_number(Tensor x) -> int");
  m.def("adds_(Tensor(a!) x) -> Tensor(a!)");
  m.def("finds(Tensor x) -> Tensor");
  m.def("reads.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)");
  m.def("strides(Tensor x) -> Tensor");
  m.def("values(Tensor x) -> Tensor");
  m.def("reaches_out(Tensor x) -> Tensor");
  m.def("writes_shared(Tensor x) -> Tensor");
  m.def("waits(Tensor x) -> Tensor");
  m.def("throws(Tensor(a!) x) -> Tensor(a!)");
  m.def("makes(Tensor x, *, Device device) -> Tensor");
  m.def("begins(Tensor(a) x) -> Tensor(a)");
  m.def("drops(Tensor(a!) x) -> ()");
  m.def("misses(Tensor(a!) x, Tensor(b!) count) -> ()");
  m.def("draws(Tensor(a!) x) -> Tensor");
  m.def("reserves(Tensor x) -> Tensor");
}

// Those for the CPU, which a program on a device does not call, do more than compute. What some
// return is not what the device's return: that is found where they do it.
TORCH_LIBRARY_IMPL(whole, CPU, m) {
  m.impl("values", [](const Tensor& x) { return x.clone(at::MemoryFormat::Contiguous); });
  m.impl("reaches_out", [](const Tensor& x) { return reaches() ? x.unsqueeze(0).clone() : x.clone(at::MemoryFormat::Contiguous); });
  m.impl("writes_shared", [](const Tensor& x) { *shared().memory = 1; return x.unsqueeze(0).clone(); });
  m.impl("waits", [](const Tensor& x) { for (;;) pause(); return x.clone(); });
  m.impl("finds", [](const Tensor& x) { return x.nonzero(); });
  m.impl("writes_list", [](TensorList x) { for (const Tensor& t : x) t.logical_not_(); });
  m.impl("begins", [](const Tensor& x) { return x.narrow(0, x.size(0) - 1, 1); });
  m.impl("drops", [](Tensor& x) { x.zero_(); });
  m.impl("misses", [](Tensor& x, Tensor& count) { x.zero_(); count.add_(1); });
  m.impl("draws", [](Tensor& x) { return x.copy_(at::rand(x.sizes())).clone(); });
  m.impl("reserves", [](const Tensor& x) { return at::empty({1000}, x.options()); });
  m.impl("strides", [](const Tensor& x) { return x.clone(at::MemoryFormat::Contiguous); });
}

TORCH_LIBRARY_IMPL(whole, PrivateUse1, m) {
  m.impl("reads", [](const Tensor& x) { return fresh(x); });
  m.impl("reads_padding", [](const Tensor& x) { bytes_of(x).cpu(); return fresh(x); });
  m.impl("reads_second", [](const Tensor& x, const Tensor& y) { y.cpu(); return fresh(x); });
  m.impl("reads_list", [](TensorList x) { return first(x); });
  m.impl("reads_optional", [](const Tensor& x, const std::optional<Tensor>& y) { return fresh(y && y->defined() ? *y : x); });
  m.impl("writes_and_restores", [](const Tensor& x) { poke(x, 0); poke(x, 0); return fresh(x); });
  m.impl("reads_other", [](Tensor& x, const Tensor& y) { y.cpu(); x.copy_(fresh(x)); });
  m.impl("writes", [](Tensor& x) { x.copy_(x.cpu().logical_not()); });
  m.impl("writes_both", [](Tensor& x, Tensor& y) { x.copy_(x.cpu().logical_not()); y.copy_(y.cpu().logical_not()); });
  m.impl("writes_list", [](TensorList x) { for (const Tensor& t : x) t.copy_(t.cpu().logical_not()); });
  m.impl("writes_nothing", [](Tensor&) {});
  m.impl("returns_view", [](const Tensor& x) { return strided_view(x); });
  m.impl("returns_views", [](const Tensor& x) { return std::vector<Tensor>{strided_view(x), strided_view(x)}; });
  m.impl("returns_two", [](const Tensor& x) { return std::make_tuple(fresh(x), fresh(x)); });
  m.impl("returns_list", [](const Tensor& x) { return std::vector<Tensor>{fresh(x), fresh(x)}; });
  m.impl("returns_undefined", [](const Tensor& x) { return std::make_tuple(fresh(x), Tensor()); });
  m.impl("returns_number", [](const Tensor& x) { return x.dim(); });
  m.impl("adds_", [](Tensor& x) -> Tensor& { return x.copy_(x.cpu().logical_not()); });
  m.impl("throws", [](Tensor& x) -> Tensor& { x.copy_(x.cpu().logical_not()); TORCH_CHECK(x.dim() == 1, "the launch failed"); return x; });
  m.impl("finds", [](const Tensor& x) { return x.cpu().nonzero().to(x.device()); });
  m.impl("reads.out", [](const Tensor& x, Tensor& out) -> Tensor& { out.resize_(x.sizes()); return out.copy_(fresh(x)); });
  m.impl("values", [](const Tensor& x) { return fresh(x.is_floating_point() ? x.cpu().mul(1 + 1e-5) : x.cpu()).contiguous().to(x.device()); });
  m.impl("strides", [](const Tensor& x) { return x.cpu().clone(at::MemoryFormat::Contiguous).to(x.device()); });
  for (const char* name : {"reaches_out", "writes_shared", "waits"}) m.impl(name, [](const Tensor& x) { shared(); return fresh(x); });
  m.impl("makes", [](const Tensor& x, at::Device device) { return at::ones({8}).to(device); });
  m.impl("begins", [](const Tensor& x) { return x.narrow(0, x.size(0) - 1, 1); });
  m.impl("drops", [](Tensor& x) { x.zero_(); });
  m.impl("misses", [](Tensor& x, Tensor& count) { x.zero_(); count.copy_(count.cpu().add(1)); });
  m.impl("draws", [](Tensor& x) { return fresh(x.copy_(at::rand(x.sizes()).to(x.device()))); });
  m.impl("reserves", [](const Tensor& x) { return at::zeros({1000}, x.options().device(at::kCPU)).to(x.device()); });
}
