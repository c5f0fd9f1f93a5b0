// shim.cpp is the one translation unit of the shim: reading libtorch's headers
// is most of what it costs. observe.cpp comes first, since it decides which
// headers the others see.
#include "observe.cpp"

#include "call.cpp"
#include "schemas.cpp"
#include "tensors.cpp"
