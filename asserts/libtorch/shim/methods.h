// methods.h: the methods of custom classes with tensor arguments, as operators.
#pragma once

#include <ATen/core/jit_type.h>

namespace opassert {

// holds_tensor reports whether a value of a type may hold tensors.
bool holds_tensor(const c10::Type& type);

// count_methods returns the number of methods of custom classes.
size_t count_methods();

// define_methods registers an operator ns::Class.method, whose arguments are the object and those
// of the method, for each method with tensor arguments, except the first ones.
void define_methods(size_t first);

}  // namespace opassert
