// cases is a library of operators whose arguments cannot be guessed, and whose errors
// do not describe them. cases.yaml has arguments for each.
#include <ATen/ATen.h>
#include <torch/custom_class.h>
#include <torch/library.h>

#include <string>
#include <tuple>
#include <vector>

using at::Tensor;

namespace {

Tensor when(bool right) {
  TORCH_CHECK(right, "no");
  return at::ones({2});
}

struct Queue : torch::CustomClassHolder {
  Tensor items;
  std::string order;
  int64_t secret = 0;
  Queue(Tensor i, std::string o) : items(std::move(i)), order(std::move(o)) { TORCH_CHECK(items.dim() == 3, "no queue"); }
};

using QueuePtr = c10::intrusive_ptr<Queue>;

}  // namespace

TORCH_LIBRARY(cases, m) {
  m.class_<Queue>("Queue").def(torch::init<Tensor, std::string>());

  m.def("pack(Tensor items, int secret) -> __torch__.torch.classes.cases.Queue", [](const Tensor& items, int64_t secret) {
    TORCH_CHECK(items.dim() == 3, "no queue");
    auto queue = c10::make_intrusive<Queue>(items, "packed");
    queue->secret = secret;
    return queue;
  });
  m.def("constructed(__torch__.torch.classes.cases.Queue queue) -> Tensor", [](const QueuePtr& q) { return when(q->order == "newest first"); });
  m.def("packed(__torch__.torch.classes.cases.Queue queue) -> Tensor", [](const QueuePtr& q) { return when(q->secret == 4711); });
  m.def("push(__torch__.torch.classes.cases.Queue queue, int digit) -> ()", [](const QueuePtr& q, int64_t digit) { q->secret = 10 * q->secret + digit; });
  m.def("pushed(__torch__.torch.classes.cases.Queue queue) -> Tensor", [](const QueuePtr& q) { return when(q->secret == 345); });
  m.def("filled(__torch__.torch.classes.cases.Queue queue) -> Tensor", [](const QueuePtr& q) { return when(q->secret == 56); });
  m.def("dict(Dict(str, Tensor) named) -> Tensor", [](const c10::Dict<std::string, Tensor>& named) {
    return when(named.contains("key") && named.at("key").dim() == 3 && named.size() == 2);
  });
  m.def("same(__torch__.torch.classes.cases.Queue queue, __torch__.torch.classes.cases.Queue other) -> Tensor", [](const QueuePtr& q, const QueuePtr& other) { return when(q.get() == other.get()); });
  m.def("phase(Scalar z) -> Tensor", [](const at::Scalar& z) { return when(z.toComplexDouble() == c10::complex<double>(0.6, -0.8)); });
  m.def("lengths(Tensor self, Tensor lengths) -> Tensor", [](const Tensor& self, const Tensor& lengths) {
    return when(self.dim() == 2 && self.size(0) > 4 && lengths.numel() > 1 && lengths.min().item<int64_t>() > 0 && lengths.sum().item<int64_t>() == self.size(0));
  });
  m.def("aliases(Dict(str, Tensor) named) -> Tensor", [](const c10::Dict<std::string, Tensor>& named) {
    when(named.contains("key"));
    return named.at("key");
  });
  m.def("writes((Tensor, int) pair) -> Tensor", [](const std::tuple<Tensor, int64_t>& pair) {
    when(std::get<1>(pair) == 4711);
    std::get<0>(pair).fill_(3);
    return at::ones({2});
  });
  m.def("tuple((Tensor, int) pair) -> Tensor", [](const std::tuple<Tensor, int64_t>& pair) { return when(std::get<1>(pair) == 4711); });
  m.def("device(Tensor self, Device on) -> Tensor", [](const Tensor&, c10::Device on) { return when(on == c10::Device(c10::kCUDA, 3)); });
  m.def("generator(Generator? random, int seed) -> Tensor", [](const c10::optional<at::Generator>& random, int64_t seed) {
    return when(random.has_value() && seed == 4711);
  });
  m.def("text(str magic) -> Tensor", [](const std::string& magic) { return when(magic == "it's magic"); });
  m.def("list(int[] magic) -> Tensor", [](const std::vector<int64_t>& magic) { return when(magic == std::vector<int64_t>{8, 6, 4}); });
  m.def("literal(Tensor magic) -> Tensor", [](const Tensor& magic) { return when(magic.equal(at::tensor({3, 1, 4, 1, 5}, at::kLong))); });
  m.def("range(Tensor self) -> Tensor", [](const Tensor& self) {
    return when(self.numel() > 4 && self.scalar_type() == at::kFloat && self.min().item<double>() == 10 && self.max().item<double>() == 10.5);
  });
  m.def("layout(Tensor self) -> Tensor", [](const Tensor& self) {
    return when(self.scalar_type() == at::kDouble && self.sizes() == at::IntArrayRef{1, 2, 3, 5} && self.is_contiguous(at::MemoryFormat::ChannelsLast) && !self.is_contiguous());
  });
  m.def("sizes(Tensor input, Tensor rois, Tensor offsets, int most) -> Tensor", [](const Tensor& input, const Tensor& rois, const Tensor& offsets, int64_t most) {
    int64_t n = rois.dim() == 2 ? rois.size(0) : 0;
    return when(n > 0 && rois.size(1) == 5 && input.dim() == 4 && input.size(0) == n && offsets.dim() == 1 && offsets.size(0) == 3 * n + 1 && most == 2 * n - 1);
  });
  m.def("indices(Tensor values, Tensor index, Tensor offsets) -> Tensor", [](const Tensor& values, const Tensor& index, const Tensor& offsets) {
    if (values.dim() != 2 || index.scalar_type() != at::kLong || index.numel() < values.size(0) || offsets.numel() != values.size(0) + 2) return when(false);
    return when(index.max().item<int64_t>() == values.size(0) - 1 && offsets[0].item<int64_t>() == 0 && offsets[-1].item<int64_t>() == index.numel());
  });
}

// Of two ops in namespaces of PyTorch one is this library's. The other is PyTorch's own, by the path
// of its source: a library may bring more of PyTorch with it.
TORCH_LIBRARY_FRAGMENT(prepacked, m) {
  m.def("of_the_library(Tensor self) -> Tensor", [](const Tensor& self) { return self.clone(); });
}
#line 1 "aten/src/ATen/native/Meanwhile.cpp"
TORCH_LIBRARY_FRAGMENT(quantized, m) {
  m.def("meanwhile(Tensor self) -> Tensor", [](const Tensor& self) { return self.clone(); });
}
