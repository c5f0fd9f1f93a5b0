package allowlist

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/scanner"
	"go/token"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/schema"
)

// Load reads an allowlist file. ops are the schemas that it speaks of: an
// entry that names none of them is an error; nil skips that test. The error
// is a [scanner.ErrorList] with every fault of the file.
func Load(path string, ops []*schema.Op) (*List, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("load allowlist: %w", err)
	}
	return Parse(path, src, ops)
}

// Parse is Load on bytes; path is for positions only.
func Parse(path string, src []byte, ops []*schema.Op) (*List, error) {
	p := &parser{path: path}
	list := &List{Path: path}
	if doc := p.document(src); doc != nil {
		list.Entries = p.entries(doc)
	}
	if ops != nil {
		p.checkNames(list.Entries, ops)
	}
	if len(p.errs) > 0 {
		p.errs.Sort()
		return nil, p.errs
	}
	return list, nil
}

type parser struct {
	path string
	errs scanner.ErrorList
}

func (p *parser) pos(n *yaml.Node) token.Position {
	return token.Position{Filename: p.path, Line: n.Line, Column: n.Column}
}

func (p *parser) errorf(n *yaml.Node, format string, args ...any) {
	p.errs.Add(p.pos(n), fmt.Sprintf(format, args...))
}

// document gives the root node of the only document, or nil for an empty file.
func (p *parser) document(src []byte) *yaml.Node {
	dec := yaml.NewDecoder(bytes.NewReader(src))
	var doc, second yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		p.syntaxError(err)
		return nil
	}
	switch err := dec.Decode(&second); {
	case err == nil:
		p.errorf(&second, "a second YAML document: an allowlist is one sequence of entries")
	case !errors.Is(err, io.EOF):
		p.syntaxError(err)
	}
	return doc.Content[0]
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// syntaxError takes the line out of the message, the only place where yaml.v3
// has it.
func (p *parser) syntaxError(err error) {
	m := yamlLine.FindStringSubmatch(err.Error())
	line, col := 1, 1
	text := err.Error()
	if m != nil {
		text = text[len(m[0]):]
		if n, err := strconv.Atoi(m[1]); err == nil {
			line = n
		}
	}
	p.errs.Add(token.Position{Filename: p.path, Line: line, Column: col}, "not YAML: "+text)
}

func (p *parser) entries(root *yaml.Node) []*Entry {
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		return nil
	}
	if root.Kind != yaml.SequenceNode {
		p.errorf(root, "an allowlist is a sequence of entries: - {op: ..., checks: [...], reason: ...}")
		return nil
	}
	var entries []*Entry
	for _, n := range root.Content {
		entries = append(entries, p.entry(n))
	}
	return entries
}

// fields are the keys of an entry, each with what reads its value.
var fields = map[string]func(*parser, *Entry, *yaml.Node){
	"op":        func(p *parser, e *Entry, n *yaml.Node) { e.Op = p.text(n) },
	"reason":    func(p *parser, e *Entry, n *yaml.Node) { e.Reason = p.text(n) },
	"reference": func(p *parser, e *Entry, n *yaml.Node) { e.Reference = p.text(n) },
	"device":    func(p *parser, e *Entry, n *yaml.Node) { e.Device = p.text(n) },
	"checks":    func(p *parser, e *Entry, n *yaml.Node) { e.Checks = p.checks(n) },
	"versions":  func(p *parser, e *Entry, n *yaml.Node) { e.Versions = p.versions(n) },
	"expires":   func(p *parser, e *Entry, n *yaml.Node) { e.Expires = p.day(n) },
}

func (p *parser) entry(n *yaml.Node) *Entry {
	e := &Entry{Pos: p.pos(n)}
	if n.Kind != yaml.MappingNode {
		p.errorf(n, "an entry is a mapping with op, checks and reason")
		return e
	}
	seen := map[string]*yaml.Node{}
	for i := 0; i < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		read, known := fields[key.Value]
		switch first := seen[key.Value]; {
		case !known:
			p.errorf(key, "unknown key %q; an entry has %s", key.Value, strings.Join(fieldNames(), ", "))
		case first != nil:
			p.errorf(key, "%s is given twice, first at line %d", key.Value, first.Line)
		default:
			seen[key.Value] = key
			read(p, e, value)
		}
	}
	for _, required := range []string{"op", "checks", "reason"} {
		if seen[required] == nil {
			p.errorf(n, "%s is missing: every exception says op, checks and reason", required)
		}
	}
	return e
}

func fieldNames() []string {
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (p *parser) text(n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode || strings.TrimSpace(n.Value) == "" || n.Tag == "!!null" {
		p.errorf(n, "want a text that is not empty")
		return ""
	}
	return strings.TrimSpace(n.Value)
}

func (p *parser) checks(n *yaml.Node) CheckSet {
	if n.Kind == yaml.ScalarNode && n.Value == "all" {
		return AllChecks
	}
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		p.errorf(n, "checks is a sequence of codes such as [OA003, OA005], or all")
		return 0
	}
	var set CheckSet
	for _, c := range n.Content {
		code, ok := asserts.ParseCode(c.Value)
		if !ok {
			p.errorf(c, "unknown check %q; checks are OA001 to %v, or their names", c.Value, asserts.Code(asserts.NumCodes-1))
			continue
		}
		set |= 1 << code
	}
	return set
}

func (p *parser) versions(n *yaml.Node) Range {
	r, err := ParseRange(n.Value)
	if err != nil {
		p.errorf(n, "%v; write versions as \">=1.13, <2.6\"", err)
	}
	return r
}

func (p *parser) day(n *yaml.Node) time.Time {
	day, err := time.Parse(time.DateOnly, n.Value)
	if err != nil {
		p.errorf(n, "%q is not a day; write expires as 2027-06-30", n.Value)
	}
	return day
}

// checkNames refuses entries that name no op, and says which op is nearest.
func (p *parser) checkNames(entries []*Entry, ops []*schema.Op) {
	known := map[string]bool{}
	for _, op := range ops {
		name := op.Func.Name
		known[name.String()] = true
		name.Overload = ""
		known[name.String()] = true
	}
	for _, e := range entries {
		if e.Op != "" && !known[e.Op] {
			p.errs.Add(e.Pos, fmt.Sprintf("no op in the schema is called %q%s", e.Op, nearest(e.Op, known)))
		}
	}
}

// nearest words a suggestion: a known name of the same spelling but for an
// overload, a trailing underscore or letter case.
func nearest(name string, known map[string]bool) string {
	plain := func(s string) string {
		base, _, _ := strings.Cut(s, ".")
		return strings.ToLower(strings.Trim(base, "_"))
	}
	var near []string
	for k := range known {
		if plain(k) == plain(name) {
			near = append(near, k)
		}
	}
	if len(near) == 0 {
		return ""
	}
	best := slices.MinFunc(near, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	return fmt.Sprintf("; did you mean %q?", best)
}
