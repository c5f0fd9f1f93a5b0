package allowlist

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/slicesx"
	"github.com/opassert/opassert/internal/tensor"
	"github.com/opassert/opassert/internal/yamlfile"
	"github.com/opassert/opassert/schema"
)

// Open reads a preset, or else a file, see [Load].
func Open(name string, ops []*schema.Op) (*List, error) {
	if slices.Contains(PresetNames(), name) {
		return Preset(name)
	}
	return Load(name, ops)
}

// Load reads an allowlist file. ops are the schemas that it may name: an entry for another op is an
// error, unless ops is nil. The error is a [scanner.ErrorList] with every fault of the file.
func Load(path string, ops []*schema.Op) (*List, error) {
	src, err := yamlfile.Read(path)
	if err != nil {
		return nil, fmt.Errorf("load allowlist: %w", err)
	}
	return Parse(path, src, ops)
}

// Parse parses an allowlist, as [Load] does; path is for positions only.
func Parse(path string, src []byte, ops []*schema.Op) (*List, error) {
	p := &parser{yamlfile.New(path, src)}
	list := &List{Path: path}
	if doc := p.Document(""); doc != nil {
		list.Entries = p.entries(doc)
	}
	if ops != nil {
		p.checkNames(list.Entries, ops)
	}
	if len(p.Errs) > 0 {
		p.Errs.Sort()
		return nil, p.Errs
	}
	return list, nil
}

type parser struct{ *yamlfile.File }

func (p *parser) entries(root *yaml.Node) []*Entry {
	if yamlfile.IsNull(root) {
		return nil
	}
	if root.Kind == yaml.MappingNode && root.Style&yaml.FlowStyle != 0 { // one entry, as in a report
		return []*Entry{p.entry(root)}
	}
	if root.Kind != yaml.SequenceNode {
		p.ReportKind(root, "a list of entries, - {op: ..., checks: [...], reason: ...}")
		return nil
	}
	return slicesx.Map(root.Content, p.entry)
}

// A field is a key of an entry, with the method that reads its value.
type field struct {
	key      string
	required bool
	read     func(*parser, *Entry, *yaml.Node)
}

var fields = []field{
	{"op", true, func(p *parser, e *Entry, n *yaml.Node) { e.Op = p.text(n) }},
	{"checks", false, (*parser).checks},
	{"crash", false, func(p *parser, e *Entry, n *yaml.Node) { e.Crashes = p.causes(n) }},
	{"reason", true, func(p *parser, e *Entry, n *yaml.Node) { e.Reason = p.text(n) }},
	{"level", false, func(p *parser, e *Entry, n *yaml.Node) { e.Note = p.note(n) }},
	{"reference", false, func(p *parser, e *Entry, n *yaml.Node) { e.Reference = p.text(n) }},
	{"device", false, func(p *parser, e *Entry, n *yaml.Node) { e.Device = p.device(n) }},
	{"versions", false, func(p *parser, e *Entry, n *yaml.Node) { e.Versions = p.versions(n) }},
	{"expires", false, func(p *parser, e *Entry, n *yaml.Node) { e.Expires = p.day(n) }},
}

var keys = slicesx.Map(fields, func(f field) string { return f.key })

func (p *parser) entry(n *yaml.Node) *Entry {
	e := &Entry{Pos: p.Pos(n)}
	values, ok := p.Mapping(n, "an entry", keys)
	if !ok {
		return e
	}
	for i, f := range fields {
		switch {
		case values[i] != nil:
			f.read(p, e, values[i])
		case f.required:
			p.Report(n, "%s is missing: every entry has op, checks and reason", f.key)
		}
	}
	if values[1] == nil && values[2] == nil {
		p.Report(n, "checks is missing: every entry has op, checks and reason")
	}
	return e
}

// note reads the level of an entry.
func (p *parser) note(n *yaml.Node) bool {
	if n.Value != "note" {
		p.ReportKind(n, "level: note, for findings that are debatable")
	}
	return true
}

// causes reads a cause of crashes, or a list of them.
func (p *parser) causes(n *yaml.Node) []string {
	if n.Kind != yaml.SequenceNode {
		return []string{p.text(n)}
	}
	return slicesx.Map(n.Content, p.text)
}

// text reads a text that is not empty. Several lines become one, as reports and comments need.
func (p *parser) text(n *yaml.Node) string {
	text := ""
	if n.Kind == yaml.ScalarNode && !yamlfile.IsNull(n) {
		text = strings.Join(strings.Fields(n.Value), " ")
	}
	if text == "" {
		p.ReportKind(n, "text that is not empty")
	}
	return text
}

func (p *parser) device(n *yaml.Node) string {
	if err := tensor.CheckDevice(n.Value); err != nil {
		p.Report(n, "%v", err)
	}
	return n.Value
}

// checks reads the checks of an entry, and their symptoms.
func (p *parser) checks(e *Entry, n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && n.Value == "all" {
		e.Checks = asserts.AllCodes
		return
	}
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		p.ReportKind(n, "checks: a list of codes such as [OA003, OA005], or all")
		return
	}
	for _, c := range n.Content {
		code, symptom, err := asserts.ParseSymptom(c.Value)
		switch {
		case err != nil:
			p.Report(c, "%v", err)
		case symptom != "":
			e.Symptoms = append(e.Symptoms, asserts.Excuse{Code: code, Symptom: symptom})
		default:
			e.Checks |= 1 << code
		}
	}
}

func (p *parser) versions(n *yaml.Node) Range {
	r, err := parseRange(n.Value)
	if err != nil {
		p.Report(n, "%v; write versions as \">=1.13, <2.6\"", err)
	}
	return r
}

func (p *parser) day(n *yaml.Node) time.Time {
	day, err := time.Parse(time.DateOnly, n.Value)
	if err != nil {
		p.Report(n, "%q is not a day; write expires as 2027-06-30", n.Value)
	}
	return day
}

// checkNames reports entries that name no op, and suggests the most similar one.
func (p *parser) checkNames(entries []*Entry, ops []*schema.Op) {
	known := map[string]bool{}
	for _, op := range ops {
		for _, name := range Names(op) {
			known[name] = true
		}
	}
	for _, e := range entries {
		if e.Op != "" && !known[e.Op] {
			p.ReportAt(e.Pos, "no op in the schema is called %q%s", e.Op, yamlfile.SuggestOp(e.Op, maps.Keys(known)))
		}
	}
}
