#include "record.h"

#include <ATen/SparseTensorImpl.h>
#include <ATen/quantized/QTensorImpl.h>
#include <ATen/quantized/Quantizer.h>

#include <map>
#include <set>
#include <vector>

#include "channel.h"
#include "json.h"
#include "observe.h"
#include "operators.h"

namespace opassert::record {
namespace {

using c10::DispatchKey;

// arrangement_of returns the approximate arrangement of a strided tensor.
std::string arrangement_of(const at::Tensor& t) {
  const auto sizes = t.sizes(), strides = t.strides();
  const size_t n = sizes.size();
  if (t.is_contiguous()) return t.storage_offset() == 0 ? "" : arrangement::OFFSET;
  if ((n == 4 && t.is_contiguous(at::MemoryFormat::ChannelsLast)) || (n == 5 && t.is_contiguous(at::MemoryFormat::ChannelsLast3d))) {
    return arrangement::CHANNELS_LAST;
  }
  if (strides[0] == 0) return arrangement::EXPANDED;
  return n >= 2 && strides[n - 2] == 1 && strides[n - 1] == sizes[n - 2] ? arrangement::TRANSPOSED : arrangement::SLICED;
}

// form_of returns the form of a tensor, "" for a plain one.
std::string form_of(const at::Tensor& t) {
  const auto keys = t.key_set();
  switch (t.layout()) {
    case at::kSparse: {
      const auto* coo = static_cast<const at::SparseTensorImpl*>(t.unsafeGetTensorImpl());
      return !coo->coalesced() ? form::COO_UNCOALESCED : (coo->dense_dim() > 0 ? form::COO_HYBRID : form::COO);
    }
    case at::kSparseCsr: return form::CSR;
    case at::kSparseCsc: return form::CSC;
    case at::kSparseBsr: return form::BSR;
    case at::kSparseBsc: return form::BSC;
    case at::kMkldnn: return form::MKLDNN;
    default: break;
  }
  if (t.is_quantized()) {
    auto quantizer = static_cast<at::QTensorImpl*>(t.unsafeGetTensorImpl())->quantizer();
    return dynamic_cast<at::PerChannelAffineQuantizer*>(quantizer.get()) ? form::PER_CHANNEL : form::QUANTIZED;
  }
  if (keys.has(DispatchKey::ZeroTensor)) return form::ZERO;
  if (keys.has(DispatchKey::Conjugate)) return form::CONJ;
  if (keys.has(DispatchKey::Negative)) return form::NEG;
  if (t.is_inference()) return form::INFERENCE;
  if (!names_of(t.unsafeGetTensorImpl()).empty()) return form::NAMED;
  return t.requires_grad() ? form::REQUIRES_GRAD : "";
}

std::string tensor_text(const at::Tensor& t) {
  if (!t.defined()) return "none";
  const auto* impl = t.unsafeGetTensorImpl();
  const bool odd = impl->is_python_dispatch() || impl->key_set().has(DispatchKey::Functionalize) || impl->key_set().has(DispatchKey::NestedTensor);
  if (odd || !has_numbers(impl) || t.is_meta()) throw Unwritable();
  std::string text = t.is_quantized() ? "float32[" : dtype_name(int64_t(t.scalar_type()), true) + "[";
  for (int64_t size : t.sizes()) text += (text.back() == '[' ? "" : ", ") + std::to_string(size);
  text += "]" + (t.layout() == at::kStrided ? arrangement_of(t) : "");
  return text + form_of(t);
}

// number_text returns how a number of a type is written, which may be an enumerator.
std::string number_text(int64_t n, const std::string& type) {
  static const auto& enumerators = *new std::map<std::string, std::vector<std::string>>{
      {"Layout", {"layout:strided", "layout:sparse_coo", "layout:sparse_csr", "layout:_mkldnn", "layout:sparse_csc", "layout:sparse_bsr", "layout:sparse_bsc"}},
      {"MemoryFormat", {"format:contiguous_format", "format:preserve_format", "format:channels_last", "format:channels_last_3d"}},
      {"QScheme", {"qscheme:per_tensor_affine", "qscheme:per_channel_affine"}}};
  if (type == "ScalarType") return "dtype:" + dtype_name(n, true);
  const auto of = enumerators.find(type);
  if (of == enumerators.end()) return std::to_string(n);
  if (n < 0 || n >= int64_t(of->second.size())) throw Unwritable();
  return of->second[n];
}

std::string argument_text(const c10::IValue& v, const c10::Type& type) {
  const bool inner = type.kind() == c10::TypeKind::OptionalType || type.kind() == c10::TypeKind::ListType;
  const c10::Type& element = inner ? *type.containedType(0) : type;
  if (v.isNone()) return "none";
  if (type.kind() == c10::TypeKind::OptionalType) return argument_text(v, element);
  if (v.isTensor()) return tensor_text(v.toTensor());
  if (v.isBool()) return v.toBool() ? "true" : "false";
  if (v.isInt()) return number_text(v.toInt(), type.str());
  if (v.isDouble()) return double_text(v.toDouble());
  if (v.isGenerator()) return "generator";
  if (v.isDevice() && !v.toDevice().is_meta()) return "device:cpu";  // where check makes tensors
  if (v.isString()) {
    std::string text;
    for (char c : v.toStringRef()) {
      if (c == US) throw Unwritable();
      text += c == '\'' ? "''" : std::string(1, c);
    }
    return "'" + text + "'";
  }
  if (!v.isList()) throw Unwritable();
  std::string text = "[";
  for (const c10::IValue& item : v.toListRef()) text += (text == "[" ? "" : ", ") + argument_text(item, element);
  return text + "]";
}

// number_of is a hash of a text, the same in every process.
uint64_t number_of(const std::string& text) {
  uint64_t h = 0xcbf29ce484222325;  // FNV-1a
  for (unsigned char c : text) h = (h ^ c) * 0x100000001b3;
  return h ^ h >> 32;
}

Mutex mutex;
auto& kept_calls = *new std::map<int64_t, std::set<uint64_t>>;  // by operator

// take reports whether a call is new and, as far as this process knows, kept.
bool take(int64_t op, uint64_t number, size_t most) {
  std::lock_guard<std::mutex> lock(mutex);
  auto& kept = kept_calls[op];
  if (kept.size() >= most && number > *kept.rbegin()) return false;
  const bool added = kept.insert(number).second;
  if (kept.size() > most) kept.erase(std::prev(kept.end()));
  return added;
}

}  // namespace

std::string text(const c10::FunctionSchema& schema, const torch::jit::Stack& stack, bool numbers) {
  std::string text;
  const size_t n = schema.arguments().size();
  for (size_t i = 0; i < n; i++) {
    const auto& arg = schema.arguments()[i];
    const c10::IValue& v = stack[stack.size() - n + i];
    const bool number = v.isInt() || v.isDouble() || v.isBool();
    if (number || !numbers) text += arg.name() + (numbers ? '=' : US) + argument_text(v, *arg.real_type()) + US;
  }
  return text;
}

void keep(int64_t op, const std::string& text, size_t most) {
  const uint64_t number = number_of(text);
  if (take(op, number, most)) channel::send(FRAME_RECORD, words_of(Recorded{op, int64_t(number)}) + text);
}

}  // namespace opassert::record
