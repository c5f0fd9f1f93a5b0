// Package torch is libtorch as an engine of the suite: it converts the suite's values
// to libtorch's, and observes calls.
package torch

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/libtorch"
	"github.com/opassert/opassert/asserts/suite"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/installed"
	"github.com/opassert/opassert/internal/slicesx"
	"github.com/opassert/opassert/internal/tensor"
	"github.com/opassert/opassert/schema"
)

// A Libtorch is the engine of the real library.
type Libtorch struct {
	version  string
	out      libtorch.Outcome
	schemas  map[string]*schema.Op // from a file, instead of the library's
	old      map[string]bool       // the ops before libraries were loaded, nil without libraries
	host     *host                 // the Python of the kernels, or nil
	unloaded []*engine.LoadError
	loaded   []string                // the files of the others
	texts    []string                // the short texts in them
	makes    map[string][]*schema.Op // the ops that return objects, by class
	device   device                  // the device of the tensors of cases, or none: the CPU
	watched  bool                    // memory is watched
	filled   bool                    // memory of the device is filled
}

// shimVariable lists, one a line, the shared libraries that a worker loads first: those of libtorch.BuildShim.
const shimVariable = "OPASSERT_SHIM"

// librariesVariable lists the libraries of ops that a worker loads, one a line, quoted as in Go.
const librariesVariable = "OPASSERT_LIBRARIES"

// Environment returns the variables with which a worker loads a libtorch, and the libraries that libraries of ops need.
func Environment(torch *installed.Torch, libraries []string) ([]string, error) {
	shim, err := libtorch.BuildShim(torch, torch.Needs(libraries...)...)
	return []string{shimVariable + "=" + shim}, err
}

// Libraries returns the variable with which a worker loads libraries of ops.
func Libraries(files []string) string {
	return librariesVariable + "=" + slicesx.Join(files, "\n", strconv.Quote)
}

// Open starts libtorch, in a worker that of [Environment], and loads the libraries of [Libraries]; loading is called
// before each, and at the end with "". One that can't be loaded is left out. Schemas of a file, if given, override
// those of the dispatcher.
func Open(file []*schema.Op, loading func(string)) (*Libtorch, error) {
	host, err := hosted()
	if err != nil {
		return nil, err
	}
	if os.Getenv(suite.WorkerVariable) != "" && host == nil {
		if err := libtorch.UseShim(os.Getenv(shimVariable)); err != nil {
			return nil, err
		}
		watchCrashes()
	}
	version, err := libtorch.Version()
	if err != nil {
		return nil, err
	}
	l := &Libtorch{version: version, host: host}
	l.schemas, l.makes = make(map[string]*schema.Op), make(map[string][]*schema.Op)
	for _, op := range file {
		l.schemas[op.Namespace+"::"+op.Func.Name.String()] = op
	}
	libraries := os.Getenv(librariesVariable)
	if libraries != "" {
		if l.old, err = libtorch.Names(); err != nil {
			return nil, err
		}
	}
	for line := range strings.Lines(libraries) {
		path, err := strconv.Unquote(strings.TrimSpace(line))
		if err != nil {
			return nil, fmt.Errorf("%s: %q: %w", librariesVariable, line, err)
		}
		loading(path)
		if err := libtorch.LoadLibrary(path); err != nil {
			l.unloaded = append(l.unloaded, &engine.LoadError{Library: path, Why: err.Error()})
			continue
		}
		l.loaded, l.texts = append(l.loaded, path), append(l.texts, texts(path)...)
	}
	loading("")
	return l, nil
}

// Unloaded returns the libraries that could not be loaded.
func (l *Libtorch) Unloaded() []*engine.LoadError { return l.unloaded }

// Files returns the files that the process of the kernels has loaded: libraries, and what Python imported.
func (l *Libtorch) Files() (files []string) {
	if l.host != nil {
		return l.host.loaded
	}
	maps, _ := os.ReadFile("/proc/self/maps")
	for line := range strings.Lines(string(maps)) {
		if _, name, ok := strings.Cut(line, "/"); ok {
			files = append(files, "/"+strings.TrimSuffix(name, "\n"))
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// ThroughAutograd makes calls go through autograd, as a program's do.
func (l *Libtorch) ThroughAutograd() { l.out.Autograd = true }

func (l *Libtorch) Version() string {
	if l.device.Name != "" {
		return "libtorch " + l.version + " on " + l.device.Name
	}
	return "libtorch " + l.version
}

// Loaded reports whether an op came with a library or a module.
func (l *Libtorch) Loaded(op string) bool {
	return l.old != nil && !l.old[op] && !isTorchs(op) || l.host != nil && l.host.adds(op)
}

// Operators omits the operators that cannot run on the CPU, unless there is another device.
func (l *Libtorch) Operators() ([]engine.Operator, error) {
	ops, err := libtorch.Ops()
	if err != nil {
		return nil, err
	}
	var all []engine.Operator
	for _, op := range ops {
		if l.runs(op) {
			all = append(all, l.operator(op))
			l.locate(op, &all[len(all)-1])
		}
	}
	return all, nil
}

// locate sets the place of an op of a library that was built with -g to where its kernel begins.
func (l *Libtorch) locate(op *libtorch.Op, o *engine.Operator) {
	if !o.Added || op.Kernel == 0 {
		return
	}
	process := "self"
	if server := l.Server(); server != 0 {
		process = strconv.Itoa(server)
	}
	path, offset := mapped(process, op.Kernel)
	if begins(filepath.Base(path), tensor.Libraries) {
		return // of a kernel in Python
	}
	o.Site = cmp.Or(debug(path).kernel(offset), o.Site)
}

func (l *Libtorch) Operator(name string) (engine.Operator, error) {
	op, err := libtorch.Lookup(name)
	if err != nil {
		return engine.Operator{}, err
	}
	return l.operator(op), nil
}

// namespaces are those of the library's own ops; prim and the rest are the interpreter's.
var namespaces = []string{"aten", "quantized", "sparse", "mkldnn", "nested", "inductor"}

var inner = regexp.MustCompile(`^Could not run '([\w:.]+)' with arguments from`)

// onGPU matches lower-case errors of kernels that ask for tensors on a GPU.
var onGPU = regexp.MustCompile(`\b(?:must|should|ha(?:s|ve) to|needs? to|expected|requires?) ` +
	`(?:all |the \w+ parameter )?(?:to )?(?:be )?(?:on )?(?:an? |the )?(?:same )?(?:cuda|gpu)\b`)

func asksForGPU(text string) bool {
	text = strings.ToLower(text)
	named := strings.Contains(text, "gpu") || strings.Contains(text, "cuda") // patterns are slow
	return named && onGPU.MatchString(text)
}

// Unavailable finds errors of ops that can't run: a call of an op without a kernel for any kind of tensor that this op
// takes; a kernel that asks for a GPU; and, through autograd, out=.
func (l *Libtorch) Unavailable(op, text string) string {
	const ofOut = "arguments don't support automatic differentiation, but one of the arguments requires grad"
	if strings.Contains(text, ofOut) {
		return "its kernel for autograd rejects arguments that require grad, as one with out= should"
	}
	if m := unconstructed.FindStringSubmatch(text); m != nil {
		return "no op and no constructor makes an object of its class " + m[1]
	}
	m := inner.FindStringSubmatch(text)
	if m == nil && l.device.Name == "" && asksForGPU(text) {
		return "its kernel asks for tensors on a GPU"
	}
	if m == nil || m[1] == op {
		return ""
	}
	called, err := libtorch.Lookup(m[1])
	caller, unknown := libtorch.Lookup(op)
	runs := func(key string) bool { return slices.Contains(called.Runs, key) }
	if err != nil || unknown != nil || slices.ContainsFunc(caller.Runs, runs) {
		return ""
	}
	return "it calls an op that has no kernel for any CPU tensor that it takes itself"
}

func (l *Libtorch) runs(op *libtorch.Op) bool {
	sorts := []string{"QuantizedCPU", "NestedTensorCPU", "SparseCPU", "SparseCsrCPU", "MkldnnCPU"} // of CPU tensors
	here := func(key string) bool { return slices.Contains(sorts, key) }
	return l.Loaded(op.Name) || slices.Contains(namespaces, op.Namespace) &&
		(l.device.Name != "" || op.CPU || slices.ContainsFunc(op.Kernels, here))
}

// below are the dispatch keys below autograd of kernels for dense CPU tensors.
var below = []string{"CPU", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional"}

func (l *Libtorch) operator(op *libtorch.Op) engine.Operator {
	o := engine.Operator{Missing: op.Unpassable(), Added: l.Loaded(op.Name), Autograd: op.Autograd}
	o.Raises, o.OnMeta = o.Added && op.Raises, o.Added && slices.Contains(op.Kernels, "Meta")
	var written registration
	if o.Added {
		written = l.registration(op.Name)
		o.Faults = faultsOf(asserts.SchemaLint, written.Faults)
		o.Site, o.Texts = asserts.Site{File: op.File, Line: OwnLine(op, l.loaded)}, slices.Concat(l.texts, written.Texts)
	}
	o.Declared = Declared(op, o.Site.Line)
	if l.host != nil && l.host.added[op.Name].File != "" {
		o.Site = l.host.added[op.Name]
	}
	o.Below = slices.ContainsFunc(op.Kernels, func(k string) bool { return slices.Contains(below, k) })
	if l.device.Name != "" {
		o.Below, o.Kernel = l.device.below(op), l.device.kernel(op)
	}
	if o.Schema = l.schemas[op.Name]; o.Schema == nil {
		var err error
		if o.Schema, err = Schema(op); err != nil {
			o.Schema, o.Missing = nameless(op.Name), "its schema can't be read: "+err.Error()
			return o
		}
	}
	o.Schema.CompositeImplicit = o.Schema.CompositeImplicit || op.Composite && written.Decomposes
	// Autograd, and views made by the ops that it calls, raise use counts.
	o.Uncounted = op.Top && Custom(op.Name)
	if o.Unseen = Unseen(o.Schema, op); o.Added {
		o.Makers, o.Inverse = l.makers(o.Schema), inverse(op.Name)
	}
	if o.Kernel == engine.NoKernel || l.device.Name == "" && o.Added && len(op.Runs) == 0 && !op.Top {
		o.Missing = "it has no kernel for " + cmp.Or(l.device.Name, "the CPU")
		o.Cannot = o.Missing
		return o
	}
	if o.Missing != "" {
		o.Cannot = "no op makes an argument that it needs, or its schema does not say its type"
	}
	return o
}

// Declared returns what has the schema of an op, for its fixes.
func Declared(op *libtorch.Op, line int) string {
	by := "m.def"
	switch {
	case strings.HasSuffix(op.File, "/torch/_library/custom_ops.py"):
		return asserts.CustomOp
	case strings.HasSuffix(op.File, "/torch/library.py"):
		return "torch.library.define"
	case op.Namespace == "aten":
		return "native_functions.yaml"
	case op.File == "":
		return ""
	case filepath.Ext(op.File) == ".py":
		by = "Library.define"
	}
	return fmt.Sprintf("%s at %s:%d", by, filepath.Base(op.File), cmp.Or(line, op.Line))
}

// Schema reads the dispatcher's schema of an op. PyTorch's own ops that decompose may return their arguments; a
// library's kernel without a dispatch key is a kernel like others.
func Schema(op *libtorch.Op) (*schema.Op, error) {
	text := op.Schema
	if op.Namespace == "aten" {
		text = "aten::" + text
	}
	parsed, err := schema.ParseDispatcher(text)
	if err != nil {
		return nil, err
	}
	parsed.Namespace = op.Namespace
	parsed.CompositeImplicit = op.Composite && !Custom(op.Name)
	parsed.Tags = op.Tags
	return parsed, nil
}

// Unseen lists the checks whose violations a boxed call cannot show.
//
// A kernel gets a reference to the stack's handle of a tensor. A written argument is a Tensor& and may be rebound,
// which changes only that handle: it shows as OA006 if the argument is returned, and else not at all. Lists and dicts
// are shared, so elements that a kernel replaces show; tuples do not change.
func Unseen(op *schema.Op, live *libtorch.Op) []engine.Unseen {
	var unseen []engine.Unseen
	tensors := 0
	for _, a := range op.Func.Args {
		if !a.Type.HoldsTensors() {
			continue
		}
		if !changeable(a.Type) {
			reason := "replaced handles are invisible in boxed calls"
			if a.Alias != nil && a.Alias.Write && returned(op, a.Alias) {
				reason += ": OA006 sees it in the return"
			}
			if a.Type.Kind == schema.Tuple {
				reason = "no kernel changes a tuple"
			}
			unseen = append(unseen, engine.Unseen{Code: asserts.InputImpl, On: asserts.ArgRef(tensors), Reason: reason})
		}
		tensors++
	}
	kept := func(reason string) {
		for i := range tensors {
			unseen = append(unseen, engine.Unseen{Code: asserts.KeptArgument, On: asserts.ArgRef(i), Reason: reason})
		}
	}
	if op.IsMethod() {
		const reason = "its object may hold it"
		unseen = append(unseen, counts(op, reason)...)
		kept(reason)
	}
	for _, typ := range live.OutOfSight() {
		for _, code := range []asserts.Code{asserts.FreshImpl, asserts.UndeclaredAlias} { // of a return without checks
			unseen = append(unseen, engine.Unseen{Code: code, Reason: "tensors inside a " + typ + " are not visible"})
		}
		kept("a " + typ + " may hold it, invisibly")
	}
	return unseen
}

// changeable reports whether a kernel can put another tensor into a value.
func changeable(t schema.Type) bool {
	switch {
	case !t.HoldsTensors() || t.Kind == schema.Base:
		return false
	case t.Kind == schema.List || t.Kind == schema.Dict:
		return true
	}
	return slices.ContainsFunc(t.Elem, changeable)
}

// counts lists the checks that results are not referenced elsewhere.
func counts(op *schema.Op, reason string) []engine.Unseen {
	var unseen []engine.Unseen
	results := 0
	for _, r := range op.Func.Returns {
		if !r.Type.IsTensorLike() {
			continue
		}
		for _, code := range []asserts.Code{asserts.FreshImpl, asserts.FreshStorage} {
			unseen = append(unseen, engine.Unseen{Code: code, On: asserts.ResultRef(results), Reason: reason})
		}
		results++
	}
	return unseen
}

// returned reports whether a return carries the alias sets of an argument.
func returned(op *schema.Op, alias *schema.Alias) bool {
	return slices.ContainsFunc(op.Func.Returns, func(r schema.Return) bool {
		return r.Alias != nil && r.Alias.Write == alias.Write && slices.Equal(r.Alias.Before, alias.Before)
	})
}

func nameless(name string) *schema.Op {
	namespace, rest, _ := strings.Cut(name, "::")
	base, overload, _ := strings.Cut(rest, ".")
	return &schema.Op{Namespace: namespace, Func: schema.Function{Name: schema.Name{Base: base, Overload: overload}}}
}

// A torchTensor is a handle with the method Release that the suite needs.
type torchTensor struct{ libtorch.Tensor }

func (t torchTensor) Release() { t.Tensor.Release() }

type torchObject struct{ libtorch.Object }

func (o torchObject) Release() { o.Object.Release() }

func (l *Libtorch) Make(d engine.Dense, f engine.Form) (engine.Tensor, error) {
	if what := l.device.lacks(f); what != "" {
		return nil, &engine.Unsupported{What: what}
	}
	spec := libtorch.Spec{
		Device: l.device.Name, Sizes: d.Sizes, Strides: d.Strides, Offset: d.Offset, Bytes: d.Data, Form: f,
	}
	name := d.DType
	switch {
	case f == engine.Quantized && name == "float32":
		name = "quint8"
	case f == engine.PerChannel && name == "float32":
		name = "qint8"
	}
	var ok bool
	if spec.DType, ok = libtorch.ParseDType(name); !ok {
		return nil, fmt.Errorf("unknown dtype %s", name)
	}
	t, err := libtorch.Make(spec)
	if err != nil {
		l.device.hold()
		return nil, thrown(err)
	}
	return torchTensor{t}, nil
}

func (l *Libtorch) View(t engine.Tensor, d engine.Dense) (engine.Tensor, error) {
	dtype, ok := libtorch.ParseDType(d.DType)
	if !ok {
		return nil, fmt.Errorf("unknown dtype %s", d.DType)
	}
	v, err := libtorch.Make(libtorch.Spec{
		DType: dtype, Device: l.device.Name, Sizes: d.Sizes, Strides: d.Strides, Offset: d.Offset,
		Of: t.(torchTensor).Tensor,
	})
	return torchTensor{v}, thrown(err)
}

// longest is the length that messages are cut to: the dispatcher's are pages long.
const longest = 1000

// stamp is the date, the time and the thread before the message of a failed CHECK: "[F1122 04:09:46.508826827
// file.cpp:650]", "F 00:00:00.000171 executorch:file.cpp:650]".
var stamp = regexp.MustCompile(`\b([A-Z])(?:\d{4})? \d\d:\d\d:\d\d\.\d+ +(?:\d+ )?`)

// ownCalls are the lines of the host's files in a Python traceback.
var ownCalls = regexp.MustCompile(
	`\n +.*` + regexp.QuoteMeta(hostFolder) + `\w+\.py\(\d+\): .*|\n +<string>\(1\): <module>`)

// timed reports whether a message may have a stamp: patterns are slow.
func timed(message string) bool {
	for i := range len(message) {
		if strings.HasPrefix(message[i:], ":") && i+6 < len(message) && message[i+3] == ':' && message[i+6] == '.' {
			return true
		}
	}
	return false
}

// thrown turns an error of the library into one that the suite learns from. So are
// values that the schema does not take.
func thrown(err error) error {
	var e *libtorch.Error
	if errors.As(err, &e) {
		message := e.Message
		if strings.Contains(message, hostFolder) { // patterns are slow
			message = ownCalls.ReplaceAllString(message, "")
		}
		if message = message[:min(len(message), longest)]; timed(message) {
			message = stamp.ReplaceAllString(message, "$1 ")
		}
		return &engine.Thrown{Message: message}
	}
	return err
}

// twins make copies of tensors on the devices other than the first.
var twins = map[engine.Device]func(...libtorch.Tensor) ([]libtorch.Tensor, error){
	engine.CPU: hostTwins, engine.Meta: libtorch.MetaTwins,
}

func (l *Libtorch) Devices() []engine.Device {
	switch {
	case l.device.Name != "":
		return []engine.Device{engine.Device(l.device.Name), engine.CPU, engine.Meta}
	case l.host != nil:
		return []engine.Device{engine.CPU} // besides Meta, fakes are called
	}
	return []engine.Device{engine.CPU, engine.Meta}
}

func (l *Libtorch) Twins(ts []engine.Tensor, on engine.Device) ([]engine.Tensor, error) {
	plain := slicesx.Map(ts, func(t engine.Tensor) libtorch.Tensor { return t.(torchTensor).Tensor })
	made, err := twins[on](plain...)
	return slicesx.Map(made, func(t libtorch.Tensor) engine.Tensor { return torchTensor{t} }), thrown(err)
}

func (l *Libtorch) Generator(seed int64) (any, error) {
	o, err := libtorch.NewGenerator(uint64(seed))
	return o, thrown(err)
}

func (l *Libtorch) Object(name string, args []any) (any, error) {
	op, err := libtorch.Lookup(name)
	if err != nil {
		return nil, thrown(err)
	}
	made, err := op.Object(torchValues(args)...)
	return fromTorch(made), thrown(err)
}

func (l *Libtorch) Storage(t engine.Tensor) (any, error) {
	o, err := libtorch.StorageOf(t.(torchTensor).Tensor)
	return o, thrown(err)
}

// Seed seeds the generator, for kernels in Python with a number that they are unlikely to use as a seed.
func (l *Libtorch) Seed(seed int64) error {
	if l.host != nil {
		seed ^= unlikely
	}
	return libtorch.Seed(uint64(seed))
}

// Threads sets the number of threads of an op, without those of ops that it calls.
func (l *Libtorch) Threads(count int) { libtorch.Threads(count) }

// CPUTime returns the processor time of this process.
func (l *Libtorch) CPUTime() time.Duration { return spent() }

const unlikely = 0x6f7061737365

func (l *Libtorch) Subjects(op *asserts.Op) *asserts.Op { return asserts.WithParts(op) }

// Look observes a tensor and its parts.
func (l *Libtorch) Look(t engine.Tensor) []asserts.Observation {
	x := t.(torchTensor)
	whole, _ := x.See(asserts.Content)
	parts, _ := x.Parts(asserts.Content)
	return append([]asserts.Observation{whole}, parts...)
}

// Harmless returns the reason why parts of tensors may share: for kernels in Python,
// PyTorch's own ops make the quantizers.
func (l *Libtorch) Harmless(op *asserts.Op, v *asserts.Violation) string {
	inside := l.host != nil && v.Subject.Inside && v.Against.Inside
	if inside && slices.Contains([]string{"scales", "zero_points"}, v.Subject.Part()) {
		return "members of a quantizer, which PyTorch's own clone shares"
	}
	return libtorch.HarmlessParts(op, v)
}

// writesElsewhere reports whether a call opens a file outside of the worker's folder for writing, as of
// PyTorch's ops the one does that maps a file.
func writesElsewhere(name string, args []any) bool {
	op, _, _ := strings.Cut(name, ".")
	if op != "aten::from_file" || len(args) < 2 || args[1] == nil || args[1] == false || args[1] == (engine.Default{}) {
		return false
	}
	file, ok := args[0].(string)
	return !ok || !filepath.IsLocal(file)
}

func (l *Libtorch) Call(name string, args []any, level asserts.Level) (engine.Outcome, error) {
	if writesElsewhere(name, args) {
		why := fmt.Sprintf("%s is not called, as it would open %v for writing", name, args[0])
		return engine.Outcome{}, &engine.Thrown{Message: why}
	}
	op, err := libtorch.Lookup(name)
	if err != nil {
		return engine.Outcome{}, thrown(err)
	}
	values := torchValues(args)
	call := op.Call
	if l.out.Autograd {
		call = func(level asserts.Level, out *libtorch.Outcome, values ...libtorch.Value) error {
			return callGraded(op, level, out, values)
		}
	}
	err = call(level, &l.out, values...)
	l.device.hold()
	out := engine.Outcome{Seen: l.out.Seen}
	out.Seen.Before, out.Seen.After = slices.Clone(out.Seen.Before), slices.Clone(out.Seen.After)
	out.Seen.Results = slices.Clone(out.Seen.Results)
	out.Seen.ArgLens, out.Seen.ResultLens = slices.Clone(out.Seen.ArgLens), slices.Clone(out.Seen.ResultLens)
	if err != nil {
		return out, l.raised(thrown(l.withMaker(err)))
	}
	out.Seen.Numbers = numbers(l.out.Results)
	out.Results = slicesx.Map(l.out.Results, fromTorch)
	return out, nil
}

// callGraded calls an op with the tensors that it only reads requiring grad, if they
// can and its kernel for autograd allows it.
func callGraded(op *libtorch.Op, level asserts.Level, out *libtorch.Outcome, values []libtorch.Value) error {
	set, err := libtorch.Lookup("aten::requires_grad_")
	if err != nil {
		return err
	}
	for i, v := range values {
		if !op.Args[i].Write {
			setGrad(set, v, true)
		}
	}
	for range values { // it rejects each at most once
		err := op.Call(level, out, values...)
		if err != nil && strings.Contains(err.Error(), writesLeaf) {
			for _, v := range values {
				setGrad(set, v, false)
			}
			return op.Call(level, out, values...)
		}
		rejected := ungraded(err)
		i := slices.IndexFunc(op.Args[:len(values)], func(a libtorch.Argument) bool { return a.Name == rejected })
		if i < 0 {
			return err
		}
		setGrad(set, values[i], false)
	}
	return op.Call(level, out, values...)
}

var takesNoGrad = regexp.MustCompile(`^The function '.*' is not differentiable with respect to argument '(\w+)'`)

// writesLeaf is the error of an op that writes an argument which its schema does not
// declare as written: without requires_grad the write is found.
//
// Source: torch/csrc/autograd/VariableTypeUtils.h, check_inplace.
const writesLeaf = "a leaf Variable that requires grad is being used in an in-place operation"

// ungraded returns the argument that must not require grad, according to an error.
//
// Source: torch/csrc/autograd/VariableTypeUtils.h, check_no_requires_grad.
func ungraded(err error) string {
	if e, ok := errors.AsType[*libtorch.Error](err); ok {
		if m := takesNoGrad.FindStringSubmatch(e.Message); m != nil {
			return m[1]
		}
	}
	return ""
}

// setGrad sets requires_grad of the tensors of a value that can have it.
func setGrad(set *libtorch.Op, v libtorch.Value, grad bool) {
	var out libtorch.Outcome
	if v.Tensor.Defined() && set.Call(asserts.Off, &out, v, libtorch.Bool(grad)) == nil {
		out.Release()
	}
	for _, t := range v.Tensors {
		setGrad(set, t.Value(), grad)
	}
	for _, e := range v.List {
		setGrad(set, e, grad)
	}
}

// number returns the number of an enumerator of PyTorch, 0 if it is unknown.
func number(names tensor.Names, name string) libtorch.Value {
	n, _ := names.Number(name)
	return libtorch.Int(max(n, 0))
}

// torchValue converts an argument of the suite into one of the engine.
func torchValue(a any) libtorch.Value {
	switch a := a.(type) {
	case engine.Default:
		return libtorch.Default()
	case torchTensor:
		return a.Value()
	case libtorch.Object:
		return a.Value()
	case torchObject:
		return a.Value()
	case int64:
		return libtorch.Int(a)
	case float64:
		return libtorch.Float(a)
	case bool:
		return libtorch.Bool(a)
	case complex128:
		return libtorch.Complex(a)
	case string:
		return libtorch.String(a)
	case engine.DType:
		d, _ := libtorch.ParseDType(string(a))
		return d.Value()
	case engine.Layout:
		return number(tensor.Layouts, string(a))
	case engine.MemoryFormat:
		return number(tensor.MemoryFormats, string(a))
	case engine.QScheme:
		return number(tensor.QSchemes, string(a))
	case engine.Device:
		return libtorch.Device(string(a))
	case []any:
		return libtorch.List(torchValues(a)...)
	case engine.Tuple:
		return libtorch.Tuple(torchValues(a)...)
	case engine.Dict:
		return libtorch.Dict(torchValues(a)...)
	case engine.Same:
		return libtorch.Same(int(a))
	case engine.New:
		return libtorch.New(a.Class, torchValues(a.Args)...)
	}
	return libtorch.None()
}

func torchValues(all []any) []libtorch.Value { return slicesx.Map(all, torchValue) }

// numbers returns the texts of integers, floats and bools, also of those in lists.
func numbers(values []libtorch.Value) (all []string) {
	for _, v := range values {
		switch v.Kind {
		case libtorch.KindInt:
			all = append(all, strconv.FormatInt(v.Int, 10))
		case libtorch.KindBool:
			all = append(all, strconv.FormatBool(v.Int != 0))
		case libtorch.KindFloat:
			all = append(all, strconv.FormatFloat(v.Float, 'g', -1, 64))
		case libtorch.KindInts:
			for _, n := range v.Ints {
				all = append(all, strconv.FormatInt(n, 10))
			}
		case libtorch.KindList:
			all = append(all, numbers(v.List)...)
		}
	}
	return all
}

func fromTorch(v libtorch.Value) any {
	switch v.Kind {
	case libtorch.KindTensor:
		if v.Tensor.Defined() {
			return torchTensor{v.Tensor}
		}
	case libtorch.KindTensors:
		return slicesx.Map(v.Tensors, func(t libtorch.Tensor) any { return torchTensor{t} })
	case libtorch.KindList:
		return slicesx.Map(v.List, fromTorch)
	case libtorch.KindObject:
		return torchObject{v.Object}
	}
	return nil
}
