package report

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/slicesx"
)

// A Baseline is the known findings and crashes of ops. A line is a check or a symptom, an op and a subject,
// or "crash", an op and a cause, without the number of a case or a seed.
type Baseline struct {
	Path  string
	Lines []baselineLine
}

const baselineMark = "# opassert baseline: findings that are known"

// ReadBaseline reads a baseline file. The error for a missing file is fs.ErrNotExist.
func ReadBaseline(path string) (*Baseline, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	b := &Baseline{Path: path}
	n := 0
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\uFEFF")) {
		n++
		line = strings.TrimSpace(line)
		if n == 1 && !strings.HasPrefix(line, baselineMark) {
			return nil, fmt.Errorf("%s:1:1: not a baseline: its first line does not begin with %q", path, baselineMark)
		}
		if line == "" || line[0] == '#' {
			continue
		}
		fields := strings.Fields(line)
		if len(fields) < 3 {
			return nil, fmt.Errorf("%s:%d:1: want a code, an op and a subject, such as OA007  aten::view  result", path, n)
		}
		if _, _, err := asserts.ParseSymptom(fields[0]); err != nil && fields[0] != "crash" {
			return nil, fmt.Errorf("%s:%d:1: %w", path, n, err)
		}
		b.Lines = append(b.Lines, newBaselineLine(fields[0], fields[1], strings.Join(fields[2:], " ")))
	}
	if len(text) == 0 {
		return nil, fmt.Errorf("%s:1:1: not a baseline: it is empty", path)
	}
	return b, nil
}

// NewBaseline is ReadBaseline for a file that may not exist yet.
func NewBaseline(path string) (*Baseline, error) {
	b, err := ReadBaseline(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &Baseline{Path: path}, nil
	}
	return b, err
}

// Write writes the baseline.
func (b *Baseline) Write(w io.Writer) error {
	t := textWriter{w: w}
	t.line("%s, written by -baseline FILE -update", baselineMark)
	for _, l := range b.Lines {
		t.line("%v", l)
	}
	return t.err
}

// Mark marks the findings and crashes of the report that the baseline lists.
func (b *Baseline) Mark(r *Report) {
	for _, op := range r.Ops {
		for _, f := range op.Findings {
			line := f.baseline()
			f.Known = slices.ContainsFunc(b.Lines, func(l baselineLine) bool { return l.lists(line) })
		}
		for i := range op.Crashes {
			c := &op.Crashes[i]
			c.Known = slices.Contains(b.Lines, c.baseline(op.Op))
		}
	}
	r.Gone = b.gone(r)
}

// gone returns the lines of ops that ran without showing them, except for checks that the run did not make.
func (b *Baseline) gone(r *Report) []baselineLine {
	found := r.baseline()
	var gone []baselineLine
	for _, l := range b.Lines {
		code, _, _ := asserts.ParseSymptom(l.Code) // 0 for a crash
		made := slices.ContainsFunc(r.Ops, func(op *OpResult) bool {
			return op.Op == l.Op && op.Ran > 0 && (code == 0 || code == asserts.SchemaLint || op.Devices.Sum().Judged[code] > 0)
		})
		if made && !slices.ContainsFunc(found, l.lists) {
			gone = append(gone, l)
		}
	}
	return gone
}

// Absent returns the lines of ops that are not among these.
func (b *Baseline) Absent(all []engine.Operator) []baselineLine {
	return slices.DeleteFunc(slices.Clone(b.Lines), func(l baselineLine) bool {
		return slices.ContainsFunc(all, func(o engine.Operator) bool { return o.Name() == l.Op })
	})
}

// Update replaces the lines of the ops that ran by those of a report.
func (b *Baseline) Update(r *Report) {
	gone, found := b.gone(r), r.baseline()
	lines := slices.DeleteFunc(slices.Clone(b.Lines), func(l baselineLine) bool {
		return slices.Contains(gone, l) || slices.ContainsFunc(found, l.lists)
	})
	lines = append(lines, found...)
	slices.SortFunc(lines,
		func(x, y baselineLine) int { return strings.Compare(x.Op+" "+x.String(), y.Op+" "+y.String()) })
	b.Lines = slices.Compact(lines)
}

// baseline returns a line for everything that the report shows.
func (r *Report) baseline() []baselineLine {
	var lines []baselineLine
	for _, op := range r.Ops {
		lines = append(lines, slicesx.Map(op.Findings, (*Finding).baseline)...)
		for _, c := range op.Crashes {
			if c.Alone && c.Waived == "" {
				lines = append(lines, c.baseline(op.Op))
			}
		}
	}
	return lines
}
