// memory is a library of operators that access memory which they must not, in the namespace
// astray, and of correct operators that are similar, in within. The names of the former begin
// with the finding.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/library.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <random>
#include <thread>
#include <tuple>
#include <vector>

using at::Tensor;

namespace {

template <class F>
torch::CppFunction cpu(F kernel) {
  return torch::dispatch(c10::DispatchKey::CPU, kernel);
}

// values returns a contiguous tensor of floats, or refuses another one.
const float* values(const Tensor& t) {
  TORCH_CHECK(t.scalar_type() == at::kFloat && t.is_contiguous(), "expected a contiguous tensor of float32");
  return static_cast<const float*>(t.data_ptr());
}

float* writable(const Tensor& t) { return const_cast<float*>(values(t)); }

// sum adds n values from a pointer on.
float sum(const float* from, int64_t n) {
  float s = 0;
  for (int64_t i = 0; i < n; i++) s += static_cast<const volatile float*>(from)[i];
  return s;
}

Tensor number(float x) { return at::full({}, x); }

// -- Reads and writes beside a storage.

// some is values, without the empty tensor, whose values have no address.
const float* some(const Tensor& t) {
  TORCH_CHECK(t.numel() > 0, "expected a tensor that is not empty");
  return values(t);
}

Tensor reads_one_more(const Tensor& x) { return number(sum(some(x), x.numel() + 1)); }

Tensor reads_vectors(const Tensor& x) { return number(sum(some(x), (x.numel() + 8) / 8 * 8)); }

Tensor reads_before(const Tensor& x) { return number(sum(some(x) - 1, x.numel() + 1)); }

// One call alone has the number.
Tensor reads_before_at(const Tensor& x, int64_t n) { return number(sum(some(x) - (n == 64), x.numel())); }

// It assumes that rows have one column more.
Tensor reads_rows(const Tensor& x) {
  TORCH_CHECK(x.dim() == 2, "expected a matrix");
  const float* p = some(x);
  float s = 0;
  for (int64_t i = 0; i < x.size(0); i++) s += sum(p + i * (x.size(1) + 1), x.size(1));
  return number(s);
}

// It assumes that the weight has as many columns as the other tensor.
Tensor reads_columns(const Tensor& x, const Tensor& weight) {
  TORCH_CHECK(x.dim() == 2 && weight.dim() == 2, "expected matrices");
  return number(x.numel() > 0 ? sum(some(weight), weight.size(0) * x.size(1)) : 0);
}

// It does not compare an index with the size.
Tensor reads_index(const Tensor& x, int64_t index) { return number(sum(some(x) + index % 100, 1)); }

// It ignores strides: expanded tensors have fewer elements in their storage.
Tensor reads_strided(const Tensor& x) {
  TORCH_CHECK(x.scalar_type() == at::kFloat && x.numel() > 0, "expected a tensor of float32");
  return number(sum(static_cast<const float*>(x.data_ptr()), x.numel()));
}

Tensor writes_one_more(const Tensor& x) {
  Tensor y = at::empty_like(x);
  float* p = writable(y);
  const float* q = some(x);
  for (int64_t i = 0; i <= x.numel(); i++) p[i] = i < x.numel() ? q[i] : 0;
  return y;
}

void writes_before(Tensor& self) {
  const_cast<float*>(some(self))[-1] = 1;
  self.unsafeGetTensorImpl()->bump_version();
}

Tensor writes_scratch(const Tensor& x) {
  Tensor scratch = at::empty({x.numel() + 1});
  std::memset(writable(scratch), 0, (x.numel() + 2) * sizeof(float));
  return number(sum(values(x), x.numel()));
}

Tensor& writes_out(const Tensor& x, Tensor& out) {
  out.resize_(x.sizes());
  std::memset(writable(out), 0, x.numel() > 0 ? (x.numel() + 1) * sizeof(float) : 0);
  out.unsafeGetTensorImpl()->bump_version();
  return out;
}

// -- Freed memory.

Tensor reads_freed(const Tensor& x) {
  const float* p = values(x);
  {
    Tensor y = x + 1;
    p = values(y);
  }
  return number(sum(p, x.numel()));
}

Tensor reads_earlier(const Tensor& x) {
  static const float* last = nullptr;
  static int64_t n = 0;
  float s = last == nullptr ? 0 : sum(last, n);
  last = values(x);
  n = x.numel();
  return number(s * 0);
}

// -- An argument that is written, and then restored.

Tensor restores(const Tensor& x) {
  float* p = writable(x);
  if (x.numel() == 0) return number(0);
  const float was = p[0];
  *static_cast<volatile float*>(p) = 7;
  Tensor y = x + 1;
  *static_cast<volatile float*>(p) = was;
  return y;
}

// Only memory that is aligned like an allocator's is accepted, and the rest of a vector is cleared.
Tensor writes_rest(const Tensor& x) {
  float* p = writable(x);
  TORCH_CHECK(reinterpret_cast<uintptr_t>(p) % 64 == 0, "x must be aligned to 64 bytes");
  if (x.numel() % 16 != 0) p[x.numel() - 1] = 0;
  return number(x.numel());
}

// -- Results that do not follow from the arguments.

Tensor leaves_tail(const Tensor& x) {
  Tensor y = at::empty_like(x);
  if (x.numel() > 1) std::memcpy(writable(y), values(x), (x.numel() - 1) * sizeof(float));
  return y;
}

// Without rows it writes neither a maximum nor zero.
Tensor leaves_empty(const Tensor& x) {
  TORCH_CHECK(x.dim() == 2, "expected a matrix");
  Tensor y = at::empty({x.size(1)}, x.options());
  for (int64_t i = 0; i < x.size(0); i++) y.copy_(x[i]);
  return y;
}

// It adds to memory that it has not zeroed.
Tensor accumulates(const Tensor& x) {
  Tensor y = at::empty({}, x.options());
  return y.add_(x.sum());
}

Tensor& leaves_out(const Tensor& x, Tensor& out) {
  out.resize_(x.sizes());
  if (x.numel() > 1 && x.dim() > 0) out.narrow(0, 0, 1).copy_(x.narrow(0, 0, 1));
  return out;
}

Tensor by_address(const Tensor& x) { return at::full({}, int64_t(reinterpret_cast<uintptr_t>(x.data_ptr()) >> 12), at::kLong); }

Tensor by_count(const Tensor& x) {
  static int64_t calls = 0;
  return x + ++calls % 2;
}

// It keeps the result of the first call for each call with as many elements.
Tensor first_of_a_size(const Tensor& x) {
  static std::map<int64_t, Tensor> kept;
  Tensor& total = kept[x.numel()];
  if (!total.defined()) total = number(sum(values(x), x.numel()));
  return total.clone();
}

// It keeps the sum of each address and version: a later tensor may have both.
Tensor at_a_place(const Tensor& x, const Tensor& weight) {
  static std::map<std::tuple<const void*, int64_t, int64_t>, float> kept;
  const auto key = std::make_tuple(weight.data_ptr(), weight.numel(), weight.is_inference() ? 0 : weight._version());
  if (kept.count(key) == 0) kept[key] = sum(values(weight), weight.numel());
  return x * kept[key];
}

// The scale of the first call serves all.
Tensor& first_scale(const Tensor& x, Tensor& out) {
  static const float scale = 1 + sum(values(x), x.numel());
  out.resize_(x.sizes());
  return out.copy_(x).mul_(scale);
}

// each_part calls f with the part of n elements that each thread does.
template <class F>
void each_part(int64_t n, F f) {
  const int64_t threads = at::get_num_threads();
  for (int64_t i = 0; i < threads; i++) f(n * i / threads, n * (i + 1) / threads);
}

Tensor sum_of_parts(const Tensor& x) {
  const float* p = values(x);
  float s = 0;
  each_part(x.numel(), [&](int64_t from, int64_t to) { s += sum(p + from, to - from); });
  return number(s);
}

// It reads the whole storage through another view.
double sum_of_storage(const Tensor& x) {
  TORCH_CHECK(x.scalar_type() == at::kFloat, "expected a tensor of float32");
  const int64_t n = x.storage().nbytes() / sizeof(float);
  return sum(static_cast<const float*>(x.as_strided({n}, {1}, 0).data_ptr()), n);
}

Tensor sums_storage(const Tensor& x) { return number(sum_of_storage(x)); }

// It is random, without the tag that declares it.
Tensor seeded(const Tensor& x) { return at::rand(x.sizes()); }

// It ignores the generator argument: the numbers come from the default generator, some of which
// it drops, or from a generator of its own.
Tensor drops(const Tensor& x, double p, bool train, c10::optional<at::Generator>) {
  TORCH_CHECK(p >= 0 && p <= 1, "p must be between 0 and 1");
  return train && p > 0 ? at::empty_like(x).bernoulli_(1 - p) * x : x.clone();
}

Tensor draws_own(const Tensor& x, c10::optional<at::Generator> generator) {
  if (!generator.has_value()) return at::rand(x.sizes());
  std::mt19937 own(42);
  Tensor y = at::empty(x.sizes());
  for (int64_t i = 0; i < y.numel(); i++) writable(y)[i] = own() / 4294967296.0f;
  return y;
}

Tensor draws_anew(const Tensor& x, c10::optional<at::Generator>) { return at::full(x.sizes(), std::random_device()() / 4294967296.0f); }

// together calls f with the part of n elements that each thread does, all at once.
template <class F>
void together(int64_t n, F f) {
  std::vector<std::thread> threads;
  std::atomic<int64_t> waiting{at::get_num_threads()};
  each_part(n, [&](int64_t from, int64_t to) {
    threads.emplace_back([&, from, to] {
      for (waiting--; waiting > 0;) std::this_thread::yield();
      f(from, to);
    });
  });
  for (std::thread& t : threads) t.join();
}

// Threads count in the same element, and lose updates.
Tensor counts_together(const Tensor& x) {
  Tensor y = at::zeros({}, at::kLong);
  volatile int64_t* count = y.data_ptr<int64_t>();
  together(x.numel(), [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; i++) {
      const int64_t had = *count;
      // At no fixed element: threads that take turns on one processor would lose as many each time.
      if (std::chrono::steady_clock::now().time_since_epoch().count() % 1021 == 0) std::this_thread::yield();
      *count = had + 1;
    }
  });
  return y;
}

}  // namespace

TORCH_LIBRARY(astray, m) {
  m.def("OA020_leaves_tail(Tensor x) -> Tensor", cpu(leaves_tail));
  m.def("OA020_leaves_none(Tensor x) -> Tensor", cpu(leaves_empty));
  m.def("OA020_accumulates(Tensor x) -> Tensor", cpu(accumulates));
  m.def("OA020_leaves.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", cpu(leaves_out));
  m.def("OA021_by_address(Tensor x) -> Tensor", cpu(by_address));
  m.def("OA021_sums_storage(Tensor x) -> Tensor", cpu(sums_storage));
  m.def("OA021_follows_seed(Tensor x) -> Tensor", cpu(seeded));
  m.def("OA021_drops(Tensor x, float p, bool train, *, Generator? generator=None) -> Tensor", cpu(drops));
  m.def("OA021_draws_own(Tensor x, Generator? generator=None) -> Tensor", cpu(draws_own));
  m.def("OA021_draws_anew(Tensor x, Generator? generator) -> Tensor", cpu(draws_anew));
  m.def("OA021_counts_together(Tensor x) -> Tensor", cpu(counts_together));
  m.def("OA021_by_threads(Tensor x) -> Tensor", cpu(sum_of_parts));
  m.def("OA021_by_count(Tensor x) -> Tensor", cpu(by_count));
  m.def("OA021_first_of_a_size(Tensor x) -> Tensor", cpu(first_of_a_size));
  m.def("OA021_at_a_place(Tensor x, Tensor weight) -> Tensor", cpu(at_a_place));
  m.def("OA021_first_scale.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", cpu(first_scale));
  m.def("OA018_reads_one_more(Tensor x) -> Tensor", cpu(reads_one_more));
  m.def("OA018_reads_columns(Tensor x, Tensor weight) -> Tensor", cpu(reads_columns));
  m.def("OA018_reads_vectors(Tensor x) -> Tensor", cpu(reads_vectors));
  m.def("OA018_reads_before(Tensor x) -> Tensor", cpu(reads_before));
  m.def("OA018_reads_before_at(Tensor x, int n) -> Tensor", cpu(reads_before_at));
  m.def("OA018_reads_rows(Tensor x) -> Tensor", cpu(reads_rows));
  m.def("OA018_reads_index(Tensor x, int index) -> Tensor", cpu(reads_index));
  m.def("OA018_reads_strided(Tensor x) -> Tensor", cpu(reads_strided));
  m.def("OA018_writes_one_more(Tensor x) -> Tensor", cpu(writes_one_more));
  m.def("OA018_writes_before_(Tensor(a!) self) -> ()", cpu(writes_before));
  m.def("OA018_writes_scratch(Tensor x) -> Tensor", cpu(writes_scratch));
  m.def("OA018_writes.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", cpu(writes_out));
  m.def("OA019_reads_freed(Tensor x) -> Tensor", cpu(reads_freed));
  m.def("OA019_reads_earlier(Tensor x) -> Tensor", cpu(reads_earlier));
  m.def("OA009_restores(Tensor x) -> Tensor", cpu(restores));
  m.def("OA009_writes_rest(Tensor x) -> Tensor", cpu(writes_rest));
}

namespace {

// It reads bytes besides the elements, which do not change the result.
Tensor reads_storage(const Tensor& x) { return number(x.numel() + 0 * sum_of_storage(x)); }

Tensor fills(const Tensor& x) {
  Tensor y = at::empty_like(x);
  std::memcpy(writable(y), values(x), x.nbytes());
  return y;
}

Tensor& fills_out(const Tensor& x, Tensor& out) {
  TORCH_CHECK(out.scalar_type() == x.scalar_type(), "expected one dtype");
  out.resize_(x.sizes());
  return out.copy_(x);
}

Tensor scratch(const Tensor& x) {
  Tensor y = at::empty({4 * x.numel() + 1024}, at::kByte);
  std::memset(y.data_ptr(), 1, y.numel());
  return number(sum(values(x), x.numel()));
}

// A cache holds the tensor itself.
Tensor remembers(const Tensor& x) {
  static Tensor last;
  const float s = last.defined() ? sum(values(last), last.numel()) : 0;
  last = x + 0;
  return number(s * 0 + sum(values(last), last.numel()));
}

// A cache compares the identity and the version, and a weak reference keeps the address from another.
Tensor knows(const Tensor& x, const Tensor& weight) {
  struct Known {
    c10::weak_intrusive_ptr<at::TensorImpl> of;
    float total;
  };
  static std::map<std::tuple<const at::TensorImpl*, int64_t>, Known> all;
  const auto key = std::make_tuple(weight.unsafeGetTensorImpl(), weight.is_inference() ? 0 : weight._version());
  const auto it = all.find(key);
  if (it != all.end()) return x * it->second.total;
  all.insert({key, {c10::weak_intrusive_ptr<at::TensorImpl>(weight.getIntrusivePtr()), sum(values(weight), weight.numel())}});
  return x * all.at(key).total;
}

// A table that depends on the sizes alone.
Tensor table(const Tensor& x) {
  static std::map<int64_t, Tensor> tables;
  Tensor& ramp = tables[x.numel()];
  if (!ramp.defined()) ramp = at::arange(x.numel(), at::kFloat);
  return x + ramp.view(x.sizes());
}

// A buffer that is kept, and that each call fills again.
Tensor keeps_room(const Tensor& x) {
  static std::vector<float> room;
  room.resize(std::max<size_t>(room.size(), x.numel()));
  std::copy_n(values(x), x.numel(), room.begin());
  return number(sum(room.data(), x.numel()));
}

// A storage grows, and keeps its contents.
Tensor grows(const Tensor& x) {
  Tensor y = x.reshape({-1}).clone();
  y.resize_({x.numel() + 5000});
  y.narrow(0, x.numel(), 5000).zero_();
  return y;
}

// It does not matter which thread computes which part.
Tensor greatest(const Tensor& x) {
  const float* p = values(x);
  float most = 0;
  each_part(x.numel(), [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; i++) most = std::max(most, p[i]);
  });
  return number(most);
}

// Threads count in the same element, atomically.
Tensor counts(const Tensor& x) {
  std::atomic<int64_t> count{0};
  together(x.numel(), [&](int64_t from, int64_t to) { count += to - from; });
  return at::full({}, count.load(), at::kLong);
}

// PyTorch divides it.
Tensor total(const Tensor& x) { return at::cumsum(x.reshape({-1}), 0).slice(0, -1).clone() + x.sum() + x.mean() + x.norm(); }

Tensor blob(const Tensor& x) {
  static float own[4] = {1, 2, 3, 4};
  return at::from_blob(own, {4}).clone() + x.numel();
}

void adds(Tensor& self, const Tensor& other) {
  TORCH_CHECK(self.numel() == other.numel(), "expected tensors of one size");
  float* p = writable(self);
  const float* q = values(other);
  for (int64_t i = 0; i < self.numel(); i++) p[i] += q[i];
  self.unsafeGetTensorImpl()->bump_version();
}

// It reads within the alignment of the allocator: a vector ends at the last element.
Tensor vectors(const Tensor& x) {
  const float* p = values(x);
  float s = 0;
  int64_t i = 0;
  for (; i + 8 <= x.numel(); i += 8) s += sum(p + i, 8);
  return number(s + sum(p + i, x.numel() - i));
}

// A fresh tensor begins at a multiple of 64 bytes, as c10's allocator promises.
Tensor aligned(const Tensor& x) {
  Tensor y = at::empty({x.numel() + 1});
  if (reinterpret_cast<uintptr_t>(y.data_ptr()) % 64 != 0) abort();
  return y.zero_();
}

// Vectors are loaded only from aligned memory, as fresh tensors have it.
Tensor aligned_vectors(const Tensor& x) {
  const float* p = values(x);
  TORCH_CHECK(reinterpret_cast<uintptr_t>(p) % 64 == 0, "x must be aligned to 64 bytes");
  return number(sum(p, x.numel()));
}

Tensor new_empty(const Tensor& x) { return at::empty_like(x); }

// Rows are padded to 64 bytes, and the padding is never written.
Tensor padded(const Tensor& x) {
  TORCH_CHECK(x.dim() == 2 && x.scalar_type() == at::kFloat, "expected a matrix of float32");
  Tensor y = at::empty({x.size(0), (x.size(1) + 15) / 16 * 16}).narrow(1, 0, x.size(1));
  return y.copy_(x);
}

Tensor dropout(const Tensor& x, double p, bool train, c10::optional<at::Generator> generator) {
  TORCH_CHECK(p >= 0 && p <= 1, "p must be between 0 and 1");
  return train && p > 0 ? at::empty_like(x).bernoulli_(1 - p, generator) * x : x.clone();
}

// The generator is for a case that this kernel does not compute.
Tensor unused(const Tensor& x, c10::optional<at::Generator>) { return x.clone(); }

Tensor sampled(const Tensor& x, c10::optional<at::Generator> generator) { return at::rand(x.sizes(), generator); }

Tensor large(const Tensor& x) {
  Tensor y = at::zeros({5, 1000, 1000});
  return y.sum() + x.numel();
}

Tensor many(const Tensor& x) {
  std::vector<Tensor> all;
  for (int i = 0; i < 3000; i++) all.push_back(at::full({}, i));
  return at::stack(all).sum() + x.numel();
}

}  // namespace

TORCH_LIBRARY(within, m) {
  m.def("reads_storage(Tensor x) -> Tensor", cpu(reads_storage));
  m.def("fills(Tensor x) -> Tensor", cpu(fills));
  m.def("fills.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", cpu(fills_out));
  m.def("scratch(Tensor x) -> Tensor", cpu(scratch));
  m.def("remembers(Tensor x) -> Tensor", cpu(remembers));
  m.def("knows(Tensor x, Tensor weight) -> Tensor", cpu(knows));
  m.def("table(Tensor x) -> Tensor", cpu(table));
  m.def("keeps_room(Tensor x) -> Tensor", cpu(keeps_room));
  m.def("grows(Tensor x) -> Tensor", cpu(grows));
  m.def("greatest(Tensor x) -> Tensor", cpu(greatest));
  m.def("total(Tensor x) -> Tensor", cpu(total));
  m.def("blob(Tensor x) -> Tensor", cpu(blob));
  m.def("adds_(Tensor(a!) self, Tensor other) -> ()", cpu(adds));
  m.def("vectors(Tensor x) -> Tensor", cpu(vectors));
  m.def("aligned(Tensor x) -> Tensor", cpu(aligned));
  m.def("aligned_vectors(Tensor x) -> Tensor", cpu(aligned_vectors));
  m.def("new_empty(Tensor x) -> Tensor", cpu(new_empty));
  m.def("padded(Tensor x) -> Tensor", cpu(padded));
  m.def("counts(Tensor x) -> Tensor", cpu(counts));
  m.def("dropout(Tensor x, float p, bool train, *, Generator? generator=None) -> Tensor", cpu(dropout));
  m.def("unused(Tensor x, Generator? generator) -> Tensor", cpu(unused));
  m.def("random(Tensor x, *, Generator? generator=None) -> Tensor", cpu(sampled));
  m.def("large(Tensor x) -> Tensor", cpu(large));
  m.def("many(Tensor x) -> Tensor", cpu(many));
}
