// Package printable writes foreign text, such as names, messages and paths, so that
// it does nothing to a terminal, a CI or a reader.
//
// Control characters, those that change the direction of text, and other invisible ones are escaped as in strings of
// JSON and Go, \u001b, and bytes that are not UTF-8 as \xff. Commands to a CI, :: at the start of a line and ##[
// anywhere, are escaped too. A JSON text stays the same value: it has such characters only in strings, which may have
// these escapes.
package printable

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/opassert/opassert/internal/slicesx"
)

// JSON writes a value as JSON, indented by indent, or in one line for "".
func JSON(w io.Writer, v any, indent string) error {
	rows := reflect.ValueOf(v)
	if indent != "" && rows.Kind() == reflect.Slice && rows.Len() > 0 && //mutate:equivalent false: only saves time
		rows.Type().Elem().Kind() != reflect.Uint8 { //mutate:equivalent false: only saves time
		return jsonRows(w, rows, indent)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	return enc.Encode(v)
}

// jsonRows writes a list row by row: the text of thousands takes megabytes, and as much time to copy as to make.
func jsonRows(w io.Writer, rows reflect.Value, indent string) error {
	out := bufio.NewWriterSize(w, 1<<16)
	var row bytes.Buffer
	enc := json.NewEncoder(&row)
	enc.SetEscapeHTML(false)
	enc.SetIndent(indent, indent)
	before := "[\n"
	for i := range rows.Len() {
		row.Reset()
		if err := enc.Encode(rows.Index(i).Interface()); err != nil {
			return err
		}
		out.WriteString(before + indent)
		out.Write(bytes.TrimSuffix(row.Bytes(), []byte("\n")))
		before = ",\n"
	}
	out.WriteString("\n]\n")
	return out.Flush()
}

// Line returns a text in one line: it escapes line breaks and tabs too.
func Line(text string) string {
	var line []byte
	for text != "" {
		r, n := utf8.DecodeRuneInString(text)
		line = appendRune(line, r, text[:n])
		text = text[n:]
	}
	return string(line)
}

// Text returns a text of several lines.
func Text(text string) string {
	var b bytes.Buffer
	w := NewWriter(&b)
	io.WriteString(w, text)
	w.Flush()
	return b.String()
}

// Printf is [fmt.Fprintf] with each argument formatted by [Line], except [Lines].
func Printf(w io.Writer, format string, args ...any) error {
	_, err := io.WriteString(w, Sprintf(format, args...))
	return err
}

// Sprintf is [fmt.Sprintf] with arguments formatted as by [Printf].
func Sprintf(format string, args ...any) string {
	return fmt.Sprintf(format, slicesx.Map(args, func(arg any) any { return lineArgument{arg} })...)
}

// Lines is printable text of several lines, such as a report.
type Lines string

// A lineArgument of Printf formats its value in one line.
type lineArgument struct{ value any }

func (a lineArgument) Format(state fmt.State, verb rune) {
	text := fmt.Sprintf(fmt.FormatString(state, verb), a.value)
	if _, ok := a.value.(Lines); !ok {
		text = Line(text)
	}
	io.WriteString(state, text)
}

// YAML returns a text as a YAML scalar, in quotes if needed.
func YAML(text string) string {
	if plainScalar.MatchString(text) && !strings.EqualFold(text, "null") {
		return text
	}
	return strconv.Quote(text)
}

// plainScalar matches names of ops, and nothing that YAML does not read as the same text.
var plainScalar = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*((\.|::| )[A-Za-z0-9_]+)*$`)

// appendRune appends a character, or its escape.
func appendRune(b []byte, r rune, raw string) []byte {
	switch {
	case r == utf8.RuneError && len(raw) == 1:
		return fmt.Appendf(b, `\x%02x`, raw[0])
	case unicode.IsGraphic(r):
		return append(b, raw...)
	case r > 0xffff:
		high, low := utf16.EncodeRune(r)
		return fmt.Appendf(b, `\u%04x\u%04x`, high, low)
	}
	if i := strings.IndexRune("\b\f\n\r\t", r); i >= 0 {
		return append(b, '\\', "bfnrt"[i])
	}
	return fmt.Appendf(b, `\u%04x`, r)
}

// A Writer writes printable text to another writer. Line breaks and tabs stay. It is safe for concurrent use.
type Writer struct {
	mu      sync.Mutex
	w       io.Writer
	out     []byte
	partial []byte       // the start of a character that continues in the next Write
	command commandGuard // the command that the line may become
}

// NewWriter returns a Writer to w, to be flushed at the end.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write writes text, which may start or end within a character.
func (w *Writer) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := text
	if len(w.partial) > 0 {
		all = append(w.partial, text...)
	}
	w.out = slices.Grow(w.out[:0], len(all))
	for {
		n := w.command.plain(all)
		w.out = append(w.out, all[:n]...)
		if all = all[n:]; !utf8.FullRune(all) {
			break
		}
		r, n := utf8.DecodeRune(all)
		w.put(r, string(all[:n]))
		all = all[n:]
	}
	w.partial = bytes.Clone(all)
	if _, err := w.w.Write(w.out); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Flush writes an incomplete character.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var rest []byte
	for _, b := range w.partial {
		rest = appendRune(rest, utf8.RuneError, string([]byte{b}))
	}
	w.partial = nil
	_, err := w.w.Write(rest)
	return err
}

func (w *Writer) put(r rune, raw string) {
	switch {
	case w.command.completed(r):
		w.out = fmt.Appendf(w.out, `\u%04x`, r)
	case r == '\n' || r == '\t':
		w.out = append(w.out, raw...)
	default:
		w.out = appendRune(w.out, r, raw)
	}
}

// A commandGuard tracks whether a line may be a command to a CI: "::error" after nothing
// but spaces, "##[error]" and "##vso[task]" anywhere.
type commandGuard struct {
	begun  bool // the line has other characters than spaces
	colon  bool // the line is spaces and a colon
	hashes int  // two, and then letters alone
}

// plain returns how many bytes come before one that is to be escaped or may be part of a command: most
// of a text of megabytes, which it would take half of the time to look at rune by rune.
func (c *commandGuard) plain(text []byte) int {
	switch {
	case c.colon || c.hashes > 0: //mutate:equivalent true: only saves time
		return 0
	case !c.begun: //mutate:equivalent false: only saves time
		return len(text) - len(bytes.TrimLeft(text, " "))
	}
	for i, b := range text { // bytes.IndexFunc decodes each rune
		if b < ' ' || b > '~' || b == '#' {
			return i
		}
	}
	return len(text)
}

// completed reports whether a character completes a command.
func (c *commandGuard) completed(r rune) bool {
	if r == '\n' {
		*c = commandGuard{}
		return false
	}
	made := c.colon && r == ':' || c.hashes == 2 && r == '['
	c.colon = !c.begun && r == ':'
	c.begun = c.begun || !unicode.IsSpace(r)
	switch {
	case r == '#':
		c.hashes = min(c.hashes+1, 2)
	case c.hashes < 2 || !unicode.IsLetter(r):
		c.hashes = 0
	}
	return made
}
