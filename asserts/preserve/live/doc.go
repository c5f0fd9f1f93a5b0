// Package live watches the Python objects of tensors and storages in a program
// on an unmodified PyTorch: opassert run -preserve.
//
// A preloaded object stands in for the functions by which libtorch_python hands
// objects out, and for the deallocation of their types. What happens goes into
// a ring of records in shared memory, one for each process, which this package
// reads and judges: by the states of package preserve, and by one of two
// protocols.
//
// The first is PyTorch's up to 2.9: an object owns its impl or the impl owns
// the object, a slot has an interpreter's tag, and hermetic contexts have
// objects of their own. Storages take part from 2.2 on. The second has been
// PyTorch's since late 2025: the object always owns the impl, and the impl
// refers to the object while others hold the impl.
//
// Unlike a log, a record names the impl by its address, so nothing is inferred.
// Not seen are objects of classes that no hooked function has handed out yet,
// and Python without a global lock, whose objects are laid out otherwise.
package live
