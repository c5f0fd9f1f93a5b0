// state.cpp finds the state of the process that a kernel leaves changed, and restores it, so that
// all calls begin with the same.
#include "entry.h"
#include "state.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <ATen/record_function.h>
#include <c10/core/AutogradState.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <sys/stat.h>
#include <torch/csrc/api/include/torch/version.h>
#include <unistd.h>

#include <cfenv>
#include <clocale>
#include <csignal>
#include <cstring>
#include <map>

#include "aborts.h"
#include "wire.h"

// Of the OpenMP that libtorch is linked to, if it is: at::set_num_threads() also waits for the
// threads of another pool.
extern "C" __attribute__((weak)) void omp_set_num_threads(int);

namespace opassert {
namespace {

using Text = std::string;

Text text(bool on) { return on ? "true" : "false"; }
bool on(const Text& value) { return value == text(true); }

// dispatch_keys caches the last text: it seldom changes, and composing it takes longer than most
// kernels.
Text dispatch_keys() {
  static thread_local c10::DispatchKeySet included, excluded;
  static thread_local Text text;
  const auto now = c10::impl::tls_local_dispatch_key_set();
  if (text.empty() || now.included_ != included || now.excluded_ != excluded) {
    included = now.included_, excluded = now.excluded_;
    text = "included " + c10::toString(included) + ", excluded " + c10::toString(excluded);
  }
  return text;
}

Text flushes_denormals() {
  volatile double tiny = 5e-324;
  return text(tiny * 1.0 == 0);
}

Text working_directory() {
  char path[4096];
  return getcwd(path, sizeof path) ? path : "";
}

Text seed() {
  const at::Generator& generator = at::detail::getDefaultCPUGenerator();
  return std::to_string(generator.current_seed());
}

void set_seed(const Text& value) {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  std::lock_guard<std::mutex> lock(generator.mutex());
  generator.set_current_seed(std::stoull(value));
}

c10::ScalarType dtype_of(const Text& name) {
  int i = 0;
  while (name != c10::toString(static_cast<c10::ScalarType>(i))) i++;
  return static_cast<c10::ScalarType>(i);
}

Text matmul_precision() try {
  switch (at::globalContext().float32MatmulPrecision()) {
    case at::Float32MatmulPrecision::HIGHEST: return "highest";
    case at::Float32MatmulPrecision::HIGH: return "high";
    case at::Float32MatmulPrecision::MEDIUM: return "medium";
  }
  return "";
} catch (const c10::Error&) {
  return "set by another function";  // as by torch.backends.cuda.matmul, in the newest PyTorch
}

Text file_mask() {
  const mode_t mask = umask(0);
  umask(mask);
  return std::to_string(mask);
}

// Signals that kernels handle; those of crashes belong to this worker.
constexpr int kSignals[] = {SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGPIPE, SIGCHLD};
std::map<int, struct sigaction> handlers;

Text handled() {
  Text all;
  for (int sig : kSignals) {
    struct sigaction now;
    sigaction(sig, nullptr, &now);
    auto was = handlers.emplace(sig, now).first;
    if (now.sa_handler != was->second.sa_handler) all += (all.empty() ? "" : ", ") + Text(strsignal(sig));
  }
  return all.empty() ? "the original" : "another for " + all;
}

void handle(const Text&) {
  for (const auto& [sig, action] : handlers) sigaction(sig, &action, nullptr);
}

constexpr const char* kUsual = "the usual one";
Text processor = kUsual;  // what the last call left

// A Setting is a part of the state: how it is read, and set. Settings of the system take longer to
// read than most kernels run, and PyTorch's own kernels change none.
struct Setting {
  const char* name;
  Text (*read)();
  void (*write)(const Text&);
  bool system = false;
};

at::Context& context() { return at::globalContext(); }
c10::AutogradState& autograd() { return c10::AutogradState::get_tls_state(); }
c10::impl::LocalDispatchKeySet remembered_keys{c10::impl::PODLocalDispatchKeySet()};

#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
template <at::DeviceType D>
Text autocast() { return text(at::autocast::is_autocast_enabled(D)); }
template <at::DeviceType D>
void set_autocast(const Text& v) { at::autocast::set_autocast_enabled(D, on(v)); }
template <at::DeviceType D>
Text autocast_dtype() { return c10::toString(at::autocast::get_autocast_dtype(D)); }
template <at::DeviceType D>
void set_autocast_dtype(const Text& v) { at::autocast::set_autocast_dtype(D, dtype_of(v)); }
#endif

constexpr const char* kSeed = "the seed of the default generator";
constexpr const char* kThreads = "the number of threads";
constexpr const char* kKeys = "the dispatch keys of the thread";

// kOthers are values that no kernel is likely to set.
const std::map<Text, Text> kOthers = {
    {"grad mode", "false"}, {"the mode of forward gradients", "false"}, {"the default dtype", "Double"}, {kThreads, "3"}, {"the cache of autocast", "false"}, {"the flushing of denormal numbers", "true"}, {"deterministic algorithms", "true"}, {"the use of mkldnn", "false"}, {"the use of cuDNN", "false"}, {"the benchmarks of cuDNN", "true"}, {"the precision of float32 products", "medium"}, {"autocast on the CPU", "true"}};

// The dispatch keys come last: inference mode sets some.
const Setting kSettings[] = {
    {"inference mode", [] { return text(autograd().get_inference_mode()); },
     [](const Text& v) { autograd().set_inference_mode(on(v)); }},
    {"grad mode", [] { return text(autograd().get_grad_mode()); }, [](const Text& v) { autograd().set_grad_mode(on(v)); }},
    {"the mode of forward gradients", [] { return text(autograd().get_fw_grad_mode()); },
     [](const Text& v) { autograd().set_fw_grad_mode(on(v)); }},
    {"the default dtype", [] { return Text(c10::toString(c10::typeMetaToScalarType(c10::get_default_dtype()))); },
     [](const Text& v) { c10::set_default_dtype(c10::scalarTypeToTypeMeta(dtype_of(v))); }},
    {"deterministic algorithms", [] { return text(context().deterministicAlgorithms()); },
     [](const Text& v) { context().setDeterministicAlgorithms(on(v), context().deterministicAlgorithmsWarnOnly()); }},
    {"warnings in place of errors for deterministic algorithms", [] { return text(context().deterministicAlgorithmsWarnOnly()); },
     [](const Text& v) { context().setDeterministicAlgorithms(context().deterministicAlgorithms(), on(v)); }},
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 2)
    {"the filling of uninitialized memory", [] { return text(context().deterministicFillUninitializedMemory()); },
     [](const Text& v) { context().setDeterministicFillUninitializedMemory(on(v)); }},
#endif
    {"the use of mkldnn", [] { return text(context().userEnabledMkldnn()); },
     [](const Text& v) { context().setUserEnabledMkldnn(on(v)); }},
    {"the use of cuDNN", [] { return text(context().userEnabledCuDNN()); },
     [](const Text& v) { context().setUserEnabledCuDNN(on(v)); }},
    {"the benchmarks of cuDNN", [] { return text(context().benchmarkCuDNN()); },
     [](const Text& v) { context().setBenchmarkCuDNN(on(v)); }},
    {"the deterministic algorithms of cuDNN", [] { return text(context().deterministicCuDNN()); },
     [](const Text& v) { context().setDeterministicCuDNN(on(v)); }},
    {"the precision of float32 products", matmul_precision, [](const Text& v) { context().setFloat32MatmulPrecision(v); }},
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
    {"autocast on the CPU", autocast<at::kCPU>, set_autocast<at::kCPU>},
    {"autocast on CUDA", autocast<at::kCUDA>, set_autocast<at::kCUDA>},
    {"the dtype of autocast on the CPU", autocast_dtype<at::kCPU>, set_autocast_dtype<at::kCPU>},
    {"the dtype of autocast on CUDA", autocast_dtype<at::kCUDA>, set_autocast_dtype<at::kCUDA>},
#endif
    {"the cache of autocast", [] { return text(at::autocast::is_autocast_cache_enabled()); },
     [](const Text& v) { at::autocast::set_autocast_cache_enabled(on(v)); }},
    {kThreads, [] { return std::to_string(at::get_num_threads()); }, [](const Text& v) { at::set_num_threads(std::stoi(v)); }},
    {"the number of threads between operators", [] { return std::to_string(at::get_num_interop_threads()); },
     [](const Text&) { throw Refusal("PyTorch sets it once in a process"); }},
    {"the flushing of denormal numbers", flushes_denormals, [](const Text& v) { context().setFlushDenormal(on(v)); }},
    {"fegetround()", [] { return std::to_string(fegetround()); }, [](const Text& v) { fesetround(std::stoi(v)); }},
    {"the state of the processor", [] { return processor; }, [](const Text& v) { processor = v; }},
    {kSeed, seed, set_seed},
    {"the locale", [] { return Text(setlocale(LC_ALL, nullptr)); }, [](const Text& v) { setlocale(LC_ALL, v.c_str()); }},
    {"the umask", file_mask, [](const Text& v) { umask(std::stoi(v)); }, true},
    {"the handling of signals", handled, handle, true},
    {"the working directory", working_directory,
     [](const Text& v) {
  if (chdir(v.c_str()) != 0) throw Refusal("cannot change back to " + v);
}},
    {kKeys, dispatch_keys, [](const Text&) { c10::impl::_force_tls_local_dispatch_key_set(remembered_keys); }},
};

std::vector<Text> remembered;  // a value for each setting
bool added = false;            // kernels of a library

using Variables = std::map<Text, Text>;
Variables environment;

// variables returns the environment, which is copied again if an entry moved: setting one replaces
// it.
const Variables& variables() {
  static std::vector<const char*> entries;
  static Variables now;
  size_t n = 0;
  while (environ[n] != nullptr && n < entries.size() && environ[n] == entries[n]) n++;
  if (n == entries.size() && environ[n] == nullptr) return now;
  entries.clear(), now.clear();
  for (char** entry = environ; *entry != nullptr; entry++) {
    entries.push_back(*entry);
    if (const char* equals = strchr(*entry, '=')) now.emplace(Text(*entry, equals - *entry), equals + 1);
  }
  return now;
}

void add(Text& all, const Text& line) { all += (all.empty() ? "" : "\n") + line; }

// look_at_settings adds the settings that changed, and restores them.
void look_at_settings(Text& all, bool (*looks)(const Setting&)) {
  for (size_t i = 0; i < remembered.size(); i++) {
    if (!looks(kSettings[i])) continue;
    const Text now = kSettings[i].read();
    if (now == remembered[i]) continue;
    const Text was = remembered[i];
    add(all, Text(kSettings[i].name) + " changed: it was " + was + " and is " + now);
    try {
      kSettings[i].write(was);
    } catch (const Refusal& e) {
      all += ", and it can't be undone: " + e.message;
      remembered[i] = now;  // which the next calls do not change
    }
  }
}

// look_at_environment adds the variables that changed, and restores them.
void look_at_environment(Text& all) {
  const Variables& now = variables();
  if (remembered.empty() || now == environment) return;
  auto shown = [](const Variables& of, const Text& name) { return of.count(name) ? "\"" + of.at(name) + "\"" : Text("not set"); };
  Variables either = now;
  either.insert(environment.begin(), environment.end());
  for (const auto& [name, _] : either) {
    const Text was = shown(environment, name), is = shown(now, name);
    if (was == is) continue;
    add(all, "the environment variable " + name + " changed: it was " + was + " and is " + is);
    environment.count(name) ? setenv(name.c_str(), environment.at(name).c_str(), 1) : unsetenv(name.c_str());
  }
}

void remember(const char* name, const Text& value) {
  for (size_t i = 0; i < remembered.size(); i++) {
    if (kSettings[i].name == name) remembered[i] = value;
  }
}

// Operators called by others use one thread: the sums of PyTorch's own are rounded depending on the
// number of threads.
thread_local int depth = 0;
int threads = 1;  // of the operator that calls them

std::unique_ptr<at::ObserverContext> begins(const at::RecordFunction&) {
  if (depth++ == 1) {
    threads = at::get_num_threads();
    omp_set_num_threads(1);
  }
  return nullptr;
}

void ends(const at::RecordFunction&, at::ObserverContext*) {
  if (--depth == 1) omp_set_num_threads(threads);
}

}  // namespace

void restore_processor() {
  bool traps = false;
#if defined(__x86_64__)
  constexpr unsigned kDirection = 1 << 10, kMasks = 0x1f80;
  if (__builtin_ia32_readeflags_u64() & kDirection) {
    __asm__ volatile("cld" ::: "cc");
    processor = "with the direction flag";
  }
  const unsigned control = __builtin_ia32_stmxcsr();
  traps = (control & kMasks) != kMasks;
  if (traps) __builtin_ia32_ldmxcsr(control | kMasks);
#endif
#if defined(__GLIBC__)
  traps |= fegetexcept() > 0 && fedisableexcept(FE_ALL_EXCEPT) > 0;
#endif
  if (traps) processor = "with exceptions for floating-point numbers";
}

void remember_state(bool library) {
  added = added || library;
  remembered_keys = c10::impl::tls_local_dispatch_key_set();
  remembered.clear(), handlers.clear();
  for (const Setting& s : kSettings) remembered.push_back(s.read());
  environment = variables();
}

}  // namespace opassert

using namespace opassert;

// seed seeds the default CPU generator.
void opassert::entry::seed(const Crossing& in, Reply&) {
  const Text value = std::to_string(static_cast<uint64_t>(in.first));
  set_seed(value);
  remember(kSeed, value);
}

// threads sets the number of threads among which operators divide their work, except operators
// called by others, which use one.
void opassert::entry::threads(const Crossing& in, Reply&) {
  static at::CallbackHandle inner = at::INVALID_CALLBACK_HANDLE;
  if (omp_set_num_threads == nullptr) throw Refusal("this libtorch divides work without OpenMP");
  if (inner != at::INVALID_CALLBACK_HANDLE) at::removeCallback(inner);
  inner = at::INVALID_CALLBACK_HANDLE;
  if (in.first > 1) inner = at::addThreadLocalCallback(at::RecordFunctionCallback(begins, ends).scopes({at::RecordScope::FUNCTION}));
  omp_set_num_threads(static_cast<int>(in.first));
  remember(kThreads, std::to_string(in.first));
}

// settings sets some settings to other values, or to those from before.
void opassert::entry::settings(const Crossing& in, Reply&) {
  static std::vector<Text> usual;
  if (in.first != 0) usual = remembered;
  for (size_t i = 0; i < remembered.size(); i++) {
    const auto other = kOthers.find(kSettings[i].name);
    if (other != kOthers.end()) kSettings[i].write(remembered[i] = in.first != 0 ? other->second : usual[i]);
  }
  remembered_keys = c10::impl::tls_local_dispatch_key_set();  // autocast has some
  remember(kKeys, dispatch_keys());
}

// left replies with the changes of the process besides those of tensors since the last library was
// loaded or its last call, and undoes them: a string, one change a line.
void opassert::entry::left(const Crossing& in, Reply& out) {
  Text all;
  look_at_settings(all, [](const Setting& s) { return added || !s.system; });
  look_at_environment(all);
  if (const int64_t bytes = printed()) add(all, "the standard output got " + std::to_string(bytes) + " bytes");
  if (const Text line = logged(); !line.empty()) add(all, "calls wrote to the standard error, as " + line);
  out.text(all);
}

const char* oa_changed(void) {
  static Text all;
  all.clear();
  look_at_settings(all, [](const Setting& s) { return s.read != handled; });
  return all.c_str();
}
