// aborts.h: a kernel that refuses its arguments with a message and abort(), as in ExecuTorch, or
// std::terminate(), throws that message instead.
#pragma once

#include <cstdint>
#include <functional>

namespace opassert {

// read_aborts enables this for calls from here on. Before, calls have no overhead.
void read_aborts();
inline bool aborts_read = false;

// refusable makes a call once aborts are read, and throws what its kernel wrote to stderr if the
// kernel then called one of them. An abort without a message remains one, and so do those of other
// threads, of the C and C++ libraries, and of kernels called by Python.
void refusable(const std::function<void()>& call);

// printed returns the number of bytes that such calls wrote to stdout since its last call; counting
// begins with the first one.
int64_t printed();

// logged returns a line that such calls wrote to stderr, if several did since its last call; else "".
const char* logged();

}  // namespace opassert
