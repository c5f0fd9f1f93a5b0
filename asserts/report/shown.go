package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/printable"
	"github.com/opassert/opassert/internal/slicesx"
)

// A Form is how much a text report has.
type Form int

const (
	Brief   Form = iota // for each finding the call that shows it, and the fix; then the ending
	Verbose             // and each fact, and the tables of checks
	Quiet               // the ending alone
)

// A Shown is a finding as a person reads it.
type Shown struct {
	Level string      // "error" or "note"
	Code  string      // "OA009", "OA021/threads" or "crash"
	Says  string      // what is wrong, a sentence
	Lines [][2]string // names and texts: call, fix
	Facts string      // all that is known, as lines
}

// Show returns a violation, and the call that shows it, as a person reads them.
func Show(v *asserts.Violation, call string, more ...[2]string) *Shown {
	s := &Shown{Level: "error", Code: v.Symptom.Of(v.Code), Says: v.Sentence()}
	if v.Note != "" {
		s.Level = "note"
	}
	namespace, _, _ := strings.Cut(v.Op, "::")
	call = strings.TrimPrefix(call, namespace+"::")
	detail := v.Detail()
	if whole := call + ": " + detail; call != "" && detail != "" && indented+len(whole) <= width {
		call, detail = whole, ""
	}
	s.add([2]string{"call", call}, [2]string{"saw", detail}, [2]string{"by", v.Answer.String()}, [2]string{"fix", v.Fix})
	s.add(more...)
	_, s.Facts, _ = strings.Cut(v.Error(), "\n")
	return s
}

func (s *Shown) add(lines ...[2]string) {
	for _, l := range lines {
		if l[1] != "" {
			s.Lines = append(s.Lines, l)
		}
	}
}

// width is that of a report, and indented that of what stands before the texts of a finding.
const width, indented = 100, 15

// Write writes the finding, of a note or an error of any op.
func (s *Shown) Write(w io.Writer, form Form) error {
	t := textWriter{w: w}
	t.folded(fmt.Sprintf("  %-5s %s  ", s.Level, s.Code), s.Says, 8, 3)
	if form == Verbose && s.Facts != "" {
		for line := range strings.Lines(s.Facts) {
			t.line("      %s", strings.TrimSuffix(line, "\n"))
		}
		return t.err
	}
	for _, l := range s.Lines {
		if l[0] == "program" || l[0] == "again" { // to be copied
			t.line("        %-6s %s", l[0], l[1])
			continue
		}
		t.folded(fmt.Sprintf("        %-6s ", l[0]), l[1], indented, 2)
	}
	return t.err
}

// Text returns the finding as a person reads it, below its op and a place.
func (s *Shown) Text(op, where string) string {
	var b strings.Builder
	printable.Printf(&b, "%s\n", strings.TrimRight(op+"   "+where, " "))
	s.Write(&b, Brief)
	return printable.Text(strings.TrimSuffix(b.String(), "\n"))
}

// folded writes a text after a beginning, in at most that number of lines, the later ones indented.
func (t *textWriter) folded(begin, text string, indent, most int) {
	words, line, lines := strings.Fields(printable.Line(text)), begin, 1
	empty := true
	for i, word := range words {
		room := width
		if lines == most {
			room -= len(" ...")
		}
		if !empty && len([]rune(line))+1+len([]rune(word)) > room && (lines < most || i+1 < len(words)) {
			if lines == most {
				line += " ..."
				break
			}
			t.line("%s", strings.TrimRight(line, " "))
			line, empty = strings.Repeat(" ", indent), true
			lines++
		}
		if !empty {
			line += " "
		}
		line, empty = line+word, false
	}
	t.line("%s", strings.TrimRight(line, " "))
}

func (s *Shown) line(name string) string {
	i := slices.IndexFunc(s.Lines, func(l [2]string) bool { return l[0] == name })
	if i < 0 {
		return ""
	}
	return s.Lines[i][1]
}

func (r *Report) show(op *OpResult, f *Finding) *Shown {
	v := r.violation(op, f)
	at := ""
	if v.Site != op.Site {
		at = v.Site.String()
	}
	call := f.call()
	if on := f.elsewhere(); call != "" && on != "" {
		call += " on " + on
	}
	s := Show(v, call, [2]string{"at", at}, [2]string{"program", f.Program.Outcome()})
	s.Facts += "\n" + op.own(f.text(op.Op))
	return s
}

// elsewhere returns the devices of a finding that are hardware other than the CPU.
func (f *Finding) elsewhere() string {
	devices := slices.DeleteFunc(slices.Clone(f.Devices), func(d engine.Device) bool {
		return slices.Contains([]engine.Device{engine.CPU, engine.Meta, engine.Fake, engine.Rules}, d)
	})
	return slicesx.Join(devices, ", ", func(d engine.Device) string { return string(d) })
}

// call returns the call that shows a finding, or "" if none is needed.
func (f *Finding) call() string {
	if strings.HasPrefix(f.Call, "none: ") || f.Violation.Symptom == asserts.NoFake {
		return ""
	}
	return f.Call
}

func (r *Report) showCrash(op *OpResult, c Crash) *Shown {
	says := c.Cause
	if len(c.Frames) > 0 {
		says += ", in " + few(c.Frames, 3, " < ")
	}
	if c.Device != "" && c.Device != engine.CPU {
		says += ", on " + string(c.Device)
	}
	s := &Shown{Level: "error", Code: "crash", Says: says}
	namespace, _, _ := strings.Cut(op.Op, "::")
	s.add([2]string{"call", strings.TrimPrefix(c.Call, namespace+"::")}, [2]string{"said", c.Said})
	s.add([2]string{"same", few(r.sameCrash(op, c), 4, ", ")}, [2]string{"program", c.Program.Outcome()})
	_, s.Facts, _ = strings.Cut(r.CrashText(op, c), "\n")
	return s
}

// few joins at most n of the texts, and counts the others.
func few(texts []string, n int, sep string) string {
	if more := len(texts) - n; more > 1 {
		return strings.Join(texts[:n], sep) + fmt.Sprintf("%sand %d more", sep, more)
	}
	return strings.Join(texts, sep)
}

func (r *Report) found(op *OpResult) []asserts.Result {
	var all []asserts.Result
	for _, f := range op.Findings {
		v := r.violation(op, f)
		result := v.Result()
		result.Report += "\n" + op.own(f.text(op.Op))
		result.Case, result.Device, result.Count = strconv.Itoa(f.Case), f.On(), f.Times
		result.Program, result.Call = f.Program.path(), f.call()
		shown := r.show(op, f)
		shown.add([2]string{"again", v.Repro})
		result.Text = printable.Line(result.Text) + "\n" + shown.Text(op.Name(), cmp.Or(v.Site, op.Site).String())
		if f.Known {
			result.Status = asserts.Known
		}
		all = append(all, result)
	}
	for _, c := range op.Crashes {
		result := asserts.Result{Op: op.Op, Status: asserts.Crashed, Case: strconv.Itoa(c.Case), Device: string(c.Device),
			Reason: c.Cause, Report: r.CrashText(op, c), Program: c.Program.path(), Saw: c.Said, Call: c.Call,
			Text: "crash " + op.Name() + ": " + c.Cause + "\n" + r.showCrash(op, c).Text(op.Name(), op.Site.String())}
		switch {
		case c.Known:
			result.Status = asserts.Known
		case !c.Counts():
			result.Status, result.Reason = asserts.Skipped, c.Cause+", "+c.excuse()
			result.Report, result.Text = "", ""
		}
		all = append(all, result)
	}
	return all
}
