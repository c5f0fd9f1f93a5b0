package repro

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/asserts/suite/report"
	"github.com/opassert/opassert/internal/tensor"
	"github.com/opassert/opassert/schema"
)

// cpp is the dialect of C++.
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
	declared: "auto %s = %s;", end: ";", item: "%s%d", called: cppMade, holds: cppList,
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
// standard returns the default of an argument.
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
// memory returns the bytes of a tensor's storage, or those of a sparse one's parts.
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
// planned returns the sizes, strides and dtypes, which a compiler plans with.
std::string planned(const std::vector<c10::IValue>& results) {
  std::ostringstream text;
  for (const auto& t : tensors(results)) text << t.sizes() << t.strides() << t.scalar_type();
  return text.str();
}
`},
	{"shared", `
// shared returns which results share a storage with which arguments and results.
std::vector<bool> shared(const std::vector<c10::IValue>& args, const std::vector<c10::IValue>& results) {
  std::vector<bool> all;
  for (const auto& r : tensors(results))
    for (const auto& values : {args, results})
      for (const auto& t : tensors(values)) all.push_back(r.is_alias_of(t));
  return all;
}
`},
	{"elements", `
// elements returns the bytes of a tensor's elements.
std::string elements(const at::Tensor& t) {
  if (at::functionalization::impl::isFunctionalTensor(t)) return elements(at::functionalization::impl::from_functional_tensor(t));
  if (t.is_mkldnn()) return elements(t.to_dense());
  if (t.layout() != at::kStrided) return memory(t);
  return memory((t.is_quantized() ? t.int_repr() : t.detach().resolve_conj().resolve_neg()).contiguous().clone());
}
`},
	{"follows", `
// follows reports whether bytes follow what memory held, which was one thing in the first
// call and in the last one, and another between them.
bool follows(const std::vector<std::string>& seen) {
  return seen[0] == seen[3] && seen[1] == seen[2] && seen[0] != seen[1];
}
`},
	{"Allocator", `
// Allocator is one of PyTorch, in the words of each version: which of the two allocate
// is asked differs.
struct Allocator : c10::Allocator {
  virtual char* take(size_t n) = 0;
  virtual void freed(void* data) {}
  c10::DataPtr allocate(size_t n) {
    char* data = take(n);
    return {data, data, &leave, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DataPtr allocate(size_t n) const { return const_cast<Allocator*>(this)->allocate(n); }
  c10::DeleterFnPtr raw_deleter() const override { return &leave; }
  void copy_data(void* to, const void* from, std::size_t n) const { std::memcpy(to, from, n); }
  static void leave(void* data) { static_cast<Allocator*>(c10::GetAllocator(c10::DeviceType::CPU))->freed(data); }
};
`},
	{"Beside", `
// Beside is an allocator whose memory ends where pages with a protection begin, or begins
// where they end.
struct Beside final : Allocator {
  Beside(bool behind, int protection) : behind(behind), protection(protection) {}
  char* take(size_t n) override {
    const size_t page = sysconf(_SC_PAGESIZE), guard = 1 << 19, pages = (n + page - 1) / page * page;
    char* first = static_cast<char*>(mmap(nullptr, pages + 2 * guard, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) + guard;
    const size_t align = std::min<size_t>(n & -n, 16);
    if (n == 0) return first;
    mprotect(behind ? first + pages : first - guard, guard, protection);
    return behind ? first + pages - (n + align - 1) / align * align : first;
  }
  bool behind;
  int protection;
};
`},
	{"Filled", `
// Filled is an allocator whose memory holds one byte: before it is written, once it is
// freed, and on both sides of it.
struct Filled final : Allocator {
  struct Room {
    std::vector<char> bytes;
    bool live;
  };
  char* take(size_t n) override {
    rooms().push_back({std::vector<char>(wall + n + wall, byte()), true});
    return rooms().back().bytes.data() + wall;
  }
  void freed(void* data) override {
    for (auto& room : rooms()) {
      if (room.bytes.data() + wall != data) continue;
      room.live = false;
      if (!strays(room, wall)) std::fill(room.bytes.begin(), room.bytes.end(), byte());
    }
  }
  // fill has memory hold another byte.
  static void fill(char c) {
    mallopt(M_PERTURB, byte() = c);
    for (auto& room : rooms()) {
      std::fill(room.bytes.begin(), room.live ? room.bytes.begin() + wall : room.bytes.end(), c);
      std::fill(room.bytes.end() - wall, room.bytes.end(), c);
    }
  }
  // strays reports whether bytes were written of memory that was freed, or beside a tensor's.
  static bool strays() {
    return std::any_of(rooms().begin(), rooms().end(), [](const Room& r) { return strays(r, r.live ? wall : r.bytes.size()); });
  }
  // strays reports whether the first or the last n bytes of a room were written.
  static bool strays(const Room& room, size_t n) {
    const auto other = [](char c) { return c != byte(); };
    return std::any_of(room.bytes.begin(), room.bytes.begin() + n, other) || std::any_of(room.bytes.end() - n, room.bytes.end(), other);
  }
  static std::list<Room>& rooms() {
    static auto* all = new std::list<Room>;
    return *all;
  }
  static char& byte() {
    static char c;
    return c;
  }
  static constexpr size_t wall = 4096;
};
`},
	{"ends", `
// ends returns how a process ends that makes the call while all memory of tensors lies beside
// pages with a protection: 2 where the call raises, a negative number for a signal.
int ends(void (*call)(), bool behind, int protection) {
  pid_t child = fork();
  if (child == 0) {
    alarm(60);
    at::set_num_threads(1);
    c10::SetAllocator(c10::DeviceType::CPU, new Beside(behind, protection), UINT8_MAX);
    try {
      call();
    } catch (const std::exception& e) {
      std::printf("the call raises: %s\n", line(e).c_str());
      std::fflush(stdout);
      _exit(2);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}
`},
	{"call", `
void call(const c10::OperatorHandle& op, std::vector<c10::IValue>& stack) { op.callBoxed(&stack); }
`},
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

// A cppFile is a program in C++.
type cppFile struct{ program }

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
		c.crash(guard, f.Crash.Cause)
	case twin(f.Finding) == engine.Meta:
		c.line("%s", stack)
		c.compared(guard)
	case f.Finding.Violation.Code == asserts.OutOfBounds:
		c.outside(stack + "\n" + guard)
	case sightOf(f.Finding.Violation).fault != "":
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

// cppVariable returns the name of an argument that nothing else in a program has.
func cppVariable(name string) string { return name + "_" }

// cppName returns the name in C++ of a dtype, layout, format or quantization scheme, or "".
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

// cppTypes are the dtypes whose elements C++ writes as numbers.
var cppTypes = map[tensor.DType]string{
	tensor.Float32: "float", tensor.Float64: "double", tensor.Int8: "int8_t", tensor.Int16: "int16_t", tensor.Int32: "int32_t", tensor.Int64: "int64_t", tensor.Uint8: "uint8_t",
	tensor.Complex64: "c10::complex<float>", tensor.Complex128: "c10::complex<double>",
}

// cppFlat returns an expression for a tensor of one dimension that holds bytes.
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

// judged writes the call and then the tests of the observations after it.
func (c *cppFile) judged(p *predicate, guard string) {
	c.line("%scall(op, stack);", guard)
	if p.after != "" {
		c.line("%s", p.after)
	}
	c.verdict(p.fault, p.says, notThere)
}

// outside calls the op in processes of their own, in which all memory of tensors lies beside
// pages that can't be touched, and, so that it is known that those end the process, that can.
func (c *cppFile) outside(before string) {
	once := append(c.lines, before+"at::manual_seed(0);\ncall(op, stack);")
	c.lines = []string{"const auto once = [] {\n  " + nested(once) + "\n};", `bool fault = false, raised = false;
for (bool behind : {true, false}) {
  const int closed = ends(once, behind, PROT_NONE), open = ends(once, behind, PROT_READ | PROT_WRITE);
  fault = fault || (closed == -SIGSEGV && open != closed);
  raised = raised || closed == 2 || open == 2;
}
if (!fault && raised) return 2;`}
	c.verdict("fault", "the call touches memory outside of its tensors", notThere)
}

// inMemory calls the op in memory that holds several bytes in turn.
func (c *cppFile) inMemory(v *asserts.Violation, before string) error {
	s, x := sightOf(v), ""
	switch place, err := c.place(v.Subject); {
	case s.cpp == "":
		return fmt.Errorf("%v of what lies there has no form in C++", v.Code)
	case s.left:
		x = "for (const auto& t : tensors(stack)) bytes += elements(t);"
	case err != nil || v.Subject.Name == "":
		return errors.Join(err, errSubject)
	default:
		x = "bytes += elements(" + place + ");"
	}
	once := append(c.lines, before+"at::manual_seed(0);\ncall(op, stack);", "std::string bytes;\n"+x+"\nreturn bytes;")
	c.lines = []string{"c10::SetAllocator(c10::DeviceType::CPU, new Filled(), UINT8_MAX);", "const auto once = [] {\n  " + nested(once) + "\n};", `bool strayed = false;
std::vector<std::string> seen;
for (char byte : {0x5A, 0x5A, 0xA6, 0xA6, 0x5A}) {
  Filled::fill(byte);
  seen.push_back(once());
  strayed = strayed || Filled::strays();
}
seen.erase(seen.begin());`}
	c.verdict(s.cpp, strings.ReplaceAll(s.says, "{x}", v.Subject.String()), notThere+", or no result shows it")
	return nil
}

// nested returns statements in a block.
func nested(lines []string) string {
	return strings.ReplaceAll(strings.Join(lines, "\n"), "\n", "\n  ")
}

// verdict ends the program by whether the fault is there. Otherwise it says so.
func (c *cppFile) verdict(fault, says, otherwise string) {
	c.line("if (%s) {\n  std::puts(%q);\n  return 1;\n}\nstd::puts(%q);", fault, there+says, otherwise)
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
func (c *cppFile) crash(guard, cause string) {
	late := "if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {\n  std::puts(\"the call does not end\");\n  return 2;\n}\n"
	if cause == report.Hang {
		late = ""
	}
	c.line("%s", `pid_t child = fork();
if (child == 0) {
  alarm(60);
  at::set_num_threads(1);
  try {
    `+guard+`op.callBoxed(&stack);
  } catch (...) {
  }
  _exit(0);
}
int status = 0;
waitpid(child, &status, 0);
`+late+`if (WIFSIGNALED(status)) {
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
	for _, header := range []string{"dlfcn.h", "malloc.h", "sys/mman.h", "sys/wait.h", "unistd.h", "algorithm", "cmath", "csignal", "cstdio", "cstring", "list", "map", "set", "sstream"} {
		line("#include <%s>", header)
	}
	for _, d := range usedOf(cppDefinitions, body+"\nline(e)") {
		b.WriteString(d)
	}
	line("\nint main() try {\n  %s\n  return 0;\n} catch (const std::exception& e) {\n  std::printf(\"the call raises: %%s\\n\", line(e).c_str());\n  return 2;\n}", nested([]string{body}))
	return b.String()
}

// headers are those of PyTorch, which take a compiler most of its time.
const headers = "#include <ATen/ATen.h>\n#include <ATen/CPUGeneratorImpl.h>\n#include <ATen/FunctionalTensorWrapper.h>\n#include <ATen/Parallel.h>\n#include <ATen/core/dispatch/Dispatcher.h>\n"
