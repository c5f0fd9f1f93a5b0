// entry.h: the functions that Go calls, each with a Crossing. An exception is their reply.
#pragma once

#include "words.h"
#include "wire.h"

#include <string>

namespace opassert {

// A Crossing has the arguments of a function; not every function uses all.
struct Crossing {
  int64_t first, second;
  const int64_t* words;
  int64_t n;
  char* data;
  int64_t size;

  c10::TensorImpl* tensor() const { return reinterpret_cast<c10::TensorImpl*>(first); }
  std::string text() const { return {data, static_cast<size_t>(size)}; }
};

namespace entry {
#define OA_DECLARE(f) void f(const Crossing&, Reply&);
OA_FUNCTIONS(OA_DECLARE)
#undef OA_DECLARE
}  // namespace entry

}  // namespace opassert
