// usual.cpp answers for each call on its input, in words: the words of what is
// expected, those of what was seen, each with their number, whether the call
// looks usual. Where an IdentityCall can be asked too, the answer is 2 more, and x if
// the two differ.
#include "../shim/usual.h"

#include <cstdio>

using namespace opassert;

static std::vector<int64_t> words() {
  int64_t n = 0;
  if (fread(&n, sizeof n, 1, stdin) != 1) return {};
  std::vector<int64_t> w(n);
  if (fread(w.data(), sizeof n, n, stdin) != size_t(n)) return {};
  return w;
}

static char answer(const Expected& expected, const int64_t* seen) {
  Call call(expected, seen);
  const bool usual = call.usual();
  if (!IdentityCall::takes(expected) || call.contents() || call.traits() != 0) return '0' + usual;
  const size_t n = expected.args.size();
  const int64_t* at = seen + n;
  Same same[2][IdentityCall::kMost];
  for (auto& side : same) {
    for (size_t i = 0; i < n; i++, at += Observed::kHead) side[i] = {Observed{at}.impl(), Observed{at}.storage()};
  }
  const IdentityCall short_one(expected, same[0], same[1], expected.returns.empty() ? nullptr : at + 2);
  return short_one.usual() == usual && short_one.unheld() == call.unheld() ? '2' + usual : 'x';
}

int main() {
  for (;;) {
    const auto expected = words();
    if (expected.empty()) return 0;
    putchar(answer(Expected(expected.data()), words().data()));
  }
}
