package repro

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/tensor"
	"github.com/opassert/opassert/schema"
)

// cpp is the dialect of C++.
var cpp = dialect{
	language: "C++",
	noted:    "auto {fact}_before = {of};",
	was:      "{fact}_before",
	release:  "stack.clear();",
	joints:   map[string]string{"and": " && ", "or": " || "},
	facts: map[string]fact{
		"impl":    {of: "{x}.unsafeGetTensorImpl()"},
		"storage": {of: "{x}.storage()", by: "{}.unsafeGetStorageImpl()"},
		"memory":  {of: "memory({x})"},
		"look":    {of: "look({x})"},
		"version": {of: "version({x})"},
		"holders": {of: "{x}.use_count()"},
		"uses":    {of: "{x}.storage().use_count()"},
	},
	words: map[string]word{
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

// cppDefinitions are the functions of C++ that programs use.
var cppDefinitions = []definition{
	{"line", `
std::string line(const std::exception& e) {
  std::string text = e.what();
  return text.substr(0, text.find('\n'));
}
`},
	{"of", `
// of returns a tensor of one dimension that holds these bytes.
template <class T>
at::Tensor of(at::ScalarType dtype, const std::vector<T>& bytes) {
  int64_t size = bytes.size() * sizeof(T);
  at::Tensor t = at::empty({size / int64_t(c10::elementSize(dtype))}, dtype);
  std::memcpy(t.storage().data_ptr().get(), bytes.data(), size);
  return t;
}
`},
	{"uncoalesced", `
at::Tensor uncoalesced(const at::Tensor& t) {
  at::Tensor s = t.to_sparse();
  return at::_sparse_coo_tensor_unsafe(at::cat({s._indices(), s._indices()}, 1), at::cat({s._values(), s._values()}), t.sizes());
}
`},
	{"inferred", `
at::Tensor inferred(const at::Tensor& t) {
  c10::InferenceMode mode;
  return t.clone();
}
`},
	{"list", `
// list returns a list of the type of an op's argument.
c10::IValue list(const c10::FunctionSchema& schema, size_t argument, const std::vector<c10::IValue>& items) {
  c10::TypePtr type = schema.arguments()[argument].type();
  if (auto optional = type->cast<c10::OptionalType>()) type = optional->getElementType();
  c10::impl::GenericList all(type->expectRef<c10::ListType>().getElementType());
  for (const auto& item : items) all.push_back(item);
  return all;
}
`},
	{"standard", `
// standard returns what an argument is that is left out.
c10::IValue standard(const c10::FunctionSchema& schema, size_t argument) {
  return schema.arguments()[argument].default_value().value();
}
`},
	{"made", `
// made returns the first result of an op.
c10::IValue made(const char* name, const char* overload, std::vector<c10::IValue> stack) {
  c10::Dispatcher::singleton().findSchemaOrThrow(name, overload).callBoxed(&stack);
  return stack.empty() ? c10::IValue() : stack[0];
}
`},
	{"memory", `
// memory returns the bytes of a tensor's storage, or those of what a sparse one holds.
std::string memory(const at::Tensor& t) {
  if (t.layout() == at::kSparse) return memory(t._indices()) + memory(t._values());
  if (!t.has_storage()) return "";
  return std::string(static_cast<const char*>(t.storage().data_ptr().get()), t.storage().nbytes());
}
`},
	{"version", `
int64_t version(const at::Tensor& t) { return t.is_inference() ? 0 : t._version(); }
`},
	{"look", `
// look returns the sizes, strides, offset, dtype and names of a tensor.
std::string look(const at::Tensor& t) {
  std::ostringstream text;
  text << t.sizes() << t.scalar_type();
  if (t.layout() == at::kStrided) text << t.strides() << t.storage_offset();
  if (t.has_names()) text << t.names();
  return text.str();
}
`},
	{"share", `
// share reports whether two tensors have bytes in common.
bool share(const at::Tensor& a, const at::Tensor& b) {
  if (a.is_same(b)) return true;
  const char* s = static_cast<const char*>(a.storage().data_ptr().get());
  const char* t = static_cast<const char*>(b.storage().data_ptr().get());
  return a.is_alias_of(b) || std::max(s, t) < std::min(s + a.storage().nbytes(), t + b.storage().nbytes());
}
`},
	{"covered", `
// covered returns at which bytes of the storage the elements of a tensor begin.
std::set<int64_t> covered(const at::Tensor& t) {
  std::set<int64_t> all{t.storage_offset()};
  for (int64_t d = 0; d < t.dim(); d++) {
    std::set<int64_t> more;
    for (int64_t at : all) for (int64_t i = 0; i < t.size(d); i++) more.insert(at + i * t.stride(d));
    all = more;
  }
  return all;
}
`},
	{"beside", `
// beside reports whether bytes changed that are not elements of t.
bool beside(const std::string& before, const at::Tensor& t) {
  std::string after = memory(t);
  auto elements = covered(t);
  for (size_t i = 0; i < std::min(before.size(), after.size()); i++)
    if (before[i] != after[i] && !elements.count(i / t.itemsize())) return true;
  return false;
}
`},
	{"beyond", `
// beyond reports whether elements of t lie outside its storage.
bool beyond(const at::Tensor& t) {
  if (t.numel() == 0) return false;
  int64_t last = t.storage_offset();
  for (int64_t d = 0; d < t.dim(); d++) last += (t.size(d) - 1) * t.stride(d);
  return t.storage_offset() < 0 || (last + 1) * int64_t(t.itemsize()) > int64_t(t.storage().nbytes());
}
`},
	{"part", `
// part returns a tensor that a tensor holds inside.
at::Tensor part(const at::Tensor& t, const std::string& name) {
  bool rows = t.layout() == at::kSparseCsr;
  if (name == "scales") return t.q_per_channel_scales();
  if (name == "zero_points") return t.q_per_channel_zero_points();
  if (name == "indices") return t._indices();
  if (name == "values") return t.layout() == at::kSparse ? t._values() : t.values();
  if (name == "compressed_indices") return rows ? t.crow_indices() : t.ccol_indices();
  if (name == "plain_indices") return rows ? t.col_indices() : t.row_indices();
  if (name == "sizes") return t._nested_tensor_size();
  throw std::runtime_error("a tensor of no part " + name);
}
`},
	{"tensors", `
// tensors returns the tensors among values, in order.
std::vector<at::Tensor> tensors(const std::vector<c10::IValue>& values) {
  std::vector<at::Tensor> all;
  for (const auto& v : values) {
    if (v.isTensor()) all.push_back(v.toTensor());
    if (v.isList()) for (const auto& t : tensors(v.toListRef().vec())) all.push_back(t);
  }
  return all;
}
`},
	{"twins", `
// twins returns values with tensors on meta in the same places of a storage.
std::vector<c10::IValue> twins(const std::vector<c10::IValue>& values) {
  static std::map<const void*, at::Tensor> storages, made;
  std::vector<c10::IValue> all;
  for (const auto& v : values) {
    if (v.isList()) {
      c10::impl::GenericList list(v.toList().elementType());
      for (const auto& t : twins(v.toListRef().vec())) list.push_back(t);
      all.push_back(list);
    } else if (v.isDevice()) {
      all.push_back(at::Device("meta"));
    } else if (v.isTensor() && v.toTensor().defined()) {
      at::Tensor t = v.toTensor();
      at::Tensor& base = storages[t.storage().unsafeGetStorageImpl()];
      if (!base.defined()) base = at::empty({int64_t(t.storage().nbytes() / t.itemsize())}, t.options().device(at::kMeta));
      at::Tensor& twin = made[t.unsafeGetTensorImpl()];
      if (!twin.defined()) twin = at::as_strided(base, t.sizes(), t.strides(), t.storage_offset());
      all.push_back(twin);
    } else {
      all.push_back(v);
    }
  }
  return all;
}
`},
	{"planned", `
// planned returns what a compiler goes by.
std::string planned(const std::vector<c10::IValue>& results) {
  std::ostringstream text;
  for (const auto& t : tensors(results)) text << t.sizes() << t.strides() << t.scalar_type();
  return text.str();
}
`},
	{"shared", `
// shared returns which results share a storage with which arguments.
std::vector<bool> shared(const std::vector<c10::IValue>& args, const std::vector<c10::IValue>& results) {
  std::vector<bool> all;
  for (const auto& r : tensors(results)) for (const auto& a : tensors(args)) all.push_back(r.is_alias_of(a));
  return all;
}
`},
	{"call", `
void call(const c10::OperatorHandle& op, std::vector<c10::IValue>& stack) { op.callBoxed(&stack); }
`},
}

// cppForms are what C++ makes of a dense tensor, as forms in Python.
var cppForms = map[engine.Form]string{
	engine.Strided: "{}", engine.COO: "{}.to_sparse()", engine.COOHybrid: "{}.to_sparse(1)", engine.COOUncoalesced: "uncoalesced({})",
	engine.CSR: "{}.to_sparse_csr()", engine.CSC: "{}.to_sparse_csc()", engine.BSR: "{}.to_sparse_bsr({1, 1})", engine.BSC: "{}.to_sparse_bsc({1, 1})",
	engine.Mkldnn: "{}.to_mkldnn()", engine.Conjugate: "at::_conj({})", engine.Negative: "at::_neg_view({})", engine.Grad: "{}.set_requires_grad(true)",
	engine.Functional: "at::functionalization::impl::to_functional_tensor({})", engine.Inference: "inferred({})",
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

// A cppFile is a program in the making.
type cppFile struct {
	op      *schema.Op
	names   []string // a variable for each argument that holds tensors, or ""
	tensors []string // a variable for each tensor of the case
	lines   []string
}

func (c *cppFile) line(format string, args ...any) {
	c.lines = append(c.lines, fmt.Sprintf(format, args...))
}

// cppTexts returns the programs of a fault that call the op through the dispatcher, with
// autograd and below it.
func (s Source) cppTexts(f Fault) (all []string, err error) {
	for _, below := range []bool{false, true} {
		text, err := s.cppText(f, below)
		if err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	return all, nil
}

func (s Source) cppText(f Fault, below bool) (string, error) {
	op, err := schema.ParseDispatcher(qualified(f.Op))
	if err != nil {
		return "", err
	}
	c := &cppFile{op: op}
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
		c.crash(guard)
	case twin(f.Finding) == engine.Meta:
		c.line("%s", stack)
		c.compared(guard)
	default:
		p, err := cpp.predicate(f.Finding.Violation, c.place, func(x, y string) []string { return nil })
		if err != nil {
			return "", err
		}
		c.lines = append(append(c.lines, p.before...), stack)
		c.judged(p, guard)
	}
	return c.text(append(s.about(f), "", "Build it: "+strings.Join(s.buildLine(f), " ")), s), nil
}

// buildLine returns the command that builds a program of a fault.
func (s Source) buildLine(f Fault) []string {
	if s.Build == nil {
		return []string{"with the headers and libraries of", s.Version}
	}
	return s.Build(f.Name()+".cpp", f.Name())
}

// args makes the arguments, and returns them as they stand in the call.
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
				c.line("c10::IValue %s = %s;", wanted, text)
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

// cppVariable returns the name of an argument that nothing else in a program has.
func cppVariable(name string) string { return name + "_" }

// value returns an expression for a value of argument i; name is the variable of a tensor.
func (c *cppFile) value(v *sample.Value, i int, name string) (string, error) {
	switch v.Kind {
	case sample.NoneValue:
		return "c10::IValue()", nil
	case sample.TensorValue:
		return c.tensor(v.Tensor, name)
	case sample.IntValue:
		return "int64_t(" + cppInt(v.Int) + ")", nil
	case sample.FloatValue:
		return cppFloat(v.Float, 64), nil
	case sample.BoolValue:
		return strconv.FormatBool(v.Int != 0), nil
	case sample.ComplexValue:
		return fmt.Sprintf("c10::complex<double>(%s, %s)", cppFloat(real(v.Complex), 64), cppFloat(imag(v.Complex), 64)), nil
	case sample.TextValue:
		return "std::string(" + strconv.QuoteToASCII(v.Text) + ")", nil
	case sample.DTypeValue:
		dtype, err := cppDType(v.Text)
		return "int64_t(" + dtype + ")", err
	case sample.LayoutValue, sample.FormatValue, sample.QSchemeValue:
		if name := cppNames[v.Text]; name != "" {
			return "int64_t(" + name + ")", nil
		}
	case sample.DeviceValue:
		return "at::Device(" + strconv.Quote(v.Text) + ")", nil
	case sample.GeneratorValue:
		return fmt.Sprintf("at::detail::createCPUGenerator(%d)", v.Int), nil
	case sample.StorageValue:
		text, err := cppTensor(v.Tensor, 0)
		return text + ".storage()", err
	case sample.ListValue, sample.CallValue, sample.AfterValue:
		return c.holder(v, i, name)
	case sample.SameValue:
		if v.Int < int64(len(c.names)) && c.names[v.Int] != "" {
			return c.names[v.Int], nil
		}
	}
	return "", fmt.Errorf("%v has no literal in C++", v)
}

// holder returns an expression for a list, or for what an op returns.
func (c *cppFile) holder(v *sample.Value, i int, name string) (string, error) {
	words := make([]string, len(v.List))
	for j := range v.List {
		var err error
		if words[j], err = c.value(&v.List[j], i, fmt.Sprintf("%s%d", name, j)); err != nil {
			return "", err
		}
	}
	all := "{" + strings.Join(words, ", ") + "}"
	if v.Kind == sample.ListValue {
		return fmt.Sprintf("list(schema, %d, %s)", i, all), nil
	}
	called, overload, _ := strings.Cut(v.Text, ".")
	if v.Kind == sample.AfterValue {
		c.line("c10::IValue %sfirst = %s;", name, words[0])
		words[0] = name + "first"
		c.line("made(%q, %q, {%s});", called, overload, strings.Join(words, ", "))
		return words[0], nil
	}
	return fmt.Sprintf("made(%q, %q, %s)", called, overload, all), nil
}

// tensor makes a tensor in a statement of its own, and returns its variable.
func (c *cppFile) tensor(t *sample.TensorSpec, name string) (string, error) {
	if t.Same > 0 && t.Same <= len(c.tensors) {
		c.tensors = append(c.tensors, c.tensors[t.Same-1])
		return c.tensors[t.Same-1], nil
	}
	text := ""
	if t.View > 0 && t.View <= len(c.tensors) {
		text = fmt.Sprintf("%[1]s.view_as(%[1]s)", c.tensors[t.View-1])
	} else {
		var err error
		if text, err = cppTensor(t, len(c.tensors)); err != nil {
			return "", err
		}
	}
	c.line("at::Tensor %s = %s;", name, text)
	c.tensors = append(c.tensors, name)
	return name, nil
}

func cppDType(name string) (string, error) {
	if in := cppDTypes[name]; in != "" {
		return "at::ScalarType::" + in, nil
	}
	return "", fmt.Errorf("the dtype %s has no literal in C++", name)
}

// cppTensor returns an expression that makes a tensor.
func cppTensor(t *sample.TensorSpec, turn int) (string, error) {
	dtype, err := cppDType(t.DType)
	if err != nil {
		return "", err
	}
	switch t.Form {
	case engine.Zero:
		return fmt.Sprintf("at::_efficientzerotensor(%s, %s)", cppInts(t.Sizes), dtype), nil
	case engine.Quantized, engine.PerChannel:
		return cppQuantized(t, turn)
	case engine.Nested, engine.NestedEven:
		var parts []string
		for _, sizes := range nestedSizes(t) {
			part, err := cppDense(&sample.TensorSpec{DType: t.DType, Sizes: sizes}, turn)
			if err != nil {
				return "", err
			}
			parts = append(parts, part)
		}
		return "at::_nested_tensor_from_tensor_list({" + strings.Join(parts, ", ") + "})", nil
	}
	form, ok := cppForms[t.Form]
	if !ok {
		return "", fmt.Errorf("a %v tensor has no literal in C++", t.Form)
	}
	text, err := cppDense(t, turn)
	return strings.ReplaceAll(form, "{}", text), err
}

func cppQuantized(t *sample.TensorSpec, turn int) (string, error) {
	like, q := quantizedAs(t)
	dtype, err := cppDType(q.dtype)
	if err != nil {
		return "", err
	}
	text, err := cppDense(&like, turn)
	if t.Form == engine.Quantized {
		return fmt.Sprintf("at::quantize_per_tensor(%s, 0.1, %d, %s)", text, q.zero, dtype), err
	}
	n := t.Sizes[0]
	return fmt.Sprintf("at::quantize_per_channel(%s, at::full({%d}, 0.1, at::kDouble), at::full({%d}, %d, at::kLong), 0, %s)", text, n, n, q.zero, dtype), err
}

// cppTypes are the dtypes whose elements C++ writes as numbers.
var cppTypes = map[tensor.DType]string{
	tensor.Float32: "float", tensor.Float64: "double", tensor.Int8: "int8_t", tensor.Int16: "int16_t", tensor.Int32: "int32_t", tensor.Int64: "int64_t", tensor.Uint8: "uint8_t",
	tensor.Complex64: "c10::complex<float>", tensor.Complex128: "c10::complex<double>",
}

// cppDense returns an expression for a strided tensor, with all that its storage holds.
func cppDense(t *sample.TensorSpec, turn int) (string, error) {
	var room []byte
	d := t.Dense(&room, turn)
	name, err := cppDType(t.DType)
	if err != nil {
		return "", err
	}
	dtype := sample.Element(t.DType)
	size, of := dtype.Size(), cppTypes[dtype]
	if of == "" {
		size, of, dtype = 1, "uint8_t", tensor.Uint8
	}
	var words []string
	for i := 0; i+size <= len(d.Data); i += size {
		words = append(words, cppElement(dtype, d.Data[i:i+size]))
	}
	text := fmt.Sprintf("of<%s>(%s, {%s})", of, name, strings.Join(words, ", "))
	if len(words) > 1 && !slices.ContainsFunc(words, func(w string) bool { return w != words[0] }) { // all equal
		text = fmt.Sprintf("of(%s, std::vector<%s>(%d, %s))", name, of, len(words), words[0])
	}
	return fmt.Sprintf("%s.as_strided(%s, %s, %d)", text, cppInts(d.Sizes), cppInts(d.Strides), d.Offset), nil
}

func cppInts(ns []int64) string { return "{" + strings.Trim(tuple(ns), "(,)") + "}" }

func cppInt(n int64) string {
	if n == math.MinInt64 {
		return "INT64_MIN"
	}
	return strconv.FormatInt(n, 10)
}

// cppElement returns an element as C++ writes it.
func cppElement(dtype tensor.DType, b []byte) string {
	switch dtype.Class() {
	case tensor.Integral:
		n, err := strconv.ParseInt(integer(dtype, b), 10, 64)
		if err != nil {
			return integer(dtype, b)
		}
		return cppInt(n)
	case tensor.Complex:
		half := map[tensor.DType]tensor.DType{tensor.Complex64: tensor.Float32, tensor.Complex128: tensor.Float64}[dtype]
		return fmt.Sprintf("{%s, %s}", cppElement(half, b[:len(b)/2]), cppElement(half, b[len(b)/2:]))
	}
	return cppFloat(dtype.Get(b), dtype.Size()*8)
}

// cppFloat returns a number as C++ writes it.
func cppFloat(v float64, bits int) string {
	switch text := float(v, bits); text {
	case "nan":
		return "NAN"
	case "inf":
		return "INFINITY"
	case "-inf":
		return "-INFINITY"
	default:
		return text
	}
}

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

// judged is the call before what is observed after it.
func (c *cppFile) judged(p *predicate, guard string) {
	c.line("%scall(op, stack);", guard)
	if p.after != "" {
		c.line("%s", p.after)
	}
	c.line("if (%s) {\n  std::puts(%q);\n  return 1;\n}\nstd::puts(%q);", p.fault, there+p.says, notThere)
}

// compared is the call beside the one that a compiler plans with.
func (c *cppFile) compared(guard string) {
	c.line("const auto args = stack;\nauto twin_stack = twins(stack);\nconst auto twin_args = twin_stack;")
	c.judged(&predicate{
		after: "try {\n  call(op, twin_stack);\n} catch (const std::exception& e) {\n  std::printf(\"" + there + "the call with meta tensors raises: %s\\n\", line(e).c_str());\n  return 1;\n}",
		fault: "planned(stack) != planned(twin_stack) || shared(args, stack) != shared(twin_args, twin_stack)",
		says:  differs,
	}, guard)
}

// crash calls the op in a process of its own.
func (c *cppFile) crash(guard string) {
	c.line("%s", `pid_t child = fork();
if (child == 0) {
  alarm(60);
  try {
    `+guard+`op.callBoxed(&stack);
  } catch (...) {
  }
  _exit(0);
}
int status = 0;
waitpid(child, &status, 0);
if (WIFSIGNALED(status)) {
  std::printf("`+there+`the call ends its process with %s\n", strsignal(WTERMSIG(status)));
  return 1;
}
std::puts("`+notThere+`");`)
}

// text puts the program together.
func (c *cppFile) text(about []string, s Source) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	for _, l := range about {
		line("%s", strings.TrimRight("// "+l, " "))
	}
	body := strings.Join(c.lines, "\n")
	line("\n%s", headers)
	for _, header := range []string{"dlfcn.h", "sys/wait.h", "unistd.h", "cmath", "cstdio", "cstring", "map", "set", "sstream"} {
		line("#include <%s>", header)
	}
	for _, d := range usedOf(cppDefinitions, body+"\nline(e)") {
		b.WriteString(d)
	}
	line("\nint main() try {\n  %s\n  return 0;\n} catch (const std::exception& e) {\n  std::printf(\"the call raises: %%s\\n\", line(e).c_str());\n  return 2;\n}", strings.ReplaceAll(body, "\n", "\n  "))
	return b.String()
}

// headers are those of PyTorch, which take a compiler most of its time.
const headers = "#include <ATen/ATen.h>\n#include <ATen/CPUGeneratorImpl.h>\n#include <ATen/FunctionalTensorWrapper.h>\n#include <ATen/core/dispatch/Dispatcher.h>\n"

// precompile has the compiler read the headers once, and returns the flags by which
// programs are built with what it has read.
func (d *Folder) precompile(by *runner, folder string) []string {
	file := filepath.Join(folder, "headers.h")
	if err := os.WriteFile(file, []byte(headers), 0o666); err != nil {
		return nil
	}
	if _, err := by.command(folder, d.Build(file, file+".gch")...); err != nil {
		return nil
	}
	return []string{"-include", file}
}

// runCpp builds a program, and runs it.
func (d *Folder) runCpp(by *runner, file string) (shown bool, why string) {
	path, err := filepath.Abs(file)
	if err != nil {
		return false, err.Error()
	}
	folder, binary := filepath.Dir(by.printed), by.printed+".exe"
	d.once.Do(func() { d.included = d.precompile(by, folder) })
	return by.built(folder, append(d.Build(path, binary), d.included...), binary)
}
