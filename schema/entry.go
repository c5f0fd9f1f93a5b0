package schema

import (
	"fmt"
	"go/scanner"
	"go/token"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/opassert/opassert/internal/yamlfile"
)

// The keys of an entry that are read.
const (
	keyFunc               = "func"
	keyTags               = "tags"
	keyDispatch           = "dispatch"
	keyAutogen            = "autogen"
	keyStructured         = "structured"
	keyStructuredDelegate = "structured_delegate"
	keyManualCppBinding   = "manual_cpp_binding"
)

// keyNames are all keys; those that are not read are for torchgen alone, which checks them.
var keyNames = []string{keyFunc, keyTags, keyDispatch, keyAutogen, keyStructured, keyStructuredDelegate,
	keyManualCppBinding, "variants", "structured_inherits", "precomputed", "ufunc_inner_loop", "device_check",
	"device_guard", "python_module", "category_override", "cpp_no_default_args", "use_const_ref_for_mutable_tensors",
	"manual_kernel_registration"}

// An entry is one item of the list in a schema file.
//
// Source: torchgen/model.py, NativeFunction.from_yaml.
type entry struct {
	op      *Op // nil: the schema has an error
	node    *yaml.Node
	values  map[string]*yaml.Node // by key
	kernels []string              // the dispatch keys of its table

	nameNode *yaml.Node // the name of an op whose schema is in the base
	foreign  bool       // it is of another project's form, see foreign.go
	list     string     // of a backend's file, that has it
}

type reader struct {
	*yamlfile.File
	config   Config
	tags     *TagSet
	warnings scanner.ErrorList
	reading  Reading
	floor    int            // the row of the oldest PyTorch that the file can be of
	named    map[string]*Op // the ops, by their names
}

// warn adds a warning about a node that is read although it is not as expected. In strict mode it is an error.
func (r *reader) warn(n *yaml.Node, format string, args ...any) { r.warnAt(r.Pos(n), format, args...) }

func (r *reader) warnAt(pos token.Position, format string, args ...any) {
	if r.config.Strict {
		r.ReportAt(pos, format, args...)
		return
	}
	r.warnings.Add(pos, fmt.Sprintf(format, args...))
}

func (r *reader) entries() []*entry {
	doc := r.Document("expected a list of entries, - func: ...")
	if doc == nil {
		return nil
	}
	var entries []*entry
	switch doc.Kind {
	case yaml.MappingNode:
		entries = r.backend(doc)
	case yaml.SequenceNode:
		entries = r.list(doc)
	default:
		r.ReportKind(doc, "a list of entries, - func: ...")
	}
	return r.mergeForeign(r.resolve(entries))
}

func (r *reader) list(doc *yaml.Node) []*entry {
	entries := make([]*entry, 0, len(doc.Content))
	read := r.entry
	if slices.ContainsFunc(doc.Content, isForeign) {
		read = r.foreignEntry
	}
	for _, n := range doc.Content {
		if e := read(n); e != nil {
			entries = append(entries, e)
		}
	}
	return entries
}

// entry reads one entry; it returns nil for a node that can't be one.
func (r *reader) entry(n *yaml.Node) *entry {
	values, ok := r.fields(n, keyNames)
	if !ok {
		return nil
	}
	for _, key := range []string{keyDispatch, keyStructuredDelegate} { // without a value they mean the same as absent
		if values[key] != nil && yamlfile.IsNull(values[key]) {
			delete(values, key)
		}
	}
	e := &entry{node: n, values: values}
	e.op = r.function(e, e.values[keyFunc], "no func")
	structured, manual := r.flag(e, keyStructured), r.flag(e, keyManualCppBinding)
	r.dispatch(e)
	tags := r.entryTags(e)
	autogen := r.autogen(e)
	if e.op == nil {
		return e
	}
	slices.Sort(e.kernels)
	e.op.Structured, e.op.ManualCppBinding = structured, manual
	e.op.Tags, e.op.Autogen, e.op.Kernels = tags, autogen, e.kernels
	opaque := structured || e.values[keyDispatch] != nil || e.values[keyStructuredDelegate] != nil || r.config.Kernels
	e.op.CompositeImplicit = e.has(compositeImplicit) || !opaque
	e.op.CompositeExplicit = e.has(compositeExplicit)
	partial := func(key string) bool { return !strings.HasPrefix(key, "Composite") } // serves some backends only
	e.op.Decomposes = e.op.CompositeImplicit && !slices.ContainsFunc(e.kernels, partial)
	r.checkFactory(e)
	r.checkRandom(e)
	return e
}

// fields returns the values of an entry, nil for those that it lacks, and whether it has keys.
func (r *reader) fields(n *yaml.Node, keys []string) (map[string]*yaml.Node, bool) {
	list, unknown, ok := r.Fields(n, "an entry", keys)
	for _, key := range unknown {
		r.warn(key, "%s", yamlfile.UnknownKey(key, keys))
	}
	values := make(map[string]*yaml.Node)
	for i, value := range list {
		values[keys[i]] = value
	}
	return values, ok
}

// function reads the schema of an entry, where it has one.
func (r *reader) function(e *entry, n *yaml.Node, without string) *Op {
	switch {
	case n == nil:
		r.Report(e.node, "the entry has %s", without)
		return nil
	case !yamlfile.IsText(n):
		r.ReportKind(n, "a schema")
		return nil
	}
	return parseText(n.Value, native, r.Inside(n), &r.Errs, r.warnAt)
}

func (r *reader) flag(e *entry, key string) bool {
	n := e.values[key]
	if n == nil {
		return false
	}
	value, ok := yamlfile.Bool(n)
	if !ok {
		r.ReportKind(n, key+": True or False")
	}
	return value
}

// A word is a piece of a scalar.
type word struct {
	text string
	pos  token.Position
}

// words splits a scalar at ", ".
func (r *reader) words(n *yaml.Node) []word {
	at := r.Inside(n)
	var list []word
	off := 0
	for text := range strings.SplitSeq(n.Value, ", ") {
		list = append(list, word{text, at(off)})
		off += len(text) + len(", ")
	}
	return list
}

// opName reads an operator name with its overload; it returns nil for an error.
func (r *reader) opName(w word) *Name {
	p := parser{text: w.text, dialect: native, at: yamlfile.From(w.pos)}
	name := p.name()
	if p.off < len(p.text) {
		p.expected("the end of the operator name")
	}
	if p.err != nil {
		r.Errs.Add(p.err.Pos, p.err.Msg)
		return nil
	}
	return &name
}

// entryTags reads the tags, sorted. Up to PyTorch 1.13 they are one string,
// from 2.0 a string is one tag and a list several.
func (r *reader) entryTags(e *entry) []string {
	var words []word
	switch n := e.values[keyTags]; {
	case n == nil:
	case n.Kind == yaml.SequenceNode:
		for _, item := range n.Content {
			if yamlfile.IsText(item) {
				words = append(words, word{item.Value, r.Inside(item)(0)})
			} else {
				r.ReportKind(item, "a tag")
			}
		}
	case !yamlfile.IsText(n):
		r.ReportKind(n, "tags: a tag or a list of tags")
	case n.Value != "":
		words = r.words(n)
	}
	var tags []string
	for _, w := range words {
		if !r.tags.has(w.text) {
			r.ReportAt(w.pos, "unknown tag %q%s", yamlfile.Clip(w.text), yamlfile.Suggest(w.text, r.tags.names))
		}
		tags = append(tags, w.text)
	}
	slices.Sort(tags)
	return slices.Compact(tags)
}

func (r *reader) autogen(e *entry) []Name {
	n := e.values[keyAutogen]
	switch {
	case n == nil || yamlfile.IsText(n) && n.Value == "":
		return nil
	case !yamlfile.IsText(n):
		r.ReportKind(n, keyAutogen+": text")
		return nil
	}
	var names []Name
	for _, w := range r.words(n) {
		if name := r.opName(w); name != nil {
			names = append(names, *name)
		}
	}
	return names
}
