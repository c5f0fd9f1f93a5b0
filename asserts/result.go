package asserts

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/opassert/opassert/internal/printable"
)

// A Result is one line of the report of a run of checks: of a program under OPASSERT=collect, of a
// test, of a suite over a whole library.
type Result struct {
	Op      string `json:"op,omitempty"`      // "" for a result that concerns no op
	Code    Code   `json:"code,omitempty"`    // 0: about the op as a whole
	Subject string `json:"subject,omitempty"` // "argument tensors[1]"
	Status  Status `json:"status"`
	Case    string `json:"case,omitempty"` // of the op, if a suite made several
	Device  string `json:"device,omitempty"`
	DType   string `json:"dtype,omitempty"`
	Count   int    `json:"count,omitempty"`  // how often
	Reason  string `json:"reason,omitempty"` // why it was skipped, or the cause of the crash
	Report  string `json:"report,omitempty"`
	Site    Site   `json:"site,omitzero"`
	Program string `json:"program,omitempty"` // the file of a program that reproduces it without opassert

	Took time.Duration `json:"-"` // differs between runs
}

// A Status is the outcome of a check.
type Status string

const (
	Violated Status = "violated"
	Noted    Status = "noted" // violated, but debatable: not an error
	Passed   Status = "passed"
	Skipped  Status = "skipped"
	Crashed  Status = "crashed" // the kernel crashed its process
	Known    Status = "known"   // violated or crashed, and listed in the baseline
	Failed   Status = "failed"  // the kernel returned an error, so no call was judged
)

// Result returns the violation as a result.
func (v *Violation) Result() Result {
	status := Violated
	if v.Note != "" {
		status = Noted
	}
	return Result{
		Op: v.Op, Code: v.Code, Subject: v.Subject.String(), Status: status, Reason: v.Note,
		Device: v.Device, DType: v.DType, Count: 1, Report: v.Error(), Site: v.Site,
	}
}

// Results returns the violations, and then the skips.
func (s Summary) Results() []Result {
	var results []Result
	for _, f := range s.Found {
		r := f.Result()
		r.Count = f.Count
		results = append(results, r)
	}
	for _, skip := range s.Skips {
		results = append(results, Result{Code: skip.Code, Status: Skipped, Count: skip.Count, Reason: skip.Reason})
	}
	return results
}

// title returns the result in one line.
func (r Result) title() string {
	number, on := "", ""
	if r.Case != "" {
		number = "case " + r.Case
	}
	if r.Device != "" {
		on = "[" + strings.TrimSuffix(r.Device+", "+r.DType, ", ") + "]"
	}
	return columns(r.what(), r.Op, r.Subject, number, on)
}

// columns joins the texts that are not empty.
func columns(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), "  ")
}

// key identifies the result across runs: it does not depend on the case and the dtype.
func (r Result) key() string {
	subject, _, _ := strings.Cut(r.Subject, "[")
	on := ""
	if r.Device != "" {
		on = "[" + r.Device + "]"
	}
	key := columns(r.what(), r.Op, subject, on)
	if reason, _, _ := strings.Cut(r.Reason, "\n"); reason != "" && (r.Code == 0 || r.Status == Skipped) {
		key += ": " + reason
	}
	return key
}

// what returns the name of the result's check, or its status.
func (r Result) what() string {
	if r.Code == 0 {
		return string(r.Status)
	}
	return r.Code.String() + " " + r.Code.Name()
}

// message returns the result's message, truncated if necessary.
func (r Result) message() string {
	switch {
	case r.Report != "":
		return r.Report
	case r.Reason != "":
		return r.title() + ": " + r.Reason
	}
	return r.title()
}

// WriteText writes a report for each violation, crash and failure, a line for each skip, and the
// totals.
func WriteText(w io.Writer, results []Result) error {
	var b strings.Builder
	counts := make(map[Status]int)
	for _, r := range results {
		counts[r.Status]++
		switch r.Status {
		case Passed:
		case Known:
			printable.Printf(&b, "known  %s\n", r.title())
		case Skipped:
			printable.Printf(&b, "skipped  %s", r.message())
			if r.Count > 0 {
				fmt.Fprintf(&b, " (%d)", r.Count)
			}
			b.WriteByte('\n')
		default:
			b.WriteString(printable.Text(strings.TrimSuffix(r.message(), "\n")))
			if r.Count > 1 {
				fmt.Fprintf(&b, "\n  times   %d", r.Count)
			}
			b.WriteString("\n\n")
		}
	}
	var totals []string
	for _, s := range []Status{Violated, Noted, Crashed, Failed, Known, Skipped, Passed} {
		if n := counts[s]; n > 0 || s == Violated {
			totals = append(totals, fmt.Sprintf("%d %s", n, s))
		}
	}
	fmt.Fprintln(&b, strings.Join(totals, ", "))
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteJSON writes the results as an array.
func WriteJSON(w io.Writer, results []Result) error {
	if results == nil {
		results = []Result{}
	}
	return printable.JSON(w, results, "  ")
}
