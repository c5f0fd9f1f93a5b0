package yamlfile

import (
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

func TestPos(t *testing.T) {
	for _, tt := range []struct {
		name, text   string
		line, column int // as YAML counts: characters
		want         string
		offset       int
	}{
		{"line feed", "a\nb", 2, 1, "f:2:1", 2},
		{"carriage return", "a\rb", 2, 1, "f:2:1", 2},
		{"both", "a\r\nb", 2, 1, "f:2:1", 3},
		{"carriage return at the end", "a\r", 2, 1, "f:2:1", 2},
		{"next line", "a\u0085b", 2, 1, "f:2:1", 3},
		{"line separator", "a\u2028b", 2, 1, "f:2:1", 4},
		{"paragraph separator", "a\u2029b", 2, 1, "f:2:1", 4},
		{"byte order mark", "\ufeffab", 1, 2, "f:1:2", 4},
		{"letters of several bytes", "éa", 1, 2, "f:1:3", 2},
		{"the same far along", strings.Repeat("é", 200) + "a", 1, 201, "f:1:401", 400},
		{"past the end", "ab", 1, 1000, "f:1:3", 2},
		{"no line", "ab", 9, 1, "f:1:1", 0},
	} {
		got := New("f", []byte(tt.text)).Pos(&yaml.Node{Line: tt.line, Column: tt.column})
		if got.String() != tt.want || got.Offset != tt.offset {
			t.Errorf("%s: %v at offset %d, want %s at %d", tt.name, got, got.Offset, tt.want, tt.offset)
		}
	}
}

func TestInside(t *testing.T) {
	const quoted = yaml.DoubleQuotedStyle
	for _, tt := range []struct {
		name, text string
		node       yaml.Node
		off        int
		want       string
	}{
		{"plain", "a: bcd", yaml.Node{Line: 1, Column: 4, Value: "bcd"}, 2, "f:1:6"},
		{"quoted", `a: "bcd"`, yaml.Node{Line: 1, Column: 4, Value: "bcd", Style: quoted}, 2, "f:1:7"},
		{"with an escape", `a: "b\td"`, yaml.Node{Line: 1, Column: 4, Value: "b\td", Style: quoted}, 2, "f:1:5"},
		{"longer than what is left", "a: >-\n b", yaml.Node{Line: 1, Column: 4, Value: "much longer"}, 2, "f:1:4"},
		{"past the end", "a", yaml.Node{Line: 1, Column: 9, Value: "b", Style: quoted}, 1, "f:1:2"},
	} {
		if got := New("f", []byte(tt.text)).Inside(&tt.node)(tt.off); got.String() != tt.want {
			t.Errorf("%s: %v, want %s", tt.name, got, tt.want)
		}
	}
}

// TestDocument: what is not text of YAML's, and what is.
func TestDocument(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"a: \ufffd", ""},
		{"a: b\u0085c: d", ""},
		{"\ufeffa: b", ""},
		{"\ufeff", "f:1:1: the file is empty: expected more"},
		{"a: \ufeff", "f:1:4: control character U+FEFF: remove it"},
		{"a: \ufffe", "f:1:4: control character U+FFFE: remove it"},
		{"a: \uffff", "f:1:4: control character U+FFFF: remove it"},
		{"\xff\xfea\x00", "f:1:1: the file is UTF-16: save it as UTF-8"},
		{"\xfe\xff\x00a", "f:1:1: the file is UTF-16: save it as UTF-8"},
		{"a: {b: c\nd: e", "f:2:1: not YAML: did not find expected ',' or '}': put a value with brackets, commas or colons in quotes"},
		{"- a\nb: c\n", "f:2:1: not YAML: did not find expected '-' indicator: indent what belongs together alike"},
		{"- a\n  b: 1\n", "f:2:1: not YAML: mapping values are not allowed in this context: put a value with brackets, commas or colons in quotes"},
		{"- a: 1\n\tb: 1\n", "f:2:1: not YAML: found a tab character that violates indentation: indent with spaces, not with tabs"},
		{"- a:\n   - 1\n  - 2\n", "f:3:1: not YAML: did not find expected key: indent what belongs together alike"},
		{"a: \x7f", "f:1:4: control character U+007F: remove it"},
		{"a: \xef\xbf", "f:1:4: wrong UTF-8: byte 0xef: save the file as UTF-8"},
		{"a: [", "f:1:1: not YAML: did not find expected node content"},
	} {
		f := New("f", []byte(tt.text))
		doc := f.Document("expected more")
		if f.Errs.Len() > 0 != (doc == nil) {
			t.Errorf("%q: document %v and errors %v", tt.text, doc, f.Errs)
		}
		got := ""
		if len(f.Errs) > 0 {
			got = f.Errs.Error()
		}
		if got != tt.want {
			t.Errorf("%q: %s, want %s", tt.text, got, tt.want)
		}
	}
	if doc := New("f", nil).Document(""); doc != nil {
		t.Errorf("an empty file has the document %v", doc)
	}
}

func TestRead(t *testing.T) {
	if _, err := Read(t.TempDir()); err == nil {
		t.Error("no error for a folder")
	}
	if _, err := Read("nothing"); err == nil {
		t.Error("no error for a file that does not exist")
	}
}

func TestBool(t *testing.T) {
	plain := func(tag, value string) yaml.Node { return yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value} }
	quoted := plain("!!str", "true")
	quoted.Style = yaml.SingleQuotedStyle
	for _, tt := range []struct {
		node      yaml.Node
		value, ok bool
	}{
		{plain("!!bool", "true"), true, true},
		{plain("!!str", "yes"), true, true},
		{plain("!!str", "on"), true, true},
		{plain("!!str", "On"), true, true},
		{plain("!!bool", "TRUE"), true, true},
		{plain("!!bool", "False"), false, true},
		{plain("!!str", "no"), false, true},
		{plain("!!str", "OFF"), false, true},
		{plain("!!str", "tRUE"), false, false},
		{plain("!!str", "oN"), false, false},
		{plain("!!str", "falsely"), false, false},
		{plain("!!int", "on"), false, false},
		{quoted, false, false},
		{yaml.Node{Kind: yaml.AliasNode, Tag: "!!str", Value: "on"}, false, false},
	} {
		value, ok := Bool(&tt.node)
		if ok != tt.ok || ok && value != tt.value {
			t.Errorf("%s %s: %v, %v, want %v, %v", tt.node.Tag, tt.node.Value, value, ok, tt.value, tt.ok)
		}
		if tt.node.Tag == "!!str" && tt.node.Kind == yaml.ScalarNode && IsText(&tt.node) == ok {
			t.Errorf("%s is text: %v, though a boolean: %v", tt.node.Value, !ok, ok)
		}
	}
	if IsText(&yaml.Node{Kind: yaml.MappingNode, Tag: "!!str"}) || IsNull(&yaml.Node{Kind: yaml.MappingNode, Tag: "!!null"}) {
		t.Error("a mapping is text, or null")
	}
}

func TestSuggest(t *testing.T) {
	for _, tt := range []struct{ word, known, want string }{
		{"checks", "checks", "; did you mean checks?"},
		{"chekcs", "checks", "; did you mean checks?"},
		{"check", "checks", "; did you mean checks?"},
		{"abxx", "bcxx", ""},
		{"ab", "ba", "; did you mean ba?"},
		{"a", "checks", ""},
		{"checks", "a", ""},
	} {
		if got := Suggest(tt.word, []string{tt.known}); got != tt.want {
			t.Errorf("%s for %s: %q, want %q", tt.word, tt.known, got, tt.want)
		}
	}
	if got := Suggest("tagz", []string{"tegs", "tags", "togz"}); got != "; did you mean tags?" && got != "; did you mean togz?" {
		t.Errorf("nearest of three: %q", got)
	}
}

func TestSuggestOp(t *testing.T) {
	known := []string{"add.Tensor", "add_", "chunk", "abs", "addmm"}
	for name, want := range map[string]string{"ADD": "add_", "add.out": "add_", "chunkk": "chunk", "xhunk": "", "a": "", "": "", "_abs_": "abs"} {
		if want != "" {
			want = "; did you mean " + want + "?"
		}
		if got := SuggestOp(name, slices.Values(known)); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
