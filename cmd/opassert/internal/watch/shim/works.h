// works.h follows which storages torch.distributed has pending work for: functional collectives write their results
// until these are waited for.
#pragma once

#include <c10/core/TensorImpl.h>

namespace opassert::works {

// is_pending reports whether a tensor's storage is in the registry of works, which has a weak reference to it until
// wait_tensor. It is asked before the watcher itself takes one.
bool is_pending(const c10::TensorImpl* impl);

// replace_imports replaces the function that registers.
void replace_imports();

}  // namespace opassert::works
