// fakes.h records calls, one of each kind of arguments, on a device three. When the program ends, its
// Python calls the ops' fakes on such tensors, by replay.py, in a fork that cannot
// affect the program.
#pragma once

#include <ATen/core/stack.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "device.h"
#include "observe.h"
#include "operators.h"
#include "record.h"

namespace opassert {

// A Kind identifies a call's arguments: roughly, and with each size and number,
// without values of floats and strings.
class Kind {
  static uint64_t mixed(uint64_t h, uint64_t word) { return ((h ^ word) * 0x9E3779B97F4A7C15u) ^ h >> 29; }

  void note(uint64_t word) { sort = mixed(sort, word); }

  void number(int64_t n) {
    note(n < 0 ? 3 : std::min<int64_t>(n, 2));
    whole = mixed(whole, n);
  }

  void add(const at::Tensor& t) {
    const auto* impl = t.unsafeGetTensorImpl();
    written = written && has_numbers(impl) && t.layout() == at::kStrided && !t.is_quantized() && !impl->key_set().has_any(kOdd);
    if (!written) return;
    elsewhere = elsewhere || !(t.is_cpu() || t.is_meta());
    note(uint64_t(t.scalar_type()) << 32 | uint64_t(t.device().type()) << 16 | uint64_t(t.device().index() + 1));
    note(t.dim() * 2 + t.is_contiguous());
    for (int64_t size : t.sizes()) number(size);
    for (int64_t stride : t.strides()) whole = mixed(whole, stride);
  }

 public:
  static constexpr c10::DispatchKeySet kOdd = kLazy | c10::DispatchKeySet({DispatchKey::Functionalize, DispatchKey::NestedTensor});

  uint64_t sort = 0xcbf29ce484222325, whole = sort;
  bool written = true;     // all arguments can be encoded
  bool elsewhere = false;  // one is on a device, whose kernel may be compared with the CPU's

  void add(const c10::IValue& v) {
    if (v.isTensor() && v.toTensor().defined()) return add(v.toTensor());
    if (v.isInt()) return number(v.toInt());
    if (v.isBool()) return note(4 + v.toBool());
    if (!v.isList()) return note(8);
    number(v.toListRef().size());
    for (const c10::IValue& e : v.toListRef()) add(e);
  }
};

// Json writes values for replay.py, and tensors for engine.ReadFake, with the bytes
// of storages on a device if requested.
struct Json {
  std::string text;
  bool keeps = false;

  static constexpr size_t kKept = 64 << 10, kRoom = 64 << 20;  // per storage, and for all calls
  static inline std::atomic<size_t> kept{0};

  void bytes(const c10::StorageImpl* storage) {
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

  void string(const std::string& s) {
    text += '"';
    for (unsigned char c : s) {
      char escaped[8];
      snprintf(escaped, sizeof escaped, c < ' ' || c == '"' || c == '\\' ? "\\u%04x" : "%c", c);
      text += escaped;
    }
    text += '"';
  }

  template <class L, class F>
  void list(const L& all, F&& f) {
    text += '[';
    for (const auto& e : all) {
      if (text.back() != '[') text += ',';
      f(e);
    }
    text += ']';
  }

  void number(int64_t n) { text += std::to_string(n); }

  void tensor(const at::Tensor& t) { tensor(t.defined() ? t.unsafeGetTensorImpl() : nullptr); }

  void tensor(at::TensorImpl* impl) {
    if (impl == nullptr) return void(text += "null");
    const auto* storage = has_numbers(impl) && impl->layout() == at::kStrided ? storage_of(impl) : nullptr;
    text += "{\"tensor\":" + std::to_string(reinterpret_cast<int64_t>(impl)) + ",\"storage\":" + std::to_string(reinterpret_cast<int64_t>(storage));
    text += ",\"device\":\"" + impl->device().str() + "\",\"dtype\":\"" + dtype(int64_t(c10::typeMetaToScalarType(impl->dtype()))) + "\"";
    if (storage != nullptr) {
      text += ",\"nbytes\":" + std::to_string(size_of(storage)) + ",\"offset\":" + std::to_string(impl->storage_offset()) + ",\"sizes\":";
      list(impl->sizes(), [&](int64_t n) { text += "[" + std::to_string(n) + "," + std::to_string(n) + "]"; });
      text += ",\"strides\":";
      list(impl->strides(), [&](int64_t n) { number(n); });
      bytes(storage);
    }
    text += '}';
  }

  static std::string dtype(int64_t n) {
    if (n < 0 || n >= kDTypeCount) throw Unwritable();
    return kDTypes[n].name;
  }

  // tensors writes the tensors of an argument or a return, in the form of held() in
  // fakes.py.
  void tensors(const c10::IValue& v) {
    std::vector<at::Tensor> all;
    collect(v, all);
    list(all, [&](const at::Tensor& t) { tensor(t); });
  }

  static void collect(const c10::IValue& v, std::vector<at::Tensor>& all) {
    if (v.isNone()) return all.emplace_back(), void();
    if (v.isTensor()) return all.push_back(v.toTensor());
    if (!v.isList()) return;
    for (const c10::IValue& e : v.toListRef()) collect(e, all);
  }

  // numbers appends the numbers of a return, in the form of numbers() in fakes.py.
  void numbers(const c10::IValue& v) {
    if (v.isList()) {
      for (const c10::IValue& e : v.toListRef()) numbers(e);
    } else if (v.isInt() || v.isBool() || v.isDouble()) {
      if (text.back() != '[') text += ',';
      if (v.isInt()) number(v.toInt());
      if (v.isBool()) text += v.toBool() ? "true" : "false";
      if (v.isDouble()) string(digits(v.toDouble()));
    }
  }

  static std::string digits(double n) {
    char all[40];
    snprintf(all, sizeof all, "%.17g", n);
    return all;
  }

  void as(const char* kind, const std::string& value) {
    text += std::string("{\"") + kind + "\":";
    string(value);
    text += '}';
  }

  void value(const c10::IValue& v, const c10::Type& type) {
    const bool inner = type.kind() == c10::TypeKind::OptionalType || type.kind() == c10::TypeKind::ListType;
    const c10::Type& element = inner ? *type.containedType(0) : type;
    if (v.isNone()) return void(text += "null");
    if (type.kind() == c10::TypeKind::OptionalType) return value(v, element);
    if (v.isTensor()) {
      if (!v.toTensor().defined()) return void(text += "null");
      text += "{\"tensor\":";
      tensor(v.toTensor());
      text += '}';
    } else if (v.isBool()) {
      text += v.toBool() ? "true" : "false";
    } else if (v.isInt()) {
      enumerated(v.toInt(), type.str());
    } else if (v.isDouble()) {
      as("float", digits(v.toDouble()));  // also without a fraction, when it would be read as an int
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

  void enumerated(int64_t n, const std::string& type) {
    static const std::vector<std::string> formats = {"contiguous_format", "preserve_format", "channels_last", "channels_last_3d"};
    if (type == "ScalarType") return as("torch", dtype(n));
    if (type == "MemoryFormat" && n >= 0 && size_t(n) < formats.size()) return as("torch", formats[n]);
    if (type == "Layout") return n == 0 ? as("torch", "strided") : throw Unwritable();
    number(n);
  }
};

// Fakes are the recorded calls whose fakes were not called yet.
class Fakes {
 public:
  // A Begun is an encoded call, with its place if findings are about that line.
  struct Begun {
    Kind kind;
    std::string call, place;
  };

  using Contexts = std::vector<int64_t>;  // contexts of the calls, by kind

  struct Written {
    int64_t op;
    c10::OperatorName name;
    Begun begun;
  };

 private:
  struct Met {
    Contexts contexts;
    size_t recorded = 0;
  };

  std::mutex mutex_;
  std::unordered_map<int64_t, std::unordered_map<uint64_t, std::map<uint64_t, Met>>> met_;  // by operator, by rough kind
  std::vector<Written> written_;
  static constexpr size_t kSorts = 64, kWholes = 8;  // per operator, and per rough kind
  static constexpr size_t kElsewhere = 3;  // calls of each kind on a device, whose difference to the CPU may depend on contents

 public:
  enum Meeting {
    KNOWN,
    NEW,
    TOO_MANY
  };

  Meeting meet(int64_t op, const Kind& kind, int64_t context) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto& sorts = met_[op];
    if (sorts.size() >= kSorts && sorts.count(kind.sort) == 0) return TOO_MANY;
    auto& wholes = sorts[kind.sort];
    if (wholes.size() >= kWholes && wholes.count(kind.whole) == 0) return TOO_MANY;
    Met& met = wholes[kind.whole];
    if (met.contexts.empty() || met.contexts.back() != context) met.contexts.push_back(context);
    if (met.recorded >= (kind.elsewhere ? kElsewhere : 1)) return KNOWN;
    met.recorded++;
    return NEW;
  }

  // forget is for a call that threw: the next one of its kind is recorded.
  void forget(int64_t op, const Kind& kind) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto& wholes = met_[op][kind.sort];
    if (--wholes[kind.whole].recorded == 0) wholes.erase(kind.whole);
  }

  Contexts contexts(const Written& written) {
    std::lock_guard<std::mutex> lock(mutex_);
    return met_[written.op][written.begun.kind.sort][written.begun.kind.whole].contexts;
  }

  // begin records the arguments of a call; add records the results, and the written
  // arguments after the call, by position, with bytes on devices if requested.
  static std::string begin(const c10::FunctionSchema& schema, const torch::jit::Stack& stack, bool keep) {
    const auto& arguments = schema.arguments();
    const auto* given = stack.data() + stack.size() - arguments.size();
    Json json{"{\"op\":"};
    json.string(toString(schema.operator_name()));
    json.text += ",\"values\":";
    json.list(arguments, [&](const c10::Argument& a) { json.value(given[&a - arguments.data()], *a.real_type()); });
    json.keeps = keep;
    json.text += ",\"arguments\":";
    json.list(arguments, [&](const c10::Argument& a) { json.tensors(given[&a - arguments.data()]); });
    return json.text;
  }

  void add(int64_t op, c10::OperatorName name, Begun begun, const std::vector<std::vector<at::TensorImpl*>>& written, const torch::jit::Stack& stack, size_t returns, bool keep) {
    Json json{std::move(begun.call) + ",\"written\":", keep};
    json.list(written, [&](const std::vector<at::TensorImpl*>& of) { json.list(of, [&](at::TensorImpl* impl) { json.tensor(impl); }); });
    json.text += ",\"results\":";
    const c10::ArrayRef<c10::IValue> results(stack.data() + stack.size() - returns, returns);
    json.list(results, [&](const c10::IValue& v) { json.tensors(v); });
    json.text += ",\"numbers\":[";
    for (const c10::IValue& v : results) json.numbers(v);
    json.text += ']';
    std::lock_guard<std::mutex> lock(mutex_);
    written_.push_back({op, std::move(name), {begun.kind, json.text + "}", std::move(begun.place)}});
  }

  // take returns the calls that were recorded since it was called last.
  std::vector<Written> take() {
    std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(written_, {});
  }

  // forked leaves the calls to the parent, and keeps their kinds.
  void forked() {
    new (&mutex_) std::mutex;
    written_.clear();
  }

  // call_all calls run in forks of this process: it calls the fakes from a given call
  // on, and writes a line when it is ready and one for each answer. A fake that ends
  // its fork is left out. tell gets a call and its answer.
  template <class Fork, class Run, class Tell>
  static void call_all(const std::vector<Written>& calls, Fork&& fork, Run&& run, Tell&& tell) {
    std::string all;
    for (const Written& w : calls) all += (all.empty() ? "[" : ",") + w.begun.call;
    bool hangs = false;
    for (size_t first = 0, forks = 0; first < calls.size() && forks < kForks && !hangs; forks++) {
      const std::vector<std::string> answers = answered(fork, hangs, [&](int to) { run(all + "]", first, to); });
      if (answers.empty()) return;
      for (size_t i = 1; i < answers.size() && first < calls.size(); i++, first++) tell(calls[first], answers[i]);
      first++;
    }
  }

 private:
  // Unheard is in scope while SIGCHLD is hidden from the program.
  class Unheard {
    sigset_t ended_, was_, before_;

   public:
    Unheard() {
      sigemptyset(&ended_);
      sigaddset(&ended_, SIGCHLD);
      sigpending(&before_);
      pthread_sigmask(SIG_BLOCK, &ended_, &was_);
    }
    ~Unheard() {
      const timespec none{};
      if (!sigismember(&before_, SIGCHLD)) sigtimedwait(&ended_, nullptr, &none);
      pthread_sigmask(SIG_SETMASK, &was_, nullptr);
    }
  };

  static constexpr time_t kSeconds = 120;  // without an answer
  static constexpr size_t kForks = 16;

  // answered returns the lines that a fork of this process writes, until it ends or hangs.
  template <class Fork, class Run>
  static std::vector<std::string> answered(Fork&& fork, bool& hangs, Run&& run) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return {};
    const Unheard unheard;
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      run(ends[1]);
      _exit(0);
    }
    close(ends[1]);
    std::string text;
    char part[1 << 12];
    pollfd from{ends[0], POLLIN, 0};
    for (time_t last = time(nullptr); child > 0;) {
      hangs = time(nullptr) > last + kSeconds;
      if (hangs) break;
      const int ready = poll(&from, 1, 1000);
      if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
      const ssize_t n = read(ends[0], part, sizeof part);
      if (n <= 0) break;
      text.append(part, n);
      last = time(nullptr);
    }
    close(ends[0]);
    if (child > 0) {
      kill(child, SIGKILL);
      while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
    std::vector<std::string> lines;
    for (size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) lines.push_back(text.substr(at, end - at));
    return lines;
  }
};

}  // namespace opassert
