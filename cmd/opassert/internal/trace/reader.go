package trace

import (
	"bytes"
	"cmp"
	"fmt"
	"go/scanner"
	"go/token"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/opassert/opassert/asserts/preserve"
)

// maxLine is the length of the longest line of a log; longer ones are skipped.
const maxLine = 64 << 10

// MaxSamples is the number of unknown lines in a [Report].
const MaxSamples = 10

// A LogReport is the summary of a whole log.
type LogReport struct {
	Violations []InvariantViolation `json:"violations"` // by line; those with a Root follow from others
	Warnings   []InvariantViolation `json:"warnings"`   // by line: with a healthy explanation, or explained by a violation
	Unknown    int64                `json:"unknown"`    // lines of the log's form with an unknown message
	Replaced   int64                `json:"replaced"`   // how often a tensor's storage was replaced between two accesses
	Records    int64                `json:"records"`    // lines of the log's form
	Lines      int64                `json:"lines"`      // of the file
	Samples    []Reason             `json:"-"`          // the first unknown ones
	Lives      [numKinds]int64      `json:"-"`          // by kind
}

// roots returns the violations that follow from no other.
func (r *LogReport) roots() []InvariantViolation {
	return slices.DeleteFunc(slices.Clone(r.Violations), func(v InvariantViolation) bool { return v.Root != 0 })
}

// A Reader follows a log that is written to it.
type Reader struct {
	worlds  map[string]*world
	ranks   bool // lines begin with the number of their process
	ended   func(Life)
	torch   string // version
	report  LogReport
	rest    []byte // the current line so far
	tooLong bool   // the current line is skipped
	numbers numbers
	gaps    int64 // holes met so far
	hole    bool  // skipped text may hide lines, unless line numbers disprove it
	cutAt   int64 // the last line, if it is truncated
}

// A world is one of the processes that print into a log.
type world struct {
	*follower
	numbers numbers // after the process's name
	gaps    int64
}

type numbers struct{ last int64 }

// follows reports whether n is the next number. A hole before the first one hides nothing.
func (k *numbers) follows(n int64) bool {
	ok := n == k.last+1
	k.last = n
	return ok
}

// NewReader returns a Reader that passes lives to ended as they end, maybe long after the last event; Close passes
// those without an end in the log. torch is the version of the PyTorch that printed the log; if it is "", the first
// protocol applies until the log names a version.
func NewReader(torch string, ended func(Life)) *Reader {
	r := &Reader{worlds: map[string]*world{}, torch: torch}
	r.report.Violations, r.report.Warnings = []InvariantViolation{}, []InvariantViolation{} // never null
	r.ended = func(l Life) {
		r.report.Lives[l.Kind]++
		ended(l)
	}
	return r
}

func (r *Reader) world(name string) *world {
	w := r.worlds[name]
	if w == nil {
		w = &world{follower: newFollower(name, preserve.ProtocolOf(r.torch), r.ended)}
		r.worlds[name] = w
	}
	return w
}

// Write reads the next piece of the log. It never fails.
func (r *Reader) Write(p []byte) (int, error) {
	n := len(p)
	for {
		piece, rest, ended := bytes.Cut(p, []byte("\n"))
		r.keep(piece)
		if !ended {
			return n, nil
		}
		r.end(true)
		p = rest
	}
}

func (r *Reader) keep(p []byte) {
	if r.tooLong = r.tooLong || len(r.rest)+len(p) > maxLine; r.tooLong {
		r.rest = r.rest[:0]
		return
	}
	r.rest = append(r.rest, p...)
}

// end reads the current line.
func (r *Reader) end(whole bool) {
	r.report.Lines++
	r.line(r.rest, whole)
	r.rest, r.tooLong = r.rest[:0], false
}

// Close ends the log.
func (r *Reader) Close() LogReport {
	if r.tooLong || len(r.rest) > 0 {
		r.end(false)
	}
	for _, name := range slices.Sorted(maps.Keys(r.worlds)) {
		w := r.worlds[name]
		for _, v := range w.end(r.cutAt) {
			if v.Warning == "" {
				r.report.Violations = append(r.report.Violations, *v)
			} else {
				r.report.Warnings = append(r.report.Warnings, *v)
			}
		}
		r.report.Replaced += w.replaced
	}
	for _, all := range [][]InvariantViolation{r.report.Violations, r.report.Warnings} {
		slices.SortStableFunc(all, func(a, b InvariantViolation) int {
			return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Code, b.Code))
		})
	}
	return r.report
}

// line reads one line of a program's output; the last one may be truncated.
func (r *Reader) line(s []byte, whole bool) {
	s = uncolored(s)
	own, rest, numbered := ownNumber(s)
	// srun -l writes "3: ", parallel "3\t" and others "[3] ", and a number of a line's own is not written twice.
	var rank []byte
	if n := len(s) - len(rest); numbered && (s[n-1] == '\t' || string(s[n-2:n]) == ": " || string(s[n-2:n]) == "] ") &&
		(r.ranks || own == r.numbers.last && own < 1<<16) {
		r.ranks, numbered, rank = true, false, bytes.Trim(s[:n], " \t:[]>")
	}
	begin, end := findTag(rest)
	if begin < 0 {
		r.prose(s, own)
		if !whole && len(bytes.TrimSpace(rest)) > 0 {
			r.cutAt = r.report.Lines
			if numbered {
				r.cutAt = own
			}
		}
		return
	}
	number := r.report.Lines
	if numbered {
		number = own
	}
	w := r.world(string(rank))
	if name, after := process(bytes.TrimSpace(rest[:begin])); len(name) > 0 {
		w = r.world(string(name))
		if n, ok := onlyNumber(after); ok && !numbered {
			number = n
			if !w.numbers.follows(n) {
				w.gaps++
			}
			r.hole = false
		}
	}
	switch {
	case numbered:
		if !r.numbers.follows(own) {
			r.gaps++
		}
	case r.hole:
		r.gaps++
	}
	r.hole = false
	w.follower.gaps = r.gaps + w.gaps
	w.number, w.whole = number, whole
	for begin >= 0 {
		rest = rest[end:]
		begin, end = findTag(rest) // another thread may have printed into the line
		r.report.Records++
		said, last := rest, begin < 0
		if !last {
			said = rest[:begin]
		}
		r.record(w, said, !whole && last)
	}
}

// record reads the text after a tag, which may be truncated.
func (r *Reader) record(w *world, said []byte, cut bool) {
	var rec logRecord
	switch {
	case cut && parseCut(said, &rec), parse(said, &rec):
		w.follow(&rec)
	case cut:
		r.cutAt = w.number
	default:
		r.unknown(w.number, said)
		if torn(said) {
			w.gaps++
			w.follower.gaps = r.gaps + w.gaps
		}
	}
}

// colours matches the escape sequences of a terminal.
var colours = lazily("\x1b(\\[[^@-~]*([@-~]|$)|[^\\[]|$)")

// uncolored returns a line without them.
func uncolored(s []byte) []byte {
	if bytes.IndexByte(s, 0x1b) < 0 { //mutate:equivalent false: only saves time
		return s
	}
	return colours().ReplaceAll(s, nil)
}

// prose skips a line that is not the log's. It may mark a hole.
func (r *Reader) prose(s []byte, own int64) {
	if own == r.numbers.last+1 {
		r.numbers.last = own
	}
	r.hole = r.hole || elision().Match(bytes.TrimLeft(s, " \t>"))
}

// elision matches a mark of omitted lines: a fence, or dots, unless they belong to a word as in "...done".
var elision = lazily("^(```|[\\[(<]?(\\.\\.\\.|…)([^\\pL\\pN]|$))")

func (r *Reader) unknown(number int64, s []byte) {
	r.report.Unknown++
	if len(r.report.Samples) < MaxSamples {
		s = bytes.ToValidUTF8(bytes.TrimSpace(s[:min(len(s), 200)]), []byte("?"))
		r.report.Samples = append(r.report.Samples, Reason{number, string(s)})
	}
}

// Read follows the log of a version of PyTorch in a file, as [NewReader] does; "-" is standard input. It is an error if
// the file can't be read, has no line of a log, or if most of those lines are unknown.
func Read(name, torch string, ended func(Life)) (LogReport, error) {
	in := os.Stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return LogReport{}, err
		}
		defer f.Close()
		in = f
	}
	r := NewReader(torch, ended)
	if _, err := io.CopyBuffer(r, struct{ io.Reader }{in}, make([]byte, 256<<10)); err != nil {
		return LogReport{}, fmt.Errorf("%s: %w", name, err)
	}
	report := r.Close()
	bad := func(line int64, format string, args ...any) (LogReport, error) {
		return report, scanner.ErrorList{{
			Pos: token.Position{Filename: name, Line: int(line), Column: 1},
			Msg: fmt.Sprintf(format, args...),
		}}
	}
	switch {
	case report.Records == 0:
		return bad(1, "none of the %d lines is one of the log, [file.cpp:LINE] (subject) message; "+
			"give the output of a PyTorch that prints them", report.Lines)
	case report.Unknown*2 > report.Records && len(report.Violations) == 0:
		return bad(report.Samples[0].Line,
			"%d of the log's %d lines are unknown, from this one on: %q; "+
				"they are from another patch than those that print the storages' objects",
			report.Unknown, report.Records, report.Samples[0].Says)
	}
	return report, nil
}
