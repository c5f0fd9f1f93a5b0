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

// The keys of an entry.
const (
	keyFunc                     = "func"
	keyVariants                 = "variants"
	keyTags                     = "tags"
	keyDispatch                 = "dispatch"
	keyAutogen                  = "autogen"
	keyStructured               = "structured"
	keyStructuredDelegate       = "structured_delegate"
	keyStructuredInherits       = "structured_inherits"
	keyPrecomputed              = "precomputed"
	keyUfuncInnerLoop           = "ufunc_inner_loop"
	keyDeviceCheck              = "device_check"
	keyDeviceGuard              = "device_guard"
	keyPythonModule             = "python_module"
	keyCategoryOverride         = "category_override"
	keyCppNoDefaultArgs         = "cpp_no_default_args"
	keyUseConstRef              = "use_const_ref_for_mutable_tensors"
	keyManualKernelRegistration = "manual_kernel_registration"
	keyManualCppBinding         = "manual_cpp_binding"
)

var keyNames = []string{keyFunc, keyVariants, keyTags, keyDispatch, keyAutogen, keyStructured, keyStructuredDelegate,
	keyStructuredInherits, keyPrecomputed, keyUfuncInnerLoop, keyDeviceCheck, keyDeviceGuard, keyPythonModule,
	keyCategoryOverride, keyCppNoDefaultArgs, keyUseConstRef, keyManualKernelRegistration, keyManualCppBinding}

// nullable keys mean the same without a value as when they are absent.
var nullable = []string{keyDispatch, keyStructuredDelegate, keyStructuredInherits, keyPrecomputed, keyDeviceCheck,
	keyPythonModule, keyCategoryOverride}

// An entry is one item of the list in a schema file.
//
// Source: torchgen/model.py, NativeFunction.from_yaml.
type entry struct {
	op       *Op // nil: the schema has an error
	node     *yaml.Node
	values   map[string]*yaml.Node // by key
	kernels  []dispatchEntry
	delegate *Name

	nameNode *yaml.Node // the name of an op whose schema is in the base
	foreign  bool       // it is of another project's form, see foreign.go
	list     string     // of a backend's file, that has it

	structured         bool
	guarded            bool // it has a device guard
	manualBinding      bool
	manualRegistration bool
}

// A dispatchEntry is one dispatch key with the function that serves it.
type dispatchEntry struct {
	key   string
	value string
	pos   token.Position
}

// A reader turns a file into entries.
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
	for _, key := range nullable {
		if values[key] != nil && yamlfile.IsNull(values[key]) {
			delete(values, key)
		}
	}
	e := &entry{node: n, values: values}
	e.op = r.function(e, e.values[keyFunc], "no func")
	e.structured = r.flag(e, keyStructured, false)
	e.guarded = r.flag(e, keyDeviceGuard, true)
	e.manualBinding = r.flag(e, keyManualCppBinding, false)
	e.manualRegistration = r.flag(e, keyManualKernelRegistration, false)
	r.flag(e, keyUseConstRef, false)
	e.delegate = r.structuredDelegate(e)
	r.structuredInherits(e)
	r.text(e, keyCategoryOverride)
	r.dispatch(e)
	tags := r.entryTags(e)
	autogen := r.autogen(e)
	r.ufunc(e)
	r.precomputed(e)
	if e.op != nil {
		e.op.Structured, e.op.ManualCppBinding = e.structured, e.manualBinding
		e.op.Tags, e.op.Autogen, e.op.Kernels = tags, autogen, e.keys()
		e.op.CompositeImplicit = e.has(compositeImplicit) || e.values[keyDispatch] == nil && !e.structured && e.delegate == nil && !r.config.Kernels
		e.op.CompositeExplicit = e.has(compositeExplicit)
		e.op.Decomposes = e.op.CompositeImplicit && !e.hasBackend()
	}
	r.checkEntry(e)
	return e
}

// fields returns the values of an entry, and whether it has keys.
func (r *reader) fields(n *yaml.Node, keys []string) (map[string]*yaml.Node, bool) {
	list, unknown, ok := r.Fields(n, "an entry", keys)
	for _, key := range unknown {
		r.warn(key, "%s", yamlfile.UnknownKey(key, keys))
	}
	values := make(map[string]*yaml.Node)
	for i, value := range list {
		if value != nil {
			values[keys[i]] = value
		}
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

// flag reads a boolean key.
func (r *reader) flag(e *entry, key string, absent bool) bool {
	n := e.values[key]
	if n == nil {
		return absent
	}
	value, ok := yamlfile.Bool(n)
	if !ok {
		r.ReportKind(n, key+": True or False")
		return absent
	}
	return value
}

// text reads a key that holds a string; it returns nil if the key is missing.
func (r *reader) text(e *entry, key string) *yaml.Node {
	n := e.values[key]
	if n != nil && !yamlfile.IsText(n) {
		r.ReportKind(n, key+": text")
		return nil
	}
	return n
}

// texts returns the texts of a list, which may be missing.
func (r *reader) texts(n *yaml.Node, list, text string) (all []*yaml.Node) {
	switch {
	case n == nil:
		return nil
	case n.Kind != yaml.SequenceNode:
		r.ReportKind(n, list)
		return nil
	}
	for _, item := range n.Content {
		if yamlfile.IsText(item) {
			all = append(all, item)
		} else {
			r.ReportKind(item, text)
		}
	}
	return all
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
	at := func(off int) token.Position {
		pos := w.pos
		pos.Offset += off
		pos.Column += off
		return pos
	}
	p := parser{text: w.text, dialect: native, at: at}
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

func (r *reader) structuredDelegate(e *entry) *Name {
	n := r.text(e, keyStructuredDelegate)
	switch {
	case n == nil:
		return nil
	case strings.Contains(n.Value, "::"):
		r.Report(n, "structured_delegate has no namespace: it is that of the entry")
		return nil
	}
	return r.opName(word{n.Value, r.Inside(n)(0)})
}

func (r *reader) structuredInherits(e *entry) {
	if n := r.text(e, keyStructuredInherits); n != nil && strings.Contains(n.Value, "::") {
		r.Report(n, "structured_inherits has no namespace")
	}
}

// entryTags reads the tags, sorted. Up to PyTorch 1.13 they are one string,
// from 2.0 a string is one tag and a list several.
func (r *reader) entryTags(e *entry) []string {
	var words []word
	switch n := e.values[keyTags]; {
	case n == nil:
	case n.Kind == yaml.SequenceNode:
		for _, item := range r.texts(n, "", "a tag") {
			words = append(words, word{item.Value, r.Inside(item)(0)})
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
	n := r.text(e, keyAutogen)
	if n == nil || n.Value == "" {
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
