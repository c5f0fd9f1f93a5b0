// state.h: what a kernel may change besides tensors, in the process and in its thread.
#pragma once

namespace opassert {

// remember_state records the state that must hold between calls, set by a library or by PyTorch
// itself.
void remember_state(bool library);

}  // namespace opassert
