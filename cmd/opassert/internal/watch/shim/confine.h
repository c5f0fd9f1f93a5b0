// confine.h keeps a fork of the program from changing anything but its own memory. Kernels for the CPU are called
// there which the program has not called, and which may do more than compute.
#pragma once

namespace opassert {

// confine leaves this process its own memory, a file for answers, and a number of seconds, and reports whether it
// could.
bool confine(int to, unsigned seconds);

}  // namespace opassert
