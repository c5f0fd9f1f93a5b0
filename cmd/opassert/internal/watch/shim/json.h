// json.h writes values of a call for replay.py, and tensors for torch.ReadFake.
#pragma once

#include <ATen/core/stack.h>

#include <string>

#include "observe.h"

namespace opassert {

// Unwritable is thrown for a value that cannot be written.
struct Unwritable : std::exception {};

// dtype_name throws it for what is no dtype, or no such that a file of cases can express.
std::string dtype_name(int64_t number, bool of_case = false);

// A Json is text that values are appended to, with the bytes of storages on a device if it keeps them.
struct Json {
  std::string text;
  bool keeps = false;

  void string(const std::string& s);
  void tensor(TensorImpl* impl);

  // tensors writes the tensors of an argument or a return, in the form of held() in fakes.py, and numbers appends the
  // numbers of a return, in that of numbers().
  void tensors(const c10::IValue& v);
  void numbers(const c10::IValue& v);
  void value(const c10::IValue& v, const c10::Type& type);

  template <class L, class F>
  void list(const L& all, F&& f) {
    text += '[';
    for (const auto& e : all) {
      if (text.back() != '[') text += ',';
      f(e);
    }
    text += ']';
  }

 private:
  void number(int64_t n) { text += std::to_string(n); }
  void bytes(const c10::StorageImpl* storage);
  void as(const char* kind, const std::string& value);
  void enumerated(int64_t n, const std::string& type);
};

}  // namespace opassert
