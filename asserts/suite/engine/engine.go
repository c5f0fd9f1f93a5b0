package engine

import (
	"errors"
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/tensor"
	"github.com/opassert/opassert/schema"
)

// An Engine makes tensors and calls ops. It is used from one goroutine.
type Engine interface {
	// Version names the library, as reports show it: "libtorch 1.13.1".
	Version() string

	// Operators returns every op that can be called, sorted by name.
	Operators() ([]Operator, error)

	// Operator returns one of them.
	Operator(name string) (Operator, error)

	// Devices returns the devices that ops are called on: first that of the tensors
	// that Make returns, then those on which the call is made again with Twins.
	Devices() []Device

	// Make makes a tensor. It does not keep the data of d. Ops of the library that it
	// calls may throw.
	Make(d Dense, f Form) (Tensor, error)

	// View makes a tensor that shares the storage and the version of another
	// one; d says how it lies there and has no data.
	View(t Tensor, d Dense) (Tensor, error)

	// Twins makes tensors of the same sizes, strides and dtypes on another device;
	// twins of tensors that share a storage share one.
	Twins(ts []Tensor, on Device) ([]Tensor, error)

	// Generator makes a random number generator, as an argument.
	Generator(seed int64) (any, error)

	// Storage returns a tensor's storage, as an argument.
	Storage(t Tensor) (any, error)

	// Seed sets the state of the default random number generator.
	Seed(seed int64) error

	// Call calls an op and observes its tensors before and after at the level.
	// The results are the caller's to release. An op that throws returns an
	// error of type *Thrown, with its tensors where they are not as they were.
	Call(op string, args []any, level asserts.Level) (Outcome, error)

	// Look observes a tensor at the content level, and behind it those inside.
	Look(t Tensor) []asserts.Observation

	// Harmless returns the reason why a violation about the parts of a call's
	// tensors is not a fault, or "" if it is one.
	Harmless(op *asserts.Op, v *asserts.Violation) string

	// Subjects returns the op with its checks extended to the parts of its tensors.
	Subjects(op *asserts.Op) *asserts.Op
}

// An Operator is an op of an engine.
type Operator struct {
	Schema *schema.Op
	// Below says that it has a kernel below autograd for dense tensors of the first
	// device, or one that serves all backends.
	Below bool
	// Kernel is the kernel that serves the device of the tensors, where that is not the
	// CPU.
	Kernel Kernel
	// Autograd reports that it has a kernel for autograd, or decomposes.
	Autograd bool
	// Raises reports that the code which calls its kernel raises the versions of the arguments that it
	// may write, whether it does or not.
	Raises bool
	// Faults are those of its registration, found without a call.
	Faults []asserts.Fault
	// Added reports that it came with a library that was loaded besides.
	Added bool
	// Texts are the short texts and messages in the libraries that were loaded besides,
	// of one that came with those: its arguments may take some of them.
	Texts []string
	// Makers are the ops that return an object of a class that it takes.
	Makers []*schema.Op
	// Inverse is the op whose results it takes, such as the encoder of a decoder, or nil.
	Inverse *schema.Op
	// Site is where its kernel is registered or written, where that is known.
	Site asserts.Site
	// Function is its kernel where that is a Go function, or nil.
	Function *Function
	// Missing is the reason why it cannot be called, or "".
	Missing string
	// Cannot is the reason if no arguments could change that, so that a run without
	// the op is complete; "" if only arguments for it are unknown.
	Cannot string
	// Unseen are the checks that a call through this engine cannot show.
	Unseen []Unseen
	// Uncounted reports that others hold its returns, as the ops that it calls: their use
	// counts are not judged, and a tensor that it returns twice is.
	Uncounted bool
}

// A Kernel is a sort of kernel that serves a device.
type Kernel string

// The sorts of kernels. No op has two of them: the first counts.
const (
	OwnKernel      Kernel = "own"      // of that device alone
	SharedKernel   Kernel = "shared"   // of all devices: the op decomposes, or calls others
	FallbackKernel Kernel = "fallback" // of the device's backend, for each op without another; most copy to the CPU
	NoKernel       Kernel = "none"
)

// Kernels are the sorts of kernels, in the order in which reports show them.
var Kernels = []Kernel{OwnKernel, SharedKernel, FallbackKernel, NoKernel}

// Where is where the op's schema is written, if that is in a file, or else where
// its kernel is.
func (o Operator) Where() asserts.Site {
	if pos := o.Schema.Pos; pos.Filename != "" {
		return asserts.Site{File: pos.Filename, Line: pos.Line}
	}
	return o.Site
}

// An Unseen is a check that is reported as not observable, not as passed.
type Unseen struct {
	Code   asserts.Code
	On     asserts.Ref
	Reason string
}

// Name is the op's name with its namespace: "aten::add.Tensor".
func (o Operator) Name() string { return o.Schema.Namespace + "::" + o.Schema.Func.Name.String() }

// A Dense describes a dense tensor, down to its bytes.
type Dense struct {
	DType   string // "float32"
	Sizes   []int64
	Strides []int64 // in elements
	Offset  int64   // in elements
	Data    []byte  // the whole storage
}

// A Tensor is an engine's tensor, held by one reference.
type Tensor interface{ Release() }

// An Outcome is the results of a call.
type Outcome struct {
	Results []any // Tensor, nil for an undefined one, []any for a list, other values; those with a method Release are held
	Seen    asserts.Seen
}

// A Thrown is an error of the kernel itself.
type Thrown struct {
	Message string
	Asks    string // the demand of the kernel's source where it threw, as a message might say it
}

func (t *Thrown) Error() string { return t.Message }

// A LibraryFault is the value that an engine panics with when the library fails to
// describe its tensors, for instance to observe them: the fault is neither an op's
// nor opassert's.
type LibraryFault struct{ Message string }

func (f *LibraryFault) Error() string { return f.Message }

// A Lost is the value that an engine panics with when the device of its tensors no longer
// works: the case is at fault, and the next one needs another process.
type Lost struct{ Message string }

func (l *Lost) Error() string { return "the device is lost: " + l.Message }

// Demands returns the text that a kernel threw with the demands of its source, and false
// for a failure of another sort.
func Demands(err error) (string, bool) {
	var t *Thrown
	if errors.As(err, &t) {
		return t.Message + t.Asks, true
	}
	return "", false
}

// Message returns the text that a kernel threw, and false for a failure of
// another sort.
func Message(err error) (string, bool) {
	var t *Thrown
	if errors.As(err, &t) {
		return t.Message, true
	}
	return "", false
}

// Types of arguments, besides Tensor, nil, int64, float64, bool, complex128,
// string and []any.
type (
	// Default is the schema's default value.
	Default struct{}
	// A DType is a ScalarType by its name: "float32".
	DType string
	// A Layout is a layout by its name: "strided", "sparse_coo".
	Layout string
	// A MemoryFormat is a memory format by its name: "channels_last".
	MemoryFormat string
	// A Device is a device by its name: "cpu".
	Device string
	// A QScheme is a quantization scheme by its name: "per_tensor_affine".
	QScheme string
	// A Tuple holds values of different types.
	Tuple []any
	// A Dict holds keys, each before its value.
	Dict []any
	// A New is an object of a custom class, made by its constructor from
	// arguments: "__torch__.torch.classes.my.Class".
	New struct {
		Class string
		Args  []any
	}
	// Same is the value of the earlier argument of this number.
	Same int
)

// An Unsupported is an error of Make for a tensor that the library does not
// have: a dtype, strides, a number of dimensions. The case continues with a
// similar tensor that the library has.
type Unsupported struct{ What string }

func (u *Unsupported) Error() string { return "the library has no " + u.What }

// Release releases the tensors among results.
func Release(results []any) {
	for _, r := range results {
		switch r := r.(type) {
		case Tensor:
			if r != nil {
				r.Release()
			}
		case []any:
			Release(r)
		}
	}
}

// Devices that engines have in common.
const (
	CPU   Device = tensor.CPU
	Meta  Device = tensor.Meta // whose tensors have no bytes
	Fake  Device = "fake"      // where an op's fake is called instead of its kernel
	Rules Device = "rules"     // where an op's formula for autograd is called, and its rules for vmap and autocast
)

// CannotShow reports whether a check is one that the engine cannot show broken.
func (o Operator) CannotShow(c asserts.Check) bool {
	return slices.ContainsFunc(o.Unseen, func(u Unseen) bool { return u.Code == c.Code && u.On == c.On })
}

// A Plan is the checks of the calls of an op.
type Plan struct {
	Op     asserts.Op       // with every check up to the run's level, waived ones included
	Waived []asserts.Excuse // the checks that an allowlist waives
}
