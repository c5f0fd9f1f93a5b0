package repro

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/probe"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/tensor"
	"github.com/opassert/opassert/schema"
)

var cpp = dialect{
	language: "C++",
	literals: literals{
		values: map[sample.ValueKind]string{
			sample.NoneValue: "c10::IValue()", sample.IntValue: "int64_t(%s)", sample.FloatValue: "%s", sample.BoolValue: "%s",
			sample.ComplexValue: "c10::complex<double>(%s, %s)", sample.TextValue: "std::string(%s)",
			sample.DTypeValue: "int64_t(%s)", sample.LayoutValue: "int64_t(%s)", sample.FormatValue: "int64_t(%s)",
			sample.QSchemeValue: "int64_t(%s)", sample.DeviceValue: "at::Device(%s)",
			sample.GeneratorValue: "at::detail::createCPUGenerator(%s)", sample.StorageValue: "%s.storage()",
		},
		booleans: [2]string{"false", "true"}, complexes: "{%[1]s, %[2]s}",
		numbers: map[string]string{"nan": "NAN", "inf": "INFINITY", "-inf": "-INFINITY",
			"-9223372036854775808": "INT64_MIN"},
		namespace: "at::", names: cppName, list: "{%s}", tuple: cppInts, flat: cppFlat,
		forms: map[engine.Form]string{
			engine.Grad: "{}.set_requires_grad(true)", engine.Inference: "inferred({})",
			engine.Functional:     "at::functionalization::impl::to_functional_tensor({})",
			engine.COOUncoalesced: "uncoalesced({})",
		},
	},
	statements: statementsOf("cpp.tmpl"), declared: "auto %s = %s;", end: ";", item: "%s%d", called: cppMade,
	holds: cppList,
}

var cppDTypes = map[string]string{
	"float32": "Float", "float64": "Double", "float16": "Half", "bfloat16": "BFloat16", "int8": "Char", "uint8": "Byte",
	"int16": "Short", "int32": "Int", "int64": "Long",
	"bool": "Bool", "complex32": "ComplexHalf", "complex64": "ComplexFloat", "complex128": "ComplexDouble",
	"quint8": "QUInt8", "qint8": "QInt8", "qint32": "QInt32",
	"uint16": "UInt16", "uint32": "UInt32", "uint64": "UInt64", "float8_e5m2": "Float8_e5m2",
	"float8_e4m3fn": "Float8_e4m3fn",
}

// cppNames are other values of PyTorch in C++.
var cppNames = map[string]string{
	"strided": "at::kStrided", "sparse_coo": "at::kSparse", "sparse_csr": "at::kSparseCsr", "sparse_csc": "at::kSparseCsc",
	"sparse_bsr": "at::kSparseBsr", "sparse_bsc": "at::kSparseBsc",
	"_mkldnn": "at::kMkldnn", "contiguous_format": "at::MemoryFormat::Contiguous",
	"preserve_format": "at::MemoryFormat::Preserve", "channels_last": "at::MemoryFormat::ChannelsLast",
	"channels_last_3d": "at::MemoryFormat::ChannelsLast3d", "per_tensor_affine": "at::kPerTensorAffine",
	"per_channel_affine": "at::kPerChannelAffine",
}

// cppTexts returns the programs for a fault that call the op through the dispatcher, with autograd and below it.
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
	b := &cppBody{program: program{dialect: &cpp, op: op}, Below: below}
	for _, library := range s.Libraries {
		b.line("if (!dlopen(%q, RTLD_NOW | RTLD_GLOBAL)) throw std::runtime_error(dlerror());", library)
	}
	name, overload, _ := strings.Cut(strings.TrimPrefix(f.Op.Op, op.Namespace+"::"), ".")
	b.line("auto op = c10::Dispatcher::singleton().findSchemaOrThrow(%q, %q);", op.Namespace+"::"+name, overload)
	b.line("const auto& schema = op.schema();\n(void)schema;")
	args, err := b.args(f.recipe())
	if err != nil {
		return "", err
	}
	b.Stack = "std::vector<c10::IValue> stack{" + strings.Join(args, ", ") + "};"
	template, err := b.choose(f)
	if err != nil {
		return "", err
	}
	return b.text(s.about(f)+"\n\nBuild it: "+strings.Join(s.buildLine(f), " "), b.Do(template)), nil
}

type cppBody struct {
	program
	Stack     string // a statement that declares it
	Below     bool   // autograd
	Subject   asserts.Place
	On        string // an expression for the tensor that the fault is about
	Cause     string // of a crash
	Predicate *predicate
	Sight     probe.Program
}

func (b *cppBody) choose(f Problem) (template string, err error) {
	if f.Crash != nil {
		b.Cause = f.Crash.Cause
		return "crash", nil
	}
	v := f.Finding.Violation
	b.Subject, b.Sight = v.Subject, programOf(v)
	switch {
	case twin(f.Finding) == engine.Meta:
		return "compared", nil
	case v.Code == asserts.OutOfBounds:
		return "outside", nil
	case v.Symptom == asserts.Restored:
		b.On, err = b.place(v.Subject)
		return "restored", err
	case b.Sight.Fault == "":
		b.Predicate, err = cpp.predicate(v, b.place, func(x, y string) []string { return nil })
		return "judged", err
	case b.Sight.Cpp == "":
		return "", fmt.Errorf("%v of what lies there has no form in C++", v.Code)
	case !b.Sight.Left:
		if b.On, err = b.place(v.Subject); err != nil || v.Subject.Name == "" {
			return "", errors.Join(err, errSubject)
		}
	}
	return "in memory", nil
}

// Do returns the statements of a template.
func (b *cppBody) Do(template string) string { return b.statement(template, b) }

// Seen ends a program that looks at memory.
func (b *cppBody) Seen() string {
	return b.verdict(b.Sight.Cpp, strings.ReplaceAll(b.Sight.Says, "{x}", b.Subject.String()), ", or no result shows it")
}

func (s Source) buildLine(f Problem) []string {
	if s.Build == nil {
		return []string{"with the headers and libraries of", s.Version}
	}
	return s.Build(f.Name()+".cpp", f.Name())
}

func (b *cppBody) args(recipe string) ([]string, error) {
	k, err := readCase(b.op, recipe)
	if err != nil {
		return nil, err
	}
	var all []string
	for i, arg := range b.op.Func.Args {
		v := &k.Args[i]
		name := ""
		text := fmt.Sprintf("standard(schema, %d)", i)
		if v.Kind != sample.DefaultValue {
			wanted := k.Names[i] + "_" // unique in a program
			if text, err = b.value(v, i, wanted); err != nil {
				return nil, fmt.Errorf("argument %s: %w", k.Names[i], err)
			}
			switch {
			case arg.Type.HoldsTensors() && v.Kind == sample.ListValue:
				b.line(b.declared, wanted, text)
				name, text = wanted, wanted
			case arg.Type.HoldsTensors() && v.Kind == sample.TensorValue:
				name = text
			}
		}
		b.names = append(b.names, name)
		all = append(all, text)
	}
	return all, nil
}

func cppName(name string) string {
	if dtype := cppDTypes[name]; dtype != "" {
		return "at::ScalarType::" + dtype
	}
	return cppNames[name]
}

func cppMade(op string, args []string) string {
	name, overload, _ := strings.Cut(op, ".")
	return fmt.Sprintf("made(%q, %q, {%s})", name, overload, strings.Join(args, ", "))
}

func cppList(v *sample.Value, argument int, items []string) string {
	if v.Kind != sample.ListValue {
		return ""
	}
	return fmt.Sprintf("list(schema, %d, {%s})", argument, strings.Join(items, ", "))
}

// cppTypes are the dtypes whose elements are written as numbers in C++.
var cppTypes = map[tensor.DType]string{
	tensor.Float32: "float", tensor.Float64: "double", tensor.Int8: "int8_t", tensor.Int16: "int16_t",
	tensor.Int32: "int32_t", tensor.Int64: "int64_t", tensor.Uint8: "uint8_t",
	tensor.Complex64: "c10::complex<float>", tensor.Complex128: "c10::complex<double>",
}

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

func (b *cppBody) place(p asserts.Place) (x string, err error) {
	element := elementOf(p)
	if e, _, ok := strings.Cut(p.Called, "."); ok {
		element = "[" + e + "]"
	}
	if x = fmt.Sprintf("stack[%d]", p.Index); !p.Return {
		x, err = b.argument(p)
	}
	switch {
	case err != nil:
		return "", err
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

func (b *cppBody) text(about, body string) string {
	return b.statement("program", fields{
		"about": commented("//", about), "headers": headers, "system": system,
		"definitions": used(cppDefinitions, body+"\nline(e)"), "body": body,
	})
}

var (
	included = strings.SplitN(cppSource, "\n\n", 3)
	headers  = included[0] // of PyTorch, whose compilation takes most of the time
	system   = included[1]
)
