package repro

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/tensor"
)

var python = dialect{
	language: "Python",
	literals: literals{
		values: map[sample.ValueKind]string{
			sample.NoneValue: "None", sample.IntValue: "%s", sample.FloatValue: "%s", sample.BoolValue: "%s",
			sample.ComplexValue: "complex(%s, %s)", sample.TextValue: "%s",
			sample.DTypeValue: "%s", sample.LayoutValue: "%s", sample.FormatValue: "%s", sample.QSchemeValue: "%s",
			sample.DeviceValue:    "torch.device(%s)",
			sample.GeneratorValue: "torch.Generator().manual_seed(%s)", sample.StorageValue: "%s.untyped_storage()",
		},
		booleans: [2]string{"False", "True"}, complexes: "complex(%[1]s, %[2]s)",
		namespace: "torch.", names: func(name string) string { return "torch." + name }, dtype: "dtype=", list: "[%s]",
		tuple: tuple, flat: flat,
		forms: map[engine.Form]string{
			engine.Grad: "{}.requires_grad_()", engine.Functional: "torch._to_functional_tensor({})",
			engine.Inference: "torch.inference_mode()(lambda: {}.clone())()",
			engine.COOUncoalesced: "(lambda t: torch.sparse_coo_tensor(torch.cat([t._indices()] * 2, 1), " +
				"torch.cat([t._values()] * 2), {sizes}))({}.to_sparse())",
			engine.Named: "{}.rename_({letters})",
		},
	},
	statements: statementsOf("python.tmpl"), declared: "%s = %s", item: "%s_%d", holds: holds,
	called: func(name string, args []string) string { return opOf(name) + "(" + strings.Join(args, ", ") + ")" },
	method: func(object, name string, args []string) string {
		return attribute(object, name) + "(" + strings.Join(args, ", ") + ")"
	},
}

// flat returns a Python expression for a one-dimensional tensor with these bytes: repeated bytes are written once.
func flat(python *dialect, dtype tensor.DType, data []byte) string {
	size := dtype.Size()
	n := len(data) / size
	switch period := period(data, size); {
	case n > 1 && period == size && spelled(dtype):
		return fmt.Sprintf("torch.full((%d,), %s, dtype=torch.%v)", n, python.element(dtype, data[:size]), dtype)
	case n > mostWritten && period <= mostWritten*size:
		whole := ""
		if len(data)%period > 0 {
			whole = fmt.Sprintf("[:%d].clone()", n)
		}
		return fmt.Sprintf("%s.repeat(%d)%s", flat(python, dtype, data[:period]), (len(data)+period-1)/period, whole)
	case n == 0 && !spelled(dtype):
		return fmt.Sprintf("torch.empty((0,), dtype=torch.%v)", dtype)
	case !spelled(dtype) || n > mostWritten:
		return fmt.Sprintf("torch.frombuffer(bytearray(base64.b64decode(%q)), dtype=torch.%v)",
			base64.StdEncoding.EncodeToString(data), dtype)
	}
	return fmt.Sprintf("torch.tensor([%s], dtype=torch.%v)", strings.Join(python.elements(dtype, data), ", "), dtype)
}

// holds returns a Python expression for a list, a tuple, a dict or an object.
func holds(v *sample.Value, _ int, items []string) string {
	all := strings.Join(items, ", ")
	switch v.Kind {
	case sample.TupleValue:
		return "(" + all + ",)"
	case sample.DictValue:
		var pairs []string
		for pair := range slices.Chunk(items, 2) {
			pairs = append(pairs, strings.Join(pair, ": "))
		}
		return "{" + strings.Join(pairs, ", ") + "}"
	case sample.NewValue:
		return "torch.classes." + strings.TrimPrefix(v.Text, sample.CustomClasses) + "(" + all + ")"
	}
	return "[" + all + "]"
}

// opOf returns the expression for an op: torch.ops.aten.add.Tensor.
func opOf(name string) string {
	namespace, rest, _ := strings.Cut(name, "::")
	base, overload, ok := strings.Cut(rest, ".")
	if !ok {
		overload = "default"
	}
	return attribute(attribute("torch.ops."+namespace, base), overload)
}

// attribute returns an attribute of an expression, even if Python reserves its name.
func attribute(of, name string) string {
	if keywords[name] && name != "torch" {
		return fmt.Sprintf("getattr(%s, %q)", of, name)
	}
	return of + "." + name
}

// keywords are those of Python, and torch, which programs import.
var keywords = func() map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq("False None True and as assert async await break class continue def del elif " +
		"else except finally for from global if import in is lambda nonlocal not or pass raise return torch try while " +
		"with yield") {
		all[word] = true
	}
	return all
}()

// variable returns the Python name of an argument, which is unique in a program.
func variable(name string) string {
	if keywords[name] || slices.Contains(words, name) || strings.HasSuffix(name, "_before") ||
		slices.ContainsFunc(definitions, func(d definition) bool { return d.name == name }) {
		return name + "_"
	}
	return name
}

// words are the names in programs besides those of their definitions.
var words = []string{
	"args", "base64", "bytearray", "byte", "bytes", "call", "child", "complex", "contextlib", "ctypes",
	"dict", "e", "fresh",
	"getattr", "held", "id", "inf", "int",
	"isinstance", "kwargs", "len", "list", "max", "min", "mode", "nan", "os", "plan", "places", "print", "protection",
	"range", "resource", "result", "rooms", "said", "seen", "set", "signal", "status", "storage",
	"fill", "strays", "sys", "tuple", "twin", "twins", "type", "walls", "zip", "any", "sum", "bool", "asked",
	"others", "sizes",
}
