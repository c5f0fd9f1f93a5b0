#include "counts.h"

#include <sys/mman.h>
#include <unistd.h>

#include "channel.h"

namespace opassert {
namespace {

Counts* all_counts;

// count_bits increments the counts of the bits of a set, and those of content unless it is null.
void count_bits(int64_t set, std::atomic<int64_t>* counts, std::atomic<int64_t>* content) {
  for (; set != 0; set &= set - 1) {
    const int bit = __builtin_ctzll(set);
    counts[bit].fetch_add(1, std::memory_order_relaxed);
    if (content != nullptr) content[bit].fetch_add(1, std::memory_order_relaxed);
  }
}

}  // namespace

void Counts::Written::add(bool first, const Seen& before, bool change) {
  uint64_t hash = before.dims();
  for (int64_t i = 0; i < before.dims(); i++) hash = (hash ^ uint64_t(before.sizes()[i])) * 0x9E3779B97F4A7C15u;
  calls.fetch_add(first, std::memory_order_relaxed);
  changed.fetch_add(change, std::memory_order_relaxed);
  sizes.fetch_or(int64_t(1) << (hash >> 58), std::memory_order_relaxed);
}

void Counts::count_usual(Call& call, bool contents) {
  count(&Counts::usual);
  count_bits(call.traits(), traits, call.contents() ? content_traits : nullptr);
  count_bits(call.unheld(), unheld, contents ? content_unheld : nullptr);
}

Counts* counts_of(int64_t number) { return &all_counts[number]; }

bool map_counts() {
  const int fd = host.memory();
  if (fd < 0) return false;
  constexpr size_t size = kCounted * sizeof(Counts);
  void* at = mmap(nullptr, size + sizeof(Lost), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (at == MAP_FAILED) return false;
  all_counts = static_cast<Counts*>(at);
  channel::lost = reinterpret_cast<Lost*>(static_cast<char*>(at) + size);
  return true;
}

}  // namespace opassert
