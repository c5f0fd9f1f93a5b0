package trace

import (
	"bytes"
	"fmt"
	"go/scanner"
	"go/token"
	"io"
	"os"
)

// maxLine is the longest line that can be one of the log; a longer one is
// passed over without being kept.
const maxLine = 64 << 10

// MaxSamples is how many unknown lines a [Report] shows.
const MaxSamples = 10

// A Sample is a line of the log's form that says something unknown.
type Sample struct {
	Line int64
	Text string
}

// A Report is what a whole log comes to.
type Report struct {
	Violations []Violation // by line
	Lines      int64       // of the file
	Records    int64       // lines of the log's form
	Unknown    int64       // those of them that are not understood
	Samples    []Sample    // the first unknown ones
	Replaced   int64       // how often a tensor's storage was replaced between two accesses
	Lives      [3]int64    // by kind
}

// A Reader follows a log that is written to it.
type Reader struct {
	f       follower
	report  Report
	rest    []byte // the line under way
	tooLong bool   // and it is passed over
	lastOwn int64  // the log's last own number; 0: it gives none
}

// NewReader gives a Reader that hands over lives as they end. A life may be
// handed over long after its last event; those that have no end in the log are
// handed over by Close.
func NewReader(ended func(Life)) *Reader {
	r := &Reader{}
	r.f = newFollower(func(l Life) {
		r.report.Lives[l.Kind]++
		ended(l)
	})
	return r
}

// Write takes the next piece of the log. It never fails.
func (r *Reader) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			r.keep(p)
			break
		}
		switch {
		case r.tooLong:
			r.tooLong = false
			r.line(nil, true)
		case len(r.rest) > 0:
			if r.keep(p[:end]); r.tooLong {
				r.tooLong = false
				r.line(nil, true)
			} else {
				r.line(r.rest, true)
			}
		case end > maxLine:
			r.line(nil, true)
		default:
			r.line(p[:end], true)
		}
		r.rest = r.rest[:0]
		p = p[end+1:]
	}
	return n, nil
}

func (r *Reader) keep(p []byte) {
	if r.tooLong = r.tooLong || len(r.rest)+len(p) > maxLine; !r.tooLong {
		r.rest = append(r.rest, p...)
	}
}

// Close ends the log.
func (r *Reader) Close() Report {
	if r.tooLong || len(r.rest) > 0 {
		if r.tooLong {
			r.rest = r.rest[:0]
		}
		r.line(r.rest, false)
		r.rest, r.tooLong = r.rest[:0], false
	}
	r.report.Violations = r.f.end()
	r.report.Replaced = r.f.replaced
	return r.report
}

// line takes one line; the last one may be cut off.
func (r *Reader) line(s []byte, whole bool) {
	r.report.Lines++
	number := r.report.Lines
	own, rest, numbered := ownNumber(s)
	begin, end := findTag(rest)
	if begin < 0 && numbered { // the number may be part of the prose
		begin, end = findTag(s)
		rest = s
	}
	if begin < 0 {
		r.prose(s, own, numbered)
		return
	}
	if numbered {
		number = own
		if r.lastOwn != 0 && own != r.lastOwn+1 {
			r.f.gaps++
		}
		r.lastOwn = own
	}
	r.f.number, r.f.whole = number, whole
	for {
		rest = rest[end:]
		r.report.Records++
		var rec record
		if parse(rest, &rec) {
			r.f.follow(&rec)
			return
		}
		// Another thread may have printed into the line.
		begin, end = findTag(rest)
		if begin < 0 {
			r.unknown(number, rest)
			return
		}
		if parse(rest[:begin], &rec) {
			r.f.follow(&rec)
		} else {
			r.unknown(number, rest[:begin])
		}
	}
}

// prose passes over a line that is not the log's. It may show a hole.
func (r *Reader) prose(s []byte, own int64, numbered bool) {
	if numbered && r.lastOwn != 0 && own == r.lastOwn+1 {
		r.lastOwn = own
	}
	s = bytes.TrimLeft(s, " \t>")
	if bytes.HasPrefix(s, []byte("```")) || bytes.HasPrefix(s, []byte("...")) || bytes.HasPrefix(s, []byte("…")) || bytes.HasPrefix(s, []byte("[...")) {
		r.f.gaps++
	}
}

func (r *Reader) unknown(number int64, s []byte) {
	r.report.Unknown++
	if len(r.report.Samples) < MaxSamples {
		s = bytes.ToValidUTF8(bytes.TrimSpace(s[:min(len(s), 200)]), []byte("?"))
		r.report.Samples = append(r.report.Samples, Sample{number, string(s)})
	}
}

// Read follows the log in a file; "-" is standard input. An error names the
// file: it can't be read, or there is no line of a log in it.
func Read(name string, ended func(Life)) (Report, error) {
	in := os.Stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return Report{}, err
		}
		defer f.Close()
		in = f
	}
	r := NewReader(ended)
	if _, err := io.CopyBuffer(r, struct{ io.Reader }{in}, make([]byte, 256<<10)); err != nil {
		return Report{}, err
	}
	report := r.Close()
	if report.Records == 0 {
		return report, scanner.ErrorList{{
			Pos: token.Position{Filename: name, Line: 1, Column: 1},
			Msg: fmt.Sprintf("none of the %d lines is one of the log, [file.cpp:LINE] (subject) message; give the output of a PyTorch that prints them", report.Lines),
		}}
	}
	return report, nil
}
