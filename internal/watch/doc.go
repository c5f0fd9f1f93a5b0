// Package watch checks every op that a program calls against its schema: an
// unmodified program, with a stock libtorch, and all its child processes.
//
// # How it works
//
// The program is started with a small preloaded object, shim/loader.c, that does
// nothing until libtorch is loaded. A [Child], which runs already, opens the object
// itself; functions are then replaced in the import tables of all libraries, and a
// library that has stored the address of a libc function bypasses the object. Then it
// asks this package for the watcher, shim/watch.cpp, compiled once for that libtorch,
// and loads it. The watcher is a fallback on a dispatch key that no kernel uses. It
// observes each call with the same source as the libtorch engine, and tests whether
// the call looks usual against data that [expect] derives from the op's plan. Other
// calls are sent to this package, where [asserts.Judge] decides, with the whole plan,
// the allowlists and the skip policy; the answer is to continue or to raise.
//
// The fallback gets its arguments boxed, which takes as long as to observe them. PyTorch's
// ops that programs call most have kernels for the same key, in shim/unboxed.h, that
// observe calls with plain tensors without boxing them; all other calls go to the
// fallback.
//
// Python's __torch_dispatch__ is called through a table in libtorch; the watcher
// replaces the entry that calls it, so that calls on tensor subclasses and under modes
// are seen with the subclass as the argument. A violation of such a call is that of the
// mode or class which answered it instead of a kernel: the innermost mode, or the class
// of an argument. The report has the class, its method and the line of the method; of
// several classes that may each decline, it has the class of the result, else the
// first that PyTorch asks. A mode that returns the answer of another is not reported.
//
// A kernel that others registered for an op of PyTorch's, as the package of a device does,
// is judged like one of an op that is not PyTorch's, also if a kernel of PyTorch's calls it. The
// dispatcher lists the place of each registration, which is read once for each op, and again when such
// a kernel is registered or removed.
//
// The program does not see the keys: they are left out of a thread's included set,
// and if the program uses such a key, or registers a fallback or a kernel for it, the
// watcher moves to another one. There is no other key below autograd: if a program
// uses the key Fake, the process is no longer watched, and the exit status is 2.
//
// A call in generated code of PyTorch's compiler is reported at the program's line
// that the code comes from. The program's Python is asked for it when its main thread
// next calls an op; otherwise the call is reported at the line that called the
// generated code.
//
// # Fakes
//
// The fakes that compilers call instead of an op's kernel are called too, once for
// each kind of arguments: dtypes, devices, sizes and strides, flags and numbers.
// While the program runs, the watcher only records the properties of the arguments,
// of written ones also after the call, and of the results. When its Python ends, a
// fork calls the fakes on fake tensors of the same sizes, strides and storages, and
// under symbolic sizes. A Python fake that only makes tensors like others does the
// same for symbols: it is called on tensors of the CPU, without the imports for
// symbols. Output and random numbers of fakes are lost with the fork, and a fake that
// ends the fork is skipped. A kernel for every device is its op's fake: it is called
// as one only in a process that has imported torch._dynamo. In programs that are
// killed, or end by os._exit, the fakes are not called: the calls are counted. Of an
// op that was called on another device than the CPU, and has a kernel for the CPU,
// that one is called too, twice with the bytes of the program's call, or three times
// with generated contents if the bytes were not recorded: they are for storages of up
// to 64 KiB, and up to 64 MiB in all. Its results are compared with those of the
// device's kernel: aliases, dtypes, and the sizes, strides and offsets in which its
// calls agree; with the bytes of the call also which arguments are written, and with
// [Config.Tolerance] values, if its calls agree with other random numbers and other
// uninitialised memory. The program has not called that kernel, which may write files
// or talk to other processes: it runs in a process that can change only its own
// memory, for 20 seconds at most, and is left out on a system without seccomp. So are
// ops that have strings among their arguments, and those that return and write no
// tensors.
//
// # Arguments that are never written
//
// An argument that a custom op's schema declares as written is a note if none of at
// least 20 calls, on tensors of at least three sizes, changed it, in any process.
// Optional arguments are left out, as are calls whose contents were not observed.
//
// # Backward
//
// Results of an op that is not PyTorch's own and has no formula for autograd are
// followed while autograd records (OA014): a hook on the result reports when the
// program's backward reaches it, also while a compiler traces it. Then the call is
// reported, once for each op. An op whose results no backward reaches, one that is
// called under no_grad, and results that cannot require grad are not judged. Ops that
// decompose, and PyTorch's own, are counted as skips.
//
// # Limits
//
//   - A call that a fake answers, on a fake tensor or under FakeTensorMode, while a compiler traces, shows nothing about the op's kernel: it is counted separately.
//   - Symbolic sizes, and those of a class that computes them itself, are not read: such calls are checked at the level identity.
//   - The bytes of a storage on a device are those that its backend copies to the CPU, once the work of the device is done. While the current stream captures a graph nothing is copied, nor if it is not known whether it does: on CUDA and HIP before PyTorch 2.15. Such calls are checked without contents, and counted. A backend that
//     throws in that copy is reported with the op, and the exit status is 2. A copy ends the capture of a graph by another thread in CUDA's mode global.
//   - Bytes of a device are read after its work is done, so faults of streams are not found: a result that is returned before its work on the current stream is done, and memory that another stream still uses after it was freed without record_stream. On CUDA PyTorch's own sanitizer, TORCH_CUDA_SANITIZER=1, finds both.
//   - A C++ library that reads the included set by the inline function of libtorch
//     sees the watcher's keys there.
//   - An answer of a class in __torch_function__, above the dispatcher, is not a call
//     of an op: the ops that it calls are seen, on the tensors that it passes.
//   - A kernel that is called without the dispatcher, as a C++ function or from
//     an autograd.Function's body, is not a call of an op.
//   - Nor are loops that a compiler fuses; ops that remain calls in a compiled graph
//     are seen.
//   - Ops that PyTorch's own kernels call, directly or through other ops' kernels, are
//     not checked, except by kernels of others.
//   - A kernel of others for one of autograd's keys, as AutogradPrivateUse1, is not seen,
//     and PyTorch's below it is judged as PyTorch's.
//   - Whether a version counter rises (OA010) is judged only for ops without a kernel
//     for autograd, such as ops of C++ libraries: others raise it later. The summary
//     counts those.
//   - Output of a kernel, and its changes to the process besides tensors, are found only by check: in a program others make them at the same time. Only a change of the thread's current device by a kernel for a device is found, a note.
//   - OA010 is a skip for an op that writes and returns nothing, on a backend whose autograd is autogradNotImplementedFallback: that raises no version for any kernel.
//   - A call that raises is counted. For ops that are not PyTorch's own, only its writes before that are judged (OA009).
//   - References of Python to a result do not show in its use counts from PyTorch
//     2.10 on: a Python object has one use as long as it lives, which is subtracted.
//   - A Tensor& that a kernel rebinds shows only where the argument is returned.
//   - Threads that ran before libtorch was loaded are not watched; the summary counts those of Python.
//   - The number of references to an argument that a kernel may read is that of a
//     boxed call: one more than that of an unboxed call. From PyTorch 2.15 on the
//     kernels of torch.library.custom_op are called without boxing if only Python's
//     kernels are in between; watched, they are called as with
//     _enable_pyobj_dispatch(False), and sys.getrefcount returns more.
//   - A program that holds Python's lock while it waits for a C++ thread's ops
//     may hang from PyTorch 2.10 on, where copying a tensor can take that lock.
//   - Calls are not seen of a libtorch that is linked statically, or whose file has another name than libtorch_cpu.so, nor of processes that other programs start for the program, such as docker, ssh and batch systems.
//
// # Processes
//
// Every process that is started through libc has the preloaded object, for every
// environment; it is hidden in the environment that a program sees. The program's
// processes are known by their parents and by a limit that the kernel inherits, of
// the real-time timeout (ulimit -R), which is a large number instead of infinite. A
// process with a libtorch and without the object, because it was started by a direct
// system call, or runs with more privileges than its caller, or in another root
// folder, is found in /proc; so is one whose object cannot connect to opassert, or
// did not notice until its end that a libtorch was loaded, as when it is opened by a
// plain name along the opener's own path. The report lists each with its command and
// the reason, and the exit status is 2, unless it is killed before its own code runs.
// Processes that outlive the program are waited for, some seconds if they have
// nothing to watch and half a minute if they may have, of time in which they sleep or
// run; those that still run then are listed too.
package watch

//go:generate go run ./internal/regen
