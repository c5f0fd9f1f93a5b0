package printable

import (
	"bytes"
	"encoding/json"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/internal/dev/must"
)

func TestText(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"plain", "a\tbé 日本\n", "a\tbé 日本\n"},
		{"escape", "\x1b[31mred\x1b[0m", `\u001b[31mred\u001b[0m`},
		{"C1", "\u009b31m", `\u009b31m`},
		{"bell, return, NUL, delete", "\a\r\x00\x7f", `\u0007\r\u0000\u007f`},
		{"direction", "a\u202eb\u2066c\u200f", `a\u202eb\u2066c\u200f`},
		{"not seen", "a\u200bb\ufeffc\u00ad", `a\u200bb\ufeffc\u00ad`},
		{"lines of Unicode", "a\u2028b\u2029c\u0085", `a\u2028b\u2029c\u0085`},
		{"not a character", "\uffff\ufffe", `\uffff\ufffe`},
		{"tag", "\U000e0041", `\udb40\udc41`},
		{"not UTF-8", "a\xff\xc3", `a\xff\xc3`},
		{"replacement", "\ufffd", "\ufffd"},
		{"workflow command", "::error::x\n  ::set-output\na::b\n :\u3000::c", ":\\u003aerror::x\n  :\\u003aset-output\na::b\n :\u3000::c"},
		{"three colons", ":::", `:\u003a:`},
		{"after other spaces", "\u00a0\u3000::error", "\u00a0\u3000:\\u003aerror"},
		{"after a return", "a\r::error", `a\r::error`},
		{"old command", "x ##[error]y ##vso[task]z ##teamcity[a ###[b #[c ## [d #e#[f", `x ##\u005berror]y ##vso\u005btask]z ##teamcity\u005ba ###\u005bb #[c ## [d #e#[f`},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, Text(tt.text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		var b bytes.Buffer
		w := NewWriter(&b)
		must.Get(io.Copy(struct{ io.Writer }{w}, iotest.OneByteReader(strings.NewReader(tt.text))))(t)
		w.Flush()
		if diff := cmp.Diff(tt.want, b.String()); diff != "" {
			t.Errorf("%s, byte by byte (-want +got):\n%s", tt.name, diff)
		}
	}
}

// Errors of the underlying writer are returned.
func TestWriteError(t *testing.T) {
	closed, to := io.Pipe()
	closed.Close()
	if n, err := NewWriter(to).Write([]byte("a")); n != 0 || err == nil {
		t.Errorf("%d bytes are written, %v", n, err)
	}
}

func TestLine(t *testing.T) {
	for text, want := range map[string]string{
		"as it is": "as it is", "a\nb\tc": `a\nb\tc`, "\u2028": `\u2028`, "é\xff": `é\xff`, "a\x1b": `a\u001b`, "\r\n": `\r\n`,
	} {
		if got := Line(text); got != want {
			t.Errorf("Line(%q) is %q, want %q", text, got, want)
		}
	}
}

// Formatted text has only the line breaks of the format.
func TestPrintf(t *testing.T) {
	var b bytes.Buffer
	err := Printf(&b, "%-5s|%d %v %q\n%s\n", "a\nb", 7, []string{"\x1b"}, "\n", Lines("one\ntwo"))
	if want := "a\\nb  |7 [\\u001b] \"\\n\"\none\ntwo\n"; err != nil || b.String() != want {
		t.Errorf("Printf writes %q, %v; want %q", b.String(), err, want)
	}
}

func TestIn(t *testing.T) {
	for text, want := range map[string]string{
		"add.Tensor": "add.Tensor", "my_ops::add_.out": "my_ops::add_.out", "out of memory": "out of memory",
		"a, checks: [OA001]": `"a, checks: [OA001]"`, "a: b": `"a: b"`, "a#b": `"a#b"`, "": `""`, "a\nb": `"a\nb"`, "Null": `"Null"`, "-x": `"-x"`,
	} {
		if got := YAML(text); got != want {
			t.Errorf("YAML(%q) is %s, want %s", text, got, want)
		}
	}
}

// Output is printable, starts no command, and stays the same value if it is JSON.
func FuzzText(f *testing.F) {
	for _, seed := range []string{"::a\x1b\u202e\xff\n##[x", "é\U000e0041\x00\r\n ::", "#\xe2\x80"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range Line(text) {
			if !unicode.IsGraphic(r) {
				t.Fatalf("Line(%q) has %q", text, r)
			}
		}
		printed := Text(text)
		if !utf8.ValidString(printed) || Text(printed) != printed {
			t.Fatalf("Text(%q) is %q, and of that %q", text, printed, Text(printed))
		}
		for line := range strings.SplitSeq(printed, "\n") {
			if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") {
				t.Fatalf("Text(%q) has the line %q", text, line)
			}
			for _, r := range line {
				if r != '\t' && !unicode.IsGraphic(r) {
					t.Fatalf("Text(%q) has %q", text, r)
				}
			}
		}
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		must.Do(t, enc.Encode([]string{text}))
		var want, got []string
		if json.Unmarshal(b.Bytes(), &want) != nil || json.Unmarshal([]byte(Text(b.String())), &got) != nil || want[0] != got[0] {
			t.Fatalf("as JSON %q is %q", want, got)
		}
	})
}

// A shell splits a command into the same words.
func TestShell(t *testing.T) {
	words := []string{"opassert", "", "my folder/a.so", "it's", "$HOME", "`x`", `a\b`, "*", "ns::op.out", "-op=f(x)", "a;b", "#", "~", "ü", "a\nb"}
	out, err := exec.Command("sh", "-c", "printf '%s\\0' "+Shell(words...)).Output()
	if got := strings.Split(string(out), "\x00"); err != nil || !slices.Equal(got[:len(got)-1], words) {
		t.Errorf("%s: %q, %v", Shell(words...), got, err)
	}
	if got, want := Shell("opassert", "check", "-op", "ns::op.out"), "opassert check -op ns::op.out"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A list is written row by row, and reads as if it were written at once.
func TestJSONRows(t *testing.T) {
	rows := []any{map[string]any{"a": []int{1, 2}, "b": "<é>"}, nil, 3, []string{}}
	for _, v := range []any{rows, rows[:1], rows[:0], []any(nil), rows[0], []byte("text"), json.RawMessage(`{"a":1}`)} {
		for _, indent := range []string{"", " ", "  "} {
			var got, want bytes.Buffer
			must.Do(t, JSON(&got, v, indent))
			enc := json.NewEncoder(&want)
			enc.SetEscapeHTML(false)
			enc.SetIndent("", indent)
			must.Do(t, enc.Encode(v))
			if diff := cmp.Diff(want.String(), got.String()); diff != "" {
				t.Errorf("JSON(%v, %q) (-want +got):\n%s", v, indent, diff)
			}
		}
	}
}
