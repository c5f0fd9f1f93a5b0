package engine

import (
	"errors"
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/maker"
	"github.com/opassert/opassert/internal/tensor"
	"github.com/opassert/opassert/schema"
)

// An Engine makes tensors and calls ops. It is used from one goroutine. What it may do besides are the
// interfaces of optional.go, such as [FakeCaller].
type Engine interface {
	// Version names the library for reports: "libtorch 1.13.1".
	Version() string

	// Operators returns every op that can be called, sorted by name.
	Operators() ([]Operator, error)

	// Operator returns one of them.
	Operator(name string) (Operator, error)

	// Devices returns the devices on which ops are called: first that of the tensors that Make
	// returns, then those on which the call is repeated with Twins.
	Devices() []Device

	// Make makes a tensor, without keeping the data of d. Ops of the library that it calls may throw.
	Make(d Dense, f Form) (Tensor, error)

	// View makes a tensor that shares the storage and the version of another one; d describes its layout and has no data.
	View(t Tensor, d Dense) (Tensor, error)

	// Twins makes tensors of the same sizes, strides and dtypes on another device, which share storages as these.
	Twins(ts []Tensor, on Device) ([]Tensor, error)

	// Generator makes a random number generator, as an argument.
	Generator(seed int64) (any, error)

	// Object makes the object that is the first argument of a call, so that others get the same one.
	Object(op string, args []any) (any, error)

	// Storage returns a tensor's storage, as an argument.
	Storage(t Tensor) (any, error)

	// Seed sets the state of the default random number generator.
	Seed(seed int64) error

	// Call calls an op and observes its tensors before and after at the level. The caller releases the results. An op
	// that throws returns an error of type *Thrown, with observations of its tensors if they have changed.
	Call(op string, args []any, level asserts.Level) (Outcome, error)

	// Look observes a tensor at the content level, followed by those inside.
	Look(t Tensor) []asserts.Observation

	// Harmless returns the reason why a violation about the parts of a call's tensors is not a fault, or "".
	Harmless(op *asserts.Op, v *asserts.Violation) string

	// Subjects returns the op with its checks extended to the parts of its tensors.
	Subjects(op *asserts.Op) *asserts.Op
}

// An Operator is an op of an engine.
type Operator struct {
	Schema *schema.Op
	// Below means that it has a kernel below autograd for dense tensors of the first device, or for all.
	Below bool
	// Kernel is the sort of kernel that serves the device of the tensors, unless that is the CPU.
	Kernel KernelKind
	// Autograd reports that it has a kernel for autograd, or decomposes.
	Autograd bool
	// OnMeta reports that a library has a kernel for meta alone for it.
	OnMeta bool
	// Raises reports that callers of its kernel raise the versions of arguments that it may write, written or not.
	Raises bool
	// Declared is what has its schema: see [asserts.Op].
	Declared string
	// Faults are the faults of its registration, found without a call.
	Faults []asserts.Fault
	// Added reports that it is from a library that was loaded additionally.
	Added bool
	// Texts are the short texts and messages in the additional libraries, for an op from one of
	// them: its arguments may accept some of them.
	Texts []string
	// Makers are the ops that return an object of a class that it accepts.
	Makers []*schema.Op
	// Inverse is the op whose results it accepts, such as the encoder for a decoder, or nil.
	Inverse *schema.Op
	// Site is where its kernel is registered or written, if known.
	Site asserts.Site
	// Function is its kernel if that is a Go function, or nil.
	Function *GoFunction
	// Missing is the reason why it cannot be called, or "".
	Missing string
	// Cannot is the reason if no arguments could change that, so that a run without the op is
	// complete; "" if only suitable arguments are unknown.
	Cannot string
	// Unseen are the checks that a call through this engine cannot show.
	Unseen []Unseen
	// Uncounted reports that others hold its returns, such as ops that it calls: their use counts
	// are not judged, but a tensor returned twice is.
	Uncounted bool
}

// Own reports whether an op is not PyTorch's: of a library, a module or a Go package.
func (o *Operator) Own() bool { return o.Added || o.Function != nil }

// A KernelKind is a sort of kernel that serves a device.
type KernelKind string

// The sorts of kernels. If an op has several, the first one counts.
const (
	OwnKernel      KernelKind = "own"      // of that device alone
	SharedKernel   KernelKind = "shared"   // for all devices: the op decomposes, or calls others
	FallbackKernel KernelKind = "fallback" // of the device's backend, for each op without another; most copy to the CPU
	NoKernel       KernelKind = "none"
)

// Kernels are the sorts of kernels, in the order of reports.
var Kernels = []KernelKind{OwnKernel, SharedKernel, FallbackKernel, NoKernel}

// Where returns the position of the op's schema, if it is in a file, or else that of its kernel.
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

// A Dense describes a dense tensor, including its bytes.
type Dense = maker.Spec

// A Tensor is an engine's tensor; it owns one reference.
type Tensor interface{ Release() }

// An Outcome is the results of a call.
type Outcome struct {
	// Tensor, nil for an undefined one, []any for a list, other values; those with a method Release own references
	Results []any
	Seen    asserts.Seen
}

// A Thrown is an error of the kernel itself.
type Thrown struct {
	Message string
	Asks    string          // the condition in the kernel's source where it threw, in the form of a message
	Left    []asserts.Fault // of the call, found by the engine
	Skip    string          // why it did not look for those
}

func (t *Thrown) Error() string { return t.Message }

// A LibraryFault is the value with which an engine panics if the library fails to describe its
// tensors, such as when they are observed: the fault is neither an op's nor opassert's.
type LibraryFault struct{ Message string }

func (f *LibraryFault) Error() string { return f.Message }

// A Lost is the value with which an engine panics if the device of its tensors no longer works: the
// case is at fault, and the next one needs another process.
type Lost struct{ Message string }

func (l *Lost) Error() string { return "the device is lost: " + l.Message }

// Demands returns the text that a kernel threw with the conditions in its source, and false for other failures.
func Demands(err error) (string, bool) {
	if t, ok := errors.AsType[*Thrown](err); ok {
		return t.Message + t.Asks, true
	}
	return "", false
}

// Message returns the text that a kernel threw, and false for other failures.
func Message(err error) (string, bool) {
	if t, ok := errors.AsType[*Thrown](err); ok {
		return t.Message, true
	}
	return "", false
}

// Types of arguments, besides Tensor, nil, int64, float64, bool, complex128, string and []any.
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
	// A New is an object of a custom class, made by its constructor from arguments: "__torch__.torch.classes.my.Class".
	New struct {
		Class string
		Args  []any
	}
	// Same is the value of the earlier argument with this number.
	Same int
)

// An Unsupported is an error of Make for a tensor that the library does not have: a dtype, strides,
// a number of dimensions. The case continues with a similar tensor that the library has.
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

// Devices of several engines.
const (
	CPU   Device = tensor.CPU
	Meta  Device = tensor.Meta // without bytes
	Fake  Device = "fake"      // an op's fake is called instead of its kernel
	Rules Device = "rules"     // an op's formula for autograd is called, and its rules for vmap and autocast
)

// CannotShow reports whether the engine cannot show a violation of a check.
func (o Operator) CannotShow(c asserts.Check) bool {
	return slices.ContainsFunc(o.Unseen, func(u Unseen) bool { return u.Code == c.Code && u.On == c.On })
}

// Checks are those of the calls of an op.
type Checks struct {
	Op     asserts.Op       // with every check up to the run's level, waived ones included
	Waived []asserts.Excuse // the checks that an allowlist waives
}

// A Form is a sort of tensor.
type Form = tensor.Form

const (
	Strided        = tensor.Strided
	COO            = tensor.COO
	CSR            = tensor.CSR
	CSC            = tensor.CSC
	BSR            = tensor.BSR
	BSC            = tensor.BSC
	Mkldnn         = tensor.Mkldnn
	Quantized      = tensor.Quantized
	PerChannel     = tensor.PerChannel // quantized by channel
	Nested         = tensor.Nested
	Functional     = tensor.Functional // in a functional wrapper
	Conjugate      = tensor.Conjugate  // a lazy conjugate
	Negative       = tensor.Negative   // a lazy negative
	Zero           = tensor.Zero       // without storage, all zero
	Inference      = tensor.Inference
	Named          = tensor.Named // with dimension names A, B, ...
	COOUncoalesced = tensor.COOUncoalesced
	COOHybrid      = tensor.COOHybrid  // dense except for the first dimension
	NestedEven     = tensor.NestedEven // of tensors of the same sizes
	Grad           = tensor.Grad       // requires_grad is set
)

// A GoFunction is a kernel that is a Go function, as a program calls it.
type GoFunction struct {
	Name string // in Go's run time: "example.com/vector/kernels.Clamp"

	// Inputs are its parameters, the first of which may be a method's receiver.
	Inputs []Input

	Returns  int  // number of values that it returns, besides an error
	Fails    bool // it returns an error after them
	Variadic bool
}

// An Input is a parameter of a Function.
type Input struct {
	Argument int    // of the schema, or [ContextInput] or [ReceiverInput]
	Type     string // in Go, with import paths in quotes: `[]"example.com/vector".Kind`
}

// Inputs that are not arguments of the schema.
const (
	ContextInput  = -1 - iota
	ReceiverInput // the argument of maker.Receiver
)
