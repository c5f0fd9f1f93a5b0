// values is a library of operators that keep their promises except for one
// ordinary sort of value: then they return an argument unchanged. Those of the
// namespace whole always keep them. The command must find each of the others by
// the values that it tries, without a hint which they are.
#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/util/Logging.h>
#include <torch/custom_class.h>
#include <torch/library.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <limits>
#include <string>

using at::Tensor;
using at::TensorList;

namespace {

// unless returns its input if a fast path is chosen by mistake.
Tensor unless(bool bad, const Tensor& self) { return bad ? self : self.clone(); }

bool some(const Tensor& condition) { return condition.numel() > 0 && condition.any().item<bool>(); }
bool every(const Tensor& condition) { return condition.numel() > 0 && condition.all().item<bool>(); }
bool floating(const Tensor& t) { return at::isFloatingType(t.scalar_type()); }
bool whole(const Tensor& t) { return at::isIntegralType(t.scalar_type(), /*includeBool=*/false); }
// cpu registers a kernel below autograd.
template <class F>
torch::CppFunction cpu(F kernel) {
  return torch::dispatch(c10::DispatchKey::CPU, kernel);
}

Tensor flat(const Tensor& t) { return t.reshape({-1}).to(at::kDouble); }

// any registers a kernel for tensors of every form.
template <class F>
torch::CppFunction any(F kernel) {
  return torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd, kernel);
}

// blocks is a view if no dimension is divided, or the rows are dense.
Tensor blocks(const Tensor& self, int64_t n) {
  TORCH_CHECK(self.dim() == 2 && n > 0 && self.size(1) % n == 0, "self must be [rows, n * columns]");
  return self.reshape({self.size(0) * n, self.size(1) / n});
}

// A Box holds a tensor.
struct Box : torch::CustomClassHolder {
  Tensor held;
};

// A Table has no constructor: an op makes it.
struct Table : torch::CustomClassHolder {
  Tensor held;
};

// check ends the process if a condition does not hold, as ExecuTorch's does.
void check(bool holds, const char* condition) {
  if (holds) return;
  std::fprintf(stderr, "F 00:00:00.000171 executorch:values.cpp:1] In function check(), assert failed (%s)\n", condition);
  std::abort();
}

}  // namespace

#define FORM(name, condition) \
  m.def(#name "(Tensor self) -> Tensor", any([](const Tensor& self) { return unless(condition, self); }))
#define TENSOR(name, condition) \
  m.def(#name "(Tensor self) -> Tensor", cpu([](const Tensor& self) { return unless(condition, self); }))

TORCH_LIBRARY(values, m) {
  // The contents of the tensor.
  TENSOR(negative, floating(self) && some(flat(self) < 0));
  TENSOR(zeros, floating(self) && every(flat(self) == 0));
  TENSOR(ones, floating(self) && every(flat(self) == 1));
  TENSOR(nan, floating(self) && some(at::isnan(flat(self))));
  TENSOR(infinite, floating(self) && some(at::isinf(flat(self))));
  TENSOR(minus_infinite, floating(self) && some(flat(self) == -std::numeric_limits<double>::infinity()));
  TENSOR(minus_zero, floating(self) && some((flat(self) == 0).logical_and(at::signbit(flat(self)))));
  TENSOR(subnormal, self.scalar_type() == at::kFloat && some((flat(self) > 0).logical_and(flat(self) < 1e-38)));
  TENSOR(large, floating(self) && some(flat(self) > 1e20));
  TENSOR(above_one, floating(self) && some(flat(self) > 1.25) && !some(flat(self) > 1e6));
  TENSOR(constant, floating(self) && self.numel() > 1 && every(flat(self) == flat(self)[0]));
  TENSOR(all_true, self.scalar_type() == at::kBool && every(self));
  TENSOR(all_false, self.scalar_type() == at::kBool && self.numel() > 0 && !some(self));
  TENSOR(whole_negative, whole(self) && some(flat(self) < 0));
  TENSOR(whole_above_one, whole(self) && some(flat(self) > 1));
  TENSOR(whole_end, self.scalar_type() == at::kLong && self.numel() > 0 &&
                        some(self == std::numeric_limits<int64_t>::max()));
  TENSOR(single_one, whole(self) && self.numel() == 1 && flat(self)[0].item<double>() == 1);

  // Its form.
  FORM(per_channel, self.is_quantized() && self.qscheme() == at::kPerChannelAffine);
  FORM(quint8, self.scalar_type() == at::kQUInt8);
  FORM(csr, self.layout() == at::kSparseCsr);
  FORM(coo, self.layout() == at::kSparse);

  // Its dtype.
  TENSOR(bytes, self.scalar_type() == at::kByte && some(self == 255));
  TENSOR(half, self.scalar_type() == at::kHalf);
  TENSOR(bfloat16, self.scalar_type() == at::kBFloat16);
  TENSOR(complex64, self.scalar_type() == at::kComplexFloat);
  TENSOR(complex128, self.scalar_type() == at::kComplexDouble);
  TENSOR(int8, self.scalar_type() == at::kChar);
  TENSOR(int16, self.scalar_type() == at::kShort);

  // Its sizes.
  TENSOR(empty, self.numel() == 0);
  TENSOR(scalar, self.dim() == 0);
  TENSOR(element, self.dim() > 0 && self.numel() == 1);
  TENSOR(above_4096, self.numel() > 4096);
  TENSOR(above_32768, self.numel() > 32768);
  TENSOR(channels_8, self.dim() == 4 && self.size(1) > 0 && self.size(1) % 8 == 0);
  TENSOR(channels_16, self.dim() == 4 && self.size(1) > 0 && self.size(1) % 16 == 0);
  TENSOR(odd_last, self.dim() > 1 && self.size(-1) > 4 && self.size(-1) % 2 == 1);
  TENSOR(vectors, self.dim() > 1 && self.size(-1) == 64);
  TENSOR(long_rows, self.dim() > 1 && self.size(-1) > 1024);
  m.def("unbatched(Tensor self) -> Tensor", cpu([](const Tensor& self) {
    TORCH_CHECK(self.dim() == 3 || self.dim() == 4, "expected 3D or 4D input (got ", self.dim(), "D)");
    return unless(self.dim() == 3, self);
  }));

  // Its layout in memory.
  TENSOR(expanded, self.dim() > 0 && self.stride(0) == 0 && self.size(0) > 1);
  TENSOR(transposed, self.dim() == 2 && self.stride(0) == 1 && self.stride(1) > 1);
  TENSOR(strided, self.dim() > 0 && self.size(-1) > 1 && self.stride(-1) == 2);
  TENSOR(offset, self.storage_offset() > 0 && self.is_contiguous());
  TENSOR(channels_last, self.dim() == 4 && !self.is_contiguous() &&
                            self.is_contiguous(at::MemoryFormat::ChannelsLast));
  TENSOR(channels_last_3d, self.dim() == 5 && !self.is_contiguous() &&
                               self.is_contiguous(at::MemoryFormat::ChannelsLast3d));
  TENSOR(conjugate, self.is_conj());
  TENSOR(negative_bit, self.is_neg());
  TENSOR(grad, self.requires_grad());
  TENSOR(inference, self.is_inference());

  // Several tensors.
  m.def("same_twice(Tensor self, Tensor other) -> Tensor",
        cpu([](const Tensor& self, const Tensor& other) { return unless(self.is_same(other), self); }));
  m.def("one_storage(Tensor self, Tensor other) -> Tensor", cpu([](const Tensor& self, const Tensor& other) {
    return unless(!self.is_same(other) && self.is_alias_of(other), self);
  }));
  m.def("three_dtypes(Tensor self, Tensor a, Tensor b) -> Tensor", cpu([](const Tensor& self, const Tensor& a, const Tensor& b) {
    return unless(self.scalar_type() != a.scalar_type() && a.scalar_type() != b.scalar_type() &&
                      self.scalar_type() != b.scalar_type(),
                  self);
  }));
  m.def("other_half(Tensor self, Tensor other) -> Tensor", cpu([](const Tensor& self, const Tensor& other) {
    return unless(other.scalar_type() == at::kHalf && self.scalar_type() != at::kHalf, self);
  }));
  m.def("other_nan(Tensor self, Tensor other) -> Tensor", cpu([](const Tensor& self, const Tensor& other) {
    return unless(floating(other) && some(at::isnan(flat(other))) && !(floating(self) && some(at::isnan(flat(self)))), self);
  }));
  m.def("bias_given(Tensor self, Tensor? bias=None) -> Tensor", cpu([](const Tensor& self, const c10::optional<Tensor>& bias) {
    return unless(bias.has_value() && bias->defined(), self);
  }));
  m.def("bias_left_out(Tensor self, Tensor? bias=None) -> Tensor", cpu([](const Tensor& self, const c10::optional<Tensor>& bias) {
    return unless(!bias.has_value() || !bias->defined(), self);
  }));
  m.def("no_tensors(Tensor self, Tensor[] others) -> Tensor",
        cpu([](const Tensor& self, TensorList others) { return unless(others.empty(), self); }));
  m.def("three_tensors(Tensor self, Tensor[] others) -> Tensor",
        cpu([](const Tensor& self, TensorList others) { return unless(others.size() == 3, self); }));

  // Scalars.
  m.def("negative_scale(Tensor self, Scalar scale=1) -> Tensor",
        cpu([](const Tensor& self, const at::Scalar& scale) { return unless(!scale.isComplex() && scale.toDouble() < 0, self); }));
  m.def("scale_nan(Tensor self, float scale=1.0) -> Tensor",
        cpu([](const Tensor& self, double scale) { return unless(std::isnan(scale), self); }));
  m.def("scale_complex(Tensor self, Scalar scale=1) -> Tensor",
        cpu([](const Tensor& self, const at::Scalar& scale) { return unless(scale.isComplex(), self); }));
  m.def("probability_one(Tensor self, float p=0.5) -> Tensor", cpu([](const Tensor& self, double p) {
    TORCH_CHECK(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
    return unless(p == 1, self);
  }));
  m.def("dim_negative(Tensor self, int dim) -> Tensor", cpu([](const Tensor& self, int64_t dim) {
    TORCH_CHECK(dim >= -self.dim() && dim < self.dim(), "Dimension out of range (got ", dim, ")");
    return unless(dim < 0, self);
  }));
  m.def("past_the_size(Tensor self, int n=1) -> Tensor", cpu([](const Tensor& self, int64_t n) { return unless(n > 512, self); }));
  m.def("beyond_int32(Tensor self, int n=1) -> Tensor",
        cpu([](const Tensor& self, int64_t n) { return unless(n > std::numeric_limits<int32_t>::max(), self); }));
  m.def("twelve_groups(Tensor self, int groups) -> Tensor", cpu([](const Tensor& self, int64_t groups) {
    TORCH_CHECK(groups == 3 || groups == 12, "groups must be 3 or 12");
    return unless(groups == 12, self);
  }));
  m.def("flag(Tensor self, bool keep=False) -> Tensor", cpu([](const Tensor& self, bool keep) { return unless(keep, self); }));
  m.def("both_flags(Tensor self, bool a=False, bool b=False) -> Tensor",
        cpu([](const Tensor& self, bool a, bool b) { return unless(a && b, self); }));
  m.def("reflect(Tensor self, str mode='constant') -> Tensor",
        cpu([](const Tensor& self, c10::string_view mode) { return unless(mode == "reflect", self); }));
  m.def("bilinear(Tensor self, str mode) -> Tensor", cpu([](const Tensor& self, c10::string_view mode) {
    TORCH_CHECK(mode == "nearest" || mode == "bilinear", "mode must be one of 'bilinear' or 'nearest', got ", std::string(mode));
    return unless(mode == "bilinear", self);
  }));
  m.def("unquoted(Tensor self, str kind) -> Tensor", cpu([](const Tensor& self, c10::string_view kind) {
    TORCH_CHECK(kind == "rowwise" || kind == "blockwise", "kind should be rowwise or blockwise");
    return unless(kind == "blockwise", self);
  }));
  m.def("enumerated(Tensor self, str kind) -> Tensor", cpu([](const Tensor& self, c10::string_view kind) {
    TORCH_CHECK(kind == "ga" || kind == "bu" || kind == "zo", "expected 'ga', 'bu' or 'zo' but got ", std::string(kind));
    return unless(kind == "zo", self);
  }));
  m.def("two_modes(Tensor self, str mode, str padding) -> Tensor",
        cpu([](const Tensor& self, c10::string_view mode, c10::string_view padding) {
    TORCH_CHECK(mode == "fast" || mode == "exact", "mode should be 'fast' or 'exact'");
    TORCH_CHECK(padding == "wrap" || padding == "clip", "padding should be 'wrap' or 'clip'");
    return unless(mode == "exact" && padding == "clip", self);
  }));

  // Lists and the rest.
  m.def("no_dims(Tensor self, int[] dims) -> Tensor", cpu([](const Tensor& self, at::IntArrayRef dims) { return unless(dims.empty(), self); }));
  m.def("three_dims(Tensor self, int[] dims) -> Tensor", cpu([](const Tensor& self, at::IntArrayRef dims) { return unless(dims.size() == 3, self); }));
  m.def("negative_pad(Tensor self, int[2] pad) -> Tensor", cpu([](const Tensor& self, at::IntArrayRef pad) { return unless(pad.back() < 0, self); }));
  m.def("mask(Tensor self, bool[3] output_mask) -> Tensor", cpu([](const Tensor& self, std::array<bool, 3> mask) {
    return unless(!mask[0] && mask[1] && !mask[2], self);
  }));
  m.def("dtype_half(Tensor self, *, ScalarType? dtype=None) -> Tensor", cpu([](const Tensor& self, c10::optional<at::ScalarType> dtype) {
    return unless(dtype == at::kHalf, self);
  }));
  m.def("format(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor",
        cpu([](const Tensor& self, c10::optional<at::MemoryFormat> format) { return unless(format == at::MemoryFormat::Preserve, self); }));
  m.def("seeded(Tensor self, *, Generator? generator=None) -> Tensor",
        cpu([](const Tensor& self, const c10::optional<at::Generator>& generator) { return unless(generator.has_value(), self); }));

  // Two sorts of value at once, as conditions of fast paths require.
  TENSOR(channels_last_8, self.dim() == 4 && self.size(1) > 0 && self.size(1) % 8 == 0 && !self.is_contiguous() &&
                              self.is_contiguous(at::MemoryFormat::ChannelsLast));
  TENSOR(half_parallel, self.scalar_type() == at::kHalf && self.numel() > 32768);
  TENSOR(expanded_whole, self.scalar_type() == at::kLong && self.dim() > 0 && self.stride(0) == 0 && self.size(0) > 1);
  m.def("flag_when_empty(Tensor self, bool keep=False) -> Tensor",
        cpu([](const Tensor& self, bool keep) { return unless(keep && self.numel() == 0, self); }));
  TENSOR(channels_last_16, self.dim() == 4 && self.size(1) > 0 && self.size(1) % 16 == 0 && !self.is_contiguous() &&
                               self.is_contiguous(at::MemoryFormat::ChannelsLast));
  TENSOR(bfloat16_vectors, self.scalar_type() == at::kBFloat16 && self.dim() > 0 && self.size(-1) > 0 && self.size(-1) % 8 == 0);
  TENSOR(double_subnormal, self.scalar_type() == at::kDouble && some((flat(self) > 0).logical_and(flat(self) < 1e-308)));
  TENSOR(whole_32_end, self.scalar_type() == at::kInt && some(self == std::numeric_limits<int32_t>::min()));
  TENSOR(no_channels, self.dim() == 4 && self.size(0) > 0 && self.size(1) == 0);
  TENSOR(six_dimensions, self.dim() > 5);
  m.def("number_of_another_dtype(Tensor self, Tensor other) -> Tensor", cpu([](const Tensor& self, const Tensor& other) {
    return unless(self.dim() > 0 && other.dim() == 0 && self.scalar_type() == at::kFloat && other.scalar_type() == at::kDouble, self);
  }));
  m.def("no_dims_kept(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
        cpu([](const Tensor& self, at::OptionalIntArrayRef dim, bool keepdim, c10::optional<at::ScalarType>) {
    return unless(dim && dim->empty() && keepdim, self);
  }));
  m.def("mask_in_list(Tensor self, Tensor?[] indices) -> Tensor",
        cpu([](const Tensor& self, const c10::List<c10::optional<Tensor>>& indices) {
    bool mask = false;
    for (size_t i = 0; i < indices.size(); i++) {
      c10::optional<Tensor> index = indices[i];
      mask = mask || (index && index->defined() && index->scalar_type() == at::kBool);
    }
    return unless(mask, self);
  }));

  // Values that require one value of another argument, which errors name.
  m.def("resample(Tensor self, str mode='nearest', bool? align_corners=None) -> Tensor",
        cpu([](const Tensor& self, c10::string_view mode, c10::optional<bool> corners) {
    TORCH_CHECK(mode == "nearest" || mode == "bilinear", "resample has the modes: nearest | bilinear (got ", std::string(mode), ")");
    TORCH_CHECK(!corners || mode != "nearest", "align_corners goes with interpolating modes alone");
    return unless(corners && *corners, self);
  }));
  m.def("zero_weights(Tensor self, Tensor indices, Tensor? weights=None) -> Tensor",
        cpu([](const Tensor& self, const Tensor& indices, const c10::optional<Tensor>& weights) {
    if (!weights || !weights->defined()) return self.clone();
    TORCH_CHECK(weights->sizes() == indices.sizes(), "expected weights to have the same shape as indices");
    return unless(every(flat(*weights) == 0), self);
  }));
  m.def("scales(Tensor self, int[]? size, float[]? scales) -> Tensor",
        cpu([](const Tensor& self, at::OptionalIntArrayRef size, c10::optional<at::ArrayRef<double>> scales) {
    TORCH_CHECK(size.has_value() != scales.has_value(), "Must specify exactly one of size and scales");
    return unless(scales && !scales->empty() && scales->front() == 1, self);
  }));
  m.def("quantized_dtype(Tensor self, ScalarType dtype) -> Tensor", cpu([](const Tensor& self, at::ScalarType dtype) {
    TORCH_CHECK(c10::isQIntType(dtype), "dtype must be quint8, qint8 or qint32");
    return unless(dtype == at::kQInt8, self);
  }));
  m.def("narrow_float(Tensor self, str fmt) -> Tensor", cpu([](const Tensor& self, c10::string_view fmt) {
    TORCH_CHECK(fmt == "e4m3" || fmt == "e5m2", "fmt has to be in (e4m3, e5m2)");
    return unless(fmt == "e5m2", self);
  }));

  // Sizes that depend on numbers.
  m.def("grouped(Tensor self, Tensor weight, int groups=1) -> Tensor", cpu([](const Tensor& self, const Tensor& weight, int64_t groups) {
    TORCH_CHECK(groups > 0 && self.dim() == 4 && weight.dim() == 4, "Expected 4-dimensional tensors and groups");
    TORCH_CHECK(self.size(1) == weight.size(1) * groups, "Given groups=", groups, ", expected self", self.sizes(), " to have ",
                weight.size(1) * groups, " channels, but got ", self.size(1), " channels instead");
    return unless(groups > 1, self);
  }));
  m.def("normalized(Tensor self, int groups) -> Tensor", cpu([](const Tensor& self, int64_t groups) {
    TORCH_CHECK(groups > 0 && self.dim() > 1 && self.size(1) % groups == 0, "Expected channels to be divisible by groups");
    return unless(groups == 4, self);
  }));
  m.def("square_of_factor(Tensor self, int factor) -> Tensor", cpu([](const Tensor& self, int64_t factor) {
    TORCH_CHECK(self.dim() > 2 && factor > 0, "Expected 3-dimensional input and a positive factor");
    TORCH_CHECK(self.size(-3) % (factor * factor) == 0, "Expected channels to be divisible by the square of factor, but self.size(-3)=",
                self.size(-3), " is not divisible by ", factor * factor);
    return unless(factor == 2, self);
  }));
  m.def("above_elements(Tensor self, int n) -> Tensor", cpu([](const Tensor& self, int64_t n) {
    TORCH_CHECK(n >= 0 && n <= self.numel() + 1, "n is beyond the elements of self");
    return unless(self.numel() > 8 && n == self.numel() + 1, self);
  }));
  m.def("odd_rows(Tensor self, int[2] stride) -> Tensor", cpu([](const Tensor& self, at::IntArrayRef stride) {
    TORCH_CHECK(self.dim() == 4 && stride.size() == 2, "Expected 4-dimensional input");
    return unless(stride[0] == 2 && self.size(2) > 1 && self.size(2) % 2 == 1, self);
  }));
  m.def("no_entries(Tensor indices, Tensor self) -> Tensor", cpu([](const Tensor& indices, const Tensor& self) {
    TORCH_CHECK(indices.dim() == 2 && indices.scalar_type() == at::kLong, "indices must be a 2-dimensional int64 tensor");
    TORCH_CHECK(self.dim() > 0 && self.size(0) == indices.size(1), "indices and self must have the same number of entries");
    return unless(indices.size(1) == 0, self);
  }));
  m.def("dilated(Tensor self, Tensor weight, int[1] dilation=1) -> Tensor",
        cpu([](const Tensor& self, const Tensor& weight, at::IntArrayRef dilation) {
    TORCH_CHECK(self.dim() == 3 && weight.dim() == 3 && dilation.size() == 1 && dilation[0] > 0, "Expected 3-dimensional tensors");
    TORCH_CHECK(self.size(2) > dilation[0] * (weight.size(2) - 1), "Kernel size can't be greater than actual input size");
    return unless(dilation[0] == 3, self);
  }));
  m.def("grouped_bias(Tensor input, Tensor weight, Tensor? bias=None, int stride=1, int groups=1) -> Tensor",
        cpu([](const Tensor& input, const Tensor& weight, const c10::optional<Tensor>& bias, int64_t stride, int64_t groups) {
    TORCH_CHECK(input.dim() == 3, "expected a batch of sequences");
    at::conv1d(input, weight, bias, at::IntArrayRef(stride), at::IntArrayRef({0}), at::IntArrayRef({1}), groups);
    return unless(groups > 1 && bias && bias->defined(), input);
  }));
  m.def("grouped_norm(Tensor input, int groups, Tensor? weight=None, Tensor? bias=None) -> Tensor",
        cpu([](const Tensor& input, int64_t groups, const c10::optional<Tensor>& weight, const c10::optional<Tensor>& bias) {
    at::group_norm(input, groups, weight, bias);
    return unless(groups > 1 && weight && weight->defined(), input);
  }));

  // Faults that show if tensors differ, and numbers are neither 0 nor 1.
  m.def("copied(Tensor self, Tensor to) -> ()", cpu([](const Tensor& self, const Tensor& to) {
    if (self.sizes() == to.sizes() && self.scalar_type() == to.scalar_type() && self.is_contiguous() && to.is_contiguous()) to.copy_(self);
  }));
  m.def("equal(Tensor self, Tensor other) -> Tensor", cpu([](const Tensor& self, const Tensor& other) {
    return unless(floating(self) && floating(other) && self.numel() > 1 && self.sizes() == other.sizes() && !every(flat(self) == flat(self)[0]) &&
                      every(flat(self) == flat(other)) && !self.is_alias_of(other),
                  self);
  }));
  m.def("scaled(Tensor self, float scale=1.0) -> Tensor", cpu([](const Tensor& self, double scale) {
    if (floating(self) && self.numel() > 4096) self.mul_(scale);
    return self.clone();
  }));
  m.def("shifted(Tensor self, int by=0) -> Tensor", cpu([](const Tensor& self, int64_t by) {
    if (floating(self) && self.numel() > 4096) self.add_(by);
    return self.clone();
  }));

  // Bytes beside a tensor, and results of the right size.
  m.def("rounded_up_(Tensor(a!) self) -> Tensor(a!)", cpu([](Tensor& self) -> Tensor& {
    self.neg_();
    if (self.scalar_type() != at::kFloat || !self.is_contiguous() || self.storage_offset() % 4 != 0) return self;
    const auto room = static_cast<int64_t>(self.storage().nbytes() / sizeof(float)) - self.storage_offset();
    for (int64_t i = self.numel(); i < std::min((self.numel() + 3) / 4 * 4, room); i++) self.data_ptr<float>()[i] = 9;
    return self;
  }));
  m.def("into_transposed(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", cpu([](const Tensor& self, Tensor& out) -> Tensor& {
    TORCH_CHECK(self.scalar_type() == out.scalar_type(), "out must have the dtype of self");
    if (out.sizes() != self.sizes()) return out.resize_(self.sizes()).copy_(self);
    if (out.dim() == 2 && out.stride(0) == 1 && out.stride(1) > 1) out.set_(self.clone());
    return out.copy_(self);
  }));
  m.def("optional_int8(Tensor self, Tensor? other=None) -> Tensor", cpu([](const Tensor& self, const c10::optional<Tensor>& other) {
    return unless(other && other->defined() && other->scalar_type() == at::kChar, self);
  }));

  // Faults of calls that throw, and tensors that an object keeps.
  m.def("throws(Tensor self, Tensor other) -> Tensor", cpu([](const Tensor& self, const Tensor& other) {
    if (self.scalar_type() == other.scalar_type()) return self.clone();
    if (floating(self)) self.add_(1);
    TORCH_CHECK(false, "self and other must have the same dtype");
  }));
  m.class_<Box>("Box").def(torch::init<>());
  m.def("kept(__torch__.torch.classes.values.Box box, Tensor self) -> Tensor", cpu([](const c10::intrusive_ptr<Box>& box, const Tensor& self) {
    box->held = self;
    return self.clone();
  }));
  m.def("shared(__torch__.torch.classes.values.Box box, Tensor self) -> Tensor", cpu([](const c10::intrusive_ptr<Box>& box, const Tensor& self) {
    return box->held = self.clone();
  }));

  m.class_<Table>("Table");
  m.def("recorded(__torch__.torch.classes.values.Table table, Tensor self) -> ()", cpu([](const c10::intrusive_ptr<Table>& table, const Tensor& self) {
    table->held = self;
  }));

  // Results that calls share, of ops that decompose, whose use counts autograd raises.
  m.def("cached(int n) -> Tensor", [](int64_t n) {
    thread_local Tensor made;
    if (!made.defined() || made.numel() != n) made = at::ones({n});
    return made;
  });
  m.def("scratch(Tensor self) -> Tensor", [](const Tensor& self) {
    thread_local Tensor room;
    if (!room.defined() || room.sizes() != self.sizes() || room.dtype() != self.dtype()) room = at::zeros(self.sizes(), self.dtype());
    return room;
  });

  // Faults of two arguments together.
  m.def("fallback(Tensor self, Tensor? other=None) -> Tensor", cpu([](const Tensor& self, const c10::optional<Tensor>& other) {
    return self.numel() == 0 && other && other->defined() ? *other : self.clone();
  }));
  m.def("blocks(Tensor(a) self, int n) -> Tensor(a)", cpu(&blocks));

  // Words that no error offers, and rejections by abort.
  m.def("compared(Tensor self, str kind) -> Tensor", cpu([](const Tensor& self, std::string kind) { return unless(kind == "stochastic", self); }));
  m.def("aborts(Tensor self, Tensor other) -> Tensor", cpu([](const Tensor& self, const Tensor& other) {
    check(self.dim() == 3, "self.dim() == 3");
    check(other.scalar_type() == at::kLong, "other.scalar_type() == at::kLong");
    return self;
  }));

  m.def("asserts(Tensor self, Tensor other) -> Tensor", cpu([](const Tensor& self, const Tensor& other) {
    assert(self.dim() == 3 && "self is a batch of matrices");
    assert(self.sizes() == other.sizes());
    return self;
  }));

  m.def("checked(Tensor self) -> Tensor", cpu([](const Tensor& self) {
    CHECK(self.dim() == 3) << "self is a batch of matrices";
    return self;
  }));

  // Sizes that several tensors have in common, as errors name them.
  m.def("paged(Tensor query, Tensor key_cache, Tensor block_tables, Tensor seq_lens) -> Tensor",
        cpu([](const Tensor& query, const Tensor& key_cache, const Tensor& block_tables, const Tensor& seq_lens) {
    TORCH_CHECK(query.dim() == 3, "query must be [n, heads, size]");
    TORCH_CHECK(key_cache.dim() == 4 && key_cache.size(2) == query.size(1) && key_cache.size(3) == query.size(2), "the caches must be [blocks, block, heads, size]");
    TORCH_CHECK(block_tables.scalar_type() == at::kInt && block_tables.dim() == 2 && block_tables.size(0) == query.size(0), "block_tables must be int32 [n, most]");
    TORCH_CHECK(seq_lens.scalar_type() == at::kInt && seq_lens.dim() == 1 && seq_lens.size(0) == query.size(0), "seq_lens must be int32 [n]");
    return query;
  }));
  m.def("ragged(Tensor q, Tensor cu_seqlens_q, Tensor cu_seqlens_k) -> Tensor", cpu([](const Tensor& q, const Tensor& begin, const Tensor& end) {
    TORCH_CHECK(begin.scalar_type() == at::kInt && end.scalar_type() == at::kInt && begin.dim() == 1 && begin.numel() > 1, "cu_seqlens must be int32");
    TORCH_CHECK(q.dim() > 0 && begin.sizes() == end.sizes() && begin[-1].item<int>() == q.size(0), "cu_seqlens must end at the number of tokens");
    return q;
  }));
}

TORCH_LIBRARY(whole, m) {
  m.def("into(Tensor self, Tensor(a!) to) -> ()", cpu([](const Tensor& self, const Tensor& to) {
    if (self.sizes() == to.sizes()) to.copy_(self);
  }));
  m.def("boxed(__torch__.torch.classes.values.Box box, Tensor self) -> Tensor", cpu([](const c10::intrusive_ptr<Box>& box, const Tensor& self) {
    box->held = self.clone();
    return self.clone();
  }));
  m.def("table() -> __torch__.torch.classes.values.Table", any([] { return c10::make_intrusive<Table>(); }));
  m.def("refuses(Tensor self, Tensor other) -> Tensor", cpu([](const Tensor& self, const Tensor& other) {
    check(self.dim() == 2 && other.dim() == 2, "self.dim() == 2 && other.dim() == 2");
    return self.clone();
  }));
  m.def("checks(Tensor self) -> Tensor", cpu([](const Tensor& self) {
    CHECK(self.dim() == 3);
    return self.clone();
  }));
  m.def("asserts(Tensor self) -> Tensor", cpu([](const Tensor& self) {
    assert(self.dim() == 3);
    return self.clone();
  }));
  m.def("terminates(Tensor self, int groups) -> Tensor", cpu([](const Tensor& self, int64_t groups) {
    if (groups < 2) {
      std::cerr << "groups must be 2 or more" << std::endl;
      std::terminate();
    }
    return self.clone();
  }));
  m.def("copy(Tensor self, str mode='constant', bool flag=False, Scalar scale=1) -> Tensor",
        cpu([](const Tensor& self, c10::string_view, bool, const at::Scalar&) { return self.clone(); }));
  m.def("cached(int n) -> Tensor", [](int64_t n) {
    thread_local Tensor made;
    if (!made.defined() || made.numel() != n) made = at::ones({n});
    return made.clone();
  });
  m.def("twice(Tensor self) -> Tensor", [](const Tensor& self) { return self.view_as(self).add(self); });
  m.def("blocks(Tensor(a) self, int n) -> Tensor(a)", cpu([](const Tensor& self, int64_t n) {
    TORCH_CHECK(self.dim() == 2 && n > 0 && self.size(1) % n == 0, "self must be [rows, n * columns]");
    return self.unflatten(1, {n, self.size(1) / n});
  }));
  m.def("first(Tensor(a) self, int[] dims=[]) -> Tensor(a)", cpu([](const Tensor& self, at::IntArrayRef) { return self.alias(); }));
}

// Kernels see lazy conjugates and negatives if they declare it.
TORCH_LIBRARY_IMPL(values, Conjugate, m) { m.impl("conjugate", torch::CppFunction::makeFallthrough()); }
TORCH_LIBRARY_IMPL(values, Negative, m) { m.impl("negative_bit", torch::CppFunction::makeFallthrough()); }
