// usual.cpp answers for each call on its input, in words: the words of what is
// expected, those of what was seen, each with their number, whether the call
// looks usual.
#include "../shim/usual.cpp"

#include <cstdio>

using namespace opassert;

static std::vector<int64_t> words() {
  int64_t n = 0;
  if (fread(&n, sizeof n, 1, stdin) != 1) return {};
  std::vector<int64_t> w(n);
  if (fread(w.data(), sizeof n, n, stdin) != size_t(n)) return {};
  return w;
}

int main() {
  for (;;) {
    const auto expected = words();
    if (expected.empty()) return 0;
    const Expected of(expected.data());
    const auto seen = words();
    putchar('0' + Call(of, seen.data()).usual());
  }
}
