#include "unboxed.h"

#include <algorithm>

#include "others.h"
#include "registrations.h"
#include "usual_gen.h"

namespace opassert {
namespace {

// is_plain reports whether a tensor has bytes on the CPU and no trait.
bool is_plain(const TensorImpl* impl) {
  static const uint64_t plain = DispatchKeySet({DispatchKey::CPU, DispatchKey::AutogradCPU, DispatchKey::AutocastCPU, DispatchKey::ADInplaceOrView}).raw_repr();
  return (impl->key_set().raw_repr() & ~plain) == 0 && impl->unsafe_storage() && impl->version_counter().enabled() && bytes_of(storage_of(impl)) != nullptr;
}

}  // namespace

bool UnboxedCall::takes(const Expected& expected) {
  const auto single = [](const Subject& s) { return !s.list && !(s.checks & ~needs::known); };
  return expected.args.size() <= kMost && expected.returns.size() <= 1 && std::all_of(expected.args.begin(), expected.args.end(), single) &&
         std::all_of(expected.returns.begin(), expected.returns.end(), single);
}

UnboxedCall::~UnboxedCall() {
  for (size_t i = 0; held_ && i < n_; i++) {
    if (storages_[i] != nullptr) c10::raw::weak_intrusive_ptr::decref(storages_[i]);
  }
}

bool UnboxedCall::plain() const {
  return std::all_of(impls_, impls_ + n_, [](const TensorImpl* impl) { return impl == nullptr || is_plain(impl); });
}

void UnboxedCall::begin() {
  held_ = true;
  Reply out(words_, std::size(words_));
  for (size_t i = 0; i < n_; i++) out.word(1);  // tensor
  for (size_t i = 0; i < n_; i++) {
    storages_[i] = impls_[i] == nullptr ? nullptr : storage_of(impls_[i]);
    if (storages_[i] != nullptr) c10::raw::weak_intrusive_ptr::incref(storages_[i]);
    observe(impls_[i], OA_IDENTITY, out);
  }
}

const int64_t* UnboxedCall::seen(const Expected& expected, const at::Tensor* result) {
  if (!plain()) return nullptr;
  const size_t heads = n_ * Observed::kHead, after = OA_HEADER_WORDS + n_ + heads;
  std::memcpy(words_ + after, before(0), heads * sizeof *words_);
  for (size_t i = 0; i < n_; i++) {
    HeadOf<decltype(words_)> head{words_, after + i * Observed::kHead};
    if (impls_[i] != nullptr) head.set_storage(reinterpret_cast<int64_t>(storage_of(impls_[i])));
  }
  const size_t rest = after + heads;
  words_[rest] = 0;  // no tensor was added to a list
  if (result == nullptr || expected.returns.empty()) return words_ + OA_HEADER_WORDS;  // a plan without checks has no subjects
  TensorImpl* impl = result->defined() ? result->unsafeGetTensorImpl() : nullptr;
  if (impl == nullptr || !is_plain(impl)) return nullptr;
  words_[rest + 1] = 1;  // tensor
  Reply out(words_ + rest + 2 - OA_HEADER_WORDS, OA_HEADER_WORDS + Observed::kHead);
  observe(impl, OA_IDENTITY, out);
  const Observed seen{words_ + rest + 2};
  const bool fresh = expected.returns[0].checks & (needs::one_holder | needs::own_storage);
  // Autograd may hold a result that it knows.
  const bool counted = impl->autograd_meta() == nullptr && seen.impl_uses() != OA_UNCOUNTED && seen.storage_uses() != OA_UNCOUNTED;
  return !fresh || counted ? words_ + OA_HEADER_WORDS : nullptr;
}

const Watched& Frequent::op() {
  const int64_t now = operators::generation.load(std::memory_order_relaxed);
  if (C10_UNLIKELY(generation_.load(std::memory_order_acquire) != now)) {
    op_ = &operators::find(handle_);
    generation_ = now;
  }
  return *op_.load(std::memory_order_relaxed);
}

Frequent::Choice Frequent::choose(DispatchKeySet rest, UnboxedCall& call) {
  keys::enter();
  if (C10_UNLIKELY(keys::gone() || rest.has(DispatchKey::Python) || registrations::dirty.load(std::memory_order_relaxed) || Inside::fake > 0)) return {BOXED};
  const Watched& watched = op();
  if (!watched.unboxed || others::run(rest)) return {BOXED};
  if (Inside::kernel()) return {INNER};
  if (call.size() != watched.expected.args.size() || !call.plain()) return {BOXED};
  call.begin();
  return {UNBOXED, &watched};
}

Running::Running(const Watched& op, UnboxedCall& call) : op_(op), call_(call), inside_(op), writing_(op) { meet(); }

Running::~Running() {
  if (counted_) return;
  op_.counts->count(&Counts::calls);
  op_.counts->count(&Counts::failed);
}

bool Running::usual(const at::Tensor* result) {
  const int64_t* seen = call_.seen(op_.expected, result);
  if (seen == nullptr) return false;
  Call call(op_.expected, seen);
  if (!call.usual()) return false;
  counted_ = true;
  op_.counts->count(&Counts::calls);
  op_.counts->count_usual(call, false);
  return true;
}

void Running::ask(torch::jit::Stack& stack) {
  counted_ = true;
  look_after(op_, stack, call_);
}

}  // namespace opassert
