package repro

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/probe"
	"github.com/opassert/opassert/internal/printable"
	"github.com/opassert/opassert/internal/slicesx"
	"github.com/opassert/opassert/schema"
)

// A Source describes where the ops of a run are from.
type Source struct {
	Version   string   // of the engine: "libtorch 2.6.0"
	Device    string   // of the tensors: "openreg:1"; "": the CPU
	Libraries []string // loaded by the programs
	Modules   []string // imported by Python
	Go        *Module  // nil for kernels that are not Go functions

	// Build returns the command that builds a C++ program from a file; nil without headers, or
	// without a compiler.
	Build func(file, to string) []string
}

// A Problem is a finding or a crash of an op.
type Problem struct {
	Op      *report.OpResult
	Finding *report.Finding // nil for a crash
	Crash   *report.Crash

	turn int // number among those of one name
}

// A Module is the Go kernels of a module, or of a workspace, as programs use them.
type Module struct {
	Root     string // of the module
	Kernels  map[string]*engine.GoFunction
	Packages map[string]*TensorFunctions // of each op
}

// TensorFunctions describe how tensors of kernels are made and observed. Functions are named with their
// import paths in quotes: `"example.com/vector".FromSpec`.
type TensorFunctions struct {
	Maker   string
	Observe string // "" if tensors have a method for it
	Options string // returns options of package maker, or ""
}

// Texts returns programs that show a fault, the simplest first: through the public function of
// PyTorch, through torch.ops, and below autograd if the run called it there. Each exits with 1 if
// the fault is there, with 0 if it is not, and with 2 if the call raises. The error is the reason
// why a fault has no program.
func (s Source) Texts(f Problem) ([]string, error) {
	op, err := schema.ParseDispatcher(qualified(f.Op))
	if err != nil {
		return nil, err
	}
	k, err := newCall(op, f.recipe())
	if err != nil {
		return nil, err
	}
	crash := func(way way) string {
		call := way.statement(k.expression(way))
		if f.byRules() {
			call = k.passed() + "by_rules(" + way.function + ", args, kwargs)"
		}
		return k.crash(call, f.Crash.Cause)
	}
	body, bare := k.before(crash), false
	if k.makesObjects() {
		body = crash
	}
	switch {
	case f.Finding == nil && f.Crash.Device == engine.Meta:
		return nil, errors.New("the call on meta crashes")
	case f.Finding == nil && f.Crash.Device == engine.Fake:
		return nil, errors.New("the call of its fake crashes")
	case f.Finding != nil && slices.Contains(f.Finding.Devices, engine.Rules):
		if body, err = k.ruled(f.Finding.Violation); err != nil {
			return nil, err
		}
	case f.Finding != nil && f.Finding.Violation.Code == asserts.UninitialisedResult && !f.onCPU():
		return nil, errors.New("no program fills the memory of a device before a call")
	case f.Finding == nil && f.Crash.Recipe == "":
		return nil, errors.New("the process ended before the call")
	case f.Finding != nil && (f.Finding.Violation.Symptom == asserts.SymbolicSizes || f.Finding.Violation.Symptom == asserts.SizeGuard):
		body = k.before(func(way way) string { return k.asked(way, f.Finding.Violation.Sizes) })
	case f.Finding != nil && twin(f.Finding) != "":
		device := twin(f.Finding)
		body = k.before(func(way way) string { return k.compared(way, device, f.Finding.Violation) })
		bare = device == engine.Meta
	case f.Finding != nil && f.Finding.Violation.Code == asserts.OutOfBounds:
		body = k.outside
	case f.Finding != nil && f.Finding.Violation.Symptom == asserts.Restored:
		if body, err = k.restored(f.Finding.Violation.Subject); err != nil {
			return nil, err
		}
	case f.Finding != nil && programOf(f.Finding.Violation).Fault != "":
		v := f.Finding.Violation
		if f.Finding.Earlier != "" {
			if k.earlier, err = newCall(op, f.Finding.Earlier); err != nil {
				return nil, err
			}
		}
		if body, err = k.inMemory(programOf(v), v.Subject); err != nil {
			return nil, err
		}
	case f.Finding != nil:
		p, err := k.shows(f.Finding)
		if err != nil {
			return nil, err
		}
		body = k.before(func(way way) string { return k.judged(way, p) })
	}
	ways := k.ways()
	if f.byRules() {
		ways = slices.DeleteFunc(ways, func(w way) bool { return w.below })
	}
	if bare {
		ways = append(ways, way{function: ways[len(ways)-1].function, bare: true})
	}
	all := slicesx.Map(ways, func(way way) string { return s.text(f, body(way)) })
	return all, nil
}

// byRules reports whether the fault is of functions that are registered besides the kernel: below
// autograd they are not called.
func (f Problem) byRules() bool {
	if f.Finding != nil {
		return f.Finding.Violation.Code == asserts.AutogradKernel
	}
	return f.Crash.Device == engine.Rules
}

// makesObjects reports whether constructors of custom classes or other ops make arguments, since
// these may crash themselves.
func (k *pythonCall) makesObjects() bool {
	return slices.ContainsFunc(k.lines, func(line string) bool {
		return strings.Contains(line, "torch.classes.") || strings.Contains(line, "torch.ops.")
	})
}

// before puts the statements that make the arguments before those that call the op.
func (k *pythonCall) before(calls func(way) string) func(way) string {
	return func(w way) string { return strings.Join(append(slices.Clone(k.lines), calls(w)), "\n") }
}

// deviceOf returns the device of a fault's tensors, "" for the CPU: that of the run, or that of the
// fault's tensor if a watched program made the call.
func (s Source) deviceOf(f Problem) string {
	switch {
	case s.Device != "" && !f.onCPU():
		return s.Device
	case s.Device == "" && f.Finding != nil && !slices.Contains([]string{string(engine.CPU), string(engine.Meta), f.Finding.On()}, f.Finding.Violation.Device):
		return f.Finding.Violation.Device
	}
	return ""
}

// onCPU reports whether all tensors of the fault were on the CPU.
func (f Problem) onCPU() bool {
	if f.Finding != nil {
		return slices.Equal(f.Finding.Devices, []engine.Device{engine.CPU})
	}
	return f.Crash.Device == engine.CPU
}

// recipe returns the call that shows a fault.
func (f Problem) recipe() string {
	if f.Finding != nil {
		return f.Finding.Recipe
	}
	return f.Crash.Recipe
}

// qualified returns a schema with the namespace of its op.
func qualified(op *report.OpResult) string {
	namespace, _, _ := strings.Cut(op.Op, "::")
	return namespace + "::" + strings.TrimPrefix(op.Schema, namespace+"::")
}

// A way is a way for a program to call an op.
type way struct {
	function string // an expression
	below    bool   // autograd
	bare     bool   // without Python's meta functions, as in C++
}

// ways returns the ways to call the op.
func (k *pythonCall) ways() []way {
	op := opOf(k.op.Namespace + "::" + k.op.Func.Name.String())
	if k.op.IsMethod() {
		op = "(lambda self, *args, **kwargs: " + attribute("self", k.op.Func.Name.Overload) + "(*args, **kwargs))"
	}
	var all []way
	if name := k.public(); name != "" {
		all = append(all, way{function: name})
	}
	return append(all, way{function: op}, way{function: op, below: true})
}

// public returns the name under which PyTorch documents an op, or "". If it does not exist, the
// call raises.
func (k *pythonCall) public() string {
	base := k.op.Func.Name.Root()
	if k.op.Namespace != "aten" || strings.HasPrefix(base, "_") || keywords[base] {
		return ""
	}
	for _, module := range []string{"fft", "linalg", "special"} {
		if name, ok := strings.CutPrefix(base, module+"_"); ok {
			return "torch." + module + "." + name
		}
	}
	if strings.HasSuffix(base, "_") {
		return "torch.Tensor." + base
	}
	return "torch." + base
}

// text composes a program.
func (s Source) text(f Problem, body string) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	for _, l := range s.about(f) {
		line("%s", strings.TrimRight("# "+l, " "))
	}
	path := ""
	if len(s.Modules) > 0 {
		path = "sys.path.insert(0, \"\")  # for modules of the folder that this runs in\nos.environ.setdefault(\"TRITON_INTERPRET\", \"1\")  # kernels of Triton run on the CPU"
	}
	old := strings.HasPrefix(s.Version, "libtorch 1.")
	line("")
	definitions := used(definitions, body)
	text := path + strings.Join(definitions, "") + body + raises
	for _, module := range []string{"base64", "contextlib", "ctypes", "os", "resource", "signal", "sys"} {
		if strings.Contains(text, module+".") || module == "contextlib" && old && strings.Contains(body, belowAutograd) {
			line("import %s", module)
		}
	}
	if numbers := constants(body); numbers != "" {
		line("from math import %s", numbers)
	}
	if path != "" {
		line("%s", path)
	}
	line("\n%s", raises)
	line("\nimport torch")
	for _, module := range []string{"torch._dispatch.python", "torch._meta_registrations", "torch._subclasses.fake_tensor"} {
		if strings.Contains(body, module+".") {
			line("import %s", module)
		}
	}
	for _, module := range s.Modules {
		line("import %s", module)
	}
	for _, library := range s.Libraries {
		line("torch.ops.load_library(%q)", library)
	}
	if device := s.deviceOf(f); device != "" {
		line("torch.set_default_device(%q)", device)
	}
	if old && strings.Contains(text, "untyped_storage") {
		line("torch.Tensor.untyped_storage = lambda t: t.storage().untyped()  # as from 2.0 on")
	}
	if old && strings.Contains(body, "with "+belowAutograd) {
		line("guard = %s\n%[1]s = contextlib.contextmanager(lambda: (yield (held := guard())))  # as from 2.0 on", belowAutograd)
	}
	if path != "" {
		line("%s", strings.TrimSpace(python.statement("first configuration", nil)))
	}
	for _, d := range definitions {
		line("\n%s", strings.TrimRight(d, "\n"))
	}
	line("\n\n%s", strings.TrimRight(body, "\n"))
	return b.String()
}

// raises sets the exit status of an unexpected exception to 2: 1 is for the fault.
const raises = "sys.excepthook = lambda *raised: sys.__excepthook__(*raised) or sys.exit(2)"

// constants returns the import of the names of module math in a body.
func constants(body string) string {
	words := strings.FieldsFunc(body, func(r rune) bool { return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r == '_' || r == '"') })
	return strings.Join(slices.DeleteFunc([]string{"inf", "nan"}, func(name string) bool { return !slices.Contains(words, name) }), ", ")
}

// about returns the comment at the top: the fault, its effect, and how to mend it.
func (s Source) about(f Problem) []string {
	var text []string
	add := func(format string, args ...any) {
		text = append(text, strings.Split(printable.Sprintf("%s", printable.Lines(fmt.Sprintf(format, args...))), "\n")...)
	}
	if c := f.Crash; c != nil {
		add("%s: %s", f.Op.Op, c.Cause)
		add("\n%s\n\n%s", f.Op.Schema, c.Call)
		for _, frame := range c.Frames {
			add("  in %s", frame)
		}
	} else {
		v := f.Finding.Violation
		add("%s: %s", f.Op.Op, v.Code.Name())
		add("\n%s\n\n%s", f.Op.Schema, f.Finding.Call)
		add("\nRule: %s.", v.Code.Rule())
		add("Here: %v: %s.", v.Subject, v.Saw)
		add("So:   %s.", cmp.Or(v.Breaks, v.Code.Breaks()))
		if v.Fix != "" {
			add("Fix:  %s.", v.Fix)
		}
	}
	add("\nSeen with %s. The exit status is 1 if the fault is there, 0 if it is not, 2 if the\ncall raises.", s.Version)
	return text
}

// expression returns the call.
func (k *pythonCall) expression(w way) string {
	return w.function + "(" + strings.Join(k.args, ", ") + ")"
}

func (w way) statement(text string) string {
	if w.below {
		return "with " + belowAutograd + "():\n" + indented(text)
	}
	return text
}

const belowAutograd = "torch._C._AutoDispatchBelowAutograd"

// judged returns the call between the observations before and after it.
func (k *pythonCall) judged(w way, p *predicate) string {
	var b strings.Builder
	if p.twice {
		b.WriteString(guarded(w.statement("earlier = " + k.expression(w))))
	}
	for _, statement := range p.before {
		b.WriteString(statement + "\n")
	}
	// PyTorch's custom_op refuses a result that shares memory.
	call := fields{"statement": w.statement("result = " + k.expression(w)), "refused": strings.Contains(p.fault, "share(") && k.op.Namespace != "aten"}
	if !strings.Contains(p.fault+p.after, "result") { // an op may write, and then raise
		call["unless"] = p.fault
	}
	b.WriteString(k.statement("guarded", call))
	if p.after != "" {
		b.WriteString(p.after + "\n")
	}
	b.WriteString(k.verdict(p.fault, p.says, ""))
	return b.String()
}

// guarded ends the program with 2 if a statement raises.
func guarded(statement string) string {
	return python.statement("guarded", fields{"statement": statement})
}

// crash makes a call in a process of its own.
func (k *pythonCall) crash(call, cause string) string {
	if k.makesObjects() {
		call = strings.Join(k.lines, "\n") + "\n" + call
	}
	return k.statement("crash", fields{"call": call, "hangs": cause == report.Hang})
}

const differs = "the planned results differ from the returned ones"

// compared returns the call, and the one with which a compiler plans, or that on the CPU.
func (k *pythonCall) compared(w way, device engine.Device, v *asserts.Violation) string {
	setup := ""
	if w.bare {
		setup = k.statement("unregistered", nil)
	}
	if device == engine.Fake {
		setup += k.twins("fakes", nil)
	} else {
		setup += k.twins("twins", string(device))
	}
	calls := setup + guarded(w.statement("result = "+w.function+"(*args, **kwargs)")) + w.plans("with mode:", "plan = ", string(device)+" tensors")
	switch {
	case device != engine.CPU && v.Symptom == asserts.OtherContents:
		return calls + k.verdict("any(a != b for a, b in zip(numbers(result), numbers(plan)) if None not in (a, b))", "a planned number differs from the returned one", "")
	case device != engine.CPU:
		return calls + k.verdict("planned(result) != planned(plan) or shared(args, result) != shared(twins_args, plan)", differs, "")
	}
	tolerance := "None"
	if v.Symptom == asserts.OtherContents {
		tolerance = fmt.Sprint(v.Tolerance)
	}
	return calls + "differ = differences(([args, kwargs], result), ([twins_args, twins_kwargs], plan), " + tolerance + ")\nprint(*differ, sep=\"\\n\")\n" +
		k.verdict("differ", "the results or writes of the call on the CPU differ from those on the device", "")
}

// twins makes the arguments of the call, and those of the one with which a compiler plans, by the
// statements of a name.
func (k *pythonCall) twins(name string, values any) string {
	return k.statement(name, values) + k.passed() + "twins_args, twins_kwargs = replaced((args, kwargs), twin)\n"
}

// passed makes a tuple and a dict of the arguments of the call.
func (k *pythonCall) passed() string {
	return "args, kwargs = (lambda *args, **kwargs: (args, kwargs))(" + strings.Join(k.args, ", ") + ")\n"
}

// plans makes the call with which a compiler plans: an error of it is the fault.
func (w way) plans(within, result, with string) string {
	call := within + "\n" + indented(w.statement(result+w.function+"(*twins_args, **twins_kwargs)"))
	return python.statement("raises", fields{"statement": call, "says": "the call with " + with})
}

// ruled returns the call that the kernel accepts, and the same one with arguments that require grad
// and its backward, or under vmap.
func (k *pythonCall) ruled(v *asserts.Violation) (func(way) string, error) {
	changed := ""
	switch v.Symptom {
	case asserts.Backward:
	case asserts.WithoutTensor:
		x, err := k.place(v.Subject)
		if err != nil {
			return nil, err
		}
		changed = fmt.Sprintf("args, kwargs = replaced((args, kwargs), lambda t: None if t is %s else t)\n", x)
	case asserts.Vmap:
		return k.before(func(w way) string {
			return k.passed() + guarded(w.function+"(*args, **kwargs)") + "said = batched(" + w.function + ", args, kwargs)\nprint(\"vmap:\", said)\n" +
				k.verdict("said", "torch.vmap does not return what separate calls do", "")
		}), nil
	default:
		return nil, errors.New("of functions registered besides the kernel, only a backward that raises and a rule for vmap have a program")
	}
	return k.before(func(w way) string {
		call := w.function + "(*args, **kwargs)"
		backward := k.statement("raises", fields{"statement": "backward(" + call + ")", "says": "where arguments require grad it"})
		return k.passed() + changed + guarded(call) + "args, kwargs = leaves((args, kwargs))\n" + backward + "print(\"" + notThere + "\")\n"
	}), nil
}

// others matches the tensors whose sizes do not meet a guard.
var others = regexp.MustCompile(`(\w+)((?:\[\d+\])*) (\[[\d, ]*\])`)

// asked returns the call with which a compiler plans, and whether it raises, or sets a guard that
// does not hold for other sizes.
func (k *pythonCall) asked(w way, sizes string) string {
	setup := k.twins("symbols", nil) + "others = {}\n"
	for _, m := range others.FindAllStringSubmatch(sizes, -1) {
		i := slices.IndexFunc(k.op.Func.Args, func(a schema.Argument) bool { return a.Name == m[1] })
		setup += fmt.Sprintf("others.update(zip([s.node.expr for s in twin(%s%s).shape], %s))\n", k.names[i], m[2], m[3])
	}
	return setup + guarded(w.statement(w.function+"(*args, **kwargs)")) +
		w.plans("with mode, torch._dispatch.python.enable_python_dispatcher():", "", "symbolic sizes") +
		"asked = [g.expr for g in sizes.guards if g.expr.subs(others) == False]\nprint(\"sizes:\", others, \"guards that do not hold:\", asked)\n" +
		k.verdict("asked", "the fake sets a guard that other sizes do not meet: compilers recompile for those", "")
}

// Name returns the name of a fault's file, without an extension: aten__softmax_out-OA015-out.
func (f Problem) Name() string {
	what := ""
	if f.Crash != nil {
		what = fmt.Sprintf("%s-%d", f.Crash.Cause, f.Crash.Case)
	} else {
		v := f.Finding.Violation
		what = fmt.Sprintf("%v-%s", v.Code, v.Subject.Name+v.Subject.Called)
	}
	if f.turn > 1 {
		what += "-" + strconv.Itoa(f.turn)
	}
	return slug(f.Op.Op) + "-" + slug(what)
}

// slug returns text without the characters that are not allowed in file names.
func slug(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, strings.Replace(text, "::", "_", 1))
}

// programOf returns how a program shows the fault of a violation.
func programOf(v *asserts.Violation) probe.Program {
	if v.Code == asserts.UseAfterFree {
		return freed
	}
	return probe.ProgramOf(v.Code, v.Symptom)
}

var freed = probe.Program{
	Heap: true, Left: true, Fault: "any(strays for strays, _ in seen) or " + probe.Follows, Cpp: "strayed || follows(seen)",
	Says: "freed memory is written, or the results depend on it",
}

var errSubject = errors.New("the tensor that it is about is unknown")

// inMemory returns the calls of an op in memory with different contents in turn.
func (k *pythonCall) inMemory(s probe.Program, p asserts.Place) (func(way) string, error) {
	x := ""
	switch place, err := k.place(p); {
	case err == nil && p.Name != "":
		x = place
	case !s.Left:
		return nil, errors.Join(err, errSubject)
	}
	says := strings.ReplaceAll(s.Says, "{x}", x)
	return func(w way) string {
		made := "seen = [call(byte) for byte in (0x5A, 0x5A, 0xA6, 0xA6, 0x5A)][1:]"
		if s.Often {
			made = "first = call(0x5A)\nseen = [first, next((other for other in (call(0x5A) for _ in range(500)) if other != first), first)]"
		}
		if s.Apart {
			made = strings.Replace(made, "call(byte)", "alone(call, byte)", 1)
		}
		setup := k.statement("in memory", fields{"keeps": strings.Contains(s.Before, "kept"), "heap": s.Heap, "left": s.Left, "once": k.once(s, w, x)})
		return setup + guarded(made) + k.verdict(s.Fault, says, ", or no result shows it")
	}, nil
}

// once returns one call, about the tensor x.
func (k *pythonCall) once(s probe.Program, w way, x string) string {
	var lines []string
	line := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if s.Heap {
		line("fill(-6, byte)  # M_PERTURB: the contents of memory once freed, and until written")
	}
	if s.Left {
		line("for room, _ in rooms:\n    room[:] = bytes([byte]) * len(room)")
	}
	lines = append(lines, k.lines...)
	if s.Left {
		line("walls = {}")
		lines = append(lines, k.moved("walls", "walled(n, byte)")...)
	}
	if s.Before != "" {
		call := "torch.manual_seed(0)\n" + w.statement(k.expression(w))
		if k.earlier != nil {
			other := append(slices.Clone(k.earlier.lines), "torch.manual_seed(0)", w.statement(k.earlier.expression(w)))
			s.Before = "if byte == 0xA6:\n" + indented(strings.Join(other, "\n")) + "\nelse:\n{call}\n{arguments}"
		}
		line("%s", strings.NewReplacer("{held}", strings.Join(k.held(), ", "), "{read}", strings.Join(k.read(), ", "), "{call}", indented(call), "{first}", call, "{arguments}", strings.Join(k.lines, "\n")).Replace(s.Before))
	}
	line("torch.manual_seed(%s)", cmp.Or(s.Seed, "0"))
	line("%s", w.statement("result = "+k.expression(w)))
	if s.Left {
		line("strays = any(set(room) != {byte} for room, _ in rooms)")
		line("rooms.extend(walls.values())")
		line("return strays, [elements(t) for t in tensors([result])]")
	} else {
		line("return [elements(t) for t in tensors([%s])]", x)
	}
	return strings.Join(lines, "\n")
}

// held returns the variables of the arguments that hold tensors.
func (k *pythonCall) held() []string {
	return k.variables(func(arg schema.Argument) bool { return arg.Type.HoldsTensors() })
}

// read returns the variables of those that the schema marks in no way.
func (k *pythonCall) read() []string {
	return k.variables(func(arg schema.Argument) bool { return arg.Type.HoldsTensors() && arg.Alias == nil })
}

func (k *pythonCall) variables(of func(schema.Argument) bool) []string {
	var names []string
	for i, arg := range k.op.Func.Args {
		if k.names[i] != "" && of(arg) {
			names = append(names, k.names[i])
		}
	}
	return names
}

// moved returns the statement that moves the storages of the arguments to the n bytes that an
// expression allocates.
func (k *pythonCall) moved(places, allocate string) []string {
	held := strings.Join(k.held(), ", ")
	if held == "" {
		return nil
	}
	return []string{fmt.Sprintf("[%s] = replaced([%[1]s], lambda t: moved(t, %s, lambda n: %s))", held, places, allocate)}
}

// outside calls the op with all memory of tensors beside pages without access.
func (k *pythonCall) outside(w way) string {
	return k.statement("outside", fields{"call": k.amongPages(w)}) + k.verdict("fault", "the call accesses memory outside of its tensors", "")
}

// amongPages returns one call with the storages of its arguments between pages with a protection,
// after more lines.
func (k *pythonCall) amongPages(w way, before ...string) string {
	lines := append(slices.Clone(k.lines), "places = {}")
	lines = append(lines, k.moved("places", "(None, torch.empty(n, dtype=torch.uint8))")...)
	lines = append(append(lines, before...), "torch.manual_seed(0)", w.statement(k.expression(w)))
	return strings.Join(lines, "\n")
}

const restores = "the call writes %v, and restores its contents"

// restored calls the op with the storage of an argument read-only.
func (k *pythonCall) restored(p asserts.Place) (func(way) string, error) {
	x, err := k.place(p)
	if err != nil {
		return nil, err
	}
	protect := fmt.Sprintf("storage = %s.untyped_storage()\nctypes.CDLL(None).mprotect(ctypes.c_void_p(storage.data_ptr()), ctypes.c_size_t(storage.nbytes()), protection)", x)
	return func(w way) string {
		return k.statement("restored", fields{"call": k.amongPages(w, protect)}) + k.verdict("fault", fmt.Sprintf(restores, p), "")
	}, nil
}
