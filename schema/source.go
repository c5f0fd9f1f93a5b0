package schema

import (
	"bytes"
	"errors"
	"fmt"
	"go/scanner"
	"go/token"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// MaxFileSize is the largest schema or tags file that is read, in bytes.
// PyTorch's own is well under 1 MiB.
const MaxFileSize = 16 << 20

// A source is the text of a file with the places in it.
type source struct {
	path  string
	text  []byte
	lines []lineStart
	runes []int // offset of every runeStep-th character
	errs  scanner.ErrorList
}

// A lineStart is where a line begins, counted in bytes and in characters.
type lineStart struct{ off, rune int }

const runeStep = 64

// newSource finds the lines, as YAML breaks them: also at a carriage return
// alone and at the line breaks of Unicode.
func newSource(path string, text []byte) *source {
	s := &source{path: path, text: text}
	off := 0
	if bytes.HasPrefix(text, []byte("\ufeff")) {
		off = len("\ufeff")
	}
	s.lines = append(s.lines, lineStart{off, 0})
	for count := 0; off < len(text); count++ {
		if count%runeStep == 0 {
			s.runes = append(s.runes, off)
		}
		r, size := rune(text[off]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text[off:])
		}
		off += size
		switch {
		case r == '\n', r == '\r' && (off == len(text) || text[off] != '\n'), r == '\u0085', r == '\u2028', r == '\u2029':
			s.lines = append(s.lines, lineStart{off, count + 1})
		}
	}
	return s
}

// report adds an error at a node.
func (s *source) report(n *yaml.Node, msg string) { s.errs.Add(s.pos(n), msg) }

// pos is where the node begins. A column of YAML counts characters, one of
// [token.Position] bytes.
func (s *source) pos(n *yaml.Node) token.Position {
	line := min(max(n.Line, 1), len(s.lines))
	start := s.lines[line-1]
	off := len(s.text)
	if count := start.rune + max(n.Column, 1) - 1; count/runeStep < len(s.runes) {
		off = s.runes[count/runeStep]
		for range count % runeStep {
			_, size := utf8.DecodeRune(s.text[off:])
			off += size
		}
	}
	return token.Position{Filename: s.path, Offset: off, Line: line, Column: off - start.off + 1}
}

// offsetPos is the position of a byte.
func (s *source) offsetPos(off int) token.Position {
	line, exact := slices.BinarySearchFunc(s.lines, off, func(l lineStart, off int) int { return l.off - off })
	if !exact && line > 0 {
		line--
	}
	return token.Position{Filename: s.path, Offset: off, Line: line + 1, Column: max(off-s.lines[line].off, 0) + 1}
}

// inside gives the positions of the bytes of a scalar's value. Where the value
// is folded or has escapes, that is the scalar's beginning.
func (s *source) inside(n *yaml.Node) func(int) token.Position {
	start := s.pos(n)
	text := s.text[start.Offset:]
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 && len(text) > 0 {
		text = text[1:]
		start.Offset++
		start.Column++
	}
	if len(text) < len(n.Value) || string(text[:len(n.Value)]) != n.Value {
		return func(int) token.Position { return start }
	}
	return func(off int) token.Position {
		pos := start
		pos.Offset += off
		pos.Column += off
		return pos
	}
}

// document reads the file's one YAML document. It gives nil where it has
// reported an error.
func (s *source) document() *yaml.Node {
	if !s.readable() {
		return nil
	}
	d := yaml.NewDecoder(bytes.NewReader(s.text))
	var doc, second yaml.Node
	switch err := d.Decode(&doc); {
	case errors.Is(err, io.EOF):
		s.errs.Add(s.offsetPos(0), "the file is empty: expected a list of entries, - func: ...")
		return nil
	case err != nil:
		s.syntaxError(err)
		return nil
	}
	switch err := d.Decode(&second); {
	case err == nil:
		s.report(&second, "a second YAML document begins here: put all entries into one")
		return nil
	case !errors.Is(err, io.EOF):
		s.syntaxError(err)
		return nil
	}
	return doc.Content[0]
}

// readable reports what no YAML text can hold.
func (s *source) readable() bool {
	if len(s.text) > MaxFileSize {
		s.errs.Add(s.offsetPos(0), fmt.Sprintf("the file is larger than %d MiB, so it is no schema file", MaxFileSize>>20))
		return false
	}
	for off := 0; off < len(s.text); {
		c := s.text[off]
		if ' ' <= c && c <= '~' || c == '\n' || c == '\r' || c == '\t' {
			off++
			continue
		}
		r, size := utf8.DecodeRune(s.text[off:])
		switch {
		case r == utf8.RuneError && size == 1:
			s.errs.Add(s.offsetPos(off), fmt.Sprintf("wrong UTF-8: byte 0x%02x", c))
			return false
		case unicode.IsControl(r) && r != '\u0085' || r == '\ufffe' || r == '\uffff' || r == '\ufeff' && off > 0:
			s.errs.Add(s.offsetPos(off), fmt.Sprintf("control character %U", r))
			return false
		}
		off += size
	}
	return true
}

// syntaxError reports an error of the YAML parser. Its text may name a line,
// which counts from 0 where the grammar fails and from 1 elsewhere.
func (s *source) syntaxError(err error) {
	msg := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if rest, ok := strings.CutPrefix(msg, "line "); ok {
		number, after, _ := strings.Cut(rest, ": ")
		if n, err := strconv.Atoi(number); err == nil {
			line, msg = n, after
		}
		if strings.HasPrefix(msg, "did not find expected") {
			line++
		}
	}
	s.errs.Add(s.offsetPos(s.lines[min(line, len(s.lines))-1].off), "not YAML: "+msg)
}
