// state.h: what a kernel may change besides tensors, in the process and in its thread.
#pragma once

namespace opassert {

// remember_state records the state that must hold between calls, set by a library or by PyTorch
// itself.
void remember_state(bool library);

// restore_processor undoes at once what a call has left in the processor's control registers: functions that
// return to Go, or copy memory, need the usual direction and masks.
void restore_processor();

}  // namespace opassert
