// state.h: what a kernel may change besides tensors, in the process and in its thread.
#pragma once

namespace opassert {

// remember_state remembers how it is, as what it is to be between calls.
void remember_state();

}  // namespace opassert
