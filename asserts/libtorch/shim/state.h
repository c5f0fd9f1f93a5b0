// state.h: what a kernel may change besides tensors, in the process and in its thread.
#pragma once

namespace opassert {

// remember_state records the state that there is to be between calls, of a library too or of PyTorch's own.
void remember_state(bool library);

}  // namespace opassert
