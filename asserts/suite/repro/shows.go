package repro

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/report"
)

// A predicate says in Python how a broken rule shows. {x} is its subject, {y} the
// tensor that it is held against.
type predicate struct {
	before string // a statement before the call
	after  string // one after it
	fault  string // an expression that is true where the rule is broken
	alone  string // the same without a {y}
	says   string // the fault then
}

// predicates are those of the checks that a call from Python can show. {read} are the
// arguments that the op does not write.
var predicates = map[asserts.Code]predicate{
	asserts.InputStorage: {
		before: "held = {x}.untyped_storage()",
		fault:  "{x}.untyped_storage()._cdata != held._cdata",
		says:   "{x} has another storage than before",
	},
	asserts.FreshImpl: {
		before: "fresh = torch.empty(0)",
		fault:  "{x} is {y}",
		alone:  "holders({x}) > holders(fresh)",
		says:   "{x} is not a new tensor",
	},
	asserts.ViewStorage: {
		fault: "{x}.untyped_storage()._cdata != {y}.untyped_storage()._cdata",
		says:  "{x} is no view: it does not share the storage of {y}",
	},
	asserts.FreshStorage: {
		fault: "share({x}, {y})",
		alone: "uses({x}) > uses(torch.empty(1))",
		says:  "the memory of {x} is not its own",
	},
	asserts.ReturnedSelf: {
		fault: "{x} is not {y}",
		says:  "{x} is not the argument that was written",
	},
	asserts.UndeclaredAlias: {fault: "share({x}, {y})", says: "{x} shares memory with {y}"},
	asserts.OutputAlias:     {fault: "share({x}, {y})", says: "{x} shares memory with {y}"},
	asserts.UndeclaredWrite: {
		before: "before = memory({x}), look({x}), version({x})",
		fault:  "not torch.equal(before[0], memory({x})) or before[1:] != (look({x}), version({x}))",
		says:   "{x} was changed",
	},
	asserts.VersionBump: {
		before: "before = memory({x}), version({x})",
		fault:  "not torch.equal(before[0], memory({x})) and version({x}) == before[1]",
		says:   "{x} was written, and its version is what it was",
	},
	asserts.InplaceMetadata: {
		before: "before = look({x})",
		fault:  "look({x}) != before",
		says:   "{x} has other sizes, strides, offset, dtype or names than before",
	},
	asserts.WriteBeside: {
		before: "before = memory({x})",
		fault:  "beside(before, {x})",
		says:   "bytes of the storage of {x} changed that are not elements of {x}",
	},
	asserts.KeptArgument: {
		before: "before = holders({x}), uses({x})",
		after:  "del result",
		fault:  "holders({x}) > before[0] or uses({x}) > before[1]",
		says:   "somebody holds {x} once the call is over",
	},
	asserts.WithinStorage: {
		fault: "beyond({x})",
		says:  "elements of {x} lie outside its storage",
	},
	asserts.AutogradKernel: {
		before: "for t in tensors([{read}]):\n    if t.is_floating_point() or t.is_complex():\n        t.requires_grad_()",
		fault:  "not {x}.requires_grad or {x}.is_leaf",
		says:   "{x} was made from tensors that require grad, and has no gradient",
	},
}

// A definition is a function of Python that predicates use.
type definition struct{ name, text string }

var definitions = []definition{
	{"memory", `
def memory(t):
    """Returns a copy of the bytes of a tensor's storage."""
    return torch.empty(0, dtype=torch.uint8).set_(t.untyped_storage()).clone()
`},
	{"contents", `
def contents(t):
    """Returns a copy of the bytes of what a sparse tensor holds inside."""
    indices = ["indices"] if t.layout is torch.sparse_coo else ["compressed_indices", "plain_indices"]
    return torch.cat([memory(part(t, name)) for name in [*indices, "values"]])
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
    return bytes
`},
	{"beside", `
def beside(before, t):
    """Reports whether bytes changed that are not elements of t."""
    n = min(before.numel(), t.untyped_storage().nbytes())
    return bool(((memory(t)[:n] != before[:n]) & ~covered(t)[:n]).any())
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
    if t.layout is not torch.strided:
        return contents(t).tolist()
    t = t.detach().int_repr() if t.is_quantized else t.detach().resolve_conj().resolve_neg()
    return t.contiguous().clone().reshape(-1).view(torch.uint8).tolist()
`},
	{"walled", `
def walled(t, walls, byte):
    """Returns a tensor as t whose storage has bytes on both sides that are not its own."""
    if not isinstance(t, torch.Tensor) or t.layout is not torch.strided or t.is_quantized or t.is_nested:
        return t
    storage = t.untyped_storage()
    if storage._cdata not in walls:
        n = storage.nbytes()
        room = bytearray([byte]) * (4096 + max(n, 1) + 4096)
        flat = torch.frombuffer(room, dtype=torch.uint8, offset=4096, count=max(n, 1))
        flat[:n] = memory(t)
        walls[storage._cdata] = room, n, flat.untyped_storage()
    moved = torch.empty(0, dtype=t.dtype).set_(walls[storage._cdata][2], t.storage_offset(), t.size(), t.stride())
    return moved.requires_grad_(t.requires_grad)
`},
	{"broken", `
def broken(room, n, storage, byte):
    """Reports whether the bytes on both sides of a storage are not what they were."""
    return set(room[:4096] + room[4096 + n :]) != {byte}
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
    """Returns which results share a storage with which arguments."""
    return [[r.untyped_storage()._cdata == a.untyped_storage()._cdata for a in tensors(args)] for r in tensors(results)]
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

// place returns the expression for a tensor of a violation.
func (k *call) place(p asserts.Place) (string, error) {
	x := "result"
	switch {
	case p.Return && len(k.op.Func.Returns) > 1:
		x += "[" + strconv.Itoa(p.Index) + "]"
	case !p.Return && (p.Index >= len(k.names) || k.names[p.Index] == ""):
		return "", fmt.Errorf("the argument %s is not in the call", p.Name)
	case !p.Return:
		x = k.names[p.Index]
	}
	if p.Called == "" {
		return x + elementOf(p), nil
	}
	if element, _, ok := strings.Cut(p.Called, "."); ok {
		x += "[" + element + "]"
	}
	return fmt.Sprintf("part(%s, %q)", x, p.Part()), nil
}

func elementOf(p asserts.Place) string {
	if p.Element == asserts.NoElement {
		return ""
	}
	return "[" + strconv.Itoa(p.Element) + "]"
}

// ofSparse turns what is asked of a tensor into what a sparse one can answer.
var ofSparse = strings.NewReplacer("memory(", "contents(", "look(", "outline(")

// shows returns the predicate of a finding, about its own tensors.
func (k *call) shows(f *report.Finding) (predicate, error) {
	v := f.Violation
	p, ok := predicates[v.Code]
	if !ok {
		return p, fmt.Errorf("%v has no form in Python", v.Code)
	}
	x, err := k.place(v.Subject)
	if err != nil {
		return p, err
	}
	y := ""
	if v.Against.Name != "" {
		if y, err = k.place(v.Against); err != nil {
			return p, err
		}
	} else if strings.Contains(p.fault, "{y}") {
		if p.fault = p.alone; p.fault == "" {
			return p, errors.New("nothing says which tensor it is held against")
		}
	}
	var read []string
	for i, arg := range k.op.Func.Args {
		if k.names[i] != "" && arg.Type.HoldsTensors() && (arg.Alias == nil || !arg.Alias.Write) {
			read = append(read, k.names[i])
		}
	}
	if k.sparse[x] {
		p.before, p.fault = ofSparse.Replace(p.before), ofSparse.Replace(p.fault)
	}
	fill := strings.NewReplacer("{x}", x, "{y}", y, "{read}", strings.Join(read, ", ")).Replace
	return predicate{before: fill(p.before), after: p.after, fault: fill(p.fault), says: fill(p.says)}, nil
}

// twin reports on which device the finding's second call was, or "".
func twin(f *report.Finding) engine.Device {
	for _, d := range []engine.Device{engine.Meta, engine.Fake} {
		if f.Violation.Code == asserts.MetaAlias && slices.Contains(f.Devices, d) {
			return d
		}
	}
	return ""
}
