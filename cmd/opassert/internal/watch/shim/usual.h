// usual.h reports whether the observations of a call look usual. It judges nothing: a
// call that a check might report does not look usual, and goes to the judge. It may
// send too many calls, never too few: TestUsual tests that.
//
// It does not depend on libtorch, so that the test can run it alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "frames.h"
#include "observed.h"
#include "usual_gen.h"

namespace opassert {

// The observed facts about one tensor.
struct Seen : Observed {
  // touches reports whether two storages have the same bytes, or tensors of two
  // storages share a version counter.
  bool touches(const Seen& o) const {
    if (!full() || !o.full() || impl() == 0 || o.impl() == 0 || impl() == o.impl()) return false;
    if (storage() == o.storage() && storage() != 0) return false;
    const int64_t a = memory(), b = o.memory();
    return (counter() != 0 && counter() == o.counter()) || (a != 0 && b != 0 && a < b + o.nbytes() && b < a + nbytes());
  }

  // owns reports whether, as far as known, only the storage frees its bytes.
  bool owns() const { return !full() || (flags() & (OA_UNOWNED | OA_FOREIGN)) == 0; }

  // An Extent has the number of elements, the span from the first to after the last,
  // and the size of one; 0 if they are not known.
  struct Extent {
    double count, reach, size;  // sizes and strides may have any value
  };

  Extent extent() const {
    if (dtype() < 0 || dtype() >= kDTypeCount || !strided()) return {0, 0, 0};
    Extent e{1, 1, double(kDTypes[dtype()].size)};
    for (int64_t i = 0; i < dims(); i++) {
      e.count *= double(sizes()[i]);
      e.reach += double(sizes()[i] - 1) * double(strides()[i]);
    }
    return e;
  }

  // fills reports whether the elements certainly fill the storage.
  bool fills() const {
    const Extent e = extent();
    return e.size != 0 && offset() == 0 && e.count == e.reach && e.count * e.size == double(nbytes());
  }

  // within reports whether the elements certainly lie in the storage.
  bool within() const {
    const Extent e = extent();
    return e.size != 0 && (e.count == 0 || (offset() >= 0 && (double(offset()) + e.reach) * e.size <= double(nbytes())));
  }

  bool same_contents(const Seen& o) const {
    return same(o, kHead, size(), o.size());
  }

  // same_metadata compares the contents without the digest and the bytes.
  bool same_metadata(const Seen& o) const {
    return same(o, kHead, digest_at(), o.digest_at()) && same(o, sizes_at(), bytes_at(), o.bytes_at());
  }

 private:
  bool same(const Seen& o, size_t from, size_t to, size_t other_to) const {
    return to == other_to && std::memcmp(words + from, o.words + from, (to - from) * sizeof *words) == 0;
  }
};

// An Expected is an op's plan without its waived checks, as words of the wire.
struct Expected {
  std::vector<Subject> args, returns;
  bool writes = false;  // an argument
  int64_t planned = 0;  // the checks of all subjects

  Expected() = default;
  explicit Expected(const int64_t* words) {
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
};

// A Same is what identifies a tensor; zeros for an undefined one.
struct Same {
  int64_t impl = 0, storage = 0;
};

// An IdentityCall is a call with one tensor in each subject and at most one result, in which each
// tensor has a storage and no trait, and of which no contents were observed: most calls are such.
// Its answers are those of a Call.
class IdentityCall {
  const Expected& expected_;
  const Same *before_, *after_;
  const Observed result_;

  bool input_usual(size_t i) const {
    const int64_t checks = expected_.args[i].checks;
    return !(checks & needs::same_impl && before_[i].impl != after_[i].impl) && !(checks & needs::same_storage && before_[i].storage != after_[i].storage);
  }

  bool output_usual() const {
    const Subject& s = expected_.returns[0];
    const int64_t impl = result_.impl(), storage = result_.storage();
    int64_t present = 0, based = 0, impls = 0, storages = 0;  // sets of arguments
    for (size_t i = 0; i < expected_.args.size(); i++) {
      const Same &b = before_[i], &a = after_[i];
      const int64_t arg = int64_t{1} << i;
      if (b.impl != 0) based |= arg;
      if (b.impl != 0 || a.impl != 0) present |= arg;
      if (impl == 0) continue;
      if (b.impl == impl || a.impl == impl) impls |= arg;
      if (b.impl != 0 && (b.storage == storage || a.storage == storage)) storages |= arg;
    }
    if (s.selves & present && !(s.selves & impls)) return false;
    if (s.bases & based && !(s.bases & storages)) return false;
    if (impl == 0) return true;
    const int64_t shared = storage != 0 ? impls | storages : impls;
    if (shared & s.others && !(shared & s.allowed)) return false;
    if (s.checks & needs::one_holder && (impls != 0 || result_.impl_uses() > 1)) return false;
    return !(s.checks & needs::own_storage && result_.storage_uses() > 1);
  }

 public:
  static constexpr size_t kMost = 6;  // arguments

  // takes reports whether the calls of an operator can be such.
  static bool takes(const Expected& expected) {
    const auto single = [](const Subject& s) { return !s.list && !(s.checks & ~needs::known); };
    return expected.args.size() <= kMost && expected.returns.size() <= 1 && std::all_of(expected.args.begin(), expected.args.end(), single) &&
           std::all_of(expected.returns.begin(), expected.returns.end(), single);
  }

  // The tensors are by subject; the result is the words for it, null without one.
  IdentityCall(const Expected& expected, const Same* before, const Same* after, const int64_t* result) : expected_(expected), before_(before), after_(after), result_{result} {}

  bool usual() const {
    for (size_t i = 0; i < expected_.args.size(); i++) {
      if (!input_usual(i)) return false;
    }
    return result_.words == nullptr || output_usual();
  }

  // unheld returns the checks that were judged on no tensor, as bits.
  int64_t unheld() const {
    int64_t held = 0, present = 0;
    for (size_t i = 0; i < expected_.args.size(); i++) {
      if (before_[i].impl == 0 && after_[i].impl == 0) continue;
      present |= int64_t{1} << i;
      held |= expected_.args[i].checks;
    }
    if (result_.words == nullptr || result_.impl() == 0) return expected_.planned & ~held;
    const Subject& s = expected_.returns[0];
    held |= s.checks & ~(needs::is_argument | needs::on_argument);
    if (s.selves & present) held |= s.checks & needs::is_argument;
    if (s.bases & present) held |= s.checks & needs::on_argument;
    return expected_.planned & ~held;
  }
};

// Tensors are the tensors of a call, each with its subject and its position there.
// Most calls have few; a vector would need an allocation.
template <class T>
class Tensors {
  static constexpr size_t kFew = 16;
  T few_[kFew];
  std::vector<T> many_;
  size_t n_ = 0;

 public:
  void push(const T& t) {
    if (n_ == kFew) many_.assign(few_, few_ + kFew);
    if (n_ < kFew) {
      few_[n_] = t;
    } else {
      many_.push_back(t);
    }
    n_++;
  }
  T* begin() { return n_ <= kFew ? few_ : many_.data(); }
  T* end() { return begin() + n_; }
};

struct Input {
  int64_t subject, element;
  Seen before, after;
};

struct Output {
  int64_t subject, element;
  Seen seen;
};

// Call reads the observations of a call: for each argument the number of its tensors;
// the tensors before the call; after it; the number of those added to lists, and
// they; for each return the number of its tensors, and they. A return that is not in
// the plan has none.
class Call {
  const Expected& expected_;
  Tensors<Input> in_;
  Tensors<Output> out_;
  int traits_ = 0;
  bool parts_ = false;     // some tensors hold others, which only the judge handles
  bool contents_ = false;  // and some of those have contents
  bool grown_ = false;     // a list has more tensors than before the call; the rest is not read

  Seen next(const int64_t*& words) {
    Seen s{{words}};
    words += s.size();
    parts_ = parts_ || s.last() > 0;
    traits_ |= s.traits();
    if (s.impl() != 0 && s.storage() == 0) traits_ |= OA_STORAGELESS;
    contents_ = contents_ || s.full();
    for (int n = s.last(); n > 0; n--) words += Observed{words}.size();
    return s;
  }

  static bool has(int64_t set, int64_t member) { return set >> member & 1; }

  // compared_with returns the checks of a returned tensor, without comparisons with
  // arguments that have no tensor.
  int64_t compared_with(const Subject& s) {
    int64_t checks = s.checks & ~(needs::is_argument | needs::on_argument);
    for (const Input& in : in_) {
      if (in.before.impl() == 0 && in.after.impl() == 0) continue;
      if (has(s.selves, in.subject)) checks |= s.checks & needs::is_argument;
      if (has(s.bases, in.subject)) checks |= s.checks & needs::on_argument;
    }
    return checks;
  }

  bool input_usual(const Input& in) {
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

  // written reports whether an argument with (a!) shares storage or memory with
  // another tensor.
  bool written(const Seen& b) {
    for (const Input& in : in_) {
      const Seen& w = in.before;
      if (!expected_.args[in.subject].write || b.impl() == 0 || w.impl() == 0) continue;
      if ((b.storage() != 0 && w.storage() == b.storage()) || b.touches(w)) return true;
    }
    return false;
  }

  bool output_usual(const Output& out) {
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

 public:
  Call(const Expected& expected, const int64_t* words) : expected_(expected) {
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

  bool usual() {
    if (parts_ || grown_ || (contents_ && traits_ & (OA_STORAGELESS | OA_UNREAD))) return false;
    for (const Input& in : in_) {
      if (!input_usual(in)) return false;
    }
    for (const Output& out : out_) {
      if (!output_usual(out)) return false;
    }
    return true;
  }

  // traits are the traits of any of the tensors, and those that the watcher adds.
  int traits() const { return traits_; }
  bool contents() const { return contents_; }

  // each_write calls f with each tensor of a written argument whose contents were
  // observed and whose storage no other argument has: the argument's position in the
  // plan, whether it is its first tensor, the tensor, and whether it changed.
  template <class F>
  void each_write(F&& f) {
    if (traits_ != 0 || parts_ || grown_) return;
    for (const Input& in : in_) {
      const Seen &b = in.before, &a = in.after;
      if (!expected_.args[in.subject].write || !b.full() || !a.full() || b.nbytes() == 0) continue;
      const auto shares = [&](const Input& other) { return &other != &in && other.before.impl() != 0 && other.before.storage() == b.storage(); };
      if (std::any_of(in_.begin(), in_.end(), shares)) continue;
      f(in.subject, in.element == 0, b, b.impl() != a.impl() || b.storage() != a.storage() || b.version() != a.version() || !b.same_contents(a));
    }
  }

  // unheld returns the checks that were judged on no tensor, as bits.
  int64_t unheld() {
    int64_t held = 0;
    for (const Input& in : in_) {
      if (in.before.impl() != 0 || in.after.impl() != 0) held |= expected_.args[in.subject].checks;
    }
    for (const Output& out : out_) {
      if (out.seen.impl() != 0) held |= compared_with(expected_.returns[out.subject]);
    }
    return expected_.planned & ~held;
  }
};

}  // namespace opassert
