// aborts.h: a kernel that refuses its arguments by a message and abort(), as those
// of ExecuTorch do, or std::terminate(), throws that message instead.
#pragma once

#include <cstdint>
#include <functional>

namespace opassert {

// read_aborts makes calls from here on do so. Until then they cost nothing more.
void read_aborts();
inline bool aborts_read = false;

// refusable makes a call once aborts are read, and throws what its kernel wrote to stderr where the kernel
// then called one of them. An abort without a message stays one, and so do those of
// other threads, of the C and C++ libraries, and of kernels that Python called.
void refusable(const std::function<void()>& call);

// printed returns how many bytes such calls wrote to stdout since it was asked before; those after
// the first question are counted.
int64_t printed();

}  // namespace opassert
