// Package watch holds every op that a program calls against its schema: an
// unmodified program, with a stock libtorch, and all its child processes.
//
// # How it works
//
// The program is started with a small preloaded object, shim/loader.c, that
// does nothing until libtorch is in a process. Then it asks this package for
// the watcher, shim/watch.cpp, compiled once for that libtorch, and loads it.
// The watcher is a fallback on a dispatch key that no kernel uses. It observes
// each call with the same source as the libtorch engine, and tests whether the
// call looks usual against data that [expect] derives from the op's plan. What
// does not is put to this package, where [asserts.Judge] decides, with the whole
// plan, the allowlists and the skip policy; the answer is to go on or to raise.
//
// Python's __torch_dispatch__ is called through a table in libtorch; the watcher
// stands in for the entry that calls it, so that calls on tensor subclasses and
// under modes are seen with the subclass as the argument.
// What such a call breaks is the doing of whoever answered it in place of a kernel:
// the innermost mode, or the class of an argument. The report names the class, its
// method and the line of that; of several classes that may each decline, it is the
// one that the result is of, else the first that PyTorch asks. A mode that passes on
// what another one answered is not named.
//
// The program does not see the keys: what it reads of the set that a thread
// includes has none of the watcher's, and one that it names, or registers a
// fallback or a kernel for, it gets. Then the watcher moves to another key. No
// other key lies below autograd: where a program uses the key Fake, the process is
// no longer watched, and the exit status is 2.
//
// A call in code that PyTorch's compiler has written stands where the program's
// own line does that the code comes from. The program's Python is asked for it
// when its main thread next comes by; where that does not happen, the call stands
// at the line that led to the generated code.
//
// # Fakes
//
// What compilers call instead of an op's kernel is called too, once for each kind of
// arguments: dtypes, devices, sizes and strides, flags and numbers. The watcher writes
// down what the arguments and the results were like, and nothing more happens
// while the program runs. When its Python ends, a fork calls the fakes on fake
// tensors of the same sizes, strides and storages. What they print, and their random
// numbers, are lost with it, and a fake that ends the fork is left out. Programs
// that are killed, or end by os._exit, are too early for that: the calls are
// counted.
//
// # Backward
//
// What an op returns that is not PyTorch's own and has no formula for autograd is
// followed where autograd records (OA014): a hook on the result says when the
// program's backward comes there, also while a compiler traces one. Then the call is
// reported, once for each op. An op of which no backward asks for a gradient, one
// that is called under no_grad, and what cannot require grad are not judged. That the op decomposes,
// or is PyTorch's own, is a skip.
//
// # What can't be seen
//
//   - A call that a fake answers, on a fake tensor or under FakeTensorMode, while
//     a compiler traces, says nothing of the op's kernel: it is counted apart.
//   - Sizes that are symbols, and those of a class that answers for them itself,
//     are not read: such calls are looked at on the level identity.
//   - The bytes of a storage on a device are those that its backend copies to the CPU, once
//     the work of the device is done. While the current stream captures a graph nothing
//     is copied, and where it is not known whether it does: on CUDA and HIP before
//     PyTorch 2.15. Such calls are held to the rest, and counted. A backend that throws
//     where it is to copy is named with the op, and the exit status is 2. Graphs that
//     another thread captures in CUDA's mode global end if this one copies.
//   - A C++ library that reads the included set by the inline function of libtorch
//     sees the watcher's keys there.
//   - What a class answers in __torch_function__, above the dispatcher, is no op's:
//     the ops that it calls are seen, on the tensors that it passes.
//   - A kernel that is called around the dispatcher, as a C++ function or from
//     an autograd.Function's body, is not a call of an op.
//   - The loops that a compiler fuses are none either; ops that stay calls in a
//     compiled graph are seen.
//   - What PyTorch's own kernels call is not looked at, nor is what they call
//     through other ops' kernels: it is their own business.
//   - Whether a version counter rises (OA010) is judged for ops alone that have no
//     kernel of autograd's, such as ops of C++ libraries: others raise it later. The
//     summary counts those.
//   - A call that raises is counted and not judged.
//   - What Python keeps of a result does not show in its use counts from PyTorch
//     2.10 on: a living Python object has one use for good, which is left out.
//   - A Tensor& that a kernel rebinds shows only where the argument is returned.
//   - Threads that ran before libtorch was loaded do not know of the watcher; the
//     summary says how many of Python's there were.
//   - The number of references to an argument that a kernel may read is that of a
//     boxed call: one more than that of a call that nobody boxes. From PyTorch 2.15 on
//     the kernels of torch.library.custom_op are called without boxing where nothing
//     but Python's kernels stands between; watched, they are called as with
//     _enable_pyobj_dispatch(False), and sys.getrefcount returns more.
//   - A program that holds Python's lock while it waits for a C++ thread's ops
//     may hang from PyTorch 2.10 on, where copying a tensor can take that lock.
//   - A libtorch that is linked into a program statically, and processes that
//     somebody else starts for the program, as docker, ssh and batch systems do.
//
// # Processes
//
// Whatever a process starts through libc has the preloaded object, whatever
// environment it is given; the environment that a program sees is its own. A
// process with a libtorch that has no object nonetheless, for it was started by a
// system call of its own, or runs with privileges that its caller has not, or in
// another root folder, is found in /proc; so is one whose object can't reach
// opassert, or has not seen by its end that a libtorch came: one that is opened by
// a plain name, along the opener's own path, comes unseen. Each is named in the
// report, with its command and the reason, and the exit status is 2. One that is
// killed before its own code runs has done nothing. Processes that outlive the
// program are waited for, some seconds where they have nothing to watch and half a
// minute where they may have, in which they sleep or run; those that still run then
// are named too.
package watch

//go:generate go run ./internal/regen
