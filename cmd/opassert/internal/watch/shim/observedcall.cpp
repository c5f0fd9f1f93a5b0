#include "observedcall.h"

#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>

#include "channel.h"
#include "device.h"
#include "fakes.h"
#include "python.h"
#include "record.h"
#include "site.h"
#include "unboxed.h"
#include "usual_gen.h"
#include "works.h"

namespace opassert {

std::atomic<int> threads{0}, holders{0};

namespace {

using torch::jit::Stack;

// all_writes increases when an operator that writes starts and when it ends.
std::atomic<int64_t> all_writes{0};
thread_local int64_t writes_here = 0;  // of those, this thread's

int64_t count(const c10::IValue& v, bool list) {
  int64_t n = 0;
  each(v, list, [&](TensorImpl*) { n++; });
  return n;
}

Mutex unallocated_mutex;

// Unallocated are storages that operators returned recently, over memory that no
// allocator made: the result of a later call may be in the same memory, under another
// storage. The references are weak: the program may free the storages.
class Unallocated {
  struct Row {
    c10::weak_intrusive_ptr<c10::StorageImpl> storage;
    const void* bytes;
  };
  static constexpr size_t kRows = 8;  // of each operator
  std::unordered_map<int64_t, std::deque<Row>> rows_;

 public:
  // each calls f with an operator's live storages. It takes no reference: dropping the last one could take Python's lock.
  template <class F>
  void each(int64_t op, F&& f) {
    std::lock_guard<std::mutex> lock(unallocated_mutex);
    for (const Row& row : rows_[op]) {
      const auto* storage = row.storage._unsafe_get_target();
      if (row.storage.use_count() > 0 && bytes_of(storage) == row.bytes) f(storage);
    }
  }

  void add(int64_t op, const c10::Storage& storage) {
    std::lock_guard<std::mutex> lock(unallocated_mutex);
    auto& rows = rows_[op];
    rows.push_back({storage.getWeakStorageImpl(), bytes_of(storage.unsafeGetStorageImpl())});
    if (rows.size() > kRows) rows.pop_front();
  }
};

Unallocated& unallocated = *new Unallocated;

// A Reported is a returned tensor with a finding. The weak reference keeps its address from being reused.
using Weak = c10::weak_intrusive_ptr<TensorImpl, c10::UndefinedTensorImpl>;
struct Reported {
  const Watched* op;
  Place place;
  Weak result;
};
thread_local std::vector<Reported> reported_results;  // in the outermost observed call
thread_local int observed_calls = 0;                  // observed calls that this thread is in

Weak weak(TensorImpl* impl) { return Weak(impl == nullptr ? Impl() : Impl::reclaim_copy(impl)); }

// An ObservedCall is one call of an operator, observed.
class ObservedCall {
  const Watched& op_;
  Stack& stack_;
  const Place place_;
  oa_level level_ = OA_IDENTITY;
  std::atomic<int64_t> Counts::* counted_ = nullptr;
  int64_t writes_, writes_here_;
  // An Input has a weak reference during the call, and a strong one only if needed: a kernel may count references.
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
  // The arguments that are lists, tuples or dicts, whose tensors a kernel may replace, and none for other arguments.
  c10::SmallVector<c10::IValue, 4> containers_;
  c10::SmallVector<int64_t, 8> lengths_;
  Holds holds_;
  std::string modes_;    // a line each
  std::string case_;     // the arguments as a case
  std::string numbers_;  // of these the numbers, of a custom operator
  FakeCall fake_;
  std::string handler_;  // a line for the called subclass: like a mode it may keep results
  const c10::impl::DeviceGuardImplInterface* backend_ = nullptr;  // that of an argument that is neither on the CPU nor on Meta
  c10::DeviceIndex current_ = 0;                                  // its current device before the call
  bool returned_ = false;
  std::optional<Writing> writing_;
  const size_t reported_before_ = reported_results.size();
  std::vector<TensorImpl*> foreign_;  // results in memory that no allocator made
  Reply seen_;

  void see(TensorImpl* impl, oa_level level, bool listed = false) {
    const size_t at = seen_.size();
    observe(impl, level, seen_);
    if (level >= OA_CONTENTS && !copy_fault.empty()) not_copied();
    if (impl == nullptr) return;
    HeadOf<Reply> head{seen_, at};
    if (works::is_pending(impl)) head.set_traits(head.traits() | OA_PENDING);
    if (place_ != PYTHON || !impl->is_python_dispatch()) return;
    python::Lock lock;
    head.set_traits(python::traits(impl, head.traits(), listed));
    if (!returned_ && head.traits() & (OA_DIRECT_SUBCLASS | OA_WRAPPER_SUBCLASS)) handler_ = "__torch_dispatch__ of " + python::class_of(impl) + "\n";
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

  // level_of returns the level of an argument: of PyTorch's own operators only what a check needs is read, not copied.
  oa_level level_of(const Subject& s) const {
    if (level_ != OA_CONTENTS || op_.custom) return level_;
    return s.checks & (needs::same_contents | needs::counted) ? OA_DIGESTS : OA_METADATA;
  }

 public:
  // Words is a buffer for observations, outside the ObservedCall: an optional with it would be zeroed first.
  using Words = int64_t[512];

  ObservedCall(const Watched& op, Stack& stack, Place place, Words& words) : op_(op), stack_(stack), place_(place), seen_(words, std::size(words)) {
    meet();
    if (place != ABOVE_AUTOGRAD) op.counts->count(&Counts::calls);
    level_ = choose();
    if (op.recorded && place != PYTHON) write_down(case_, false);
    if (op.custom) write_down(numbers_, true);
    if (op.fakes && place == BELOW_AUTOGRAD) fake_.begin(op, stack, level_ == OA_CONTENTS);
    const size_t base = stack.size() - op.args;
    for (const Subject& s : op.expected.args) {
      const c10::IValue& v = stack[base + s.index];
      lengths_.push_back(count(v, s.list != 0));
      seen_.word(lengths_.back());
      containers_.push_back(is_container(v) ? v : c10::IValue());
    }
    each_argument(op, stack, [&](TensorImpl* impl, const Subject& s) {
      const oa_level level = level_of(s);
      see(impl, level);
      inputs_.emplace_back(impl, level, impl != nullptr && has_to_be_held(impl));
      if (impl != nullptr && !impl->is_cpu()) note_current(impl);
      holds_.hold(impl);
    });
    if (place_ == PYTHON) {
      python::Lock lock;
      modes_ = python::modes() + handler_;
    }
    writes_ = all_writes.load();
    writes_here_ = writes_here;
    writing_.emplace(op);
    observed_calls++;
  }

  // This one was observed before by an unboxed kernel; the stack has its results.
  ObservedCall(const Watched& op, Stack& stack, const UnboxedCall& call, Words& words)
      : op_(op), stack_(stack), place_(BELOW_AUTOGRAD), writes_(all_writes.load()), writes_here_(writes_here), seen_(words, std::size(words)) {
    op.counts->count(&Counts::calls);
    for (size_t i = 0; i < call.size(); i++) seen_.word(1);
    for (size_t i = 0; i < call.size(); i++) {
      inputs_.emplace_back(call[i], OA_IDENTITY, true);
      for (size_t w = 0; w < Observed::kHead; w++) seen_.word(call.before(i)[w]);
    }
    lengths_.assign(call.size(), 1);
    containers_.resize(call.size());
    observed_calls++;
  }

  ~ObservedCall() {
    for (TensorImpl* impl : foreign_) unallocated.add(op_.number, impl->unsafe_storage());
    if (--observed_calls == 0) reported_results.clear();
  }

  // failed counts a call that threw, and sends its arguments to opassert if their bytes were observed.
  void failed() {
    op_.counts->count(&Counts::failed, count_once());
    if (fake_.recorded()) fake_.failed(op_);
    if (level_ != OA_CONTENTS || !op_.custom || !hold() || !tried("a call could not be observed", [&] { see_thrown(); })) return;
    if (Call(op_.expected, seen_.contiguous()).usual()) return;
    if (!case_.empty()) record::keep(op_.number, case_, settings.record);
    ask(OA_THREW);
  }

  // returned observes the call after its return, and sends it to opassert unless it looks usual.
  void returned() {
    if (!hold()) return op_.counts->count(&Counts::lost, count_once());
    returned_ = true;
    if (!case_.empty()) record::keep(op_.number, case_, settings.record);
    if (fake_.recorded()) fake_.end(op_, stack_, written(), level_ == OA_CONTENTS);
    const size_t before = seen_.size();
    if (place_ == PYTHON) note_sharing();
    if (!tried("a call could not be observed", [&] { see_returned(); })) return;
    Call call(op_.expected, seen_.contiguous());
    const bool once = count_once(), left = moved();
    if (counted_ != nullptr) op_.counts->count(counted_, once);
    if (once && op_.custom && level_ == OA_CONTENTS) {
      call.each_write([&](int64_t argument, bool first, const Seen& before, bool change) {
        if (argument < kCodes) op_.counts->written[argument].add(first, before, change);
      });
    }
    if ((place_ == ABOVE_AUTOGRAD && Outer::top->reported) || passed_on()) return;
    if (!call.usual() || left) {
      op_.counts->count(&Counts::asked, once);
      return ask(left ? OA_MOVED : 0, before);
    }
    if (once) op_.counts->count_usual(call, level_ == OA_CONTENTS);
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

  void note_sharing() const {
    each_result(op_, stack_, [&](TensorImpl* view, size_t r) {
      if (view == nullptr || storage_of(view) == nullptr || op_.expected.returns[r].bases == 0) return;
      for (TensorImpl* base : arguments()) {
        if (base != nullptr && base != view && storage_of(base) == storage_of(view)) python::shared(view, base);
      }
    });
  }

  // has_to_be_held reports whether an argument may be freed by the call: only the stack has it, or a list in which a
  // fallback replaces it by a plain one. PyTorch's own kernels do not count references; from 2.10 on a strong
  // reference taken later needs Python's lock.
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
    foreign_.clear();
    for (const Subject& s : op_.expected.returns) {
      const c10::IValue& v = stack_[base + s.index];
      seen_.word(count(v, s.list != 0));
      each(v, s.list != 0, [&](TensorImpl* impl) {
        const size_t at = seen_.size();
        see(impl, level_ == OA_CONTENTS && (impl == nullptr || has_numbers(impl)) ? OA_METADATA : OA_IDENTITY, s.list != 0);
        HeadOf<Reply> head{seen_, at};
        if (place_ == ABOVE_AUTOGRAD && impl != nullptr) {  // autograd may hold both
          head.set_impl_uses(OA_UNCOUNTED);
          head.set_storage_uses(OA_UNCOUNTED);
        } else {
          uncount(impl, alone, head);
        }
        if (level_ == OA_CONTENTS && s.checks & needs::own_storage && impl != nullptr && impl->unsafe_storage() && owner_of(storage_of(impl)) == OA_FOREIGN) foreign_.push_back(impl);
      });
    }
    see_earlier();
  }

  // see_earlier writes the storages of earlier calls that are alive, if a result may
  // be in their memory: the storage, the address and number of its bytes.
  void see_earlier() {
    std::vector<int64_t> there;
    const auto write = [&](const c10::StorageImpl* storage) {
      there.insert(there.end(), {reinterpret_cast<int64_t>(storage), reinterpret_cast<int64_t>(bytes_of(storage)), int64_t(size_of(storage))});
    };
    if (!foreign_.empty()) unallocated.each(op_.number, write);
    seen_.word(there.size() / 3);
    for (int64_t word : there) seen_.word(word);
  }

  // see_arguments observes the arguments again, in lists the present elements: those that a shortened list lacks are
  // undefined tensors. The replacements of conj, neg and zero tensors are not known.
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

  // each_passed calls f with each passed tensor, null for one that is undefined or freed, and its subject.
  template <class F>
  void each_passed(F&& f) const {
    const Input* in = inputs_.begin();
    for (size_t a = 0; a < containers_.size(); a++, in += lengths_[a - 1]) {
      const Subject& s = op_.expected.args[a];
      if (!containers_[a].isNone()) each(containers_[a], true, [&](TensorImpl* impl) { f(impl, s); });
      for (int64_t e = 0; e < lengths_[a] && containers_[a].isNone(); e++) f(in[e].impl.defined() ? in[e].impl.get() : nullptr, s);
    }
  }

  std::vector<TensorImpl*> arguments() const {
    std::vector<TensorImpl*> all;
    each_passed([&](TensorImpl* impl, const Subject&) { all.push_back(impl); });
    return all;
  }

  // written returns the tensors of the written arguments, by position.
  std::vector<std::vector<TensorImpl*>> written() const {
    std::vector<std::vector<TensorImpl*>> all(op_.args);
    each_passed([&](TensorImpl* impl, const Subject& s) {
      if (s.write) all[s.index].push_back(impl);
    });
    return all;
  }

  std::vector<TensorImpl*> results() const {
    std::vector<TensorImpl*> all;
    if (!returned_) return all;
    each_result(op_, stack_, [&](TensorImpl* impl, size_t) {
      if (impl != nullptr) all.push_back(impl);
    });
    return all;
  }

  // passed_on reports whether the call returned a reported result of an inner call, as a mode does that calls the op,
  // or an op whose inner call Python answers. Below autograd a mode's result may have been another tensor.
  bool passed_on() const {
    if (place_ == BELOW_AUTOGRAD || reported_results.size() <= reported_before_) return false;
    const bool mode = place_ == PYTHON && python::innermost_mode() != nullptr;
    const auto all = results();
    return std::any_of(reported_results.begin() + reported_before_, reported_results.end(), [&](const Reported& a) {
      const bool same = std::find(all.begin(), all.end(), a.result._unsafe_get_target()) != all.end();
      return a.op == &op_ ? mode || same : a.place == PYTHON && same;
    });
  }

  // mine returns the same call above autograd.
  Outer* mine() const {
    Outer* t = Outer::top;
    while (t != nullptr && t->op != &op_) t = t->outer;
    return t;
  }

  // count_once reports whether to count the call: one that was observed below autograd was counted.
  bool count_once() {
    if (place_ != ABOVE_AUTOGRAD) {
      if (Outer* t = mine()) t->seen = true;
      return true;
    }
    if (Outer::top->seen) return false;
    op_.counts->count(&Counts::calls);
    return true;
  }

  void write_down(std::string& text, bool numbers) try {
    text = record::text(*op_.schema, stack_, numbers);
  } catch (const std::exception&) {
    if (!numbers) op_.counts->count(&Counts::unrecorded);
  }

  // device returns that of the call: of an argument that is not on the CPU, if any.
  std::string device() const {
    std::string name;
    for (TensorImpl* impl : arguments()) {
      if (impl != nullptr && has_numbers(impl) && (name.empty() || name == "cpu")) name = impl->device().str();
    }
    return name;
  }

  // ask sends the call to opassert and carries out the answer. The site is sent separately: it is only determined for a
  // violation. Where Python's collector may free what refers to tensors, they are observed again, if opassert wants
  // that, from a position on; only after calls of Python's, as others must not wait for Python's lock.
  void ask(int64_t more, size_t from = 0) {
    if (from > 0 && collect != nullptr && op_.in_python) more |= OA_COLLECTS;
    const bool alone = holders.load() <= 1, concurrent = threads.load() > 1 && all_writes.load() - writes_ != writes_here - writes_here_;
    const bool below = c10::impl::tls_is_dispatch_key_excluded(DispatchKey::ADInplaceOrView);  // as in a compiled graph
    const int64_t circumstances = (concurrent ? OA_CONCURRENT : 0) | (alone ? OA_ALONE : 0) | (below ? OA_BELOW : 0) | more;
    const std::string texts = modes_ + '\0' + c10::Device(c10::DeviceType::PrivateUse1).str() + '\0' + device() + '\0' + numbers_ + '\0';
    std::string words = words_of(Asked{op_.number, level_, circumstances, int64_t(texts.size())}) + texts;
    words.resize((words.size() + 7) / 8 * 8);
    words.append(reinterpret_cast<const char*>(seen_.contiguous()), (seen_.size() - OA_HEADER_WORDS) * sizeof(int64_t));
    std::string reply;
    if (!channel::ask(FRAME_CALL, words, reply)) {
      fprintf(stderr, "opassert: opassert has ended; process %d continues unwatched\n", int(getpid()));
      return;
    }
    if (reply.empty()) return;
    if (reply == "collect") {
      collect();
      seen_.cut(from);
      if (tried("a call could not be observed", [&] { see_returned(); })) ask((more & ~OA_COLLECTS) | OA_COLLECTED);
      return;
    }
    if (Outer* t = mine()) t->reported = true;
    for (TensorImpl* impl : results()) reported_results.push_back({&op_, place_, weak(impl)});
    std::string at = reply + "\n";  // opassert's number of the call
    if (place_ == PYTHON) {
      python::Lock lock;
      at += python::answerer(arguments(), results());
    }
    at += "\n" + site::place();
    if (!channel::ask(FRAME_SITE, at, reply) || reply.empty()) return;
    TORCH_CHECK(reply[0] == '?', reply);
    python::find_origin(reply.substr(1), [](const std::string& line, const std::string& frames) { channel::send(FRAME_ORIGIN, line + "\n" + frames); });
  }
};

}  // namespace

void look_at(const Watched& op, Stack& stack, Place place, c10::function_ref<void()> run) {
  ObservedCall::Words words;
  std::optional<ObservedCall> look;
  if (!tried("a call could not be observed", [&] { look.emplace(op, stack, place, words); })) return run();
  try {
    run();
  } catch (...) {
    look->failed();
    throw;
  }
  look->returned();
}

void look_after(const Watched& op, Stack& stack, const UnboxedCall& call) {
  ObservedCall::Words words;
  std::optional<ObservedCall> look;
  if (tried("a call could not be observed", [&] { look.emplace(op, stack, call, words); })) look->returned();
}

void Writing::count() const {
  if (!writes_) return;
  all_writes++;
  writes_here++;
}

void meet() {
  static thread_local const bool met = (holders++, true);
  (void)met;
}

}  // namespace opassert
