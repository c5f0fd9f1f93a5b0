// methods is a library of custom classes: the methods of Broken have findings, and those
// of Sound, which may keep their arguments, have none.
#include <ATen/ATen.h>
#include <torch/custom_class.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

using at::Tensor;

namespace {

struct Broken : torch::CustomClassHolder {
  int64_t by;
  explicit Broken(int64_t b) : by(b) {}

  Tensor writes(const Tensor& x) { return x.add_(by).clone(); }
  void writes_second(const Tensor& x, const Tensor& y) { y.zero_(); }
  Tensor writes_list(const std::vector<Tensor>& xs) { return xs.at(0).zero_().clone(); }
  Tensor writes_optional(const Tensor& x, const c10::optional<Tensor>& bias) { return bias ? x + bias->mul_(2) : x.clone(); }
  Tensor returns(const Tensor& x) { return x; }
  Tensor pass(const Tensor& x) { return x; }  // a keyword of schemas and of Python
  Tensor returns_view(const Tensor& x) { return x.view(-1); }
  Tensor returns_detached(const Tensor& x) { return x.detach(); }
  Tensor returns_element(const std::vector<Tensor>& xs) { return xs.at(0); }
  void unsqueezes(const Tensor& x) { x.unsqueeze_(0); }
  Tensor crashes(const Tensor& x) { return x + *reinterpret_cast<volatile int*>(x.dim() - x.dim()); }
};

struct Sound : torch::CustomClassHolder {
  Tensor held = at::ones({2});
  double by;
  std::string mode;
  Sound(double b, std::string m) : by(b), mode(std::move(m)) { TORCH_CHECK(mode == "sum" || mode == "mean", "mode must be 'sum' or 'mean'"); }

  Tensor scaled(const Tensor& x) { return x * by; }
  void keeps(const Tensor& x) { held = x; }
  Tensor kept(const Tensor& x) {
    if (held.sizes() != x.sizes()) held = at::zeros_like(x);
    return held;
  }
  Tensor exchanged(const Tensor& x) { return std::exchange(held, x); }
  Tensor joined(const std::vector<Tensor>& xs) { return at::cat(xs); }
  Tensor biased(const Tensor& x, const c10::optional<Tensor>& bias) { return bias ? x + *bias : x.clone(); }
  int64_t counted(const Tensor& x) { return x.numel(); }
  std::tuple<Tensor, Tensor> both(const Tensor& x) { return {x + 1, x - 1}; }
  Tensor reduced(const Tensor& x) { return mode == "sum" ? x.sum() : x.mean(); }
  double number() { return by; }
};

// A Table is made from a list of any type, and from a matrix with a column for each of its names.
struct Table : torch::CustomClassHolder {
  Table(const c10::IValue& names, const Tensor& values) {
    TORCH_CHECK(names.isList() && names.type()->containedType(0)->kind() == c10::TypeKind::StringType, "names must be a list of str");
    TORCH_CHECK(values.dim() == 2, "`values` must be a 2D tensor");
    TORCH_CHECK(values.size(1) == static_cast<int64_t>(names.toListRef().size()), "the names must have an entry for each column of the values");
  }

  Tensor added(const Tensor& values) {
    TORCH_CHECK(values.dim() == 1, "`values` must be a 1D tensor");
    return values + 1;
  }
};

// decode accepts only the results of encode.
Tensor encode(const Tensor& image) {
  TORCH_CHECK(image.dim() == 3, "image must be a 3D tensor");
  return at::cat({at::full({2}, 137, at::kByte), at::full({1}, image.size(0), at::kByte)});
}

Tensor decode(const Tensor& data) {
  TORCH_CHECK(data.scalar_type() == at::kByte && data.numel() == 3 && data.sum().item<int64_t>() > 274, "no such format");
  return at::zeros({data[2].item<int64_t>()});
}

}  // namespace

TORCH_LIBRARY(methods, m) {
  m.def("encode", encode);
  m.def("decode", decode);
  m.class_<Broken>("Broken")
      .def(torch::init<int64_t>())
      .def("writes", &Broken::writes)
      .def("writes_second", &Broken::writes_second)
      .def("writes_list", &Broken::writes_list)
      .def("writes_optional", &Broken::writes_optional)
      .def("returns", &Broken::returns)
      .def("pass", &Broken::pass)
      .def("returns_view", &Broken::returns_view)
      .def("returns_detached", &Broken::returns_detached)
      .def("returns_element", &Broken::returns_element)
      .def("unsqueezes", &Broken::unsqueezes)
      .def("crashes", &Broken::crashes);
  m.class_<Table>("Table")
      .def(torch::init<c10::IValue, Tensor>(), "", {torch::arg("names"), torch::arg("values")})
      .def("added", &Table::added, "", {torch::arg("values")});
  m.class_<Sound>("Sound")
      .def(torch::init<double, std::string>())
      .def("scaled", &Sound::scaled, "", {torch::arg("x")})
      .def("keeps", &Sound::keeps)
      .def("kept", &Sound::kept)
      .def("exchanged", &Sound::exchanged)
      .def("joined", &Sound::joined)
      .def("biased", &Sound::biased)
      .def("counted", &Sound::counted)
      .def("both", &Sound::both)
      .def("reduced", &Sound::reduced)
      .def("number", &Sound::number)
      .def_static("made", [](const Tensor& x) { return c10::make_intrusive<Sound>(x.numel(), "sum"); })
      .def_pickle([](const c10::intrusive_ptr<Sound>& s) { return s->held; }, [](Tensor) { return c10::make_intrusive<Sound>(1, "sum"); });
}
