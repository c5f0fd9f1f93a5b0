package repro

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
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

	// Build returns the command that builds a C++ program from a file; nil without headers, or without a compiler.
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

// Texts returns programs that show a fault, the simplest first: through the public function of PyTorch, through
// torch.ops, and below autograd if the run called it there. Each exits with 1 if the fault is there, with 0 if it is
// not, and with 2 if the call raises. The error is the reason why a fault has no program.
func (s Source) Texts(f Problem) ([]string, error) {
	op, err := schema.ParseDispatcher(qualified(f.Op))
	if err != nil {
		return nil, err
	}
	k, err := newCall(op, f.recipe())
	if err != nil {
		return nil, err
	}
	b, err := k.body(f)
	if err != nil {
		return nil, err
	}
	ways := k.ways()
	if f.byRules() {
		ways = slices.DeleteFunc(ways, func(w way) bool { return w.Below })
	}
	if b.Device == engine.Meta && b.Template == "compared" {
		ways = append(ways, way{Function: ways[len(ways)-1].Function, Bare: true})
	}
	return slicesx.Map(ways, func(w way) string {
		b.way = w
		return s.text(f, b.Do(b.Template))
	}), nil
}

// byRules reports whether the fault is of functions registered besides the kernel: below autograd they are not called.
func (f Problem) byRules() bool {
	if f.Finding != nil {
		return f.Finding.Violation.Code == asserts.AutogradKernel
	}
	return f.Crash.Device == engine.Rules
}

// deviceOf returns the device of a fault's tensors, "" for the CPU: that of the run, or that of the
// fault's tensor if a watched program made the call.
func (s Source) deviceOf(f Problem) string {
	switch {
	case s.Device != "" && !f.onCPU():
		return s.Device
	case s.Device == "" && f.Finding != nil && !slices.Contains([]string{string(engine.CPU), string(engine.Meta),
		f.Finding.On()}, f.Finding.Violation.Device):
		return f.Finding.Violation.Device
	}
	return ""
}

func (f Problem) onCPU() bool {
	if f.Finding != nil {
		return slices.Equal(f.Finding.Devices, []engine.Device{engine.CPU})
	}
	return f.Crash.Device == engine.CPU
}

func (f Problem) recipe() string {
	if f.Finding != nil {
		return f.Finding.Recipe
	}
	return f.Crash.Recipe
}

func qualified(op *report.OpResult) string {
	namespace, _, _ := strings.Cut(op.Op, "::")
	return namespace + "::" + strings.TrimPrefix(op.Schema, namespace+"::")
}

type way struct {
	Function string // an expression
	Below    bool   // autograd
	Bare     bool   // without Python's meta functions, as in C++
}

func (k *pythonCall) ways() []way {
	op := opOf(k.op.Namespace + "::" + k.op.Func.Name.String())
	if k.op.IsMethod() {
		op = "(lambda self, *args, **kwargs: " + attribute("self", k.op.Func.Name.Overload) + "(*args, **kwargs))"
	}
	var all []way
	if name := k.public(); name != "" {
		all = append(all, way{Function: name})
	}
	return append(all, way{Function: op}, way{Function: op, Below: true})
}

// public returns the name under which PyTorch documents an op, or "". If it does not exist, the call raises.
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

func (s Source) text(f Problem, body string) string {
	definitions := used(definitions, body)
	old := strings.HasPrefix(s.Version, "libtorch 1.")
	var parts []string
	for _, part := range []string{"torch._dispatch.python", "torch._meta_registrations", "torch._subclasses.fake_tensor"} {
		if strings.Contains(body, part+".") {
			parts = append(parts, part)
		}
	}
	text := python.statement("program", fields{
		"parts": parts, "modules": s.Modules, "libraries": s.Libraries, "device": s.deviceOf(f),
		"definitions": definitions, "body": body,
		"untyped": old && strings.Contains(strings.Join(definitions, "")+body, "untyped_storage"),
		"guard":   old && strings.Contains(body, "with "+belowAutograd),
	})
	imports := ""
	for _, module := range []string{"base64", "contextlib", "ctypes", "os", "resource", "signal", "sys"} {
		if strings.Contains(text, module+".") {
			imports += "import " + module + "\n"
		}
	}
	if numbers := constants(body); numbers != "" {
		imports += "from math import " + numbers + "\n"
	}
	return commented("#", s.about(f)) + "\n" + imports + text
}

// constants returns the import of the names of module math in a body.
func constants(body string) string {
	words := strings.FieldsFunc(body,
		func(r rune) bool { return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r == '_' || r == '"') })
	return strings.Join(slices.DeleteFunc([]string{"inf", "nan"},
		func(name string) bool { return !slices.Contains(words, name) }), ", ")
}

// about returns the comment at the top: the fault, its effect, and how to mend it.
func (s Source) about(f Problem) string {
	return printable.Sprintf("%s", printable.Lines(about.statement("about", fields{"problem": f, "version": s.Version})))
}

var about = dialect{statements: statementsOf("about.tmpl")}

func commented(mark, text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		b.WriteString(strings.TrimRight(mark+" "+line, " ") + "\n")
	}
	return b.String()
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

func slug(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, strings.Replace(text, "::", "_", 1))
}

const belowAutograd = "torch._C._AutoDispatchBelowAutograd"
