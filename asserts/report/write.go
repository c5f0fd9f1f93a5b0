package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/printable"
)

// titleOf returns the result in one line.
func titleOf(r asserts.Result) string {
	number, on := "", ""
	if r.Case != "" {
		number = "case " + r.Case
	}
	if r.Device != "" {
		on = "[" + strings.TrimSuffix(r.Device+", "+r.DType, ", ") + "]"
	}
	return columns(checkOf(r), r.Op, r.Subject, number, on)
}

// columns joins the texts that are not empty.
func columns(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), "  ")
}

// keyOf identifies the result across runs: it does not depend on the case and the dtype.
func keyOf(r asserts.Result) string {
	subject, _, _ := strings.Cut(r.Subject, "[")
	on := ""
	if r.Device != "" {
		on = "[" + r.Device + "]"
	}
	key := columns(checkOf(r), r.Op, subject, on)
	if reason, _, _ := strings.Cut(r.Reason, "\n"); reason != "" && (r.Code == 0 || r.Status == asserts.Skipped) {
		key += ": " + reason
	}
	return key
}

// checkOf returns the name of the result's check, or its status.
func checkOf(r asserts.Result) string {
	if r.Code == 0 {
		return string(r.Status)
	}
	return r.Code.String() + " " + r.Code.Name()
}

// messageOf returns the result's message, truncated if necessary.
func messageOf(r asserts.Result) string {
	switch {
	case r.Report != "":
		return r.Report
	case r.Reason != "":
		return titleOf(r) + ": " + r.Reason
	}
	return titleOf(r)
}

// WriteText writes a report for each violation, crash and failure, a line for each skip, and the
// totals.
func WriteText(w io.Writer, results []asserts.Result) error {
	var b strings.Builder
	counts := make(map[asserts.Status]int)
	for _, r := range results {
		counts[r.Status]++
		switch r.Status {
		case asserts.Passed:
		case asserts.Known:
			printable.Printf(&b, "known  %s\n", titleOf(r))
		case asserts.Skipped:
			printable.Printf(&b, "skipped  %s", messageOf(r))
			if r.Count > 0 {
				fmt.Fprintf(&b, " (%d)", r.Count)
			}
			b.WriteByte('\n')
		default:
			b.WriteString(printable.Text(strings.TrimSuffix(messageOf(r), "\n")))
			if r.Count > 1 {
				fmt.Fprintf(&b, "\n  times   %d", r.Count)
			}
			b.WriteString("\n\n")
		}
	}
	var totals []string
	for _, s := range []asserts.Status{asserts.Violated, asserts.Noted, asserts.Crashed, asserts.Failed, asserts.Known, asserts.Skipped, asserts.Passed} {
		if n := counts[s]; n > 0 || s == asserts.Violated {
			totals = append(totals, fmt.Sprintf("%d %s", n, s))
		}
	}
	fmt.Fprintln(&b, strings.Join(totals, ", "))
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteJSON writes the results as an array.
func WriteJSON(w io.Writer, results []asserts.Result) error {
	if results == nil {
		results = []asserts.Result{}
	}
	return printable.JSON(w, results, "  ")
}
