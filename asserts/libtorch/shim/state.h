// state.h: what a kernel may change besides tensors, in the process and in its thread.
#pragma once

namespace opassert {

// remember_state records the state that there is to be between calls.
void remember_state();

}  // namespace opassert
