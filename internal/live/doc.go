// Package live watches the Python objects of tensors and storages in a program
// on an unmodified PyTorch: opassert run -preserve.
//
// A preloaded object replaces the functions by which libtorch_python hands out
// objects, and the deallocation of their types. Their calls go into a ring of records
// in shared memory, one for each process. This package reads them and judges them by
// the states of package preserve and by one of two protocols.
//
// The first is PyTorch's up to 2.9: an object owns its impl or the impl owns
// the object, a slot has an interpreter's tag, and hermetic contexts have
// objects of their own. Storages take part from 2.2 on. The second has been
// PyTorch's since 2.10: the object always owns the impl, and the impl refers to
// the object while others hold the impl. Python may be with or without a global
// lock.
//
// A stock PyTorch enters a hermetic context when it calls a kernel written in Python
// whose arguments have no object, if it knows of several interpreters; from 2.3 on
// only a special build does, and 2.15 has no hermetic contexts.
//
// Unlike a log, a record names the impl by its address, so nothing is inferred.
// Objects are followed from their creation, as classes of tensors are known from
// theirs. Of other classes (with a metaclass of the program, in the second protocol;
// subclasses of UntypedStorage) an object that is first seen through its slot is
// unknown, and not dead.
//
// # Findings in PyTorch
//
// OA101 in PyTorch 2.6, of a storage that came from another process through
// shared memory (torch.multiprocessing, a DataLoader's workers): PyTorch takes the
// slot of its impl to have the interpreter's tag, which it lacks, so the slot counts
// as empty. The object is deallocated though others hold the impl, and the next
// request makes another one: attributes of the storage are lost. It is reported once
// for each process. 2.15 does not have it. Source: torch/csrc/StorageSharing.cpp,
// PyInterpreterStatus::TAGGED_BY_US.
//
// Nothing else is found in PyTorch's own test_python_dispatch, test_subclass,
// test_view_ops and test_multiprocessing of 2.6, run on 2.6.0 and 2.15.0.
package live
