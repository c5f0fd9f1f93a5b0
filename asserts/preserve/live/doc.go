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
// PyTorch's since 2.10: the object always owns the impl, and the impl refers to
// the object while others hold the impl. Python may be with or without a global
// lock.
//
// A stock PyTorch enters a hermetic context where it calls a kernel written in
// Python whose arguments have no object, once somebody has told it that there
// are several interpreters; from 2.3 on only a build for that does, and 2.15 has
// none.
//
// Unlike a log, a record names the impl by its address, so nothing is inferred.
// Not seen are objects of classes that no hooked function has handed out yet.
package live
