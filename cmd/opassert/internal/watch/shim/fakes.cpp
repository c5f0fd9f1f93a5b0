#include "fakes.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <map>
#include <unordered_map>
#include <utility>

#include "channel.h"
#include "json.h"
#include "keys.h"
#include "python.h"
#include "site.h"

namespace opassert {
namespace fakes {
namespace {

using c10::IValue;

// A Written is an encoded call whose fake was not called yet, with its place if findings are about that line.
struct Written {
  int64_t op;
  c10::OperatorName name;
  Kind kind;
  std::string call, place;
};

struct Met {
  std::vector<int64_t> contexts;  // of the calls
  size_t recorded = 0;
};

constexpr size_t kSorts = 64, kWholes = 8;  // per operator, and per rough kind
constexpr size_t kElsewhere = 3;            // calls of each kind on a device, whose difference to the CPU may depend on contents
Mutex mutex;
auto& met = *new std::unordered_map<int64_t, std::unordered_map<uint64_t, std::map<uint64_t, Met>>>;  // by operator, by rough kind
auto& all_written = *new std::vector<Written>;

uint64_t mixed(uint64_t h, uint64_t word) { return ((h ^ word) * 0x9E3779B97F4A7C15u) ^ h >> 29; }

void note(Kind& kind, uint64_t word) { kind.sort = mixed(kind.sort, word); }

void number(Kind& kind, int64_t n) {
  note(kind, n < 0 ? 3 : std::min<int64_t>(n, 2));
  kind.whole = mixed(kind.whole, n);
}

void add(Kind& kind, const at::Tensor& t) {
  constexpr c10::DispatchKeySet odd = kLazy | c10::DispatchKeySet({DispatchKey::Functionalize, DispatchKey::NestedTensor});
  const auto* impl = t.unsafeGetTensorImpl();
  kind.written = kind.written && has_numbers(impl) && t.layout() == at::kStrided && !t.is_quantized() && !impl->key_set().has_any(odd);
  if (!kind.written) return;
  kind.elsewhere = kind.elsewhere || !(t.is_cpu() || t.is_meta());
  note(kind, uint64_t(t.scalar_type()) << 32 | uint64_t(t.device().type()) << 16 | uint64_t(t.device().index() + 1));
  note(kind, t.dim() * 2 + t.is_contiguous());
  for (int64_t size : t.sizes()) number(kind, size);
  for (int64_t stride : t.strides()) kind.whole = mixed(kind.whole, stride);
}

void add(Kind& kind, const IValue& v) {
  if (v.isTensor() && v.toTensor().defined()) return add(kind, v.toTensor());
  if (v.isInt()) return number(kind, v.toInt());
  if (v.isBool()) return note(kind, 4 + v.toBool());
  if (!v.isList()) return note(kind, 8);
  number(kind, v.toListRef().size());
  for (const IValue& e : v.toListRef()) add(kind, e);
}

enum Meeting {
  KNOWN,
  NEW,
  TOO_MANY
};

Meeting meet(int64_t op, const Kind& kind, int64_t context) {
  std::lock_guard<std::mutex> lock(mutex);
  auto& sorts = met[op];
  if (sorts.size() >= kSorts && sorts.count(kind.sort) == 0) return TOO_MANY;
  auto& wholes = sorts[kind.sort];
  if (wholes.size() >= kWholes && wholes.count(kind.whole) == 0) return TOO_MANY;
  Met& of = wholes[kind.whole];
  if (of.contexts.empty() || of.contexts.back() != context) of.contexts.push_back(context);
  if (of.recorded >= (kind.elsewhere ? kElsewhere : 1)) return KNOWN;
  of.recorded++;
  return NEW;
}

std::string begun(const c10::FunctionSchema& schema, const torch::jit::Stack& stack, bool keep) {
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

std::string ended(const std::string& begun, const torch::jit::Stack& stack, size_t returns, const std::vector<std::vector<TensorImpl*>>& written, bool keep) {
  Json json{begun + ",\"written\":", keep};
  json.list(written, [&](const std::vector<TensorImpl*>& of) { json.list(of, [&](TensorImpl* impl) { json.tensor(impl); }); });
  json.text += ",\"results\":";
  const c10::ArrayRef<IValue> results(stack.data() + stack.size() - returns, returns);
  json.list(results, [&](const IValue& v) { json.tensors(v); });
  json.text += ",\"numbers\":[";
  for (const IValue& v : results) json.numbers(v);
  return json.text + "]}";
}

// is_its_fake reports whether the kernel of an operator is its fake, as it is for every device, in a program that
// compiles nothing. An operator with a registered fake has a kernel for Meta.
bool is_its_fake(const c10::OperatorName& name) {
  const auto handle = c10::Dispatcher::singleton().findSchema(name);
  const auto has = [&](DispatchKey key) { return handle->hasKernelForDispatchKey(key); };
  return handle && !operators::own(name.name) && !has(DispatchKey::Meta) && (has(DispatchKey::CompositeExplicitAutograd) || has(DispatchKey::CompositeExplicitAutogradNonFunctional)) &&
         !python::has_module("torch._dynamo");
}

constexpr const char* kItsFake = R"({"unknown":"the op's kernel is its fake, and the program compiles nothing"})";

void tell(const Written& call, const std::string& answer) {
  std::vector<int64_t> numbers{call.op, 0};
  {
    std::lock_guard<std::mutex> lock(mutex);
    const auto& contexts = met[call.op][call.kind.sort][call.kind.whole].contexts;
    numbers.insert(numbers.end(), contexts.begin(), contexts.end());
    numbers[1] = contexts.size();
  }
  const std::string head(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(int64_t));
  channel::send(FRAME_FAKE, head + call.call + "\n" + answer + "\n" + call.place);
}

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

// replay calls the fakes from a given call on, in a fork, and writes a line when it is ready and one for each answer.
[[noreturn]] void replay(const std::string& program, const std::string& calls, size_t first, int to) {
  keys::retire();
  channel::close();
  const int nowhere = open("/dev/null", O_RDWR);
  for (int standard : {1, 2}) dup2(nowhere, standard);
  python::replay(program, calls, first, to);
  _exit(0);
}

// lines_of returns the lines that a process writes until it ends or hangs, and ends it.
std::vector<std::string> lines_of(pid_t child, int end, bool& hangs) {
  constexpr time_t kSeconds = 120;  // without an answer
  std::string text;
  char part[1 << 12];
  pollfd from{end, POLLIN, 0};
  for (time_t last = time(nullptr);;) {
    hangs = time(nullptr) > last + kSeconds;
    if (hangs) break;
    const int ready = poll(&from, 1, 1000);
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const ssize_t n = read(end, part, sizeof part);
    if (n <= 0) break;
    text.append(part, n);
    last = time(nullptr);
  }
  kill(child, SIGKILL);
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  std::vector<std::string> lines;
  for (size_t at = 0, newline; (newline = text.find('\n', at)) != std::string::npos; at = newline + 1) lines.push_back(text.substr(at, newline - at));
  return lines;
}

std::vector<std::string> answers(const std::string& program, const std::string& calls, size_t first, bool& hangs) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  const Unheard unheard;
  const pid_t child = python::fork();
  if (child == 0) {
    close(ends[0]);
    replay(program, calls, first, ends[1]);
  }
  close(ends[1]);
  const auto lines = child > 0 ? lines_of(child, ends[0], hangs) : std::vector<std::string>();
  close(ends[0]);
  return lines;
}

}  // namespace

// A fake that ends its fork is left out.
void call_all() {
  constexpr size_t kForks = 16;
  std::vector<Written> calls;
  {
    std::lock_guard<std::mutex> lock(mutex);
    calls.swap(all_written);
  }
  const auto rest = std::stable_partition(calls.begin(), calls.end(), [](const Written& call) { return !is_its_fake(call.name); });
  std::for_each(rest, calls.end(), [](const Written& call) { tell(call, kItsFake); });
  calls.erase(rest, calls.end());
  std::string program, all;
  if (calls.empty() || !channel::ask(FRAME_FAKES, "", program)) return;
  for (const Written& w : calls) all += (all.empty() ? "[" : ",") + w.call;
  all += "]";
  bool hangs = false;
  for (size_t first = 0, forks = 0; first < calls.size() && forks < kForks && !hangs; forks++) {
    const auto lines = answers(program, all, first, hangs);
    if (lines.empty()) return;
    for (size_t i = 1; i < lines.size() && first < calls.size(); i++, first++) tell(calls[first], lines[i]);
    first++;
  }
}

void forked() { all_written.clear(); }

}  // namespace fakes

void FakeCall::begin(const Watched& op, const torch::jit::Stack& stack, bool keep) try {
  for (size_t i = stack.size() - op.args; i < stack.size(); i++) fakes::add(kind_, stack[i]);
  const auto meeting = kind_.written ? fakes::meet(op.number, kind_, host.context()) : fakes::TOO_MANY;
  if (meeting == fakes::NEW) call_ = fakes::begun(*op.schema, stack, keep);
  if (meeting == fakes::NEW && kind_.elsewhere) place_ = site::place();
  if (meeting == fakes::TOO_MANY) op.counts->count(&Counts::unwritten);
} catch (const std::exception&) {
  op.counts->count(&Counts::unwritten);
}

void FakeCall::end(const Watched& op, const torch::jit::Stack& stack, const std::vector<std::vector<TensorImpl*>>& written, bool keep) try {
  call_ = fakes::ended(call_, stack, op.returns, written, keep);
  std::lock_guard<std::mutex> lock(fakes::mutex);
  fakes::all_written.push_back({op.number, op.schema->operator_name(), kind_, std::move(call_), std::move(place_)});
  op.counts->count(&Counts::kinds);
} catch (const std::exception&) {
  op.counts->count(&Counts::unwritten);
}

void FakeCall::failed(const Watched& op) {
  std::lock_guard<std::mutex> lock(fakes::mutex);
  auto& wholes = fakes::met[op.number][kind_.sort];
  if (--wholes[kind_.whole].recorded == 0) wholes.erase(kind_.whole);
}

}  // namespace opassert
