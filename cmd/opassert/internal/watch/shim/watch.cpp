// watch.cpp is the watcher: loaded into a program after libtorch, it observes each
// call of an operator, tests whether the call looks usual, and sends opassert those
// that do not. It judges nothing.
#include "observe.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <atomic>
#include <deque>
#include <optional>
#include <thread>
#include <unordered_map>

#include "channel.h"
#include "device.h"
#include "fakes.h"
#include "frames.h"
#include "imports.h"
#include "keys.h"
#include "listed.h"
#include "operators.h"
#include "others.h"
#include "python.h"
#include "record.h"
#include "site.h"
#include "unboxed.h"
#include "usual.h"

namespace opassert {
namespace {

using c10::DispatchKeySet;
using c10::OperatorHandle;
using torch::jit::Stack;

constexpr int kCodes = 32;  // at least as many as there are checks

// Counts of an operator, in a file that all processes of a run share; counts.go reads them.
struct Counts : TalliesOf<std::atomic<int64_t>> {
  // Written counts the changes that calls made to an argument with (a!) whose
  // contents were observed.
  struct Written {
    std::atomic<int64_t> calls, changed, sizes;  // sizes has a bit for each hash of the sizes

    void add(bool first, const Seen& before, bool change) {
      uint64_t hash = before.dims();
      for (int64_t i = 0; i < before.dims(); i++) hash = (hash ^ uint64_t(before.sizes()[i])) * 0x9E3779B97F4A7C15u;
      calls.fetch_add(first, std::memory_order_relaxed);
      changed.fetch_add(change, std::memory_order_relaxed);
      sizes.fetch_or(int64_t(1) << (hash >> 58), std::memory_order_relaxed);
    }
  };

  std::atomic<int64_t> traits[16];         // usual calls with a tensor that has the trait
  std::atomic<int64_t> content_traits[16];  // those of them whose contents were observed
  std::atomic<int64_t> unheld[kCodes];  // usual calls with no tensor that the check is about
  std::atomic<int64_t> content_unheld[kCodes];
  Written written[kCodes];  // of the first arguments in the plan
};

// count_bits increments the counts of the bits of a set, and those of content unless
// it is null.
void count_bits(int64_t set, std::atomic<int64_t>* counts, std::atomic<int64_t>* content) {
  for (; set != 0; set &= set - 1) {
    const int bit = __builtin_ctzll(set);
    counts[bit].fetch_add(1, std::memory_order_relaxed);
    if (content != nullptr) content[bit].fetch_add(1, std::memory_order_relaxed);
  }
}

// Which operators a setting applies to.
enum which {
  NO_CONTENT,
  CUSTOM_CONTENT,
  ALL_CONTENT
};

bool among(int64_t which, bool custom) { return which == ALL_CONTENT || (which == CUSTOM_CONTENT && custom); }

// A Watched is an operator with opassert's answer about it.
struct Watched {
  Expected expected;
  int64_t number = 0;
  bool decomposes = false;  // seen above autograd
  bool custom = false;   // of a namespace that is not PyTorch's, or with a kernel that is not
  bool sampled = false;  // of one that is: contents of some calls are observed
  bool watched = false;  // its calls are sent to opassert
  bool recorded = false;  // its arguments go into a file of cases
  bool content = false;
  bool fakes = false;  // the fake is called too
  bool autograd = false;  // it has a kernel for autograd, or decomposes
  bool followed = false;  // its results are followed until a backward reaches one
  mutable std::atomic<bool> formula{false}, reported{false};  // it has a formula; a missing one was reported
  bool writes = false;
  bool unboxed = false;  // its calls with plain tensors are observed unboxed
  mutable std::atomic<bool> not_copied{false};  // a backend threw when copying bytes, as reported to opassert
  const c10::FunctionSchema* schema = nullptr;
  size_t args = 0, returns = 0;  // of the schema
  Counts* counts = nullptr;
  std::vector<DispatchKey> others_keys;     // whose kernels are not PyTorch's, of an operator that is
  std::unique_ptr<const Watched> others;  // the answer about those

  // serving returns the answer about the kernel that a call gets to.
  const Watched& serving(DispatchKeySet keys, const Stack& stack) const {
    if (C10_LIKELY(others == nullptr)) return *this;
    const auto& all = others_keys;
    return std::find(all.begin(), all.end(), Others::key(keys, stack, args)) == all.end() ? *this : *others;
  }
};

Channel channel;
PythonSite site;
Python python;
Sample sample;
Fakes fakes;
Others others;
Settings settings;
Counts* counts_file;
constexpr int64_t kOperators = 1 << 14;

// generation increases when an operator is deregistered, as its schema's address may
// be reused.
std::atomic<int64_t> generation{1};
// writes increases when an operator that writes starts and when it ends.
std::atomic<int64_t> writes{0};
thread_local int64_t writes_here = 0;  // of those, this thread's
std::atomic<int> threads{0};
// holders counts the threads that can take references to tensors: those of Python,
// and others that have called an operator. Most programs have more threads, for
// computing.
std::atomic<int> holders{0};

std::string own_namespaces;  // PyTorch's, with spaces around each

// own reports whether an operator is in a namespace of PyTorch.
bool own(const std::string& name) { return own_namespaces.find(" " + name.substr(0, name.find("::")) + " ") != std::string::npos; }

// An Outer is a call that is observed above autograd, and whether it was also
// observed below.
struct Outer {
  const Watched* op;
  Outer* outer;
  bool seen = false, reported = false;
};
thread_local Outer* top = nullptr;

thread_local int inside_own = 0;     // observed kernels of PyTorch's own operators that this thread is in
thread_local int inside_custom = 0;  // kernels of custom operators that this thread is in
thread_local int inside_fake = 0;    // calls that a fake answers

void not_watched(const std::string& what) {
  std::string ignored;
  std::string text = what;
  if (!channel.ask(FRAME_NOT_WATCHED, text.data(), text.size(), ignored)) channel.host.tell(what.c_str());
}

// tried reports whether f did not throw. Exceptions go to opassert, and not to the program.
template <class F>
bool tried(const char* what, F&& f) {
  try {
    f();
    return true;
  } catch (const c10::Error& e) {
    not_watched(std::string(what) + ": " + e.what_without_backtrace());
  } catch (const std::exception& e) {
    not_watched(std::string(what) + ": " + e.what());
  }
  return false;
}

// Operators has opassert's answers about operators, and asks about new ones.
class Operators {
  std::mutex mutex_;
  std::unordered_map<const void*, std::unique_ptr<Watched>> known_;

  static std::unique_ptr<Watched> ask(const OperatorHandle& handle) {
    auto w = ask(handle, "-");
    w->others_keys = others.keys(handle);
    if (w->others_keys.empty()) return w;
    w->others = ask(handle, "K" + Others::device(w->others_keys));
    w->unboxed = false;
    return w;
  }

  static std::unique_ptr<Watched> ask(const OperatorHandle& handle, const std::string& kernels) {
    auto w = std::make_unique<Watched>();
    const auto& schema = handle.schema();
    w->schema = &schema;
    w->args = schema.arguments().size();
    w->returns = schema.returns().size();
    for (const auto& arg : schema.arguments()) {
      w->writes |= arg.alias_info() != nullptr && arg.alias_info()->isWrite();
    }
    // A kernel for autograd raises versions after the call that is observed here.
    const bool raised = handle.hasKernelForDispatchKey(DispatchKey::ADInplaceOrView);
    const std::string record = (raised ? "A" : "-") + kernels + "\n" + listed(*describe(handle));
    std::string reply;
    if (!channel.ask(FRAME_OP, record.data(), record.size(), reply) || reply.size() < sizeof(About) + sizeof(Expectation)) return w;
    std::vector<int64_t> words(reply.size() / 8);
    std::memcpy(words.data(), reply.data(), words.size() * 8);
    const int64_t* at = words.data();
    About about;
    take(at, about);
    w->number = about.number;
    w->custom = about.custom != 0;
    w->sampled = own(handle.operator_name().name);
    w->watched = about.watched != 0 && w->number < kOperators;
    w->recorded = about.recorded != 0;
    w->followed = about.followed != 0;
    w->autograd = has_autograd(handle);
    w->expected = Expected(at);
    w->decomposes = w->custom && handle.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd);
    w->content = among(settings.content, w->custom);
    w->fakes = among(settings.fakes, w->custom);
    w->counts = &counts_file[w->number];
    w->unboxed = w->watched && !w->custom && !w->content && !w->fakes && !w->recorded && !w->followed && IdentityCall::takes(w->expected);
    return w;
  }

 public:
  const Watched& find(const OperatorHandle& handle) {
    struct Slot {
      const void* schema;
      int64_t generation;
      const Watched* watched;
    };
    static thread_local Slot slots[1024];
    const void* key = &handle.schema();
    const int64_t now = generation.load(std::memory_order_relaxed);
    Slot& slot = slots[reinterpret_cast<uintptr_t>(key) * 0x9E3779B97F4A7C15u >> 54];
    if (slot.schema != key || slot.generation != now) slot = {key, now, &look_up(handle)};
    return *slot.watched;
  }

  void forget(const c10::OperatorName& name) {
    // Calls under way still use the Watched, so it stays.
    std::lock_guard<std::mutex> lock(mutex_);
    const auto at = std::find_if(known_.begin(), known_.end(), [&](const auto& known) { return known.second->schema->operator_name() == name; });
    if (at == known_.end()) return;
    at->second.release();
    known_.erase(at);
    generation++;
  }

  void forked() { new (&mutex_) std::mutex; }

 private:
  const Watched& look_up(const OperatorHandle& handle) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      auto at = known_.find(&handle.schema());
      if (at != known_.end()) return *at->second;
    }
    auto made = ask(handle);
    std::lock_guard<std::mutex> lock(mutex_);
    auto& w = known_[&handle.schema()];
    if (w == nullptr) w = std::move(made);
    return *w;
  }
};

Operators& operators() {
  static auto* all = new Operators;
  return *all;
}

TensorImpl* impl_of(const c10::IValue& v) {
  if (!v.isTensor()) return nullptr;
  const at::Tensor& t = v.toTensor();
  return t.defined() ? t.unsafeGetTensorImpl() : nullptr;
}

// each calls f with every tensor of a subject; exactly once if it is not a list.
template <class F>
void each(const c10::IValue& v, bool list, F&& f) {
  if (!list) {
    f(impl_of(v));
    return;
  }
  auto item = [&](const c10::IValue& e) { each(e, e.isList() || e.isTuple() || e.isGenericDict(), f); };
  if (v.isList()) {
    for (const c10::IValue& e : v.toListRef()) item(e);
  } else if (v.isTuple()) {
    const auto& elements = v.toTupleRef().elements();
    for (size_t i = 0; i < elements.size(); i++) item(elements[i]);
  } else if (v.isGenericDict()) {
    auto dict = v.toGenericDict();
    for (const auto& entry : dict) item(entry.value());
  }
}

int64_t count(const c10::IValue& v, bool list) {
  int64_t n = 0;
  each(v, list, [&](TensorImpl*) { n++; });
  return n;
}

// each_argument calls f with every tensor of every argument, and its subject.
template <class F>
void each_argument(const Watched& op, const Stack& stack, F&& f) {
  const size_t base = stack.size() - op.args;
  for (const Subject& s : op.expected.args) {
    each(stack[base + s.index], s.list != 0, [&](TensorImpl* impl) { f(impl, s); });
  }
}

// Unallocated are storages that operators returned recently, over memory that no
// allocator made: the result of a later call may be in the same memory, under another
// storage. The references are weak: the program may free the storages.
class Unallocated {
  struct Row {
    c10::weak_intrusive_ptr<c10::StorageImpl> storage;
    const void* bytes;
  };
  static constexpr size_t kRows = 8;  // of each operator
  std::mutex mutex_;
  std::unordered_map<int64_t, std::deque<Row>> rows_;

 public:
  // each calls f with the storages of an operator that are alive. It takes no
  // reference: dropping the last one could take Python's lock.
  template <class F>
  void each(int64_t op, F&& f) {
    std::lock_guard<std::mutex> lock(mutex_);
    for (const Row& row : rows_[op]) {
      const auto* storage = row.storage._unsafe_get_target();
      if (row.storage.use_count() > 0 && bytes_of(storage) == row.bytes) f(storage);
    }
  }

  void add(int64_t op, const c10::Storage& storage) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto& rows = rows_[op];
    rows.push_back({storage.getWeakStorageImpl(), bytes_of(storage.unsafeGetStorageImpl())});
    if (rows.size() > kRows) rows.pop_front();
  }

  void forked() { new (&mutex_) std::mutex; }
};

Unallocated& unallocated() {
  static auto* all = new Unallocated;
  return *all;
}

// A Place is a position in the dispatcher at which calls are observed.
enum Place {
  BELOW_AUTOGRAD,
  ABOVE_AUTOGRAD,
  PYTHON
};

// A Reported is a returned tensor with a finding. The weak reference keeps its
// address from being reused.
using Weak = c10::weak_intrusive_ptr<TensorImpl, c10::UndefinedTensorImpl>;
struct Reported {
  const Watched* op;
  Place place;
  Weak result;
};
thread_local std::vector<Reported> reported_results;  // in the outermost observed call
thread_local int observed_calls = 0;                  // observed calls that this thread is in

Weak weak(TensorImpl* impl) { return Weak(impl == nullptr ? Impl() : Impl::reclaim_copy(impl)); }

// A Writing is in scope while an operator that writes runs.
struct Writing {
  const bool writes;
  explicit Writing(const Watched& op) : writes(op.writes) { count(); }
  ~Writing() { count(); }

 private:
  void count() const {
    if (!writes) return;
    opassert::writes++;
    writes_here++;
  }
};

// meet counts a thread that calls operators.
void meet() {
  static thread_local const bool met = (holders++, true);
  (void)met;
}

// An ObservedCall is one call of an operator, observed.
class ObservedCall {
  const Watched& op_;
  Stack& stack_;
  const Place place_;
  oa_level level_ = OA_IDENTITY;
  std::atomic<int64_t> Counts::* counted_ = nullptr;
  int64_t writes_, writes_here_;
  // An Input has a weak reference during the call, and a strong one only if needed: a
  // kernel may count references.
  struct Input {
    Weak known;
    Impl impl;
    oa_level level;

    Input(TensorImpl* in, oa_level level, bool held) : known(held ? weak(nullptr) : weak(in)), impl(held ? Impl::reclaim_copy(in) : Impl()), level(level) {}

    TensorImpl* address() const {
      TensorImpl* at = impl.defined() ? impl.get() : known._unsafe_get_target();
      return at == c10::UndefinedTensorImpl::singleton() ? nullptr : at;
    }

    // hold takes a strong reference, and reports whether the input is alive.
    bool hold() {
      if (!impl.defined()) impl = known.lock();
      return impl.defined() || address() == nullptr;
    }
  };
  c10::SmallVector<Input, 8> inputs_;
  // The arguments that are lists, tuples or dicts, whose tensors a kernel may
  // replace, and none for other arguments.
  c10::SmallVector<c10::IValue, 4> containers_;
  c10::SmallVector<int64_t, 8> lengths_;
  Holds holds_;
  std::string modes_;    // a line each
  std::string case_;     // the arguments as a case
  Fakes::Begun fake_;    // the recorded call for the fake
  std::string handler_;  // a line for the called subclass: like a mode it may keep results
  const c10::impl::DeviceGuardImplInterface* backend_ = nullptr;  // that of an argument that is neither on the CPU nor on Meta
  c10::DeviceIndex current_ = 0;                                  // its current device before the call
  bool returned_ = false;
  std::optional<Writing> writing_;
  const size_t reported_before_ = reported_results.size();
  Reply seen_;

  void see(TensorImpl* impl, oa_level level) {
    const size_t at = seen_.size();
    observe(impl, level, seen_);
    if (level >= OA_CONTENTS && !copy_fault.empty()) not_copied();
    if (impl == nullptr || place_ != PYTHON || !impl->is_python_dispatch()) return;
    Python::Lock lock(python);
    HeadOf<Reply> head{seen_, at};
    const int64_t traits = python.traits(impl, head.traits());
    head.set_traits(traits);
    if (!returned_ && traits & (OA_DIRECT_SUBCLASS | OA_WRAPPER_SUBCLASS)) handler_ = "__torch_dispatch__ of " + python.class_of(impl) + "\n";
  }

  // not_copied reports, once for each operator, that a backend cannot copy bytes.
  void not_copied() {
    const std::string why = std::exchange(copy_fault, "");
    if (!op_.not_copied.exchange(true)) not_watched(toString(op_.schema->operator_name()) + ": " + why);
  }

  // choose returns the level of the call, and sets counted_ to the op's counter for it.
  oa_level choose() {
    if (!op_.content) return OA_IDENTITY;
    counted_ = reason();
    return counted_ == &Counts::content ? OA_CONTENTS : OA_IDENTITY;
  }

  std::atomic<int64_t> Counts::* reason() {
    if (place_ == ABOVE_AUTOGRAD) return &Counts::above_autograd;
    bool large = false, numbers = true;
    each_argument(op_, stack_, [&](TensorImpl* impl, const Subject&) {
      if (impl == nullptr) return;
      const bool has = has_numbers(impl);
      const auto* storage = has ? storage_of(impl) : nullptr;
      numbers &= has;
      large |= storage != nullptr && int64_t(size_of(storage)) > settings.max_bytes;
    });
    static thread_local int64_t calls = 0;
    if (!numbers || place_ == PYTHON) return &Counts::subclass;
    if (large) return &Counts::too_large;
    return !op_.sampled || calls++ % settings.sample == 0 ? &Counts::content : &Counts::sampled_out;
  }

  // level_of returns the level of an argument: for PyTorch's own operators no bytes
  // are copied, and only those are read that some check needs.
  oa_level level_of(const Subject& s) const {
    if (level_ != OA_CONTENTS || op_.custom) return level_;
    return s.checks & (needs::same_contents | needs::counted) ? OA_DIGESTS : OA_METADATA;
  }

 public:
  // Words is a buffer for observations, outside the ObservedCall: an optional with it
  // would be zeroed first.
  using Words = int64_t[512];

  ObservedCall(const Watched& op, Stack& stack, Place place, Words& words) : op_(op), stack_(stack), place_(place), seen_(words, std::size(words)) {
    meet();
    if (place != ABOVE_AUTOGRAD) op.counts->calls.fetch_add(1, std::memory_order_relaxed);
    level_ = choose();
    if (op.recorded && place != PYTHON) write_down();
    if (op.fakes && place == BELOW_AUTOGRAD) begin_fake();
    const size_t base = stack.size() - op.args;
    for (const Subject& s : op.expected.args) {
      const c10::IValue& v = stack[base + s.index];
      lengths_.push_back(count(v, s.list != 0));
      seen_.word(lengths_.back());
      containers_.push_back(v.isList() || v.isTuple() || v.isGenericDict() ? v : c10::IValue());
    }
    each_argument(op, stack, [&](TensorImpl* impl, const Subject& s) {
      const oa_level level = level_of(s);
      see(impl, level);
      inputs_.emplace_back(impl, level, impl != nullptr && has_to_be_held(impl));
      if (impl != nullptr && !impl->is_cpu()) note_current(impl);
      holds_.hold(impl);
    });
    if (place_ == PYTHON) {
      Python::Lock lock(python);
      modes_ = python.modes() + handler_;
    }
    writes_ = writes.load();
    writes_here_ = writes_here;
    writing_.emplace(op);
    observed_calls++;
  }

  // This one was observed before by an unboxed kernel; the stack has its results.
  ObservedCall(const Watched& op, Stack& stack, const UnboxedCall& call, Words& words)
      : op_(op), stack_(stack), place_(BELOW_AUTOGRAD), writes_(writes.load()), writes_here_(writes_here), seen_(words, std::size(words)) {
    op.counts->calls.fetch_add(1, std::memory_order_relaxed);
    for (size_t i = 0; i < call.size(); i++) seen_.word(1);
    for (size_t i = 0; i < call.size(); i++) {
      inputs_.emplace_back(call[i], OA_IDENTITY, true);
      for (size_t w = 0; w < Observed::kHead; w++) seen_.word(call.words()[i * Observed::kHead + w]);
    }
    lengths_.assign(call.size(), 1);
    containers_.resize(call.size());
    observed_calls++;
  }

  ~ObservedCall() {
    if (--observed_calls == 0) reported_results.clear();
  }

  // failed counts a call that threw, and sends its arguments to opassert if their
  // bytes were observed.
  void failed() {
    if (count_once()) op_.counts->failed.fetch_add(1, std::memory_order_relaxed);
    if (!fake_.call.empty()) fakes.forget(op_.number, fake_.kind);
    if (level_ != OA_CONTENTS || !op_.custom || !hold() || !tried("a call could not be observed", [&] { see_thrown(); })) return;
    if (Call(op_.expected, seen_.contiguous()).usual()) return;
    if (!case_.empty()) record();
    ask(OA_THREW);
  }

  // returned observes the call after its return, and sends it to opassert unless it
  // looks usual.
  void returned() {
    if (!hold()) {
      op_.counts->lost.fetch_add(count_once(), std::memory_order_relaxed);
      return;
    }
    returned_ = true;
    if (!case_.empty()) record();
    if (!fake_.call.empty()) end_fake();
    if (!tried("a call could not be observed", [&] { see_returned(); })) return;
    Call call(op_.expected, seen_.contiguous());
    const bool once = count_once(), left = moved();
    if (once && counted_ != nullptr) (op_.counts->*counted_).fetch_add(1, std::memory_order_relaxed);
    if (once && op_.custom && level_ == OA_CONTENTS) {
      call.each_write([&](int64_t argument, bool first, const Seen& before, bool change) {
        if (argument < kCodes) op_.counts->written[argument].add(first, before, change);
      });
    }
    if ((place_ == ABOVE_AUTOGRAD && top->reported) || passed_on()) return;
    if (!call.usual() || left) {
      if (once) op_.counts->asked.fetch_add(1, std::memory_order_relaxed);
      ask(left ? OA_MOVED : 0);
      return;
    }
    if (!once) return;
    op_.counts->usual.fetch_add(1, std::memory_order_relaxed);
    count_bits(call.traits(), op_.counts->traits, call.contents() ? op_.counts->content_traits : nullptr);
    count_bits(call.unheld(), op_.counts->unheld, level_ == OA_CONTENTS ? op_.counts->content_unheld : nullptr);
  }

 private:
  void note_current(TensorImpl* impl) {
    if (backend_ != nullptr || place_ != BELOW_AUTOGRAD || !has_numbers(impl) || impl->is_meta() || !c10::impl::hasDeviceGuardImpl(impl->device_type())) return;
    tried("the current device is not known", [&] {
      const auto* backend = c10::impl::getDeviceGuardImpl(impl->device_type());
      current_ = backend->getDevice().index();
      backend_ = backend;
    });
  }

  // moved reports whether the call left another device as the current one.
  bool moved() const {
    bool left = false;
    if (backend_ != nullptr) tried("the current device is not known", [&] { left = backend_->getDevice().index() != current_; });
    return left;
  }

  // has_to_be_held reports whether an argument may be freed by the call: only the
  // stack has it, or a list in which a fallback replaces it by a plain one. PyTorch's
  // own kernels do not count references; from 2.10 on a strong reference taken later
  // needs Python's lock.
  bool has_to_be_held(TensorImpl* impl) const {
    if (place_ == BELOW_AUTOGRAD && !op_.custom) return true;
    const auto same = [&](const c10::IValue& v) { return impl_of(v) == impl; };
    return impl->key_set().has_any(kLazy) || int64_t(c10::raw::intrusive_ptr::use_count(impl)) <= std::count_if(stack_.end() - op_.args, stack_.end(), same);
  }

  // hold reports whether the arguments outside lists are alive.
  bool hold() {
    bool there = true;
    Input* in = inputs_.begin();
    for (size_t a = 0; a < containers_.size(); a++) {
      for (int64_t e = 0; e < lengths_[a]; e++, in++) there = (!containers_[a].isNone() || in->hold()) && there;
    }
    return there;
  }

  void see_thrown() {
    see_arguments();
    for (size_t r = 0; r <= op_.expected.returns.size(); r++) seen_.word(0);  // no earlier storages either
  }

  void see_returned() {
    see_arguments();
    const size_t base = stack_.size() - op_.returns;
    const bool alone = op_.expected.returns.size() == 1 && !op_.expected.returns[0].list;
    std::vector<TensorImpl*> foreign;
    for (const Subject& s : op_.expected.returns) {
      const c10::IValue& v = stack_[base + s.index];
      seen_.word(count(v, s.list != 0));
      each(v, s.list != 0, [&](TensorImpl* impl) {
        const size_t at = seen_.size();
        see(impl, level_ == OA_CONTENTS && (impl == nullptr || has_numbers(impl)) ? OA_METADATA : OA_IDENTITY);
        HeadOf<Reply> head{seen_, at};
        if (place_ == ABOVE_AUTOGRAD && impl != nullptr) {  // autograd may hold both
          head.set_impl_uses(OA_UNCOUNTED);
          head.set_storage_uses(OA_UNCOUNTED);
        } else {
          uncount(impl, alone, head);
        }
        if (level_ == OA_CONTENTS && s.checks & needs::own_storage && impl != nullptr && impl->unsafe_storage() && owner_of(storage_of(impl)) == OA_FOREIGN) foreign.push_back(impl);
      });
    }
    see_earlier(foreign);
  }

  // see_earlier writes the storages of earlier calls that are alive, if a result may
  // be in their memory: the storage, the address and number of its bytes.
  void see_earlier(const std::vector<TensorImpl*>& foreign) {
    std::vector<int64_t> there;
    if (!foreign.empty()) {
      unallocated().each(op_.number, [&](const c10::StorageImpl* storage) {
        there.insert(there.end(), {reinterpret_cast<int64_t>(storage), reinterpret_cast<int64_t>(bytes_of(storage)), int64_t(size_of(storage))});
      });
    }
    seen_.word(there.size() / 3);
    for (int64_t word : there) seen_.word(word);
    for (TensorImpl* impl : foreign) unallocated().add(op_.number, impl->unsafe_storage());
  }

  // see_arguments observes the arguments again, in lists the present elements: those
  // that a shortened list lacks are undefined tensors. The replacements of conj, neg
  // and zero tensors are not known.
  void see_arguments() {
    std::vector<std::pair<int64_t, TensorImpl*>> added;  // each with its argument
    c10::SmallVector<TensorImpl*, 8> now;
    Input* in = inputs_.begin();
    for (size_t a = 0; a < containers_.size(); a++) {
      int64_t e = 0;
      const auto found = [&](TensorImpl* impl) {
        if (e++ >= lengths_[a]) return added.push_back({op_.expected.args[a].index, impl});
        TensorImpl* was = in->address();
        now.push_back(was != nullptr && was->key_set().has_any(kLazy) ? was : impl);
        if (!containers_[a].isNone() && impl == was) in->impl.reset();  // the list holds it, as before the call
        in++;
      };
      if (!containers_[a].isNone()) each(containers_[a], true, found);
      while (e < lengths_[a]) found(containers_[a].isNone() ? in->address() : nullptr);
    }
    for (size_t i = 0; i < now.size(); i++) see(now[i], inputs_[i].level);  // after all handles of opassert are released
    seen_.word(added.size());
    for (const auto& a : added) {
      seen_.word(a.first);
      see(a.second, OA_IDENTITY);
    }
  }

  // arguments returns the passed tensors that are alive.
  std::vector<TensorImpl*> arguments() const {
    std::vector<TensorImpl*> all;
    const Input* in = inputs_.begin();
    for (size_t a = 0; a < containers_.size(); a++, in += lengths_[a - 1]) {
      if (!containers_[a].isNone()) each(containers_[a], true, [&](TensorImpl* impl) { all.push_back(impl); });
      for (int64_t e = 0; e < lengths_[a]; e++) {
        if (in[e].impl.defined()) all.push_back(in[e].impl.get());
      }
    }
    return all;
  }

  // written returns the tensors of the written arguments, by position; null is an
  // undefined or freed one.
  std::vector<std::vector<TensorImpl*>> written() const {
    std::vector<std::vector<TensorImpl*>> all(op_.args);
    const Input* in = inputs_.begin();
    for (size_t a = 0; a < containers_.size(); a++, in += lengths_[a - 1]) {
      const Subject& s = op_.expected.args[a];
      if (!s.write) continue;
      if (!containers_[a].isNone()) each(containers_[a], true, [&](TensorImpl* impl) { all[s.index].push_back(impl); });
      for (int64_t e = 0; e < lengths_[a] && containers_[a].isNone(); e++) all[s.index].push_back(in[e].impl.defined() ? in[e].impl.get() : nullptr);
    }
    return all;
  }

  std::vector<TensorImpl*> results() const {
    std::vector<TensorImpl*> all;
    if (!returned_) return all;
    const size_t base = stack_.size() - op_.returns;
    for (const Subject& s : op_.expected.returns) {
      each(stack_[base + s.index], s.list != 0, [&](TensorImpl* impl) {
        if (impl != nullptr) all.push_back(impl);
      });
    }
    return all;
  }

  // passed_on reports whether the call returned a reported result of an inner call,
  // as a mode does that calls the op, or an op whose inner call Python answers. Below
  // autograd a mode's result may have been another tensor.
  bool passed_on() const {
    if (place_ == BELOW_AUTOGRAD || reported_results.size() <= reported_before_) return false;
    const bool mode = place_ == PYTHON && python.innermost_mode() != nullptr;
    const auto all = results();
    return std::any_of(reported_results.begin() + reported_before_, reported_results.end(), [&](const Reported& a) {
      const bool same = std::find(all.begin(), all.end(), a.result._unsafe_get_target()) != all.end();
      return a.op == &op_ ? mode || same : a.place == PYTHON && same;
    });
  }

  // mine returns the same call above autograd.
  Outer* mine() const {
    Outer* t = top;
    while (t != nullptr && t->op != &op_) t = t->outer;
    return t;
  }

  // count_once reports whether to count the call: one that was observed below
  // autograd was counted.
  bool count_once() {
    if (place_ != ABOVE_AUTOGRAD) {
      if (Outer* t = mine()) t->seen = true;
      return true;
    }
    if (top->seen) return false;
    op_.counts->calls.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

  void write_down() {
    try {
      case_ = case_text(*op_.schema, stack_);
    } catch (const std::exception&) {
      op_.counts->unrecorded.fetch_add(1, std::memory_order_relaxed);
    }
  }

  void begin_fake() {
    try {
      Kind kind;
      for (size_t i = stack_.size() - op_.args; i < stack_.size(); i++) kind.add(stack_[i]);
      const auto meeting = kind.written ? fakes.meet(op_.number, kind, channel.host.context()) : Fakes::TOO_MANY;
      if (meeting == Fakes::NEW) fake_ = {kind, Fakes::begin(*op_.schema, stack_, level_ == OA_CONTENTS), kind.elsewhere ? site.place() : ""};
      if (meeting != Fakes::TOO_MANY) return;
    } catch (const std::exception&) {
    }
    op_.counts->unwritten.fetch_add(1, std::memory_order_relaxed);
  }

  void end_fake() {
    try {
      fakes.add(op_.number, op_.schema->operator_name(), std::move(fake_), written(), stack_, op_.returns, level_ == OA_CONTENTS);
      op_.counts->kinds.fetch_add(1, std::memory_order_relaxed);
    } catch (const std::exception&) {
      op_.counts->unwritten.fetch_add(1, std::memory_order_relaxed);
    }
  }

  void record() {
    const Recorded recorded{op_.number, int64_t(number_of(case_))};
    if (!sample.take(op_.number, recorded.call, settings.record)) return;
    const std::string frame = std::string(reinterpret_cast<const char*>(&recorded), sizeof recorded) + case_;
    std::string ignored;
    channel.ask(FRAME_RECORD, frame.data(), frame.size(), ignored);
  }

  // device returns that of the call: of an argument that is not on the CPU, if any.
  std::string device() const {
    std::string name;
    for (TensorImpl* impl : arguments()) {
      if (impl != nullptr && has_numbers(impl) && (name.empty() || name == "cpu")) name = impl->device().str();
    }
    return name;
  }

  // ask sends the call to opassert and carries out the answer. The site is sent
  // separately: it is only determined for a violation.
  void ask(int64_t threw) {
    const bool alone = holders.load() <= 1, concurrent = threads.load() > 1 && writes.load() - writes_ != writes_here - writes_here_;
    const bool below = c10::impl::tls_is_dispatch_key_excluded(DispatchKey::ADInplaceOrView);  // as in a compiled graph
    const int64_t circumstances = (concurrent ? OA_CONCURRENT : 0) | (alone ? OA_ALONE : 0) | (below ? OA_BELOW : 0) | threw;
    const std::string brought = c10::Device(c10::DeviceType::PrivateUse1).str(), on = device();
    const Asked asked{op_.number, level_, circumstances, int64_t(modes_.size()), int64_t(brought.size()), int64_t(on.size())};
    std::string words(reinterpret_cast<const char*>(&asked), sizeof asked);
    words += modes_ + brought + on;
    words.resize((words.size() + 7) / 8 * 8);
    words.append(reinterpret_cast<const char*>(seen_.contiguous()), (seen_.size() - OA_HEADER_WORDS) * sizeof(int64_t));
    std::string reply;
    if (!channel.ask(FRAME_CALL, words.data(), words.size(), reply)) {
      fprintf(stderr, "opassert: opassert has ended; process %d continues unwatched\n", int(getpid()));
      return;
    }
    if (reply.empty()) return;
    if (Outer* t = mine()) t->reported = true;
    for (TensorImpl* impl : results()) reported_results.push_back({&op_, place_, weak(impl)});
    std::string at = reply + "\n";  // opassert's number of the call
    if (place_ == PYTHON) {
      Python::Lock lock(python);
      at += python.answerer(arguments(), results());
    }
    at += "\n" + site.place();
    if (!channel.ask(FRAME_SITE, at.data(), at.size(), reply) || reply.empty()) return;
    TORCH_CHECK(reply[0] == '?', reply);
    python.find_origin({python, reply.substr(1), [](const std::string& line, const std::string& frames) {
      std::string ignored;
      const std::string text = line + "\n" + frames;
      channel.ask(FRAME_ORIGIN, text.data(), text.size(), ignored);
    }});
  }
};

// excluded_by_program is whether the program excludes kBelow in this thread, whatever
// the dispatcher's set has.
thread_local std::optional<bool> excluded_by_program;

// Excluding is in scope while the watcher has kBelow excluded, or included.
class Excluding {
  const std::optional<bool> outer_ = excluded_by_program;
  const bool was_ = c10::impl::tls_is_dispatch_key_excluded(kBelow), changes_;

 public:
  explicit Excluding(bool excluded) : changes_(was_ != excluded) {
    if (!changes_) return;
    if (!outer_) excluded_by_program = was_;
    c10::impl::tls_set_dispatch_key_excluded(kBelow, excluded);
  }
  ~Excluding() {
    if (!changes_) return;
    c10::impl::tls_set_dispatch_key_excluded(kBelow, was_);
    excluded_by_program = outer_;
  }
};

// Inside is in scope while a kernel or a fake runs.
struct Inside {
  int& count;
  explicit Inside(const Watched& op) : Inside(op.custom ? inside_custom : inside_own) {}
  explicit Inside(int& of) : count(of) { count++; }
  ~Inside() { count--; }
};

// look_at observes a call: its arguments, f, which runs the kernel, and its results.
template <class F>
void look_at(const Watched& op, Stack& stack, Place place, F&& f) {
  ObservedCall::Words words;
  std::optional<ObservedCall> look;
  if (!tried("a call could not be observed", [&] { look.emplace(op, stack, place, words); })) return f();
  try {
    f();
  } catch (...) {
    look->failed();
    throw;
  }
  look->returned();
}

thread_local const Watched* recorded = nullptr;  // the last operator whose kernel below autograd returned a tensor that requires grad

// Followed is a result of a custom operator that autograd records: it reports a
// missing formula when a backward reaches it.
class Followed {
  const OperatorHandle& handle_;
  const Watched& op_;
  const Stack& stack_;
  c10::SmallVector<TensorImpl*, 8> arguments_;
  bool records_ = false;

  // backward returns how a backward through the operator goes, or -1 if it has a formula.
  int backward() const {
    if (!has_autograd(handle_)) return recorded == &op_ ? OA_RECORDS : OA_ENDS;
    if (python.interpreter == nullptr) return -1;
    Python::Lock lock(python);
    return python.without_formula(handle_.operator_name().name) ? OA_RAISES : -1;
  }

  void follow(TensorImpl* impl, size_t result, int backward, const std::string& frames) const {
    const bool argument = std::find(arguments_.begin(), arguments_.end(), impl) != arguments_.end();
    if (impl == nullptr || argument || !impl->requires_grad()) return;
    const at::Tensor t(Impl::reclaim_copy(impl));
    t.register_hook([op = &op_, come = Come{op_.number, int64_t(result), backward}, frames](const at::TensorBase&) {
      op->counts->differentiated.fetch_add(1, std::memory_order_relaxed);
      if (op->reported.exchange(true)) return;
      std::string reply;
      const std::string text = std::string(reinterpret_cast<const char*>(&come), sizeof come) + frames;
      if (channel.ask(FRAME_BACKWARD, text.data(), text.size(), reply)) TORCH_CHECK(reply.empty(), reply);
    });
  }

 public:
  Followed(const OperatorHandle& handle, const Watched& op, const Stack& stack) : handle_(handle), op_(op), stack_(stack) {
    if (!op.followed || op.reported || !c10::GradMode::is_enabled()) return;
    each_argument(op, stack, [&](TensorImpl* impl, const Subject&) {
      arguments_.push_back(impl);
      records_ = records_ || (impl != nullptr && impl->requires_grad());
    });
    recorded = nullptr;
  }

  void returned() const {
    if (!records_) return;
    const int how = op_.formula ? -1 : backward();
    op_.formula = how < 0;
    if (op_.formula) return void(op_.counts->differentiated.fetch_add(1, std::memory_order_relaxed));
    const std::string frames = site.place();
    const size_t base = stack_.size() - op_.returns;
    for (size_t i = 0; i < op_.expected.returns.size(); i++) {
      const Subject& s = op_.expected.returns[i];
      each(stack_[base + s.index], s.list != 0, [&](TensorImpl* impl) { follow(impl, i, how, frames); });
    }
  }
};

// by_fake reports whether a fake answers a call, while a compiler traces. It is
// called before a call of Python.
bool by_fake(const Watched& op, const Stack& stack) {
  Python::Lock lock(python);
  bool fake = python.has_mode(kFakeMode);
  each_argument(op, stack, [&](TensorImpl* impl, const Subject&) {
    fake = fake || (impl != nullptr && impl->is_python_dispatch() && python.class_of(impl) == kFakeTensor);
  });
  return fake;
}

// in_fake reports whether a call is made by a fake, which only has shapes.
bool in_fake(const Watched& op, const Stack& stack) {
  bool real = false;
  each_argument(op, stack, [&](TensorImpl* impl, const Subject&) { real = real || (impl != nullptr && !is_meta(impl, storage_of(impl))); });
  return !real;
}

// calls_python reports whether a call will reach Python.
bool calls_python(const Watched& op, const Stack& stack) {
  bool calls = c10::impl::TorchDispatchModeTLS::stack_len() > 0;
  each_argument(op, stack, [&](TensorImpl* impl, const Subject&) { calls = calls || (impl != nullptr && impl->is_python_dispatch()); });
  return calls && python.interpreter != nullptr;
}

// returns_graded reports whether a result requires grad.
bool returns_graded(const Watched& op, const Stack& stack) {
  bool graded = false;
  const size_t base = stack.size() - op.returns;
  for (const Subject& s : op.expected.returns) {
    each(stack[base + s.index], s.list != 0, [&](TensorImpl* impl) { graded = graded || (impl != nullptr && impl->requires_grad()); });
  }
  return graded;
}

void above(const OperatorHandle& handle, DispatchKeySet keys, Stack* stack);

// Registrations follows the registrations of operators, collects custom ones, and
// handles them once their kernels are registered.
class Registrations {
  struct New {
    c10::OperatorName name;
    int lookups = 0;
  };
  std::mutex mutex_;
  std::vector<New> new_;

  struct Listener final : c10::OpRegistrationListener {
    // These run under the dispatcher's lock.
    void onOperatorRegistered(const OperatorHandle& handle) override;
    void onOperatorDeregistered(const OperatorHandle& handle) override { operators().forget(handle.operator_name()); }
  };

  // settled reports whether the registrations of an operator are complete.
  bool settled(New& op) {
    auto handle = c10::Dispatcher::singleton().findSchema(op.name);
    if (!handle) return true;
    constexpr int kLookups = 1000;
    const bool there = has_autograd(*handle) || handle->hasKernelForAnyDispatchKey(DispatchKeySet(DispatchKeySet::FULL)) ||
                       handle->hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutograd);
    if (there) watch(op.name);
    return there || ++op.lookups > kLookups;
  }

  // Kernels are the watcher's kernels, by operator: those above autograd, and those of frequent ones below.
  std::vector<std::pair<c10::OperatorName, c10::RegistrationHandleRAII>> kernels_, frequent_;

  template <class Signature>
  void watch_frequent(std::initializer_list<const char*> names);

  void watch(const c10::OperatorName& name) {
    if (our_keys.gone()) return;
    try {
      auto handle = c10::Dispatcher::singleton().registerImpl(
          name, our_keys.above(), c10::KernelFunction::makeFromBoxedFunction<&above>(), c10::nullopt, nullptr, kRegistrar);
      std::lock_guard<std::mutex> lock(mutex_);
      kernels_.emplace_back(name, std::move(handle));
    } catch (const std::exception&) {
      // It was deregistered again.
    }
  }

 public:
  std::atomic<bool> dirty{false};

  // listen is called for all registrations, also later ones.
  void listen() {
    static auto* keep = new c10::RegistrationHandleRAII(c10::Dispatcher::singleton().addRegistrationListener(std::make_unique<Listener>()));
    (void)keep;  // never destroyed: its destructor would unregister it
  }

  void add(const c10::OperatorName& name) {
    if (own(name.name)) return;
    std::lock_guard<std::mutex> lock(mutex_);
    new_.push_back({name});
    dirty = true;
  }

  void look() {
    channel.connect_now();  // a forked process greets opassert
    std::vector<New> now;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      now.swap(new_);
      dirty = false;
    }
    std::string names, ignored;
    std::vector<New> later;
    for (New& op : now) {
      if (op.lookups == 0) names += toString(op.name) + "\n";
      if (!settled(op)) later.push_back(op);
    }
    if (!later.empty()) {
      std::lock_guard<std::mutex> lock(mutex_);
      new_.insert(new_.end(), later.begin(), later.end());
      dirty = true;
    }
    if (!names.empty()) channel.ask(FRAME_NAMES, names.data(), names.size(), ignored);
  }

  // unwatch removes the watcher's kernels of an operator.
  void unwatch(const c10::OperatorName& name) {
    decltype(kernels_) given_up;
    std::lock_guard<std::mutex> lock(mutex_);
    const auto rest = std::stable_partition(kernels_.begin(), kernels_.end(), [&](const auto& kernel) { return !(kernel.first == name); });
    std::move(rest, kernels_.end(), std::back_inserter(given_up));
    kernels_.erase(rest, kernels_.end());
  }

  // watch_frequent registers kernels for operators that programs call most.
  void watch_frequent();

  // moved registers the watcher's kernels again, for another key.
  void moved() {
    decltype(kernels_) kernels, frequent;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      kernels.swap(kernels_);
      if (our_keys.gone()) frequent.swap(frequent_);
    }
    std::vector<c10::OperatorName> names;
    for (const auto& kernel : kernels) names.push_back(kernel.first);
    kernels.clear();
    for (const auto& name : names) watch(name);
  }

  void forked() {
    new (&mutex_) std::mutex;
    dirty = true;
  }
};

Registrations& registrations() {
  static auto* all = new Registrations;
  return *all;
}

void Registrations::Listener::onOperatorRegistered(const OperatorHandle& handle) { registrations().add(handle.operator_name()); }

// Running is in scope while the kernel of a call runs whose arguments were observed
// without the stack, and its result is observed.
class Running {
  const Watched& op_;
  const UnboxedCall& call_;
  const Excluding guard_{true};
  const Inside inside_;
  const Writing writing_;
  bool counted_ = false;

  void count(std::atomic<int64_t> Counts::* as) {
    counted_ = true;
    op_.counts->calls.fetch_add(1, std::memory_order_relaxed);
    (op_.counts->*as).fetch_add(1, std::memory_order_relaxed);
  }

 public:
  Running(const Watched& op, const UnboxedCall& call) : op_(op), call_(call), inside_(op_), writing_(op_) { meet(); }
  ~Running() {
    if (!counted_) count(&Counts::failed);
  }

  // usual reports whether the call looks usual. If not, it is to be asked about.
  bool usual(const at::Tensor* result) {
    int64_t unheld = 0;
    if (!call_.usual(op_.expected, result, unheld)) return false;
    count(&Counts::usual);
    count_bits(unheld, op_.counts->unheld, nullptr);
    return true;
  }

  void ask(Stack& stack) {
    counted_ = true;
    ObservedCall::Words words;
    std::optional<ObservedCall> look;
    if (tried("a call could not be observed", [&] { look.emplace(op_, stack, call_, words); })) look->returned();
  }
};

void fallback(const OperatorHandle& handle, DispatchKeySet keys, Stack* stack) {
  const auto rest = after(keys, kBelow);
  our_keys.enter();
  if (C10_UNLIKELY(our_keys.gone())) return handle.redispatchBoxed(rest, stack);
  if (rest.has(DispatchKey::Python)) return handle.redispatchBoxed(rest, stack);  // observed where Python is called
  if (C10_UNLIKELY(registrations().dirty.load(std::memory_order_relaxed))) registrations().look();
  const Watched& op = operators().find(handle).serving(rest, *stack);
  // Calls by PyTorch's own kernels are of PyTorch's operators, and are checked only if
  // they may have kernels of others. Calls by custom kernels are watched if they are of
  // custom operators; PyTorch's may run there with view tracking on.
  std::optional<Excluding> guard;
  if (!op.custom && !others.run(rest)) guard.emplace(true);
  if (!op.watched || op.decomposes || (!op.custom && inside_custom + inside_own > 0)) return handle.redispatchBoxed(rest, stack);
  if (C10_UNLIKELY(inside_fake > 0) && in_fake(op, *stack)) return handle.redispatchBoxed(rest, stack);
  if (op.unboxed && op.expected.args.empty() && op.expected.returns.empty()) {  // there is nothing to observe
    const UnboxedCall none;
    Running running(op, none);
    handle.redispatchBoxed(rest, stack);
    running.usual(nullptr);
    return;
  }
  Inside inside(op);
  look_at(op, *stack, BELOW_AUTOGRAD, [&] { handle.redispatchBoxed(rest, stack); });
  if (op.followed && returns_graded(op, *stack)) recorded = &op;
}

// A Frequent is an operator of PyTorch's with an UnboxedKernel.
class Frequent {
  const OperatorHandle handle_;
  std::atomic<const Watched*> op_{nullptr};
  std::atomic<int64_t> generation_{0};  // of op_

  const Watched& op() {
    const int64_t now = generation.load(std::memory_order_relaxed);
    if (C10_UNLIKELY(generation_.load(std::memory_order_acquire) != now)) {
      op_ = &operators().find(handle_);
      generation_ = now;
    }
    return *op_.load(std::memory_order_relaxed);
  }

 public:
  explicit Frequent(const OperatorHandle& handle) : handle_(handle) {}

  static const c10::KernelFunction& boxed() {
    static const auto kernel = c10::KernelFunction::makeFromBoxedFunction<&fallback>();
    return kernel;
  }

  struct Choice {
    Way way;
    const Watched* op = nullptr;  // of an UNBOXED one
  };

  // choose decides about a call, and observes the arguments of an UNBOXED one.
  Choice choose(DispatchKeySet rest, UnboxedCall& call) {
    our_keys.enter();
    if (C10_UNLIKELY(our_keys.gone() || rest.has(DispatchKey::Python) || registrations().dirty.load(std::memory_order_relaxed) || inside_fake > 0)) return {BOXED};
    const Watched& watched = op();
    if (!watched.unboxed || others.run(rest)) return {BOXED};
    if (inside_custom + inside_own > 0) return {INNER};
    if (call.size() != watched.expected.args.size() || !call.plain()) return {BOXED};
    call.begin();
    return {UNBOXED, &watched};
  }

  // Inner is in scope while the kernel runs of a call that is not observed.
  struct Inner {
    const Excluding guard{true};
  };

  using Running = opassert::Running;
};

template <class Signature>
void Registrations::watch_frequent(std::initializer_list<const char*> names) {
  for (const std::string full : names) {
    const size_t dot = full.find('.');
    const c10::OperatorName name("aten::" + full.substr(0, dot), dot == std::string::npos ? "" : full.substr(dot + 1));
    const auto op = c10::Dispatcher::singleton().findSchema(name);
    if (!op || op->hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd)) continue;
    try {
      using Kernel = UnboxedKernel<Frequent, Signature>;
      auto kernel = c10::KernelFunction::makeFromUnboxedFunctor<false, Kernel>(std::make_unique<Kernel>(*op));
      frequent_.emplace_back(name, c10::Dispatcher::singleton().registerImpl(name, kBelow, std::move(kernel), c10::impl::CppSignature::make<Signature>(), nullptr, kRegistrar));
    } catch (const std::exception&) {
      // In this version it has another signature: its calls go to the fallback.
    }
  }
}

void Registrations::watch_frequent() {
  using at::Scalar;
  using at::Tensor;
  using T = const Tensor&;
  using S = const Scalar&;
  using Sizes = c10::SymIntArrayRef;
  using DType = c10::optional<at::ScalarType>;
  using Layout = c10::optional<at::Layout>;
  using Device = c10::optional<at::Device>;
  using Format = c10::optional<at::MemoryFormat>;
  using Bool = c10::optional<bool>;
  watch_frequent<Tensor(T)>({"abs", "alias", "bitwise_not", "cos", "detach", "exp", "isnan", "log", "logical_not", "neg", "reciprocal", "relu", "rsqrt", "sigmoid", "silu", "sin", "sqrt", "t", "tanh"});
  watch_frequent<Tensor(T, T)>({"bmm", "div.Tensor", "eq.Tensor", "ge.Tensor", "gt.Tensor", "le.Tensor", "lt.Tensor", "maximum", "minimum", "mm", "mul.Tensor", "ne.Tensor", "sigmoid_backward", "tanh_backward"});
  watch_frequent<Tensor(T, T, S)>({"add.Tensor", "sub.Tensor", "threshold_backward"});
  watch_frequent<Tensor(T, S)>({"div.Scalar", "eq.Scalar", "ge.Scalar", "gt.Scalar", "le.Scalar", "lt.Scalar", "mul.Scalar", "ne.Scalar", "pow.Tensor_Scalar"});
  watch_frequent<Tensor(T, S, S)>({"add.Scalar", "rsub.Scalar", "sub.Scalar"});
  watch_frequent<Tensor(T, T, T, S, S)>({"addmm"});
  watch_frequent<Tensor(T, DType)>({"mean", "sum"});
  watch_frequent<Tensor(T, at::OptionalIntArrayRef, bool, DType)>({"mean.dim", "sum.dim_IntList"});
  watch_frequent<Tensor(T, int64_t)>({"unsqueeze"});
  watch_frequent<Tensor(T, int64_t, bool)>({"_log_softmax", "_softmax"});
  watch_frequent<Tensor(T, int64_t, int64_t)>({"transpose.int"});
  watch_frequent<Tensor(T, int64_t, c10::SymInt)>({"select.int"});
  watch_frequent<Tensor(T, int64_t, c10::optional<c10::SymInt>, c10::optional<c10::SymInt>, c10::SymInt)>({"slice.Tensor"});
  watch_frequent<Tensor(T, Sizes)>({"_unsafe_view", "view"});
  watch_frequent<Tensor(T, Sizes, bool)>({"expand"});
  watch_frequent<Tensor(T, at::IntArrayRef)>({"permute"});
  watch_frequent<Tensor(T, Format)>({"clone"});
  watch_frequent<Tensor(T, DType, Layout, Device, Bool, bool, Format)>({"_to_copy"});
  watch_frequent<Tensor(T, DType, Layout, Device, Bool, Format)>({"empty_like", "ones_like", "zeros_like"});
  watch_frequent<Tensor(Sizes, DType, Layout, Device, Bool)>({"ones", "rand", "randn", "zeros"});
  watch_frequent<Tensor(Sizes, DType, Layout, Device, Bool, Format)>({"empty.memory_format"});
  watch_frequent<Tensor&(Tensor&)>({"relu_", "sqrt_", "zero_"});
  watch_frequent<Tensor&(Tensor&, S)>({"div_.Scalar", "fill_.Scalar", "mul_.Scalar"});
  watch_frequent<Tensor&(Tensor&, T)>({"bitwise_and_.Tensor", "bitwise_or_.Tensor", "div_.Tensor", "mul_.Tensor"});
  watch_frequent<Tensor&(Tensor&, T, S)>({"add_.Tensor", "lerp_.Scalar", "sub_.Tensor"});
  watch_frequent<Tensor&(Tensor&, T, T, S)>({"addcdiv_", "addcmul_"});
  watch_frequent<Tensor&(Tensor&, T, bool)>({"copy_"});
  watch_frequent<Scalar(T)>({"_local_scalar_dense"});
}

// above is the kernel above autograd of custom operators.
void above(const OperatorHandle& handle, DispatchKeySet keys, Stack* stack) {
  const auto rest = after(keys, our_keys.above());
  const Watched& op = operators().find(handle);
  if (!op.watched) return handle.redispatchBoxed(rest, stack);
  const Followed followed(handle, op, *stack);
  if (!op.autograd || (!op.decomposes && calls_python(op, *stack) && by_fake(op, *stack))) {
    handle.redispatchBoxed(rest, stack);
    return followed.returned();
  }
  Outer here{&op, top};
  struct Restore {
    ~Restore() { top = top->outer; }
  } restore;
  top = &here;
  look_at(op, *stack, ABOVE_AUTOGRAD, [&] { handle.redispatchBoxed(rest, stack); });
  followed.returned();
}

template <class T>
int64_t python_references(T* impl) {
  return python.references(impl);
}

using Dispatch = void (*)(const c10::impl::PyInterpreterVTable*, const OperatorHandle&, Stack*);
Dispatch dispatch_to_python;

// dispatch replaces the call of __torch_dispatch__. Below it all keys above Python
// are excluded, in some versions also ours.
void dispatch(const c10::impl::PyInterpreterVTable* table, const OperatorHandle& handle, Stack* stack) {
  const Watched& op = operators().find(handle);
  if (!op.watched || our_keys.gone() || inside_own + inside_fake > 0 || (!op.custom && inside_custom > 0)) return dispatch_to_python(table, handle, stack);
  if (by_fake(op, *stack)) {
    op.counts->faked.fetch_add(1, std::memory_order_relaxed);
    Inside inside(inside_fake);
    return dispatch_to_python(table, handle, stack);
  }
  look_at(op, *stack, PYTHON, [&] {
    Excluding below(false);
    dispatch_to_python(table, handle, stack);
  });
}

// map_counts maps the counts of all operators, and the data after them.
bool map_counts() {
  const int fd = channel.host.memory();
  if (fd < 0) return false;
  constexpr size_t size = kOperators * sizeof(Counts);
  void* at = mmap(nullptr, size + sizeof(Lost), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (at == MAP_FAILED) return false;
  counts_file = static_cast<Counts*>(at);
  channel.lost = reinterpret_cast<Lost*>(static_cast<char*>(at) + size);
  return true;
}

// The functions below replace libtorch's functions of similar names: callers do not
// see the watcher's keys, and can register kernels for them.

c10::RegistrationHandleRAII register_fallback(c10::Dispatcher* dispatcher, DispatchKey key, c10::KernelFunction kernel, std::string debug) {
  return our_keys.fallback(*dispatcher, key, std::move(kernel), std::move(debug));
}

c10::RegistrationHandleRAII register_kernel(
    c10::Dispatcher* dispatcher, c10::OperatorName name, c10::optional<DispatchKey> key, c10::KernelFunction kernel,
    c10::optional<c10::impl::CppSignature> signature, std::unique_ptr<c10::FunctionSchema> inferred, std::string debug) {
  if (key) {
    our_keys.want(DispatchKeySet(*key));
    kernel = our_keys.theirs(*key, std::move(kernel));
  }
  const bool of_others = key && others.registers(name, *key, debug);
  auto registered = dispatcher->registerImpl(name, key, std::move(kernel), std::move(signature), std::move(inferred), std::move(debug));
  if (!of_others) return registered;
  operators().forget(name);
  auto theirs = std::make_shared<c10::RegistrationHandleRAII>(std::move(registered));
  return c10::RegistrationHandleRAII([name, theirs]() mutable {
    theirs.reset();
    operators().forget(name);
  });
}

// register_definition removes the watcher's kernel before the definition: an operator
// with a kernel left is not deleted, and a new one of its name would have its Python
// object.
c10::RegistrationHandleRAII register_definition(c10::Dispatcher* dispatcher, c10::FunctionSchema schema, std::string debug, std::vector<at::Tag> tags) {
  const c10::OperatorName name = schema.operator_name();
  auto definition = std::make_shared<c10::RegistrationHandleRAII>(dispatcher->registerDef(std::move(schema), std::move(debug), std::move(tags)));
  return c10::RegistrationHandleRAII([name, definition]() mutable {
    registrations().unwatch(name);
    definition.reset();
  });
}

bool is_included(DispatchKey key) { return our_keys.visible(c10::impl::tls_local_dispatch_key_set().included_).has(key); }

void set_included(DispatchKey key, bool included) {
  our_keys.want(DispatchKeySet(key));
  c10::impl::tls_set_dispatch_key_included(key, included);
}

void include(c10::impl::IncludeDispatchKeyGuard* guard, DispatchKeySet set) {
  our_keys.want(set);
  new (guard) c10::impl::IncludeDispatchKeyGuard(set);
}

void force(c10::impl::LocalDispatchKeySet set) {
  our_keys.want(our_keys.visible(set.included_));
  if (excluded_by_program) set.excluded_ = *excluded_by_program ? set.excluded_.remove(kBelow) : set.excluded_.add(kBelow);
  c10::impl::_force_tls_local_dispatch_key_set(our_keys.renewed(set));
}

// included and excluded are the keys of this thread's sets to hide from Python.
Difference included() { return {our_keys.ours(c10::impl::tls_local_dispatch_key_set().included_), {}}; }

Difference excluded() {
  const DispatchKeySet below(kBelow);
  if (!excluded_by_program) return {};
  return *excluded_by_program ? Difference{{}, below} : Difference{below, {}};
}

// replace_imports replaces these functions in all libraries.
void replace_imports() {
  const Imports imports{channel.host};
  imports.add(&c10::Dispatcher::registerFallback, &register_fallback);
  imports.add(&c10::Dispatcher::registerImpl, &register_kernel);
  imports.add(&c10::Dispatcher::registerDef, &register_definition);
  imports.add(&c10::impl::tls_is_dispatch_key_included, &is_included);
  imports.add(&c10::impl::tls_set_dispatch_key_included, &set_included);
  imports.add(&c10::impl::_force_tls_local_dispatch_key_set, &force);
  imports.add("_ZN3c104impl23IncludeDispatchKeyGuardC1ENS_14DispatchKeySetE", reinterpret_cast<void*>(&include));
  imports.add("_ZN3c104impl23IncludeDispatchKeyGuardC2ENS_14DispatchKeySetE", reinterpret_cast<void*>(&include));
  list_without_ours(imports);
  channel.host.replace();
}

void forked() {
  channel.about.resize(channel.about.rfind('\n') + 1);  // one thread is left, which is watched
  channel.forked();
  site.forked();
  operators().forked();
  our_keys.forked();
  registrations().forked();
  sample.forked();
  unallocated().forked();
  fakes.forked();
  holders = 1;
}

// is_its_fake reports whether the kernel of an operator is its fake, as it is for
// every device, in a program that compiles nothing. An operator with a registered
// fake has a kernel for Meta.
bool is_its_fake(const c10::OperatorName& name) {
  const auto handle = c10::Dispatcher::singleton().findSchema(name);
  const auto has = [&](DispatchKey key) { return handle->hasKernelForDispatchKey(key); };
  return handle && !own(name.name) && !has(DispatchKey::Meta) && (has(DispatchKey::CompositeExplicitAutograd) || has(DispatchKey::CompositeExplicitAutogradNonFunctional)) &&
         !python.has_module("torch._dynamo");
}

constexpr const char* kItsFake = R"({"unknown":"the op's kernel is its fake, and the program compiles nothing"})";

void tell_fake(const Fakes::Written& written, const std::string& answer) {
  Fakes::Contexts numbers = fakes.contexts(written);
  numbers.insert(numbers.begin(), {written.op, int64_t(numbers.size())});
  std::string ignored, frame(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(int64_t));
  frame += written.begun.call + "\n" + answer + "\n" + written.begun.place;
  channel.ask(FRAME_FAKE, frame.data(), frame.size(), ignored);
}

// call_fakes is called at the end of the program. Its forks do not count as processes
// of the program.
void call_fakes() {
  std::vector<Fakes::Written> calls;
  for (const Fakes::Written& written : fakes.take()) {
    is_its_fake(written.name) ? tell_fake(written, kItsFake) : calls.push_back(written);
  }
  std::string program;
  if (calls.empty() || !channel.ask(FRAME_FAKES, nullptr, 0, program)) return;
  Fakes::call_all(
      calls, [] { return python.fork(); },
      [&](const std::string& calls, size_t first, int to) {
    our_keys.retire();
    channel.close();
    const int nowhere = open("/dev/null", O_RDWR);
    for (int standard : {1, 2}) dup2(nowhere, standard);
    python.replay(program, calls, first, to);
  },
      tell_fake);
}

// claim takes the keys. An exception in a static initialiser would end the program.
bool claim() {
  return our_keys.claim(
      c10::KernelFunction::makeFromBoxedFunction<&fallback>(), [] { registrations().moved(); },
      [](const char* why) { not_watched(why); });
}

}  // namespace
}  // namespace opassert

using namespace opassert;

extern "C" void ow_thread(void* (*run)(void*)) {
  threads++;
  if (python.starts(run)) holders++;
  our_keys.enter();
}

extern "C" void ow_loaded() {
  if (registrations().dirty) registrations().look();
}

// ow_fakes is for a program that needs the findings of fakes before it ends. Its
// thread has Python's lock.
extern "C" void ow_fakes() { call_fakes(); }

// ow_start reports whether the process is watched from now on; if not, it has reported why.
extern "C" int ow_start(const Host* host) {
  channel.host = *host;
  std::string facts = "\n";
  site.start(*host, facts);
  channel.about = std::string(OPASSERT_LIBTORCH_VERSION) + "\n" + facts;
  if (!channel.connect_now() || channel.settings.size() < sizeof settings) {
    not_watched("the watcher can't reach opassert");
    return 0;
  }
  holders += std::max(0, atoi(facts.c_str() + facts.rfind('\n') + 1) - 1);  // the present Python threads
  std::memcpy(&settings, channel.settings.data(), sizeof settings);
  std::istringstream lines(channel.settings.substr(sizeof settings));
  std::getline(lines, own_namespaces);
  for (std::string source; std::getline(lines, source);) others.own(source);
  if (!map_counts()) {
    not_watched("the watcher can't map its counts");
    return 0;
  }
  if (!claim()) {
    not_watched("the program uses every dispatch key that opassert can see calls at");
    return 0;
  }
  registrations().listen();
  registrations().watch_frequent();
  pthread_atfork(nullptr, nullptr, forked);
  atexit(ow_loaded);
  if (python.start()) {
    references<c10::TensorImpl> = python_references;
    references<c10::StorageImpl> = python_references;
    dispatch_to_python = stand_in(python.interpreter, &dispatch);
    python.hide(included, excluded, call_fakes);
  }
  threads++;
  our_keys.enter();
  replace_imports();
  ow_loaded();
  return 1;
}
