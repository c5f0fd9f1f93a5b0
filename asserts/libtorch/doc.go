// Package libtorch is the engine of real kernels: it calls any operator of a
// stock release libtorch and observes the call, for package asserts to judge.
//
// A process finds a libtorch when it first needs one: the folder given to [Use], else $LIBTORCH, else that of the
// active Python, else the system's. The C++ in the folder shim is then compiled for it, once, with the user's compiler,
// and stored in the user's cache folder; that takes some seconds, each later start milliseconds. The package compiles
// everywhere. Without a libtorch or a compiler, or in a program built without cgo, every function returns an error with
// the remedy: [ErrNotFound], [ErrNoHeaders], [ErrNoCompiler] or [ErrNoCgo].
//
// # Calls
//
//	add, err := libtorch.Lookup("aten::add.Tensor")
//	x, err := libtorch.Make(libtorch.Spec{DType: libtorch.Float32, Sizes: []int64{2, 3}})
//	var out libtorch.Outcome
//	err = add.Call(asserts.Identity, &out, x.Value(), x.Value(), libtorch.Float(0.5))
//	verdict := asserts.Judge(op, &out.Seen, asserts.Aware()) // op: the schema as an asserts.Op
//	sum := out.Results[0].Tensor
//	defer sum.Release()
//
// A call is one crossing into C++: observe, call boxed at the depth at which autograd calls, observe. At the identity
// level it allocates nothing in Go with a reused [Outcome]. Counts are exact: a fresh result has 1 and 1.
//
// Functions that opassert gen -engine libtorch writes wrap [Invoke], which judges the call in the debug build.
// [LoadLibrary] loads the operators of a shared library, [Ops] lists all operators.
//
// # Handles
//
// A [Tensor] owns one reference and is released by hand, once. It is a small value that any goroutine may use. A use
// after release, and a second release, are errors with the stack that made the handle. [Live] lists the others.
//
// # Limits of observation
//
// C++ only observes; see observe.h. IDs are addresses: storages are held during a call, so that none is reused within
// it. An in-place result has as many uses as there are holders, so its count is not judged. Sparse, quantized and
// nested tensors have tensors inside, which [asserts.WithParts] includes in the checks. [Op.OutOfSight] lists the
// arguments and returns that cannot be observed, [Op.Unpassable] tells why an operator cannot be called.
//
// A kernel that crashes ends the process: run untrusted kernels in a child process.
package libtorch
