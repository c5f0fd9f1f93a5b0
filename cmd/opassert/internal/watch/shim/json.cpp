#include "json.h"

#include <atomic>
#include <cstdio>
#include <vector>

#include "device.h"
#include "operators.h"

namespace opassert {
namespace {

constexpr size_t kKept = 64 << 10, kRoom = 64 << 20;  // per storage, and for all calls
std::atomic<size_t> kept{0};

void gather(const c10::IValue& v, std::vector<at::Tensor>& all) {
  if (v.isNone()) return all.emplace_back(), void();
  if (v.isTensor()) return all.push_back(v.toTensor());
  if (!v.isList()) return;
  for (const c10::IValue& e : v.toListRef()) gather(e, all);
}

}  // namespace

std::string dtype_name(int64_t number, bool of_case) {
  if (number < 0 || number >= kDTypeCount || (of_case && !kDTypes[number].writable)) throw Unwritable();
  return kDTypes[number].name;
}

void Json::bytes(const c10::StorageImpl* storage) {
  const size_t n = size_of(storage);
  if (!keeps || n > kKept || kept + n > kRoom || (n > 0 && !on_device(storage))) return;
  const at::Tensor copy = n > 0 ? copied(storage) : at::Tensor();
  if (n > 0 && !copy.defined()) return;
  kept += n;
  text += ",\"bytes\":\"";
  const auto* data = n > 0 ? static_cast<const unsigned char*>(copy.data_ptr()) : nullptr;
  for (size_t i = 0; i < n; i++) {
    for (int half : {data[i] >> 4, data[i] & 15}) text += "0123456789abcdef"[half];
  }
  text += '"';
}

void Json::string(const std::string& s) {
  text += '"';
  for (unsigned char c : s) {
    char escaped[8];
    snprintf(escaped, sizeof escaped, c < ' ' || c == '"' || c == '\\' ? "\\u%04x" : "%c", c);
    text += escaped;
  }
  text += '"';
}

void Json::tensor(TensorImpl* impl) {
  if (impl == nullptr) return void(text += "null");
  const auto* storage = has_numbers(impl) && impl->layout() == at::kStrided ? storage_of(impl) : nullptr;
  text += "{\"tensor\":" + std::to_string(reinterpret_cast<int64_t>(impl)) + ",\"storage\":" + std::to_string(reinterpret_cast<int64_t>(storage));
  text += ",\"device\":\"" + impl->device().str() + "\",\"dtype\":\"" + dtype_name(int64_t(c10::typeMetaToScalarType(impl->dtype()))) + "\"";
  if (storage != nullptr) {
    text += ",\"nbytes\":" + std::to_string(size_of(storage)) + ",\"offset\":" + std::to_string(impl->storage_offset()) + ",\"sizes\":";
    list(impl->sizes(), [&](int64_t n) { text += "[" + std::to_string(n) + "," + std::to_string(n) + "]"; });
    text += ",\"strides\":";
    list(impl->strides(), [&](int64_t n) { number(n); });
    bytes(storage);
  }
  text += '}';
}

void Json::tensors(const c10::IValue& v) {
  std::vector<at::Tensor> all;
  gather(v, all);
  list(all, [&](const at::Tensor& t) { tensor(t.defined() ? t.unsafeGetTensorImpl() : nullptr); });
}

void Json::numbers(const c10::IValue& v) {
  if (v.isList()) {
    for (const c10::IValue& e : v.toListRef()) numbers(e);
  } else if (v.isInt() || v.isBool() || v.isDouble()) {
    if (text.back() != '[') text += ',';
    if (v.isInt()) number(v.toInt());
    if (v.isBool()) text += v.toBool() ? "true" : "false";
    if (v.isDouble()) string(double_text(v.toDouble()));
  }
}

void Json::as(const char* kind, const std::string& value) {
  text += std::string("{\"") + kind + "\":";
  string(value);
  text += '}';
}

void Json::value(const c10::IValue& v, const c10::Type& type) {
  const bool inner = type.kind() == c10::TypeKind::OptionalType || type.kind() == c10::TypeKind::ListType;
  const c10::Type& element = inner ? *type.containedType(0) : type;
  if (v.isNone()) return void(text += "null");
  if (type.kind() == c10::TypeKind::OptionalType) return value(v, element);
  if (v.isTensor()) {
    if (!v.toTensor().defined()) return void(text += "null");
    text += "{\"tensor\":";
    tensor(v.toTensor().unsafeGetTensorImpl());
    text += '}';
  } else if (v.isBool()) {
    text += v.toBool() ? "true" : "false";
  } else if (v.isInt()) {
    enumerated(v.toInt(), type.str());
  } else if (v.isDouble()) {
    as("float", double_text(v.toDouble()));  // also without a fraction, when it would be read as an int
  } else if (v.isDevice()) {
    as("device", v.toDevice().str());
  } else if (v.isString()) {
    string(v.toStringRef());
  } else if (v.isList()) {
    list(v.toListRef(), [&](const c10::IValue& e) { value(e, element); });
  } else {
    throw Unwritable();
  }
}

void Json::enumerated(int64_t n, const std::string& type) {
  static const std::vector<std::string> formats = {"contiguous_format", "preserve_format", "channels_last", "channels_last_3d"};
  if (type == "ScalarType") return as("torch", dtype_name(n));
  if (type == "MemoryFormat" && n >= 0 && size_t(n) < formats.size()) return as("torch", formats[n]);
  if (type == "Layout") return n == 0 ? as("torch", "strided") : throw Unwritable();
  number(n);
}

}  // namespace opassert
