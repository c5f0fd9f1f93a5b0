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

// python is the dialect of Python. {read} are the arguments that the op does not write.
var python = dialect{
	language: "Python",
	literals: literals{
		values: map[sample.ValueKind]string{
			sample.NoneValue: "None", sample.IntValue: "%s", sample.FloatValue: "%s", sample.BoolValue: "%s", sample.ComplexValue: "complex(%s, %s)", sample.TextValue: "%s",
			sample.DTypeValue: "%s", sample.LayoutValue: "%s", sample.FormatValue: "%s", sample.QSchemeValue: "%s", sample.DeviceValue: "torch.device(%s)",
			sample.GeneratorValue: "torch.Generator().manual_seed(%s)", sample.StorageValue: "%s.untyped_storage()",
		},
		booleans: [2]string{"False", "True"}, complexes: "complex(%[1]s, %[2]s)",
		namespace: "torch.", names: func(name string) string { return "torch." + name }, dtype: "dtype=", list: "[%s]", tuple: tuple, flat: flat,
		forms: map[engine.Form]string{
			engine.Grad: "{}.requires_grad_()", engine.Functional: "torch._to_functional_tensor({})", engine.Inference: "torch.inference_mode()(lambda: {}.clone())()",
			engine.COOUncoalesced: "(lambda t: torch.sparse_coo_tensor(torch.cat([t._indices()] * 2, 1), torch.cat([t._values()] * 2), {sizes}))({}.to_sparse())",
			engine.Named:          "{}.rename_({letters})",
		},
	},
	declared: "%s = %s", item: "%s_%d", called: func(name string, args []string) string { return opOf(name) + "(" + strings.Join(args, ", ") + ")" }, holds: holds,
	noted:   "{fact}_before = {of}",
	was:     "{fact}_before",
	release: "del result",
	joints:  map[string]string{"and": " and ", "or": " or "},
	facts: map[string]fact{
		"storage": {of: "storage_of({x})", by: "{}[0]"},
		"memory":  {of: "memory({x})"},
		"look":    {of: "look({x})"},
		"version": {of: "version({x})"},
		"holders": {of: "holders({x})"},
		"uses":    {of: "uses({x})"},
	},
	words: map[string]word{
		"same":     {fault: "{x} is {y}"},
		"other":    {fault: "{x} is not {y}"},
		"held":     {fault: "holders({x}) > holders(fresh)", before: "fresh = torch.empty(0)"},
		"used":     {fault: "uses({x}) > uses(torch.empty(1))"},
		"apart":    {fault: "{x}.untyped_storage()._cdata != {y}.untyped_storage()._cdata"},
		"shares":   {fault: "share({x}, {y})"},
		"beside":   {fault: "beside({was}, {x})"},
		"beyond":   {fault: "beyond({x})"},
		"constant": {fault: "not {x}.requires_grad or {x}.is_leaf", before: "for t in tensors([{read}]):\n    if t.is_floating_point() or t.is_complex():\n        t.requires_grad_()"},
	},
}

// A definition is a function of Python that predicates use.
type definition struct{ name, text string }

var definitions = []definition{
	{"storage_of", `
def storage_of(t):
    """Returns the address of a tensor's StorageImpl, and what keeps it: a functional tensor whose storage has another holder can't be resized."""
    if torch._is_functional_tensor(t):
        return torch._C._storage_address(t), None
    return t.untyped_storage()._cdata, t.untyped_storage()
`},
	{"memory", `
def memory(t):
    """Returns the bytes of a tensor's storage."""
    return torch.empty(0, dtype=torch.uint8).set_(t.untyped_storage()).tolist()
`},
	{"contents", `
def contents(t):
    """Returns the bytes of what a sparse tensor holds inside."""
    indices = ["indices"] if t.layout is torch.sparse_coo else ["compressed_indices", "plain_indices"]
    return [byte for name in [*indices, "values"] for byte in memory(part(t, name))]
`},
	{"outline", `
def outline(t):
    return t.size(), t.dtype
`},
	{"look", `
def look(t):
    return t.size(), t.stride(), t.storage_offset(), t.dtype, getattr(t, "names", None)
`},
	{"version", `
def version(t):
    return None if t.is_inference() else t._version
`},
	{"share", `
def share(a, b):
    """Reports whether two tensors have bytes in common."""
    if a is b:
        return True
    s, t = a.untyped_storage(), b.untyped_storage()
    ends = s.data_ptr() + s.nbytes(), t.data_ptr() + t.nbytes()
    return s._cdata == t._cdata or max(s.data_ptr(), t.data_ptr()) < min(ends)
`},
	{"holders", `
def holders(t):
    """Returns how many hold a tensor, in C++ and in Python."""
    return t._use_count() + sys.getrefcount(t)
`},
	{"uses", `
def uses(t):
    """Returns how many hold the storage of a tensor."""
    return torch._C._storage_Use_Count(t.untyped_storage()._cdata)
`},
	{"covered", `
def covered(t):
    """Returns which bytes of a tensor's storage are its elements."""
    size = t.element_size()
    bytes = torch.zeros(t.untyped_storage().nbytes(), dtype=torch.bool)
    strides = (*(s * size for s in t.stride()), 1)
    bytes.as_strided((*t.size(), size), strides, t.storage_offset() * size).fill_(True)
    return bytes.tolist()
`},
	{"beside", `
def beside(before, t):
    """Reports whether bytes changed that are not elements of t."""
    return any(old != new and not element for old, new, element in zip(before, memory(t), covered(t)))
`},
	{"beyond", `
def beyond(t):
    """Reports whether elements of t lie outside its storage."""
    if t.numel() == 0:
        return False
    steps = [(n - 1) * s for n, s in zip(t.size(), t.stride())]
    first = t.storage_offset() + sum(s for s in steps if s < 0)
    last = t.storage_offset() + sum(s for s in steps if s > 0)
    return first < 0 or (last + 1) * t.element_size() > t.untyped_storage().nbytes()
`},
	{"part", `
def part(t, name):
    """Returns a tensor that a tensor holds inside."""
    rows = t.layout in (torch.sparse_csr, torch.sparse_bsr)
    return {
        "scales": lambda: t.q_per_channel_scales(),
        "zero_points": lambda: t.q_per_channel_zero_points(),
        "indices": lambda: t._indices(),
        "values": lambda: t._values() if t.layout is torch.sparse_coo else t.values(),
        "compressed_indices": lambda: t.crow_indices() if rows else t.ccol_indices(),
        "plain_indices": lambda: t.col_indices() if rows else t.row_indices(),
        "sizes": lambda: t._nested_tensor_size(),
        "strides": lambda: t._nested_tensor_strides(),
        "value": lambda: torch._from_functional_tensor(t),
    }[name]()
`},
	{"elements", `
def elements(t):
    """Returns the bytes of a tensor's elements."""
    if torch._is_functional_tensor(t):
        t = torch._from_functional_tensor(t)
    if t.layout is torch._mkldnn:
        t = t.to_dense()
    if t.layout is not torch.strided:
        return contents(t)
    t = t.detach().int_repr() if t.is_quantized else t.detach().resolve_conj().resolve_neg()
    return t.contiguous().clone().reshape(-1).view(torch.uint8).tolist()
`},
	{"surround", `
def surround(values, byte):
    """Fills the bytes beside the elements of tensors in their storages."""
    for t in tensors(values):
        torch.empty(0, dtype=torch.uint8).set_(t.untyped_storage())[~torch.tensor(covered(t), dtype=torch.bool)] = byte
`},
	{"scale", `
def scale(values, by):
    """Multiplies the tensors of floating point among values."""
    for t in tensors(values):
        if t.is_floating_point() or t.is_complex():
            t.detach().mul_(by)
`},
	{"moved", `
def moved(t, places, allocate):
    """Returns a tensor as t whose storage is moved to a place that allocate returns."""
    if not isinstance(t, torch.Tensor) or t.layout is not torch.strided or t.is_quantized or t.is_nested or t._is_zerotensor():
        return t
    if torch._is_functional_tensor(t):
        return torch._to_functional_tensor(moved(torch._from_functional_tensor(t), places, allocate))
    storage = t.untyped_storage()
    if storage._cdata not in places:
        places[storage._cdata] = room, flat = allocate(storage.nbytes())
        flat[: storage.nbytes()] = torch.tensor(memory(t), dtype=torch.uint8)
    to = torch.empty(0, dtype=t.dtype).set_(places[storage._cdata][1].untyped_storage(), t.storage_offset(), t.size(), t.stride())
    to = torch._conj(to) if t.is_conj() else torch._neg_view(to) if t.is_neg() else to
    return to.requires_grad_(t.requires_grad)
`},
	{"walled", `
def walled(n, byte):
    """Returns memory, and a tensor of n bytes and one at least in the middle of it."""
    room = bytearray([byte]) * (4096 + max(n, 1) + 4096)
    return room, torch.frombuffer(room, dtype=torch.uint8, offset=4096, count=max(n, 1))
`},
	{"ends", `
def ends(call, behind, protection):
    """Returns how a process ends that makes the call while all memory of tensors lies beside
    pages with a protection: 2 where the call raises, a negative number for a signal."""
    if os.uname().machine != "x86_64":
        print("this program knows the functions of x86-64 alone")
        sys.exit(2)
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        torch.set_num_threads(1)
        kept = guarding(behind, protection)
        try:
            call()
        except Exception as e:
            print("the call raises:", e, flush=True)
            os._exit(2)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
`},
	{"guarding", `
def guarding(behind, protection):
    """Lets PyTorch allocate memory that ends where pages with a protection begin, or begins
    where they end, and returns what must not be freed before the process ends.

    It puts functions of Python into a copy of the table of functions of PyTorch's allocator:
    the third makes a DataPtr, which is the address, what frees it and what that is given; the
    one behind is_simple_data_ptr, or in its place before 2.3, is what frees memory."""
    c10, libc, address = ctypes.CDLL("libc10.so"), ctypes.CDLL(None), ctypes.c_void_p
    numbers = ctypes.POINTER(ctypes.c_size_t)
    made = ctypes.CFUNCTYPE(address, address, address, ctypes.c_size_t)
    get, put = c10._ZN3c1015GetCPUAllocatorEv, c10._ZN3c1015SetCPUAllocatorEPNS_9AllocatorEh
    get.restype, put.argtypes, libc.mprotect.argtypes = address, [address, ctypes.c_uint8], [ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int]
    allocator = get()
    table = (ctypes.c_size_t * 8)(*ctypes.cast(ctypes.cast(allocator, numbers)[0], numbers)[:8])
    theirs, page, guarded = made(table[2]), 4096, 1 << 19

    @made
    def allocate(result, _, n):
        theirs(result, allocator, n + 2 * guarded)
        data = ctypes.cast(result, numbers)
        first, align = -(-data[0] // page) * page, min(n & -n, 16) or 1
        pages = -(-n // page) * page
        if n and behind:
            libc.mprotect(first + pages, guarded, protection)
            data[0] = first + pages - -(-n // align) * align
        elif n:
            libc.mprotect(first, guarded, protection)
            data[0] = first + guarded
        data[1], data[2] = ctypes.cast(leave, address).value, data[0]
        return result

    leave = ctypes.CFUNCTYPE(None, address)(lambda data: None)
    leaves = ctypes.CFUNCTYPE(address, address)(lambda _: ctypes.cast(leave, address).value)
    table[2] = ctypes.cast(allocate, address).value
    table[4 if hasattr(c10, "_ZNK3c109Allocator18is_simple_data_ptrERKNS_7DataPtrE") else 3] = ctypes.cast(leaves, address).value
    mine = (ctypes.c_size_t * 1)(ctypes.addressof(table))
    put(ctypes.addressof(mine), 255)
    return allocate, leave, leaves, table, mine
`},
	{"tensors", `
def tensors(values):
    """Returns the tensors among values, in order."""
    if isinstance(values, torch.Tensor):
        return [values]
    values = values.values() if isinstance(values, dict) else values
    return [t for v in values for t in tensors(v)] if isinstance(values, (list, tuple, type({}.values()))) else []
`},
	{"replaced", `
def replaced(values, by):
    """Returns values with what by makes of each tensor and device."""
    if isinstance(values, (torch.Tensor, torch.device)):
        return by(values)
    if isinstance(values, dict):
        return {k: replaced(v, by) for k, v in values.items()}
    return type(values)(replaced(v, by) for v in values) if isinstance(values, (list, tuple)) else values
`},
	{"shared", `
def shared(args, results):
    """Returns which results share a storage with which arguments and results."""
    return [[r.untyped_storage()._cdata == t.untyped_storage()._cdata for t in tensors([args, results])] for r in tensors(results)]
`},
	{"planned", `
def planned(results):
    """Returns what a compiler goes by: sizes, strides and dtypes."""
    return [(tuple(r.size()), r.stride(), r.dtype) for r in tensors(results)]
`},
}

// used returns the definitions of Python that a text needs.
func used(text string) []string { return usedOf(definitions, text) }

// usedOf returns the definitions that a text needs, in their order.
func usedOf(definitions []definition, text string) []string {
	var wanted []bool
	for range definitions {
		wanted = append(wanted, false)
	}
	for changed := true; changed; {
		changed = false
		for i, d := range definitions {
			if !wanted[i] && (strings.Contains(text, d.name+"(") || strings.Contains(text, d.name+"[") || strings.Contains(text, d.name+"<")) {
				wanted[i], changed = true, true
				text += d.text
			}
		}
	}
	var all []string
	for i, d := range definitions {
		if wanted[i] {
			all = append(all, d.text)
		}
	}
	return all
}

// flat returns an expression of Python for a tensor of one dimension that holds bytes:
// what repeats is written once.
func flat(python *dialect, dtype tensor.DType, data []byte) string {
	size := dtype.Size()
	n := len(data) / size
	period := period(data, size)
	switch {
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
		return fmt.Sprintf("torch.frombuffer(bytearray(base64.b64decode(%q)), dtype=torch.%v)", base64.StdEncoding.EncodeToString(data), dtype)
	}
	return fmt.Sprintf("torch.tensor([%s], dtype=torch.%v)", strings.Join(python.elements(dtype, data), ", "), dtype)
}

// holds returns an expression of Python for a list, a tuple, a dict or an object.
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

// attribute returns the attribute of an expression, also one whose name Python
// reserves.
func attribute(of, name string) string {
	if keywords[name] && name != "torch" {
		return fmt.Sprintf("getattr(%s, %q)", of, name)
	}
	return of + "." + name
}

// keywords of Python that schemas use as names.
var keywords = map[string]bool{"from": true, "lambda": true, "in": true, "is": true, "and": true, "or": true, "not": true, "def": true, "class": true, "pass": true, "global": true, "torch": true}

// variable returns the name of an argument in Python, which no other line of a program
// uses for something else.
func variable(name string) string {
	if keywords[name] || slices.Contains(words, name) || strings.HasSuffix(name, "_before") || slices.ContainsFunc(definitions, func(d definition) bool { return d.name == name }) {
		return name + "_"
	}
	return name
}

// words are the names that programs use besides those of their definitions.
var words = []string{
	"args", "base64", "bytearray", "byte", "bytes", "call", "child", "complex", "contextlib", "ctypes", "dict", "e", "fresh", "getattr", "held", "id", "inf", "int",
	"isinstance", "kwargs", "len", "list", "max", "min", "mode", "nan", "os", "plan", "print", "range", "resource", "result", "rooms", "seen", "set", "signal", "status",
	"fill", "strays", "sys", "tuple", "twin", "twins", "type", "walls", "zip", "any", "sum", "bool", "asked", "others", "sizes",
}
