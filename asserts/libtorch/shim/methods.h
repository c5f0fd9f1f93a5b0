// methods.h: the methods of custom classes that take tensors, as operators.
#pragma once

#include <ATen/core/jit_type.h>

namespace opassert {

// holds_tensor reports whether a value of a type may hold tensors.
bool holds_tensor(const c10::Type& type);

// count_methods returns how many methods custom classes have.
size_t count_methods();

// define_methods registers an operator ns::Class.method, which takes the object and the
// method's arguments, for each method that takes tensors, except the first so many.
void define_methods(size_t first);

}  // namespace opassert
