// usual.h reports whether the observations of a call look usual. It judges nothing: a call that a check might report
// does not look usual, and goes to the judge. It may send too many calls, never too few: TestUsual tests that.
//
// It does not depend on libtorch, so that the test can run it alone.
#pragma once

#include <cstdint>
#include <vector>

#include "frames.h"
#include "observed.h"

namespace opassert {

// The observed facts about one tensor.
struct Seen : Observed {
  // touches reports whether two storages have the same bytes, or tensors of two storages share a version counter.
  bool touches(const Seen& o) const;

  // owns reports whether, as far as known, only the storage frees its bytes.
  bool owns() const { return !full() || (flags() & (OA_UNOWNED | OA_FOREIGN)) == 0; }

  // An Extent has the number of elements, the span from the first to after the last,
  // and the size of one; 0 if they are not known.
  struct Extent {
    double count, reach, size;  // sizes and strides may have any value
  };
  Extent extent() const;

  // fills reports whether the elements certainly fill the storage, within whether they certainly lie in it.
  bool fills() const;
  bool within() const;

  // same_metadata compares the contents without the digest and the bytes.
  bool same_contents(const Seen& o) const { return same(o, kHead, size(), o.size()); }
  bool same_metadata(const Seen& o) const {
    return same(o, kHead, digest_at(), o.digest_at()) && same(o, sizes_at(), bytes_at(), o.bytes_at());
  }

 private:
  bool same(const Seen& o, size_t from, size_t to, size_t other_to) const;
};

// An Expected is an op's plan without its waived checks, as words of the wire.
struct Expected {
  std::vector<Subject> args, returns;
  bool writes = false;  // an argument
  int64_t planned = 0;  // the checks of all subjects

  Expected() = default;
  explicit Expected(const int64_t* words);
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

// Call reads the observations of a call: for each argument the number of its tensors; the tensors before the call;
// after it; the number of those added to lists, and they; for each return the number of its tensors, and they. A
// return that is not in the plan has none.
class Call {
  const Expected& expected_;
  Tensors<Input> in_;
  Tensors<Output> out_;
  int traits_ = 0;
  bool parts_ = false;     // some tensors hold others, which only the judge handles
  bool contents_ = false;  // and some of those have contents
  bool grown_ = false;     // a list has more tensors than before the call; the rest is not read

  Seen next(const int64_t*& words);
  int64_t compared_with(const Subject& s);
  bool input_usual(const Input& in);
  bool written(const Seen& b);
  bool output_usual(const Output& out);
  bool shared(const Input& in);  // whether another argument has its storage

 public:
  Call(const Expected& expected, const int64_t* words);

  bool usual();

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
      if (!expected_.args[in.subject].write || !b.full() || !a.full() || b.nbytes() == 0 || shared(in)) continue;
      f(in.subject, in.element == 0, b, b.impl() != a.impl() || b.storage() != a.storage() || b.version() != a.version() || !b.same_contents(a));
    }
  }

  // unheld returns the checks that were judged on no tensor, as bits.
  int64_t unheld();
};

}  // namespace opassert
