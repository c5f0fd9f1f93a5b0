#include "usual.h"

#include <algorithm>

#include "usual_gen.h"

namespace opassert {
namespace {

bool has(int64_t set, int64_t member) { return set >> member & 1; }

}  // namespace

bool Seen::touches(const Seen& o) const {
  if (!full() || !o.full() || impl() == 0 || o.impl() == 0 || impl() == o.impl()) return false;
  if (storage() == o.storage() && storage() != 0) return false;
  const int64_t a = memory(), b = o.memory();
  return (counter() != 0 && counter() == o.counter()) || (a != 0 && b != 0 && a < b + o.nbytes() && b < a + nbytes());
}

Seen::Extent Seen::extent() const {
  if (dtype() < 0 || dtype() >= kDTypeCount || !strided()) return {0, 0, 0};
  Extent e{1, 1, double(kDTypes[dtype()].size)};
  for (int64_t i = 0; i < dims(); i++) {
    e.count *= double(sizes()[i]);
    e.reach += double(sizes()[i] - 1) * double(strides()[i]);
  }
  return e;
}

bool Seen::fills() const {
  const Extent e = extent();
  return e.size != 0 && offset() == 0 && e.count == e.reach && e.count * e.size == double(nbytes());
}

bool Seen::within() const {
  const Extent e = extent();
  return e.size != 0 && (e.count == 0 || (offset() >= 0 && (double(offset()) + e.reach) * e.size <= double(nbytes())));
}

bool Seen::same(const Seen& o, size_t from, size_t to, size_t other_to) const {
  return to == other_to && std::memcmp(words + from, o.words + from, (to - from) * sizeof *words) == 0;
}

Expected::Expected(const int64_t* words) {
  Expectation lengths;
  take(words, lengths);
  args.resize(lengths.args);
  returns.resize(lengths.returns);
  for (auto* subjects : {&args, &returns}) {
    for (Subject& s : *subjects) {
      take(words, s);
      writes = writes || s.write;
      planned |= s.checks;
    }
  }
}

Seen Call::next(const int64_t*& words) {
  Seen s{{words}};
  words += s.size();
  parts_ = parts_ || s.last() > 0;
  traits_ |= s.traits();
  if (s.impl() != 0 && s.storage() == 0) traits_ |= OA_STORAGELESS;
  contents_ = contents_ || s.full();
  for (int n = s.last(); n > 0; n--) words += Observed{words}.size();
  return s;
}

// compared_with returns the checks of a returned tensor, without comparisons with arguments that have no tensor.
int64_t Call::compared_with(const Subject& s) {
  int64_t checks = s.checks & ~(needs::is_argument | needs::on_argument);
  for (const Input& in : in_) {
    if (in.before.impl() == 0 && in.after.impl() == 0) continue;
    if (has(s.selves, in.subject)) checks |= s.checks & needs::is_argument;
    if (has(s.bases, in.subject)) checks |= s.checks & needs::on_argument;
  }
  return checks;
}

bool Call::input_usual(const Input& in) {
  const int64_t checks = expected_.args[in.subject].checks;
  const Seen &b = in.before, &a = in.after;
  if (checks & ~needs::known) return false;
  if (checks & needs::same_impl && b.impl() != a.impl()) return false;
  if (checks & needs::same_storage && b.storage() != a.storage()) return false;
  if (!b.full() || !a.full()) return true;
  if (checks & needs::same_version && b.version() != a.version()) return false;
  if (checks & needs::not_kept && (a.impl_uses() > b.impl_uses() || a.storage_uses() > b.storage_uses())) return false;
  if (checks & needs::unshared && expected_.writes && written(b)) return false;
  constexpr int64_t same = needs::same_contents | needs::same_metadata | needs::counted | needs::filled;
  if (!(checks & same) || b.same_contents(a)) return true;
  if (checks & needs::same_contents) return false;
  if (checks & needs::same_metadata && !b.same_metadata(a)) return false;
  if (checks & needs::counted && a.version() - b.version() <= 0) return false;
  return !(checks & needs::filled) || (b.fills() && a.fills());
}

// written reports whether an argument with (a!) shares storage or memory with another tensor.
bool Call::written(const Seen& b) {
  for (const Input& in : in_) {
    const Seen& w = in.before;
    if (!expected_.args[in.subject].write || b.impl() == 0 || w.impl() == 0) continue;
    if ((b.storage() != 0 && w.storage() == b.storage()) || b.touches(w)) return true;
  }
  return false;
}

bool Call::output_usual(const Output& out) {
  const Subject& s = expected_.returns[out.subject];
  const Seen& o = out.seen;
  if (s.checks & ~needs::known) return false;
  bool owner = false, owned = false, base = false, based = false, other = false, allowed = false, same = false;
  for (const Input& in : in_) {
    if (o.touches(in.after)) return false;
    const bool impl = o.impl() != 0 && (in.before.impl() == o.impl() || in.after.impl() == o.impl());
    const bool storage = o.impl() != 0 && in.before.impl() != 0 && (in.before.storage() == o.storage() || in.after.storage() == o.storage());
    const bool shares = impl || (storage && o.storage() != 0);
    if (expected_.args[in.subject].checks & needs::unreturned && contents_ && shares && !impl) return false;
    if (has(s.selves, in.subject) && (in.before.impl() != 0 || in.after.impl() != 0) &&
        (!s.list || !expected_.args[in.subject].list || in.element == out.element)) {
      owner = true;
      owned = owned || impl;
    }
    if (has(s.bases, in.subject) && in.before.impl() != 0) {
      base = true;
      based = based || storage;
    }
    same = same || impl;
    if (shares && has(s.allowed, in.subject)) allowed = true;
    if (shares && has(s.others, in.subject)) other = true;
  }
  if (owner && !owned) return false;
  if (base && !based) return false;
  if (o.impl() == 0) return true;
  if (other && !allowed) return false;
  if (s.checks & needs::one_holder && (same || o.impl_uses() > 1)) return false;
  if (s.checks & needs::own_storage && (o.storage_uses() > 1 || !o.owns())) return false;
  if (s.checks & needs::within_storage && o.full() && !o.within()) return false;
  for (const Output& peer : out_) {
    if (peer.subject == out.subject && peer.element == out.element) break;
    const Subject& p = expected_.returns[peer.subject];
    if (peer.seen.impl() == 0) continue;
    const bool off = has(s.peers, peer.subject) || has(p.peers, out.subject);
    if ((off || (s.checks | p.checks) & needs::one_holder) && peer.seen.impl() == o.impl()) return false;
    if (off && (o.touches(peer.seen) || (o.storage() != 0 && peer.seen.storage() == o.storage()))) return false;
  }
  return true;
}

bool Call::shared(const Input& in) {
  return std::any_of(in_.begin(), in_.end(), [&](const Input& other) {
    return &other != &in && other.before.impl() != 0 && other.before.storage() == in.before.storage();
  });
}

Call::Call(const Expected& expected, const int64_t* words) : expected_(expected) {
  const int64_t* lengths = words;
  words += expected.args.size();
  for (size_t a = 0; a < expected.args.size(); a++) {
    for (int64_t e = 0; e < lengths[a]; e++) in_.push({int64_t(a), e, next(words), {}});
  }
  for (Input& in : in_) in.after = next(words);
  grown_ = *words++ != 0;
  if (grown_) return;
  for (size_t r = 0; r < expected.returns.size(); r++) {
    const int64_t n = *words++;
    for (int64_t e = 0; e < n; e++) {
      out_.push({int64_t(r), e, next(words)});
      const Seen& o = (out_.end() - 1)->seen;
      const bool fresh = expected.returns[r].checks & (needs::one_holder | needs::own_storage);
      if (fresh && (o.impl_uses() == OA_UNCOUNTED || o.storage_uses() == OA_UNCOUNTED)) traits_ |= OA_UNCOUNTED_RESULT;
    }
  }
}

bool Call::usual() {
  if (parts_ || grown_ || (contents_ && traits_ & (OA_STORAGELESS | OA_UNREAD))) return false;
  for (const Input& in : in_) {
    if (!input_usual(in)) return false;
  }
  for (const Output& out : out_) {
    if (!output_usual(out)) return false;
  }
  return true;
}

int64_t Call::unheld() {
  int64_t held = 0;
  for (const Input& in : in_) {
    if (in.before.impl() != 0 || in.after.impl() != 0) held |= expected_.args[in.subject].checks;
  }
  for (const Output& out : out_) {
    if (out.seen.impl() != 0) held |= compared_with(expected_.returns[out.subject]);
  }
  return expected_.planned & ~held;
}

}  // namespace opassert
