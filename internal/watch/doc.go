// Package watch holds every op that a program calls against its schema: an
// unmodified program, with a stock libtorch, and all its child processes.
//
// # How it works
//
// The program is started with a small preloaded object, shim/loader.c, that
// does nothing until libtorch is in a process. A [Child], which runs already, opens the object
// itself; what the object stands in for is then replaced in the tables of imports of all libraries,
// and a library that has kept the address of a function of libc's goes past it. Then it asks this package for
// the watcher, shim/watch.cpp, compiled once for that libtorch, and loads it.
// The watcher is a fallback on a dispatch key that no kernel uses. It observes
// each call with the same source as the libtorch engine, and tests whether the
// call looks usual against data that [expect] derives from the op's plan. Other calls
// are sent to this package, where [asserts.Judge] decides, with the whole plan, the
// allowlists and the skip policy; the answer is to continue or to raise.
//
// Python's __torch_dispatch__ is called through a table in libtorch; the watcher
// replaces the entry that calls it, so that calls on tensor subclasses and under modes
// are seen with the subclass as the argument. A violation of such a call is that of the
// mode or class which answered it instead of a kernel: the innermost mode, or the class
// of an argument. The report has the class, its method and the line of the method; of
// several classes that may each decline, it has the class of the result, else the first
// that PyTorch asks. A mode that passes on the answer of another is not reported.
//
// The program does not see the keys: the included set of a thread that it reads has
// none of the watcher's, and a key that it names, or registers a fallback or a kernel
// for, is its own. Then the watcher moves to another key. No other key is below
// autograd: where a program uses the key Fake, the process is no longer watched, and
// the exit status is 2.
//
// A call in code that PyTorch's compiler has written is reported at the program's own
// line from which the code comes. The program's Python is asked for it when its main
// thread next calls an op; where that does not happen, the call is reported at the line
// that led to the generated code.
//
// # Fakes
//
// The fakes that compilers call instead of an op's kernel are called too, once for each
// kind of arguments: dtypes, devices, sizes and strides, flags and numbers. While the
// program runs, the watcher only records the properties of the arguments, of those that
// are written also after the call, and of the results. When its Python ends, a fork
// calls the fakes on fake tensors of the same sizes, strides and storages, and under symbolic sizes. A fake of Python that
// does nothing but make tensors like others is the same there: it is called on tensors of the CPU, which spares the imports of the
// rest. Their output and their random numbers are lost with it, and a fake that ends the fork is skipped. A kernel that is for every
// device is its op's fake: it is called as one only in a process that has imported torch._dynamo. In programs that are killed, or end by
// os._exit, the fakes are not called: the calls are counted. Of an op that was called on another
// device than the CPU, and has a kernel for the CPU, that one is called too, twice with the bytes of the program's
// call, or three times with contents of our own where these are not kept: of storages of up to 64 KiB they are, and
// of all calls 64 MiB. Its results are held against those of the device's kernel: aliases, dtypes, and
// the sizes, strides and offsets in which its calls agree; with the bytes of the call also which arguments
// are written, and with [Config.Tolerance] values, where its calls agree with other random numbers, and
// with memory that held something else. The program has not
// called that kernel, which may write files or talk to other processes: it runs in a process that can
// change nothing but its own memory, for 20 seconds at most, and is left out where a system has
// no seccomp. So are ops that have strings among their arguments, and those that return and
// write no tensors.
//
// # Arguments that are never written
//
// An argument that the schema of a custom op has written is a note when none of 20 calls
// and more, on tensors of three sizes and more, changed it, in any process. Optional
// arguments are left out, as are calls whose contents were not seen.
//
// # Backward
//
// Results of an op that is not PyTorch's own and has no formula for autograd are
// followed where autograd records (OA014): a hook on the result reports when the
// program's backward reaches it, also while a compiler traces one. Then the call is
// reported, once for each op. An op of which no backward asks for a gradient, one that
// is called under no_grad, and results that cannot require grad are not judged. Ops
// that decompose, and PyTorch's own, are counted as skips.
//
// # Limits
//
//   - A call that a fake answers, on a fake tensor or under FakeTensorMode, while
//     a compiler traces, shows nothing about the op's kernel: it is counted apart.
//   - Sizes that are symbols, and those of a class that computes them itself, are
//     not read: such calls are checked at the level identity.
//   - The bytes of a storage on a device are those that its backend copies to the CPU, once
//     the work of the device is done. While the current stream captures a graph nothing
//     is copied, and where it is not known whether it does: on CUDA and HIP before
//     PyTorch 2.15. Such calls are checked without contents, and counted. A backend that
//     throws in that copy is reported with the op, and the exit status is 2. Graphs that
//     another thread captures in CUDA's mode global end if this one copies.
//   - Bytes of a device are read after its work is done, so streams are out of sight: a
//     result that is returned before its work on the current stream is done, and memory
//     that another stream still uses after it was freed without record_stream. On CUDA
//     PyTorch's own sanitizer, TORCH_CUDA_SANITIZER=1, follows both.
//   - A C++ library that reads the included set by the inline function of libtorch
//     sees the watcher's keys there.
//   - An answer of a class in __torch_function__, above the dispatcher, is not a call
//     of an op: the ops that it calls are seen, on the tensors that it passes.
//   - A kernel that is called without the dispatcher, as a C++ function or from
//     an autograd.Function's body, is not a call of an op.
//   - Nor are loops that a compiler fuses; ops that remain calls in a compiled graph
//     are seen.
//   - Ops that PyTorch's own kernels call, directly or through other ops' kernels, are
//     not checked.
//   - Whether a version counter rises (OA010) is judged only for ops without a kernel
//     for autograd, such as ops of C++ libraries: others raise it later. The summary
//     counts those.
//   - What a kernel prints, and changes in its process besides tensors, is found by check
//     alone: in a program others do so at the same time. Of a kernel for a device it is seen
//     whether it leaves another device the current one of the thread, a note.
//   - An op that writes and returns nothing, on a backend whose autograd is
//     autogradNotImplementedFallback: that raises no version for any kernel, and OA010 is a skip.
//   - A call that raises is counted. Of ops that are not PyTorch's own it is judged by what it
//     had written before (OA009), and by nothing else.
//   - References of Python to a result do not show in its use counts from PyTorch
//     2.10 on: a Python object has one use as long as it lives, which is subtracted.
//   - A Tensor& that a kernel rebinds shows only where the argument is returned.
//   - Threads that ran before libtorch was loaded do not know of the watcher; the
//     summary says how many of Python's there were.
//   - The number of references to an argument that a kernel may read is that of a
//     boxed call: one more than that of an unboxed call. From PyTorch 2.15 on the
//     kernels of torch.library.custom_op are called without boxing if only Python's
//     kernels are in between; watched, they are called as with
//     _enable_pyobj_dispatch(False), and sys.getrefcount returns more.
//   - A program that holds Python's lock while it waits for a C++ thread's ops
//     may hang from PyTorch 2.10 on, where copying a tensor can take that lock.
//   - A libtorch that is linked into a program statically, or whose file has another name
//     than libtorch_cpu.so, and processes that other programs start for the program, as
//     docker, ssh and batch systems do, are not seen.
//
// # Processes
//
// Every process that is started through libc has the preloaded object, for every
// environment; the environment that a program sees is its own. Its processes are known by
// their parents and by a limit that the kernel hands on, of a real-time timeout (ulimit
// -R), which shows a large number where it is otherwise infinite. A process with a
// libtorch and without the object, because it was started by a system call of its own,
// or runs with privileges that its caller has not, or in another root folder, is found
// in /proc; so is one whose object cannot connect to opassert, or did not notice until
// its end that a libtorch was loaded: one that is opened by a plain name, along the
// opener's own path, is not noticed. The report lists each with its command and the
// reason, and the exit status is 2. One that is killed before its own code runs has done
// nothing. Processes that outlive the program are waited for, some seconds if they have
// nothing to watch and half a minute if they may have, in which they sleep or run; those
// that still run then are listed too.
package watch

//go:generate go run ./internal/regen
