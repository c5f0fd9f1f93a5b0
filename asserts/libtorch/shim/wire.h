// wire.h reads requests and writes replies in the format of shim.h.
#pragma once

#include <cstdint>
#include <cstring>
#include <cxxabi.h>
#include <memory>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

#include <c10/util/Exception.h>

#include "shim.h"

namespace opassert {

// Refusal is thrown for an invalid request, as opposed to an operator that throws.
struct Refusal : std::exception {
  std::string message;
  explicit Refusal(std::string m) : message(std::move(m)) {}
  const char* what() const noexcept override { return message.c_str(); }
};

// Request reads the words of a request.
class Request {
  const int64_t* at_;
  const int64_t* end_;

 public:
  Request(const int64_t* words, int64_t n) : at_(words), end_(words + n) {}

  bool empty() const { return at_ == end_; }

  __attribute__((always_inline)) int64_t word() {
    if (at_ == end_) throw Refusal("the request ends too early");
    return *at_++;
  }

  const int64_t* words(int64_t n) {
    if (n < 0 || n > end_ - at_) throw Refusal("the request ends too early");
    const int64_t* p = at_;
    at_ += n;
    return p;
  }

  double bits() {
    int64_t w = word();
    double d;
    std::memcpy(&d, &w, sizeof d);
    return d;
  }

  std::string text() {
    int64_t n = word();
    if (n < 0 || n > 8 * (end_ - at_)) throw Refusal("the request ends too early");
    const char* p = reinterpret_cast<const char*>(words((n + 7) / 8));
    return std::string(p, n);
  }
};

// Reply writes the words of a reply: the first cap of them into the caller's memory, the rest to the heap.
class Reply {
  int64_t* words_;
  size_t cap_;
  size_t n_ = OA_HEADER_WORDS, left_ = OA_HEADER_WORDS;
  bool wrote_ = false;
  std::vector<int64_t> spill_, whole_;

 public:
  Reply(int64_t* words, int64_t cap) : words_(words), cap_(cap) {}

  __attribute__((always_inline)) void word(int64_t w) {
    if (n_ < cap_) {
      words_[n_] = w;
    } else {
      spill_.push_back(w);
    }
    n_++;
  }

  // all writes words that nearly always fit.
  template <size_t N>
  __attribute__((always_inline)) void all(const int64_t (&words)[N]) {
    if (n_ + N > cap_) {
      for (int64_t w : words) word(w);
      return;
    }
    std::memcpy(words_ + n_, words, sizeof words);
    n_ += N;
  }

  void bits(double d) {
    int64_t w;
    std::memcpy(&w, &d, sizeof w);
    word(w);
  }

  void bytes(const void* data, size_t n) {
    const char* p = static_cast<const char*>(data);
    word(n);
    for (; n >= 8 && n_ < cap_; p += 8, n -= 8) {
      int64_t w;
      std::memcpy(&w, p, 8);
      word(w);
    }
    if (const size_t whole = n / 8) {  // none of it fits: all at once
      const size_t at = spill_.size();
      spill_.resize(at + whole);
      std::memcpy(&spill_[at], p, 8 * whole);
      n_ += whole, p += 8 * whole, n -= 8 * whole;
    }
    if (n > 0) {
      int64_t w = 0;
      std::memcpy(&w, p, n);
      word(w);
    }
  }

  void text(std::string_view s) { bytes(s.data(), s.size()); }

  // For writers that read back what they wrote: the words so far, including the header, one of
  // them, and those after the header in one piece.
  size_t size() const { return n_; }
  int64_t& operator[](size_t i) { return i < cap_ ? words_[i] : spill_[i - cap_]; }
  const int64_t* contiguous() {
    if (n_ <= cap_) return words_ + OA_HEADER_WORDS;
    whole_.assign(words_ + OA_HEADER_WORDS, words_ + cap_);
    whole_.insert(whole_.end(), spill_.begin(), spill_.end());
    return whole_.data();
  }

  void finish(oa_status status) {
    words_[0] = status;
    words_[1] = n_;
    words_[2] = 0;
    if (!spill_.empty()) {
      words_[2] = reinterpret_cast<int64_t>(new std::vector<int64_t>(std::move(spill_)));
    }
  }

  // wrote declares that the kernel, which throws, wrote its arguments: the words so far, which are
  // their observations, remain before the exception.
  void wrote() {
    left_ = n_;
    wrote_ = true;
  }

  // cut drops the words after the first n.
  void cut(size_t n) {
    n_ = n;
    spill_.resize(n_ - std::min(n_, cap_));
  }

  void fail(oa_status status, const std::string& type, const std::string& message) {
    cut(left_);
    text(type);
    text(message);
    finish(wrote_ ? OA_WROTE : status);
  }
};

inline std::string type_name(const std::exception& e) {
  int failed = 0;
  std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(typeid(e).name(), nullptr, nullptr, &failed), std::free);
  return failed ? typeid(e).name() : name.get();
}

// reply runs f(Reply&) and lets no exception through.
template <class F>
void reply(int64_t* words, int64_t cap, F&& f) {
  Reply out(words, cap);
  try {
    f(out);
    out.finish(OA_OK);
  } catch (const Refusal& e) {
    out.fail(OA_REFUSED, "", e.what());
  } catch (const c10::Error& e) {
    out.fail(OA_THREW, type_name(e), e.what_without_backtrace());
  } catch (const std::exception& e) {
    out.fail(OA_THREW, type_name(e), e.what());
  } catch (...) {
    out.fail(OA_THREW, "", "an exception that is not a std::exception");
  }
}

}  // namespace opassert
