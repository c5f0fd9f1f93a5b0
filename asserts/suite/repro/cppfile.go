package repro

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/tensor"
	"github.com/opassert/opassert/schema"
)

var cpp = dialect{
	language: "C++",
	literals: literals{
		values: map[sample.ValueKind]string{
			sample.NoneValue: "c10::IValue()", sample.IntValue: "int64_t(%s)", sample.FloatValue: "%s", sample.BoolValue: "%s", sample.ComplexValue: "c10::complex<double>(%s, %s)", sample.TextValue: "std::string(%s)",
			sample.DTypeValue: "int64_t(%s)", sample.LayoutValue: "int64_t(%s)", sample.FormatValue: "int64_t(%s)", sample.QSchemeValue: "int64_t(%s)", sample.DeviceValue: "at::Device(%s)",
			sample.GeneratorValue: "at::detail::createCPUGenerator(%s)", sample.StorageValue: "%s.storage()",
		},
		booleans: [2]string{"false", "true"}, complexes: "{%[1]s, %[2]s}",
		numbers:   map[string]string{"nan": "NAN", "inf": "INFINITY", "-inf": "-INFINITY", "-9223372036854775808": "INT64_MIN"},
		namespace: "at::", names: cppName, list: "{%s}", tuple: cppInts, flat: cppFlat,
		forms: map[engine.Form]string{
			engine.Grad: "{}.set_requires_grad(true)", engine.Functional: "at::functionalization::impl::to_functional_tensor({})", engine.Inference: "inferred({})", engine.COOUncoalesced: "uncoalesced({})",
		},
	},
	statements: statementsOf("cpp.tmpl"), declared: "auto %s = %s;", end: ";", item: "%s%d", called: cppMade, holds: cppList,
	noted:   "auto {fact}_before = {of};",
	was:     "{fact}_before",
	release: "stack.clear();",
	joints:  map[string]string{"and": " && ", "or": " || "},
	facts: map[string]fact{
		"impl":    {of: "{x}.unsafeGetTensorImpl()"},
		"storage": {of: "{x}.storage()", by: "{}.unsafeGetStorageImpl()"},
		"memory":  {of: "memory({x})"},
		"look":    {of: "look({x})"},
		"version": {of: "version({x})"},
		"holders": {of: "{x}.use_count()"},
		"uses":    {of: "{x}.storage().use_count()"},
	},
	words: map[string]condition{
		"same":   {fault: "{x}.is_same({y})"},
		"other":  {fault: "!{x}.is_same({y})"},
		"held":   {fault: "{x}.use_count() > 1"},
		"used":   {fault: "{x}.storage().use_count() > 1"},
		"apart":  {fault: "!{x}.is_alias_of({y})"},
		"shares": {fault: "share({x}, {y})"},
		"beside": {fault: "beside({was}, {x})"},
		"beyond": {fault: "beyond({x})"},
	},
}

// cppDTypes are the names of dtypes in C++.
var cppDTypes = map[string]string{
	"float32": "Float", "float64": "Double", "float16": "Half", "bfloat16": "BFloat16", "int8": "Char", "uint8": "Byte", "int16": "Short", "int32": "Int", "int64": "Long",
	"bool": "Bool", "complex32": "ComplexHalf", "complex64": "ComplexFloat", "complex128": "ComplexDouble", "quint8": "QUInt8", "qint8": "QInt8", "qint32": "QInt32",
	"uint16": "UInt16", "uint32": "UInt32", "uint64": "UInt64", "float8_e5m2": "Float8_e5m2", "float8_e4m3fn": "Float8_e4m3fn",
}

// cppNames are other values of PyTorch in C++.
var cppNames = map[string]string{
	"strided": "at::kStrided", "sparse_coo": "at::kSparse", "sparse_csr": "at::kSparseCsr", "sparse_csc": "at::kSparseCsc", "sparse_bsr": "at::kSparseBsr", "sparse_bsc": "at::kSparseBsc",
	"_mkldnn": "at::kMkldnn", "contiguous_format": "at::MemoryFormat::Contiguous", "preserve_format": "at::MemoryFormat::Preserve", "channels_last": "at::MemoryFormat::ChannelsLast",
	"channels_last_3d": "at::MemoryFormat::ChannelsLast3d", "per_tensor_affine": "at::kPerTensorAffine", "per_channel_affine": "at::kPerChannelAffine",
}

// A cppFile is a C++ program under construction.
type cppFile struct{ program }

// cppTexts returns the programs for a fault that call the op through the dispatcher, with autograd
// and below it.
func (s Source) cppTexts(f Problem) (all []string, err error) {
	for _, below := range []bool{false, true} {
		text, err := s.cppText(f, below)
		if err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	return all, nil
}

func (s Source) cppText(f Problem, below bool) (string, error) {
	op, err := schema.ParseDispatcher(qualified(f.Op))
	if err != nil {
		return "", err
	}
	c := &cppFile{program{dialect: &cpp, op: op}}
	for _, library := range s.Libraries {
		c.line("if (!dlopen(%q, RTLD_NOW | RTLD_GLOBAL)) throw std::runtime_error(dlerror());", library)
	}
	name, overload, _ := strings.Cut(strings.TrimPrefix(f.Op.Op, op.Namespace+"::"), ".")
	c.line("auto op = c10::Dispatcher::singleton().findSchemaOrThrow(%q, %q);", op.Namespace+"::"+name, overload)
	c.line("const auto& schema = op.schema();\n(void)schema;")
	args, err := c.args(f.recipe())
	if err != nil {
		return "", err
	}
	stack, guard := "std::vector<c10::IValue> stack{"+strings.Join(args, ", ")+"};", ""
	if below {
		guard = "at::AutoDispatchBelowAutograd below;\n"
	}
	switch {
	case f.Crash != nil:
		c.line("%s", stack)
		c.line("%s", c.statement("crash", fields{"guard": guard, "hangs": f.Crash.Cause == report.Hang}))
	case twin(f.Finding) == engine.Meta:
		c.line("%s", stack)
		c.compared(guard)
	case f.Finding.Violation.Code == asserts.OutOfBounds:
		c.outside(stack + "\n" + guard)
	case f.Finding.Violation.Symptom == asserts.Restored:
		if err := c.restored(f.Finding.Violation.Subject, stack+"\n"+guard); err != nil {
			return "", err
		}
	case programOf(f.Finding.Violation).Fault != "":
		if err := c.inMemory(f.Finding.Violation, stack+"\n"+guard); err != nil {
			return "", err
		}
	default:
		p, err := cpp.predicate(f.Finding.Violation, c.place, func(x, y string) []string { return nil })
		if err != nil {
			return "", err
		}
		c.lines = append(append(c.lines, p.before...), stack)
		c.judged(p, guard)
	}
	return c.text(append(s.about(f), "", "Build it: "+strings.Join(s.buildLine(f), " "))), nil
}

// buildLine returns the command that builds a program for a fault.
func (s Source) buildLine(f Problem) []string {
	if s.Build == nil {
		return []string{"with the headers and libraries of", s.Version}
	}
	return s.Build(f.Name()+".cpp", f.Name())
}

// args makes the arguments, and returns them as written in the call.
func (c *cppFile) args(recipe string) ([]string, error) {
	k, err := readCase(c.op, recipe)
	if err != nil {
		return nil, err
	}
	var all []string
	for i, arg := range c.op.Func.Args {
		v := &k.Args[i]
		name := ""
		text := fmt.Sprintf("standard(schema, %d)", i)
		if v.Kind != sample.DefaultValue {
			wanted := cppVariable(k.Names[i])
			if text, err = c.value(v, i, wanted); err != nil {
				return nil, fmt.Errorf("argument %s: %w", k.Names[i], err)
			}
			switch {
			case arg.Type.HoldsTensors() && v.Kind == sample.ListValue:
				c.line(c.declared, wanted, text)
				name, text = wanted, wanted
			case arg.Type.HoldsTensors() && v.Kind == sample.TensorValue:
				name = text
			}
		}
		c.names = append(c.names, name)
		all = append(all, text)
	}
	return all, nil
}

// cppVariable returns a name for an argument that is unique in a program.
func cppVariable(name string) string { return name + "_" }

// cppName returns the C++ name of a dtype, layout, format or quantization scheme, or "".
func cppName(name string) string {
	if dtype := cppDTypes[name]; dtype != "" {
		return "at::ScalarType::" + dtype
	}
	return cppNames[name]
}

// cppMade returns an expression for the first result of an op.
func cppMade(op string, args []string) string {
	name, overload, _ := strings.Cut(op, ".")
	return fmt.Sprintf("made(%q, %q, {%s})", name, overload, strings.Join(args, ", "))
}

// cppList returns an expression for a list.
func cppList(v *sample.Value, argument int, items []string) string {
	if v.Kind != sample.ListValue {
		return ""
	}
	return fmt.Sprintf("list(schema, %d, {%s})", argument, strings.Join(items, ", "))
}

// cppTypes are the dtypes whose elements are written as numbers in C++.
var cppTypes = map[tensor.DType]string{
	tensor.Float32: "float", tensor.Float64: "double", tensor.Int8: "int8_t", tensor.Int16: "int16_t", tensor.Int32: "int32_t", tensor.Int64: "int64_t", tensor.Uint8: "uint8_t",
	tensor.Complex64: "c10::complex<float>", tensor.Complex128: "c10::complex<double>",
}

// cppFlat returns an expression for a one-dimensional tensor with these bytes.
func cppFlat(cpp *dialect, dtype tensor.DType, data []byte) string {
	name, of := cpp.names(dtype.String()), cppTypes[dtype]
	if of == "" {
		of, dtype = "uint8_t", tensor.Uint8
	}
	words := cpp.elements(dtype, data)
	if len(words) > 1 && len(slices.Compact(slices.Clone(words))) == 1 {
		return fmt.Sprintf("of(%s, std::vector<%s>(%d, %s))", name, of, len(words), words[0])
	}
	return fmt.Sprintf("of<%s>(%s, {%s})", of, name, strings.Join(words, ", "))
}

func cppInts(ns []int64) string { return "{" + strings.Trim(tuple(ns), "(,)") + "}" }

// place returns the expression for a tensor of a violation.
func (c *cppFile) place(p asserts.Place) (string, error) {
	element := elementOf(p)
	if e, _, ok := strings.Cut(p.Called, "."); ok {
		element = "[" + e + "]"
	}
	x := ""
	switch {
	case p.Return:
		x = fmt.Sprintf("stack[%d]", p.Index)
	case p.Index >= len(c.names) || c.names[p.Index] == "":
		return "", fmt.Errorf("the argument %s is not in the call", p.Name)
	default:
		x = c.names[p.Index]
	}
	switch {
	case element != "":
		x += ".toList().get(" + strings.Trim(element, "[]") + ").toTensor()"
	case p.Return:
		x += ".toTensor()"
	}
	if p.Called == "" {
		return x, nil
	}
	return fmt.Sprintf("part(%s, %q)", x, p.Part()), nil
}

// judged writes the call and the tests of the observations after it.
func (c *cppFile) judged(p *predicate, guard string) {
	c.line("%scall(op, stack);", guard)
	if p.after != "" {
		c.line("%s", p.after)
	}
	c.line("%s", c.verdict(p.fault, p.says, ""))
}

// outside calls the op with all memory of tensors beside pages without access.
func (c *cppFile) outside(before string) {
	once := append(c.lines, before+"at::manual_seed(0);\ncall(op, stack);")
	c.lines = []string{c.statement("outside", fields{"once": once}), c.verdict("fault", "the call accesses memory outside of its tensors", "")}
}

// restored calls the op with the storage of an argument read-only.
func (c *cppFile) restored(p asserts.Place, before string) error {
	x, err := c.place(p)
	if err != nil {
		return err
	}
	once := append(c.lines, before+"const auto& storage = "+x+".storage();\nmprotect(const_cast<void*>(storage.data()), storage.nbytes(), protection);", "at::manual_seed(0);\ncall(op, stack);")
	c.lines = []string{c.statement("restored", fields{"once": once}), c.verdict("fault", fmt.Sprintf(restores, p), "")}
	return nil
}

// inMemory calls the op in memory with different contents in turn.
func (c *cppFile) inMemory(v *asserts.Violation, before string) error {
	s, x := programOf(v), ""
	switch place, err := c.place(v.Subject); {
	case s.Cpp == "":
		return fmt.Errorf("%v of what lies there has no form in C++", v.Code)
	case s.Left:
		x = "for (const auto& t : tensors(stack)) bytes += elements(t);"
	case err != nil || v.Subject.Name == "":
		return errors.Join(err, errSubject)
	default:
		x = "bytes += elements(" + place + ");"
	}
	once := append(c.lines, before+"at::manual_seed(0);\ncall(op, stack);", "std::string bytes;\n"+x+"\nreturn bytes;")
	c.lines = []string{c.statement("in memory", fields{"once": once}), c.verdict(s.Cpp, strings.ReplaceAll(s.Says, "{x}", v.Subject.String()), ", or no result shows it")}
	return nil
}

// compared writes the call, and the one with which a compiler plans.
func (c *cppFile) compared(guard string) {
	c.line("const auto args = stack;\nauto twin_stack = twins(stack);\nconst auto twin_args = twin_stack;")
	c.judged(&predicate{
		after: c.statement("twin call", nil),
		fault: "planned(stack) != planned(twin_stack) || shared(args, stack) != shared(twin_args, twin_stack)",
		says:  differs,
	}, guard)
}

// text composes the program.
func (c *cppFile) text(about []string) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	for _, l := range about {
		line("%s", strings.TrimRight("// "+l, " "))
	}
	body := strings.Join(c.lines, "\n")
	line("\n%s\n\n%s", headers, system)
	for _, d := range used(cppDefinitions, body+"\nline(e)") {
		b.WriteString(d)
	}
	b.WriteString("\n" + c.statement("main", c.lines))
	return b.String()
}

var (
	included = strings.SplitN(cppSource, "\n\n", 3)
	headers  = included[0] // of PyTorch, whose compilation takes most of the time
	system   = included[1]
)
