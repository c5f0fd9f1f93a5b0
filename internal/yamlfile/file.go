// Package yamlfile reads YAML that people write, and says exactly where everything in it stands: a position is that of
// a byte, its column counts bytes from 1, as [token.Position] and Go's tools do. Whatever is wrong with a file comes as
// one [scanner.ErrorList].
package yamlfile

import (
	"bytes"
	"errors"
	"fmt"
	"go/scanner"
	"go/token"
	"io"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// MaxSize is the size of the largest file that is read, in bytes. PyTorch's schema file is well under 1 MiB.
const MaxSize = 16 << 20

// A File is the text of a file, with its positions and its errors.
type File struct {
	Path string
	Errs scanner.ErrorList

	text  []byte
	lines []int // the offsets of their first bytes
}

// FirstLine returns the text up to the first line break.
func (f *File) FirstLine() string {
	line, _, _ := bytes.Cut(f.text, []byte("\n"))
	return string(line)
}

// Read returns the bytes of a file, at most one more than [MaxSize], so that a larger file shows.
func Read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, MaxSize+1))
}

// New returns the file of a text; path is only for positions. It finds the lines as YAML breaks them: also at a
// carriage return alone and at the line breaks of Unicode.
func New(path string, text []byte) *File {
	f := &File{Path: path, text: text}
	off := 0
	if bytes.HasPrefix(text, []byte("\ufeff")) {
		off = len("\ufeff")
	}
	f.lines = append(f.lines, off)
	for off < len(text) {
		r, size := rune(text[off]), 1
		if r >= utf8.RuneSelf { //mutate:equivalent true: only saves time
			r, size = utf8.DecodeRune(text[off:])
		}
		off += size
		switch {
		case r == '\n', r == '\r' && (off == len(text) || text[off] != '\n'), r == '\u0085', r == '\u2028', r == '\u2029':
			f.lines = append(f.lines, off)
		}
	}
	return f
}

// Report adds an error at a node.
func (f *File) Report(n *yaml.Node, format string, args ...any) {
	f.ReportAt(f.Pos(n), format, args...)
}

// ReportAt adds an error at a position.
func (f *File) ReportAt(pos token.Position, format string, args ...any) {
	f.Errs.Add(pos, fmt.Sprintf(format, args...))
}

// Pos returns where the node begins. A column of YAML counts characters, one of [token.Position] bytes.
func (f *File) Pos(n *yaml.Node) token.Position {
	line := min(max(n.Line, 1), len(f.lines))
	off := f.lines[line-1]
	for range n.Column - 1 {
		_, size := utf8.DecodeRune(f.text[off:])
		off += size
	}
	return f.offsetPos(off)
}

// offsetPos is the position of a byte.
func (f *File) offsetPos(off int) token.Position {
	line, exact := slices.BinarySearch(f.lines, off)
	if !exact && line > 0 {
		line--
	}
	return token.Position{Filename: f.Path, Offset: off, Line: line + 1, Column: max(off-f.lines[line], 0) + 1}
}

// Inside returns the positions of the bytes of a scalar's value. Where the value
// is folded or has escapes, that is the scalar's beginning.
func (f *File) Inside(n *yaml.Node) func(int) token.Position {
	start := f.Pos(n)
	text := f.text[start.Offset:]
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 && len(text) > 0 {
		text = text[1:]
		start.Offset++
		start.Column++
	}
	if len(text) < len(n.Value) || string(text[:len(n.Value)]) != n.Value {
		return func(int) token.Position { return start }
	}
	return From(start)
}

// From returns the positions behind one, in its line, by their distances.
func From(start token.Position) func(int) token.Position {
	return func(off int) token.Position {
		return token.Position{
			Filename: start.Filename, Offset: start.Offset + off, Line: start.Line, Column: start.Column + off}
	}
}

// Document returns the root of the file's one YAML document, nil where it has reported an error. A file without a
// document is an error with the text empty, or nil if that is "".
func (f *File) Document(empty string) *yaml.Node {
	if !f.readable() {
		return nil
	}
	d := yaml.NewDecoder(bytes.NewReader(f.text))
	var doc, second yaml.Node
	switch err := d.Decode(&doc); {
	case errors.Is(err, io.EOF):
		if empty != "" {
			f.ReportAt(f.offsetPos(0), "the file is empty: %s", empty)
		}
		return nil
	case err != nil: //mutate:equivalent false: the second document begins with the same error
		f.syntaxError(err)
		return nil
	}
	switch err := d.Decode(&second); {
	case err == nil:
		f.Report(&second, "a second YAML document begins here: put all entries into one")
		return nil
	case !errors.Is(err, io.EOF):
		f.syntaxError(err)
		return nil
	}
	return doc.Content[0]
}

// readable reports bytes that no YAML text can hold.
func (f *File) readable() bool {
	if len(f.text) > MaxSize {
		f.ReportAt(f.offsetPos(0), "the file is larger than %d MiB", MaxSize>>20)
		return false
	}
	for off := 0; off < len(f.text); {
		c := f.text[off]
		if ' ' <= c && c <= '~' { //mutate:equivalent false: only saves time
			off++
			continue
		}
		r, size := utf8.DecodeRune(f.text[off:])
		switch {
		case r == '\n', r == '\r', r == '\t':
		case bytes.HasPrefix(f.text, []byte("\xff\xfe")), bytes.HasPrefix(f.text, []byte("\xfe\xff")):
			f.ReportAt(f.offsetPos(off), "the file is UTF-16: save it as UTF-8")
			return false
		case r == utf8.RuneError && size == 1:
			f.ReportAt(f.offsetPos(off), "wrong UTF-8: byte 0x%02x: save the file as UTF-8", c)
			return false
		case unicode.IsControl(r) && r != '\u0085' || r == '\ufffe' || r == '\uffff' || r == '\ufeff' && off > 0:
			f.ReportAt(f.offsetPos(off), "control character %U: remove it", r)
			return false
		}
		off += size
	}
	return true
}

// syntaxError reports an error of the YAML parser. Its text may name a line,
// which counts from 0 where the grammar fails and from 1 elsewhere.
func (f *File) syntaxError(err error) {
	msg := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if n, _ := fmt.Sscanf(msg, "line %d: ", &line); n == 1 {
		_, msg, _ = strings.Cut(msg, ": ")
		if strings.HasPrefix(msg, "did not find expected") {
			line++
		}
	}
	f.ReportAt(f.offsetPos(f.lines[min(line, len(f.lines))-1]), "not YAML: %s%s", msg, f.hint(msg, line))
}

// hint returns the advice about a syntax error in a line, "" for none.
func (f *File) hint(msg string, line int) string {
	text := f.text[f.lines[min(line, len(f.lines))-1]:]
	switch blank := text[:len(text)-len(bytes.TrimLeft(text, " \t"))]; {
	case bytes.ContainsRune(blank, '\t'):
		return ": indent with spaces, not with tabs"
	case strings.Contains(msg, "',' or '}'"), strings.Contains(msg, "',' or ']'"),
		strings.Contains(msg, "mapping values are not allowed"):
		return ": put a value with brackets, commas or colons in quotes"
	case strings.Contains(msg, "expected key"), strings.Contains(msg, "'-' indicator"):
		return ": indent what belongs together alike"
	}
	return ""
}
