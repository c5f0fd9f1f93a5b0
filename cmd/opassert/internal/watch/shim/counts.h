// counts.h has the counts of operators, in a file that all processes of a run share; counts.go reads them.
#pragma once

#include <atomic>

#include "frames.h"
#include "usual.h"

namespace opassert {

constexpr int kCodes = 32;  // at least as many as there are checks

struct Counts : TalliesOf<std::atomic<int64_t>> {
  // Written counts the changes that calls made to an argument with (a!) whose contents were observed.
  struct Written {
    std::atomic<int64_t> calls, changed, sizes;  // sizes has a bit for each hash of the sizes

    void add(bool first, const Seen& before, bool change);
  };

  std::atomic<int64_t> traits[16];          // usual calls with a tensor that has the trait
  std::atomic<int64_t> content_traits[16];  // those of them whose contents were observed
  std::atomic<int64_t> unheld[kCodes];      // usual calls with no tensor that the check is about
  std::atomic<int64_t> content_unheld[kCodes];
  Written written[kCodes];  // of the first arguments in the plan

  void count(std::atomic<int64_t> Counts::* what, bool once = true) { (this->*what).fetch_add(once, std::memory_order_relaxed); }

  // count_usual counts a usual call, of which all was observed.
  void count_usual(Call& call, bool contents);
};

// counts_of returns the counts of an operator by its number, below kCounted.
constexpr int64_t kCounted = 1 << 14;
Counts* counts_of(int64_t number);

// map_counts maps the counts of all operators, and the data after them.
bool map_counts();

}  // namespace opassert
