package schema

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/opassert/opassert/internal/yamlfile"
)

// Note [Files of other projects]: there are two forms besides
// native_functions.yaml.
//
// ExecuTorch's functions.yaml is also a list of entries. One with op names an op of
// ATen, one with func has a schema; kernels lists its kernels:
//
//	- op: add.out
//	  kernels:
//	    - arg_meta: null
//	      kernel_name: torch::executor::add_out
//
// A backend's file, such as those of torch_xla and torch_npu, is a mapping of a few
// settings and of lists. An element of a list names an op of ATen, or has a schema:
//
//	backend: XLA
//	cpp_namespace: torch_xla
//	supported:
//	  - add.Tensor
//	custom:
//	  - func: npu_format_cast(Tensor self, int acl_format) -> Tensor
//	    exposed: True
//
// The demands of torchgen on an entry of PyTorch's own file do not apply to these, and nothing is derived from them.
//
// Source: torchgen/gen_backend_stubs.py, parse_backend_yaml;
// torchgen/executorch/parse.py, parse_et_yaml_struct.

const keyOp = "op"

// foreignKeys are the keys of an entry of another project's file.
var foreignKeys = append(slices.Clone(keyNames),
	// ExecuTorch
	keyOp, "kernels", "type_alias", "dim_order_alias", "type_constraint", "inherits", "namespace",
	// torch_npu
	"acl_op", "op_api", "exposed", "internal_format_opapi", "gen_opapi", "sparse", "dvm", "wrap_impl", "impl_ns",
	"bind_only")

// The keys of a backend's file: settings, and lists of ops.
var (
	backendSettings = []string{"backend", "cpp_namespace", "class_name", "extra_headers", "use_out_as_primary",
		"device_guard", "all_version"}
	backendLists = []string{"supported", "autograd", "custom", "custom_autograd", officialKey, "full_codegen", "ir_gen",
		"quant", symintKey}
)

const (
	// symintKey lists ops whose kernels take SymInt: where an entry has a schema, it is the one that is registered.
	symintKey = "symint"
	// officialKey lists ops of ATen, each with its schema.
	officialKey = "official"
	// nonNativeKey lists nodes of an intermediate representation.
	nonNativeKey = "non_native"
)

// isForeign reports whether an entry of a list is one of ExecuTorch's, which means that the list is.
func isForeign(n *yaml.Node) bool {
	text := valueOf(n, "func")
	return valueOf(n, "op") != nil || valueOf(n, "kernels") != nil || text != nil && namesOp(text)
}

// namesOp reports whether the node is the name of an op, not a schema.
func namesOp(n *yaml.Node) bool {
	return yamlfile.IsText(n) && n.Value != "" && !strings.ContainsAny(n.Value, "( ")
}

func (r *reader) backend(doc *yaml.Node) []*entry {
	keys := slices.Concat(backendSettings, backendLists, []string{nonNativeKey})
	values, unknown, _ := r.Fields(doc, "a backend's file", keys)
	var entries []*entry
	for i, list := range values {
		switch {
		case list == nil || yamlfile.IsNull(list):
		case keys[i] == nonNativeKey:
			r.warn(list, "%s lists nodes that are not the dispatcher's ops", nonNativeKey)
		case slices.Contains(backendSettings, keys[i]):
		case list.Kind != yaml.SequenceNode:
			r.ReportKind(list, keys[i]+": a list of ops")
		default:
			entries = append(entries, r.backendList(keys[i], list.Content)...)
		}
	}
	entries = append(entries, r.unknownLists(doc, unknown, keys)...)
	if entries == nil && len(unknown) == len(doc.Content)/2 {
		r.ReportKind(doc, "a list of entries, - func: ..., or a mapping with lists of ops, supported: ...")
	}
	return entries
}

// unknownLists reads the elements with a schema, or with the key op, under unknown keys.
func (r *reader) unknownLists(doc *yaml.Node, unknown []*yaml.Node, keys []string) []*entry {
	var entries []*entry
	for i := 0; i+1 < len(doc.Content); i += 2 {
		key, list := doc.Content[i], doc.Content[i+1]
		if !slices.Contains(unknown, key) {
			continue
		}
		r.warn(key, "%s", yamlfile.UnknownKey(key, keys))
		if list.Kind != yaml.SequenceNode {
			continue
		}
		none := func(n *yaml.Node) bool { return valueOf(n, "func") == nil && valueOf(n, "op") == nil }
		ops := slices.DeleteFunc(slices.Clone(list.Content), none)
		entries = append(entries, r.backendList(key.Value, ops)...)
	}
	return entries
}

func valueOf(n *yaml.Node, key string) *yaml.Node {
	for i := 0; n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

func (r *reader) backendList(list string, items []*yaml.Node) []*entry {
	var entries []*entry
	for _, n := range items {
		if e := r.backendItem(n); e != nil {
			e.list = list
			entries = append(entries, e)
		}
	}
	return entries
}

// backendItem reads an op of a list: its name, its schema, a mapping with op or func,
// or a mapping of its name to its properties.
func (r *reader) backendItem(n *yaml.Node) *entry {
	switch {
	case namesOp(n):
		return &entry{node: n, foreign: true, nameNode: n}
	case yamlfile.IsText(n) && n.Value != "":
		return r.foreignOp(&entry{node: n, foreign: true}, n)
	case n.Kind == yaml.MappingNode && len(n.Content) == 2 && namesOp(n.Content[0]) &&
		!slices.Contains(foreignKeys, n.Content[0].Value):
		return &entry{node: n, foreign: true, nameNode: n.Content[0]}
	}
	return r.foreignEntry(n)
}

func (r *reader) foreignEntry(n *yaml.Node) *entry {
	values, ok := r.fields(n, foreignKeys)
	if !ok {
		return nil
	}
	e := &entry{node: n, values: values, foreign: true}
	text := values[keyFunc]
	switch op := values[keyOp]; {
	case op != nil && text != nil:
		r.Report(op, "an entry has either op, the name of an op of ATen, or func, a schema")
		return nil
	case op != nil && namesOp(op):
		return &entry{node: n, foreign: true, nameNode: op}
	case op != nil:
		r.ReportKind(op, "op: the name of an op, as in add.out")
		return nil
	case text != nil && namesOp(text):
		return &entry{node: n, foreign: true, nameNode: text}
	}
	return r.foreignOp(e, text)
}

func (r *reader) foreignOp(e *entry, text *yaml.Node) *entry {
	e.op = r.function(e, text, "neither op nor func")
	if e.op == nil {
		return e
	}
	if n := e.values[keyDispatch]; n != nil && !yamlfile.IsNull(n) {
		r.dispatch(e)
	}
	e.op.Tags = r.entryTags(e)
	e.op.CompositeImplicit, e.op.CompositeExplicit = e.has(compositeImplicit), e.has(compositeExplicit)
	return e
}

// inherit copies the properties that are not in a schema from an op of the base.
func (op *Op) inherit(base *Op) {
	op.CompositeImplicit = op.CompositeImplicit || base.CompositeImplicit
	op.CompositeExplicit = op.CompositeExplicit || base.CompositeExplicit
	op.Tags = slices.Compact(slices.Sorted(slices.Values(slices.Concat(op.Tags, base.Tags))))
}

// resolve sets the schema of each entry that only names an op: one of the file's own, or one of the base. An op
// without a schema is left out with a warning: the base may be of another version than the file.
func (r *reader) resolve(entries []*entry) []*entry {
	own := make(map[string]bool, len(entries))
	for _, e := range entries {
		if e.op != nil {
			own[e.op.Name()] = true
		}
	}
	entries = slices.DeleteFunc(entries, func(e *entry) bool { return e.nameNode != nil && own[e.opName()] })
	first := slices.IndexFunc(entries, func(e *entry) bool { return e.nameNode != nil })
	if first < 0 && !slices.ContainsFunc(entries, func(e *entry) bool { return e.list == officialKey }) {
		return entries
	}
	base, err := r.base()
	if err != nil && first >= 0 {
		name := entries[first].opName()
		r.Report(entries[first].nameNode, "%s has no schema here, as in %[1]s(Tensor self) -> Tensor, or elsewhere: %v",
			name, err)
		return nil
	}
	for _, e := range entries {
		switch {
		case e.nameNode != nil:
			r.lookUp(e, base)
		case e.op != nil && base[e.op.Name()] != nil:
			e.op.inherit(base[e.op.Name()])
		}
	}
	return slices.DeleteFunc(entries, func(e *entry) bool { return e.op == nil })
}

func (e *entry) opName() string { return strings.TrimPrefix(e.nameNode.Value, "aten::") }

// lookUp finds the schema of the op that an entry names.
func (r *reader) lookUp(e *entry, base map[string]*Op) {
	found := base[e.opName()]
	if found == nil {
		r.warn(e.nameNode, "the base has no op %s%s", e.opName(), yamlfile.SuggestOp(e.opName(), maps.Keys(base)))
		return
	}
	op := *found
	op.Named = r.Pos(e.nameNode)
	e.op = &op
}

// base returns the ops of the base file by name.
func (r *reader) base() (map[string]*Op, error) {
	if r.config.Base == nil {
		return nil, errors.New("there is no base file")
	}
	file, err := r.config.Base()
	if err != nil {
		return nil, err
	}
	base := make(map[string]*Op, len(file.Ops))
	for _, op := range file.Ops {
		base[op.Name()] = op
	}
	return base, nil
}

// mergeForeign drops the entries of other projects' files that repeat an op. A backend lists an op under several keys;
// where the schemas differ, that under symint is used, else the first.
func (r *reader) mergeForeign(entries []*entry) []*entry {
	first := make(map[string]*entry, len(entries))
	return slices.DeleteFunc(entries, func(e *entry) bool {
		if e.op == nil || !e.foreign {
			return false
		}
		other := first[e.op.Name()]
		switch {
		case other == nil:
			first[e.op.Name()] = e
			return false
		case e.op.String() == other.op.String():
		case e.list == symintKey:
			other.op = e.op
		default:
			r.warn(e.node, "%s has another schema in line %d, which is used", e.op.Name(), other.node.Line)
		}
		return true
	})
}
