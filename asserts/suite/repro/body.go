package repro

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/probe"
	"github.com/opassert/opassert/schema"
)

// A pythonBody is the statements of a Python program: one of python.tmpl's templates, which calls its methods.
type pythonBody struct {
	*pythonCall
	way
	Template  string
	ByRules   bool   // the fault is of functions that are registered besides the kernel
	On        string // an expression for the tensor that it is about, or ""
	Subject   asserts.Place
	Cause     string // of a crash
	Device    engine.Device
	Numbers   bool   // a planned number differs from the returned one
	Tolerance string // of differences from another device
	Others    []otherSizes
	Predicate *predicate
	Sight     probe.Program
}

// otherSizes are sizes that do not meet a guard.
type otherSizes struct{ Tensor, Sizes string }

// body returns the statements for a fault of a call. The error is the reason why it has no program.
func (k *pythonCall) body(f Problem) (*pythonBody, error) {
	b := &pythonBody{pythonCall: k, Template: "crash", ByRules: f.byRules()}
	if c := f.Crash; f.Finding == nil {
		b.Cause = c.Cause
		switch {
		case c.Device == engine.Meta:
			return nil, errors.New("the call on meta crashes")
		case c.Device == engine.Fake:
			return nil, errors.New("the call of its fake crashes")
		case c.Recipe == "":
			return nil, errors.New("the process ended before the call")
		}
		return b, nil
	}
	v := f.Finding.Violation
	b.Subject, b.Device, b.Sight = v.Subject, twin(f.Finding), programOf(v)
	var err error
	switch {
	case slices.Contains(f.Finding.Devices, engine.Rules):
		return b, b.ruled(v)
	case v.Code == asserts.UninitialisedResult && !f.onCPU():
		return nil, errors.New("no program fills the memory of a device before a call")
	case v.Symptom == asserts.SymbolicSizes || v.Symptom == asserts.SizeGuard:
		b.Template, b.Others = "asked", k.others(v.Sizes)
	case b.Device != "":
		b.Template, b.Numbers, b.Tolerance = "compared", v.Symptom == asserts.OtherContents, "None"
		if b.Numbers {
			b.Tolerance = fmt.Sprint(v.Tolerance)
		}
	case v.Code == asserts.OutOfBounds:
		b.Template = "outside"
	case v.Symptom == asserts.Restored:
		b.Template = "restored"
		b.On, err = k.place(v.Subject)
	case b.Sight.Fault != "":
		b.Template = "in memory"
		err = b.inMemory(f.Finding)
	default:
		b.Template = "judged"
		b.Predicate, err = k.shows(f.Finding)
	}
	return b, err
}

// ruled sets the template for a call that the kernel accepts, and the same one under vmap, or with grad and backward.
func (b *pythonBody) ruled(v *asserts.Violation) (err error) {
	b.Template = "backward"
	switch v.Symptom {
	case asserts.Backward:
	case asserts.WithoutTensor:
		b.On, err = b.place(v.Subject)
	case asserts.Vmap:
		b.Template = "vmap"
	default:
		err = errors.New("of functions registered besides the kernel, only a backward that raises and a rule for vmap " +
			"have a program")
	}
	return err
}

func (b *pythonBody) inMemory(f *report.Finding) (err error) {
	v := f.Violation
	place, err := b.place(v.Subject)
	switch {
	case err == nil && v.Subject.Name != "":
		b.On = place
	case !b.Sight.Left:
		return errors.Join(err, errSubject)
	}
	if f.Earlier != "" {
		b.earlier, err = newCall(b.op, f.Earlier)
		return err
	}
	return nil
}

var errSubject = errors.New("the tensor that it is about is unknown")

// guards matches the tensors whose sizes do not meet a guard.
var guards = regexp.MustCompile(`(\w+)((?:\[\d+\])*) (\[[\d, ]*\])`)

func (k *pythonCall) others(sizes string) (all []otherSizes) {
	for _, m := range guards.FindAllStringSubmatch(sizes, -1) {
		i := slices.IndexFunc(k.op.Func.Args, func(a schema.Argument) bool { return a.Name == m[1] })
		all = append(all, otherSizes{k.names[i] + m[2], m[3]})
	}
	return all
}

// Do returns the statements of a template.
func (b *pythonBody) Do(template string) string { return b.statement(template, b) }

// Args returns the arguments as written in the call.
func (b *pythonBody) Args() string { return strings.Join(b.args, ", ") }

// Call returns the call.
func (b *pythonBody) Call() string { return b.Function + "(" + b.Args() + ")" }

// Under returns a statement, which is executed below autograd if the way is.
func (b *pythonBody) Under(statement string) string {
	if b.Below {
		return "with " + belowAutograd + "():\n" + indented(statement)
	}
	return statement
}

// Guarded ends the program with 2 if a statement raises.
func (b *pythonBody) Guarded(statement string) string {
	return b.statement("guarded", fields{"statement": statement})
}

// GuardedCall ends the program with 2 if the call raises, unless the fault is there.
func (b *pythonBody) GuardedCall() string {
	p := b.Predicate
	call := fields{"statement": b.Under("result = " + b.Call())}
	call["refused"] = strings.Contains(p.Fault, "share(") && b.op.Namespace != "aten" // by PyTorch's custom_op
	if !strings.Contains(p.Fault+p.After, "result") {                                 // an op may write, and then raise
		call["unless"] = p.Fault
	}
	return b.statement("guarded", call)
}

// Raises ends the program with the fault if a statement raises.
func (b *pythonBody) Raises(statement, says string) string {
	return b.statement("raises", fields{"statement": statement, "says": says})
}

// Planned returns the call with which a compiler plans.
func (b *pythonBody) Planned(result string) string {
	return b.Under(result + b.Function + "(*twins_args, **twins_kwargs)")
}

// Seen ends a program that looks at memory.
func (b *pythonBody) Seen() string {
	return b.verdict(b.Sight.Fault, strings.ReplaceAll(b.Sight.Says, "{x}", b.On), ", or no result shows it")
}

// Makes reports whether constructors of custom classes or other ops make arguments, since these may crash themselves.
func (b *pythonBody) Makes() bool {
	return slices.ContainsFunc(b.lines, func(line string) bool {
		return strings.Contains(line, "torch.classes.") || strings.Contains(line, "torch.ops.")
	})
}

// Keeps reports whether the arguments of a call outlive it.
func (b *pythonBody) Keeps() bool { return strings.Contains(b.Sight.Before, "kept") }

// Seed returns the seed of a call.
func (b *pythonBody) Seed() string { return cmp.Or(b.Sight.Seed, "0") }

// Before returns the statements between the arguments and the call.
func (b *pythonBody) Before() string {
	call, text := b.Do("seeded"), b.Sight.Before
	if b.earlier != nil {
		other := (&pythonBody{pythonCall: b.earlier, way: b.way}).Do("arguments and call")
		text = "if byte == 0xA6:\n" + indented(other) + "\nelse:\n{call}\n{arguments}"
	}
	fill := strings.NewReplacer("{held}", b.Held(), "{read}", b.Read(), "{call}", indented(call), "{first}", call,
		"{arguments}", b.Lines())
	return fill.Replace(text)
}

// Held returns the variables of the arguments that hold tensors.
func (b *pythonBody) Held() string {
	return b.variables(func(arg schema.Argument) bool { return arg.Type.HoldsTensors() })
}

// Read returns the variables of those that the schema marks in no way.
func (b *pythonBody) Read() string {
	return b.variables(func(arg schema.Argument) bool { return arg.Type.HoldsTensors() && arg.Alias == nil })
}
