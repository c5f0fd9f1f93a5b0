#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/FunctionalTensorWrapper.h>
#include <ATen/Parallel.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <dlfcn.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <list>
#include <map>
#include <set>
#include <sstream>

std::string line(const std::exception& e) {
  std::string text = e.what();
  return text.substr(0, text.find('\n'));
}

// of returns a one-dimensional tensor with these bytes.
template <class T>
at::Tensor of(at::ScalarType dtype, const std::vector<T>& bytes) {
  int64_t size = bytes.size() * sizeof(T);
  at::Tensor t = at::empty({size / int64_t(c10::elementSize(dtype))}, dtype);
  std::memcpy(t.storage().data_ptr().get(), bytes.data(), size);
  return t;
}

at::Tensor uncoalesced(const at::Tensor& t) {
  at::Tensor s = t.to_sparse();
  return at::_sparse_coo_tensor_unsafe(at::cat({s._indices(), s._indices()}, 1), at::cat({s._values(), s._values()}), t.sizes());
}

at::Tensor inferred(const at::Tensor& t) {
  c10::InferenceMode mode;
  return t.clone();
}

// list returns a list of the type of an op's argument.
c10::IValue list(const c10::FunctionSchema& schema, size_t argument, const std::vector<c10::IValue>& items) {
  c10::TypePtr type = schema.arguments()[argument].type();
  if (auto optional = type->cast<c10::OptionalType>()) type = optional->getElementType();
  c10::impl::GenericList all(type->expectRef<c10::ListType>().getElementType());
  for (const auto& item : items) all.push_back(item);
  return all;
}

// standard returns the default of an argument.
c10::IValue standard(const c10::FunctionSchema& schema, size_t argument) {
  return schema.arguments()[argument].default_value().value();
}

// made returns the first result of an op.
c10::IValue made(const char* name, const char* overload, std::vector<c10::IValue> stack) {
  c10::Dispatcher::singleton().findSchemaOrThrow(name, overload).callBoxed(&stack);
  return stack.empty() ? c10::IValue() : stack[0];
}

// memory returns the bytes of a tensor's storage, or those of a sparse one's parts.
std::string memory(const at::Tensor& t) {
  if (t.layout() == at::kSparse) return memory(t._indices()) + memory(t._values());
  if (!t.has_storage()) return "";
  return std::string(static_cast<const char*>(t.storage().data_ptr().get()), t.storage().nbytes());
}

int64_t version(const at::Tensor& t) { return t.is_inference() ? 0 : t._version(); }

// look returns the sizes, strides, offset, dtype and names of a tensor.
std::string look(const at::Tensor& t) {
  std::ostringstream text;
  text << t.sizes() << t.scalar_type();
  if (t.layout() == at::kStrided) text << t.strides() << t.storage_offset();
  if (t.has_names()) text << t.names();
  return text.str();
}

// share reports whether two tensors have bytes in common.
bool share(const at::Tensor& a, const at::Tensor& b) {
  if (a.is_same(b)) return true;
  const char* s = static_cast<const char*>(a.storage().data_ptr().get());
  const char* t = static_cast<const char*>(b.storage().data_ptr().get());
  return a.is_alias_of(b) || std::max(s, t) < std::min(s + a.storage().nbytes(), t + b.storage().nbytes());
}

// covered returns the offsets of a tensor's elements in its storage.
std::set<int64_t> covered(const at::Tensor& t) {
  std::set<int64_t> all{t.storage_offset()};
  for (int64_t d = 0; d < t.dim(); d++) {
    std::set<int64_t> more;
    for (int64_t at : all)
      for (int64_t i = 0; i < t.size(d); i++) more.insert(at + i * t.stride(d));
    all = more;
  }
  return all;
}

// beside reports whether bytes changed that are not elements of t.
bool beside(const std::string& before, const at::Tensor& t) {
  std::string after = memory(t);
  auto elements = covered(t);
  for (size_t i = 0; i < std::min(before.size(), after.size()); i++)
    if (before[i] != after[i] && !elements.count(i / t.itemsize())) return true;
  return false;
}

// beyond reports whether elements of t lie outside its storage.
bool beyond(const at::Tensor& t) {
  if (t.numel() == 0) return false;
  int64_t last = t.storage_offset();
  for (int64_t d = 0; d < t.dim(); d++) last += (t.size(d) - 1) * t.stride(d);
  return t.storage_offset() < 0 || (last + 1) * int64_t(t.itemsize()) > int64_t(t.storage().nbytes());
}

// part returns a part of a tensor.
at::Tensor part(const at::Tensor& t, const std::string& name) {
  bool rows = t.layout() == at::kSparseCsr;
  if (name == "scales") return t.q_per_channel_scales();
  if (name == "zero_points") return t.q_per_channel_zero_points();
  if (name == "indices") return t._indices();
  if (name == "values") return t.layout() == at::kSparse ? t._values() : t.values();
  if (name == "compressed_indices") return rows ? t.crow_indices() : t.ccol_indices();
  if (name == "plain_indices") return rows ? t.col_indices() : t.row_indices();
  if (name == "sizes") return t._nested_tensor_size();
  throw std::runtime_error("a tensor of no part " + name);
}

// tensors returns the tensors among values, in order.
std::vector<at::Tensor> tensors(const std::vector<c10::IValue>& values) {
  std::vector<at::Tensor> all;
  for (const auto& v : values) {
    if (v.isTensor()) all.push_back(v.toTensor());
    if (v.isList())
      for (const auto& t : tensors(v.toListRef().vec())) all.push_back(t);
  }
  return all;
}

// twins returns values with tensors on meta with the same layouts in their storages.
std::vector<c10::IValue> twins(const std::vector<c10::IValue>& values) {
  static std::map<const void*, at::Tensor> storages, made;
  std::vector<c10::IValue> all;
  for (const auto& v : values) {
    if (v.isList()) {
      c10::impl::GenericList list(v.toList().elementType());
      for (const auto& t : twins(v.toListRef().vec())) list.push_back(t);
      all.push_back(list);
    } else if (v.isDevice()) {
      all.push_back(at::Device("meta"));
    } else if (v.isTensor() && v.toTensor().defined()) {
      at::Tensor t = v.toTensor();
      at::Tensor& base = storages[t.storage().unsafeGetStorageImpl()];
      if (!base.defined()) base = at::empty({int64_t(t.storage().nbytes() / t.itemsize())}, t.options().device(at::kMeta));
      at::Tensor& twin = made[t.unsafeGetTensorImpl()];
      if (!twin.defined()) twin = at::as_strided(base, t.sizes(), t.strides(), t.storage_offset());
      all.push_back(twin);
    } else {
      all.push_back(v);
    }
  }
  return all;
}

// planned returns the sizes, strides and dtypes that a compiler uses.
std::string planned(const std::vector<c10::IValue>& results) {
  std::ostringstream text;
  for (const auto& t : tensors(results)) text << t.sizes() << t.strides() << t.scalar_type();
  return text.str();
}

// shared returns for each result the arguments and results with the same storage.
std::vector<bool> shared(const std::vector<c10::IValue>& args, const std::vector<c10::IValue>& results) {
  std::vector<bool> all;
  for (const auto& r : tensors(results))
    for (const auto& values : {args, results})
      for (const auto& t : tensors(values)) all.push_back(r.is_alias_of(t));
  return all;
}

// elements returns the bytes of a tensor's elements.
std::string elements(const at::Tensor& t) {
  if (at::functionalization::impl::isFunctionalTensor(t)) return elements(at::functionalization::impl::from_functional_tensor(t));
  if (t.is_mkldnn()) return elements(t.to_dense());
  if (t.layout() != at::kStrided) return memory(t);
  return memory((t.is_quantized() ? t.int_repr() : t.detach().resolve_conj().resolve_neg()).contiguous().clone());
}

// follows reports whether bytes depend on the contents of memory, which were equal in the
// first and the last call, and others between them.
bool follows(const std::vector<std::string>& seen) {
  return seen[0] == seen[3] && seen[1] == seen[2] && seen[0] != seen[1];
}

// Allocator is one of PyTorch, in the form of each version: they call different ones of the
// two allocate functions.
struct Allocator : c10::Allocator {
  virtual char* take(size_t n) = 0;
  virtual void freed(void* data) {}
  c10::DataPtr allocate(size_t n) {
    char* data = take(n);
    return {data, data, &leave, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DataPtr allocate(size_t n) const { return const_cast<Allocator*>(this)->allocate(n); }
  c10::DeleterFnPtr raw_deleter() const override { return &leave; }
  void copy_data(void* to, const void* from, std::size_t n) const { std::memcpy(to, from, n); }
  static void leave(void* data) { static_cast<Allocator*>(c10::GetAllocator(c10::DeviceType::CPU))->freed(data); }
};

// Beside is an allocator whose memory ends where pages with a protection begin, or begins
// where they end.
struct Beside final : Allocator {
  Beside(bool behind, int protection) : behind(behind), protection(protection) {}
  char* take(size_t n) override {
    const size_t page = sysconf(_SC_PAGESIZE), guard = 1 << 19, pages = (n + page - 1) / page * page;
    char* first = static_cast<char*>(mmap(nullptr, pages + 2 * guard, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) + guard;
    const size_t align = std::min<size_t>(n & -n, 16);
    if (n == 0) return first;
    mprotect(behind ? first + pages : first - guard, guard, protection);
    return behind ? first + pages - (n + align - 1) / align * align : first;
  }
  bool behind;
  int protection;
};

// Filled is an allocator that fills memory with a byte: before it is written, after it is
// freed, and on both sides of it.
struct Filled final : Allocator {
  struct Room {
    std::vector<char> bytes;
    bool live;
  };
  char* take(size_t n) override {
    rooms().push_back({std::vector<char>(wall + n + wall, byte()), true});
    return rooms().back().bytes.data() + wall;
  }
  void freed(void* data) override {
    for (auto& room : rooms()) {
      if (room.bytes.data() + wall != data) continue;
      room.live = false;
      if (!strays(room, wall)) std::fill(room.bytes.begin(), room.bytes.end(), byte());
    }
  }
  // fill sets the byte.
  static void fill(char c) {
    mallopt(M_PERTURB, byte() = c);
    for (auto& room : rooms()) {
      std::fill(room.bytes.begin(), room.live ? room.bytes.begin() + wall : room.bytes.end(), c);
      std::fill(room.bytes.end() - wall, room.bytes.end(), c);
    }
  }
  // strays reports whether freed memory was written, or memory beside a tensor's.
  static bool strays() {
    return std::any_of(rooms().begin(), rooms().end(), [](const Room& r) { return strays(r, r.live ? wall : r.bytes.size()); });
  }
  // strays reports whether the first or the last n bytes of a room were written.
  static bool strays(const Room& room, size_t n) {
    const auto other = [](char c) { return c != byte(); };
    return std::any_of(room.bytes.begin(), room.bytes.begin() + n, other) || std::any_of(room.bytes.end() - n, room.bytes.end(), other);
  }
  static std::list<Room>& rooms() {
    static auto* all = new std::list<Room>;
    return *all;
  }
  static char& byte() {
    static char c;
    return c;
  }
  static constexpr size_t wall = 4096;
};

// ends returns the exit status of a process that makes the call while all memory of tensors lies
// beside pages with a protection: 2 if the call raises, a negative number for a signal.
int ends(void (*call)(), bool behind, int protection) {
  pid_t child = fork();
  if (child == 0) {
    alarm(60);
    at::set_num_threads(1);
    c10::SetAllocator(c10::DeviceType::CPU, new Beside(behind, protection), UINT8_MAX);
    try {
      call();
    } catch (const std::exception& e) {
      std::printf("the call raises: %s\n", line(e).c_str());
      std::fflush(stdout);
      _exit(2);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

void call(const c10::OperatorHandle& op, std::vector<c10::IValue>& stack) { op.callBoxed(&stack); }
