package asserts

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/opassert/opassert/internal/printable"
	"github.com/opassert/opassert/internal/slicesx"
)

// A Violation is one broken rule in one call.
type Violation struct {
	Code    Code
	Op      string // "aten::add.Tensor"
	Func    string `json:",omitempty"` // its name in reports, if it is another one: "kernels.Add"
	Schema  string
	Subject Place
	Against Place // the tensor that it is compared or shares with; zero: none
	Saw     string
	Symptom Symptom `json:",omitempty"`
	Fix     string
	Breaks  string `json:",omitempty"` // where it is not what the check or its symptom states
	Note    string `json:",omitempty"` // why it is debatable; "" for an error
	Call    string `json:",omitempty"` // the tensors of the call, if a program made it
	Only    string `json:",omitempty"` // the calls that show it, if not all do: "where dtypes differ"
	Plain   bool   `json:",omitempty"` // as in [Seen]

	Before, After Observation // of the subject; a return has no Before
	Other         Observation // of Against, after the call

	Tolerance float64 `json:",omitempty"` // of a comparison, for OtherContents
	Sizes     string  `json:",omitempty"` // of an argument, that do not meet a SizeGuard: "x [5]"

	Device, DType string // of the subject, "" below the content level
	Skipped       []Skip // the skips of the same call
	Repro         string // a command that reproduces it, if any
	Site          Site   // the call, if through a wrapper

	Answer *Answer `json:",omitempty"` // the method that answered the call instead of a kernel; nil: none
}

// An Answer is a method of a Python class, of a tensor or a mode, that answers calls of ops.
type Answer struct {
	Class string // "model.Wrapper"
	Site  Site   // of the method, which the class may inherit
}

// String returns both: "model.Wrapper.__torch_dispatch__ (model.py:12)", or "" for nil.
func (a *Answer) String() string {
	if a == nil {
		return ""
	}
	by := a.Site.Func
	if class := by[:max(0, strings.LastIndexByte(by, '.'))]; class != a.Class {
		by = a.Class + ", with " + by
	}
	if at := a.Site.String(); at != "" {
		by += " (" + at + ")"
	}
	return by
}

// A Place is a tensor among the arguments or the returns of an op.
type Place struct {
	Return  bool
	Index   int // position in the schema
	Name    string
	Type    string // as the schema writes it
	Element int    // in a list, or NoElement
	Aliased bool   `json:",omitempty"` // it has an alias set in the schema
	Inside  bool   `json:",omitempty"` // inside the tensors that the schema names, see [Subject]
	Called  string `json:",omitempty"` // the name of the element, used instead of its number
}

// NoElement is the Element of a tensor that is not in a list.
const NoElement = -1

// Process is the place of state that a call can change besides its tensors.
var Process = Place{Return: true, Index: -1, Name: "the process", Element: NoElement}

// A Site is a line of a program.
type Site struct {
	File string `json:"file"` // relative to the program's module; for another module, after its path
	Line int    `json:"line"`
	Func string `json:"function"`
}

// String returns the place as in a sentence: "argument tensors[1]", "result0".
func (p Place) String() string {
	name := p.Name + p.element()
	switch {
	case p == Process:
		return p.Name
	case !p.Return:
		return "argument " + name
	case strings.HasPrefix(name, "result"):
		return name
	}
	return "result " + name
}

// title returns the place as in a report's first line: `argument 0 "tensors"[1]`.
func (p Place) title() string {
	if p == Process {
		return p.Name
	}
	role := "argument"
	if p.Return {
		role = "return"
	}
	return fmt.Sprintf("%s %d %q", role, p.Index, p.Name) + p.element()
}

func (p Place) element() string {
	switch {
	case p.Called != "":
		return "." + p.Called
	case p.Element != NoElement:
		return fmt.Sprintf("[%d]", p.Element)
	}
	return ""
}

// Part returns the role of a tensor inside another: "values" of "1.values".
func (p Place) Part() string { return p.Called[strings.LastIndexByte(p.Called, '.')+1:] }

func (s Site) String() string {
	if s.File == "" {
		return ""
	}
	return s.File + ":" + strconv.Itoa(s.Line)
}

// String formats small IDs as serial numbers and large ones as addresses.
func (id ID) String() string {
	switch {
	case id == 0:
		return "none"
	case id < 1<<32:
		return "#" + strconv.FormatUint(uint64(id), 10)
	}
	return "0x" + strconv.FormatUint(uint64(id), 16)
}

func (v *Violation) locate(c *Snapshot) {
	if c != nil {
		v.Device, v.DType = c.Device, c.DType
	}
}

// Title is the first line of the report. It is the same in every run.
func (v *Violation) Title() string {
	title := fmt.Sprintf("%v %s  %s  %s", v.Code, v.Code.Name(), v.name(), v.Subject.title())
	if v.Device != "" {
		title += "   [" + strings.TrimSuffix(v.Device+", "+v.DType, ", ") + "]"
	}
	return printable.Line(title)
}

// Error returns the report, without a final newline.
func (v *Violation) Error() string {
	var b strings.Builder
	v.WriteReport(&b)
	return strings.TrimSuffix(b.String(), "\n")
}

// WriteReport writes the report, a line for each part.
func (v *Violation) WriteReport(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintln(&b, v.Title())
	line := func(name, text string) {
		if text != "" {
			printable.Printf(&b, "  %-7s %s\n", name, text)
		}
	}
	line("schema", v.Schema)
	row := v.Symptom.In(v.Code)
	line("rule", v.words(cmp.Or(row.Rule, v.Code.Rule())))
	line("saw", v.Saw)
	if v.Answer != nil {
		line("answer", "by "+v.Answer.String()+", not by a kernel")
	}
	line("breaks", cmp.Or(v.Breaks, v.words(cmp.Or(row.Breaks, v.Code.Breaks()))))
	line("fix", v.Fix)
	line("note", v.Note)
	line("skipped", slicesx.Join(v.Skipped, ", ",
		func(s Skip) string { return fmt.Sprintf("%v (%s, %d)", s.Code, s.Reason, s.Count) }))
	line("repro", v.Repro)
	line("waive", v.Waive())
	if v.Site.File != "" {
		function := ""
		if v.Site.Func != "" {
			function = " (" + v.Site.Func + ")"
		}
		line("site", v.Site.String()+function)
	}
	_, err := io.WriteString(w, printable.Text(b.String()))
	return err
}

// inGo replaces PyTorch's words in the texts of a violation by a Go library.
func (v *Violation) inGo() {
	for _, text := range []*string{&v.Saw, &v.Fix, &v.Breaks, &v.Note} {
		*text = v.words(*text)
	}
}

// words returns a text about a violation in words of the library.
func (v *Violation) words(text string) string {
	if v.Plain {
		return goWords.Replace(text)
	}
	return text
}

func (v *Violation) name() string { return cmp.Or(v.Func, v.Op) }

// Waive returns the allowlist entry that waives it, as YAML.
func (v *Violation) Waive() string {
	op := printable.YAML(strings.TrimPrefix(v.Op, "aten::"))
	return fmt.Sprintf("{op: %s, checks: [%s], reason: ...}", op, v.Symptom.Of(v.Code))
}

func (vs Violations) errors() Violations {
	return slices.DeleteFunc(slices.Clone(vs), func(v *Violation) bool { return v.Note != "" })
}

// Violations are those of one call. As an error it wraps them for errors.As and errors.Is.
type Violations []*Violation

// Error returns the reports, separated by empty lines.
func (vs Violations) Error() string { return slicesx.Join(vs, "\n\n", (*Violation).Error) }

// Unwrap returns the violations.
func (vs Violations) Unwrap() []error { return slicesx.Map(vs, func(v *Violation) error { return v }) }
