// fakes.h records calls, one of each kind of arguments, on a device three. When the program ends, its Python calls the
// ops' fakes on such tensors, by replay.py, in a fork that cannot affect the program.
#pragma once

#include <ATen/core/stack.h>

#include <string>
#include <vector>

#include "watched.h"

namespace opassert {

// A Kind identifies a call's arguments: roughly, and with each size and number, without values of floats and strings.
struct Kind {
  uint64_t sort = 0xcbf29ce484222325, whole = sort;
  bool written = true;     // all arguments can be encoded
  bool elsewhere = false;  // one is on a device, whose kernel may be compared with the CPU's
};

// A FakeCall is a call of an operator for its fake, encoded if it is to be called.
class FakeCall {
  Kind kind_;
  std::string call_, place_;

 public:
  // begin records the arguments of a call; end the results, and the written
  // arguments after the call, by position, with bytes on devices if requested.
  void begin(const Watched& op, const torch::jit::Stack& stack, bool keep);
  void end(const Watched& op, const torch::jit::Stack& stack, const std::vector<std::vector<c10::TensorImpl*>>& written, bool keep);

  // failed is for a call that threw: the next one of its kind is recorded.
  void failed(const Watched& op);

  bool recorded() const { return !call_.empty(); }
};

namespace fakes {

// call_all calls the fakes of the calls that were recorded since it was called last. Its forks do not count as
// processes of the program.
void call_all();

// forked leaves the calls to the parent, and keeps their kinds.
void forked();

}  // namespace fakes
}  // namespace opassert
