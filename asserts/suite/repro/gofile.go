package repro

import (
	"errors"
	"fmt"
	"go/format"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/tensor"
	"github.com/opassert/opassert/schema"
)

// golang is the dialect of Go. It compares observations of tensors.
var golang = dialect{
	language: "Go",
	literals: literals{
		values: map[sample.ValueKind]string{
			sample.NoneValue: "nil", sample.IntValue: "%s", sample.FloatValue: "%s", sample.BoolValue: "%s",
			sample.ComplexValue: "complex(%s, %s)", sample.TextValue: "%s",
		},
		booleans: [2]string{"false", "true"}, complexes: "%[3]v(complex(%[1]s, %[2]s))",
		numbers: map[string]string{"nan": "math.NaN()", "inf": "math.Inf(1)", "-inf": "math.Inf(-1)",
			"-0.0": "math.Copysign(0, -1)"},
	},
	statements: statementsOf("go.tmpl"),
	declared:   "%s := %s",
}

// overlapping is "shares" for storages that overlap in memory.
const overlapping = "x.Content.Memory < y.Content.Memory+uintptr(y.Content.Nbytes) && y.Content.Memory < " +
	"x.Content.Memory+uintptr(x.Content.Nbytes)"

type goFile struct {
	program
	*TensorFunctions
	fn      *engine.GoFunction
	imports map[string]string // name by path
	taken   map[string]bool
	later   int // turns by which usual values are
}

func (s Source) goTexts(f Problem) ([]string, error) {
	text, err := s.goText(f)
	return []string{text}, err
}

func (s Source) goText(f Problem) (string, error) {
	op, err := schema.ParseDispatcher(qualified(f.Op))
	if err != nil {
		return "", err
	}
	g := &goFile{TensorFunctions: s.Go.Packages[f.Op.Op], fn: s.Go.Kernels[f.Op.Op],
		program: program{dialect: &golang, op: op}, imports: make(map[string]string), taken: make(map[string]bool)}
	if g.fn == nil || g.TensorFunctions == nil {
		return "", errors.New("its kernel can't be called by name")
	}
	for _, d := range goDefinitions {
		g.taken[d.name] = true
	}
	for _, name := range append(types.Universe.Names(), "before", "x", "y", "err", "binary", "bytes", "context", "exec",
		"fmt", "io", "math", "os", "reflect", "result", "slices", "time") {
		g.taken[name] = true
	}
	var call string
	if f.Finding != nil && f.Finding.Violation.Symptom == asserts.EarlierValues {
		err = g.apart(f)
	} else if call, err = g.call(f.recipe()); err == nil && f.Crash != nil {
		g.crash(call)
	} else if err == nil {
		err = g.judged(f, call)
	}
	if err != nil {
		return "", err
	}
	return g.text(s.about(f)), nil
}

// name returns a name similar to the given one that is unique in the program.
func (g *goFile) name(wanted string) string {
	for g.taken[wanted] || token.IsKeyword(wanted) {
		wanted += "_"
	}
	g.taken[wanted] = true
	return wanted
}

var (
	quotedPath = regexp.MustCompile(`"([^"]+)"`)
	noLetters  = regexp.MustCompile(`\W`)
	version    = regexp.MustCompile(`^v\d+$`)
)

// withImports returns a function or type with the names of the imports instead of paths.
func (g *goFile) withImports(text string) string {
	return quotedPath.ReplaceAllStringFunc(text, func(quoted string) string {
		p, _ := strconv.Unquote(quoted)
		if g.imports[p] == "" {
			base := path.Base(p)
			if version.MatchString(base) {
				base = path.Base(path.Dir(p))
			}
			g.imports[p] = g.name(noLetters.ReplaceAllString(base, "_"))
		}
		return g.imports[p]
	})
}

// function returns the expression for a function by its name at run time.
func (g *goFile) function(name string) (string, error) {
	slash := strings.LastIndexByte(name, '/') + 1
	pkg, rest, ok := strings.Cut(name[slash:], ".")
	if !ok || strings.ContainsAny(rest, "[") || strings.Contains(rest, "func") && strings.Contains(rest, ".") ||
		strings.HasPrefix(pkg, "main") && slash == 0 {
		return "", fmt.Errorf("its kernel, %s, has no name that another package can call", name)
	}
	base := g.withImports(strconv.Quote(strings.ReplaceAll(name[:slash]+pkg, "%2e", ".")))
	if method, ok := strings.CutPrefix(rest, "(*"); ok {
		return "(*" + base + "." + method, nil
	}
	return base + "." + rest, nil
}

func (g *goFile) call(recipe string) (string, error) {
	c, err := readCase(g.op, recipe)
	if err != nil {
		return "", err
	}
	fn, err := g.function(g.fn.Name)
	if err != nil {
		return "", err
	}
	texts := make([]string, len(c.Args))
	g.names = make([]string, len(c.Args))
	types := make([]string, len(c.Args))
	for _, in := range g.fn.Inputs {
		if in.Argument >= 0 {
			types[in.Argument] = in.Type
		}
	}
	for i := range c.Args {
		v := &c.Args[i]
		if v.Kind == sample.DefaultValue {
			if v, err = standard(g.op.Func.Args[i].Default); err != nil {
				return "", fmt.Errorf("argument %s: %w", c.Names[i], err)
			}
		}
		holds := g.op.Func.Args[i].Type.HoldsTensors() && v.Kind != sample.NoneValue
		name := ""
		if holds && (v.Kind != sample.TensorValue || v.Tensor.Same == 0) {
			name = g.name(c.Names[i])
		}
		if texts[i], err = g.value(v, types[i], name); err != nil {
			return "", fmt.Errorf("argument %s: %w", c.Names[i], err)
		}
		if holds {
			if v.Kind == sample.ListValue {
				g.line("%s := %s", name, texts[i])
				texts[i] = name
			}
			g.names[i] = texts[i]
		}
	}
	var args []string
	for i, in := range g.fn.Inputs {
		switch in.Argument {
		case engine.ContextInput:
			args = append(args, "context.Background()")
		case engine.ReceiverInput:
			args = append(args, fmt.Sprintf("receiver[%s](options(%s()).Receivers)", g.withImports(in.Type),
				g.withImports(g.Options)))
		default:
			text := texts[in.Argument]
			if g.fn.Variadic && i == len(g.fn.Inputs)-1 {
				text += "..."
			}
			args = append(args, text)
		}
	}
	return fn + "(" + strings.Join(args, ", ") + ")", nil
}

func standard(text string) (*sample.Value, error) {
	switch text {
	case "None":
		return new(sample.None()), nil
	case "True", "False":
		return new(sample.Bool(text == "True")), nil
	}
	v, err := sample.ParseValue(text, sample.NewSymbols(0))
	if err != nil {
		return nil, fmt.Errorf("the default %s has no literal", text)
	}
	return &v, nil
}

func (g *goFile) value(v *sample.Value, to, name string) (string, error) {
	elem, pointer := strings.CutPrefix(to, "*")
	switch item, isList := strings.CutPrefix(to, "[]"); {
	case v.Kind == sample.NoneValue:
		return "nil", nil
	case v.Kind == sample.TensorValue:
		return g.variable(v.Tensor, name, g.made)
	case v.Kind == sample.ListValue:
		return g.holder(v, item, name)
	case pointer:
		text, err := g.value(v, elem, name)
		return fmt.Sprintf("ptr[%s](%s)", g.withImports(elem), text), err
	case isList:
		text, err := g.value(v, item, name)
		return g.withImports(to) + "{" + text + "}", err
	}
	if v.Kind == sample.BoolValue && strings.HasPrefix(to, "float") {
		return strconv.FormatInt(v.Int, 10), nil
	}
	text, err := g.scalar(v)
	switch {
	case err != nil:
		return "", err
	case to == "interface {}" && v.Kind == sample.IntValue:
		return "int64(" + text + ")", nil
	case strings.Contains(text, "math.") && to != "float64" && to != "interface {}":
		return g.withImports(to) + "(" + text + ")", nil
	}
	return text, nil
}

func (g *goFile) holder(v *sample.Value, item, name string) (string, error) {
	words := make([]string, len(v.List))
	tensors := len(v.List) > 0
	for i := range v.List {
		e := &v.List[i]
		tensors = tensors && (e.Kind == sample.TensorValue || e.Kind == sample.NoneValue)
		one := name
		if e.Kind == sample.TensorValue && e.Tensor.Same == 0 {
			one = g.name(fmt.Sprintf("%s%d", name, i))
		}
		var err error
		if words[i], err = g.value(e, item, one); err != nil {
			return "", err
		}
	}
	all := strings.Join(words, ", ")
	if tensors {
		return "list(" + all + ")", nil
	}
	return "[]" + g.withImports(item) + "{" + all + "}", nil
}

func (g *goFile) made(t *sample.TensorSpec, turn int) (string, error) {
	switch {
	case t.View > 0:
		return "", errors.New("the op of the library that makes the view is unknown")
	case t.Form != engine.Strided:
		return "", fmt.Errorf("a %v tensor has no literal in Go", t.Form)
	}
	var room []byte
	if t.Usual() {
		turn += g.later
	}
	d := t.Dense(&room, turn)
	return fmt.Sprintf("made(%s(spec(%q, %s, %s, %d, %s)))", g.withImports(g.Maker), d.DType, goInts(d.Sizes),
		goInts(d.Strides), d.Offset, goData(sample.Element(t.DType), d.Data)), nil
}

func goInts(ns []int64) string { return "[]int64{" + strings.Trim(tuple(ns), "(,)") + "}" }

// goTypes are the dtypes whose elements are written as numbers in Go.
var goTypes = map[tensor.DType]string{
	tensor.Float32: "float32", tensor.Float64: "float64", tensor.Int8: "int8", tensor.Int16: "int16",
	tensor.Int32: "int32", tensor.Int64: "int64", tensor.Uint8: "uint8",
	tensor.Bool: "bool", tensor.Complex64: "complex64", tensor.Complex128: "complex128",
}

func goData(dtype tensor.DType, data []byte) string {
	size := dtype.Size()
	to, ok := goTypes[dtype]
	if !ok {
		to, size, dtype = "byte", 1, tensor.Uint8
	}
	if p := period(data, size); len(data) > mostWritten*size && p < len(data) {
		return fmt.Sprintf("bytes.Repeat(%s, %d)[:%d]", goData(dtype, data[:p]), (len(data)+p-1)/p, len(data))
	}
	words := golang.elements(dtype, data)
	if dtype == tensor.Float32 {
		for i, text := range words {
			if strings.HasPrefix(text, "math.") {
				words[i] = "float32(" + text + ")"
			}
		}
	}
	return fmt.Sprintf("data[%s](%s)", to, strings.Join(words, ", "))
}

func (g *goFile) place(p asserts.Place) (string, error) {
	switch {
	case p.Called != "":
		return "", fmt.Errorf("the parts of %s have no name in Go", p.Name)
	case !p.Return:
		x, err := g.argument(p)
		return x + elementOf(p), err
	case g.fn.Returns == 0: // a written argument
		ret := g.op.Func.Returns[p.Index]
		i := slices.IndexFunc(g.op.Func.Args, func(a schema.Argument) bool {
			return a.Alias != nil && ret.Alias != nil && a.Alias.String() == ret.Alias.String()
		})
		if i < 0 || g.names[i] == "" {
			return "", fmt.Errorf("the kernel does not return %s", p.Name)
		}
		return g.names[i] + elementOf(p), nil
	case g.fn.Returns > 1:
		return fmt.Sprintf("result%d%s", p.Index, elementOf(p)), nil
	}
	return "result" + elementOf(p), nil
}

func (g *goFile) seen(tensor string) string {
	if g.Observe != "" {
		return fmt.Sprintf("seenBy(%s, %s)", g.withImports(g.Observe), tensor)
	}
	return fmt.Sprintf("seen(%s.Observe)", tensor)
}

// judged returns the call between the observations before and after it.
func (g *goFile) judged(f Problem, call string) error {
	v := f.Finding.Violation
	if len(f.Finding.Devices) > 1 {
		return fmt.Errorf("%v has no form in Go", v.Code)
	}
	x, y := "", ""
	p, err := golang.predicate(v, g.place, func(on, against string) []string {
		x, y = on, against
		size := fmt.Sprintf("max(x.Content.ItemSize, %d)", sample.Element(v.DType).Size())
		return []string{"{seen}", g.seen(x), "{size}", size, "{y}", "y"}
	})
	if err != nil {
		return err
	}
	if v.Symptom == asserts.Overlapping {
		p.Fault = overlapping
	}
	g.lines = append(append(g.lines, p.Before...), g.called(call, x+" "+y))
	if y != "" {
		g.line("x, y := %s, %s", g.seen(x), g.seen(y))
	} else {
		g.line("x := %s", g.seen(x))
	}
	g.line("%s", g.Verdict(p.Fault, p.Says))
	return nil
}

func (g *goFile) results(call, used string) string {
	var names []string
	for i := range g.fn.Returns {
		name := "result"
		if g.fn.Returns > 1 {
			name += strconv.Itoa(i)
		}
		if !slices.Contains(regexp.MustCompile(`\w+`).FindAllString(used, -1), name) {
			name = "_"
		}
		names = append(names, name)
	}
	if g.fn.Fails {
		names = append(names, "err")
	}
	switch left := strings.Join(names, ", "); {
	case left == "":
		return call
	case strings.Trim(left, "_, ") == "":
		return left + " = " + call
	default:
		return left + " := " + call
	}
}

func (g *goFile) crash(call string) {
	for _, name := range g.names {
		if name != "" && !strings.Contains(call, name) {
			g.line("_ = %s", name)
		}
	}
	g.lines = append([]string{g.statement("crash", nil)}, g.lines...)
	g.line("%s", g.results(call, ""))
}

// apart calls the kernel in new processes, in some of them after a call with other values.
func (g *goFile) apart(f Problem) error {
	var call string
	var err error
	made := make([][]string, 3)
	for i, later := range []int{0, 1, 0} {
		recipe := f.recipe()
		if later == 1 && f.Finding.Earlier != "" {
			recipe, later = f.Finding.Earlier, 0
		}
		g.program, g.later = program{dialect: g.dialect, op: g.op}, later
		if call, err = g.call(recipe); err != nil {
			return err
		}
		made[i] = append(g.lines, g.called(call, ""))
	}
	x, err := g.place(f.Finding.Violation.Subject)
	if err != nil {
		return err
	}
	g.lines = []string{g.statement("apart", fields{"of": x, "same": strings.Join(made[0], "\n"),
		"other": strings.Join(made[1], "\n")})}
	g.lines = append(g.lines, made[2][:len(made[2])-1]...)
	g.line("%s\nfmt.Print(%s.Content.Bytes)", g.called(call, x), g.seen(x))
	return nil
}

func (g *goFile) called(call, used string) string {
	text := g.results(call, used)
	if g.fn.Fails {
		text += "\nif err != nil {\nraises(err)\n}"
	}
	return text
}

// packages are those of the standard library that programs may import.
var packages = []string{"bytes", "context", "encoding/binary", "fmt", "io", "math", "os", "os/exec", "reflect",
	"slices", "time"}

func (g *goFile) text(about string) string {
	if !strings.Contains(g.Lines(), "recover()") {
		g.lines = append([]string{"defer refused()"}, g.lines...)
	}
	body := g.Lines()
	functions := strings.Join(used(goDefinitions, body), "")
	standard := slices.DeleteFunc(slices.Clone(packages), func(p string) bool {
		return !regexp.MustCompile(`\b` + path.Base(p) + `\.`).MatchString(body + functions)
	})
	text := g.statement("program", fields{
		"about": commented("//",
			about+"\n\nRun it in the module of the kernel, without the tag if making tensors does not need it:\n\ngo run -tags "+
				"opassert FILE"),
		"standard": standard, "imports": g.imports, "body": body, "functions": functions,
	})
	formatted, err := format.Source([]byte(text))
	if err != nil { // an invalid name: the compiler reports it
		return text
	}
	return string(formatted)
}
