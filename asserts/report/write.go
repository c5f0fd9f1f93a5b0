package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts"
)

func firstLine(r asserts.Result, other string) string {
	first, _, _ := strings.Cut(r.Text, "\n")
	return cmp.Or(first, other)
}

func titleOf(r asserts.Result) string {
	number, on := "", ""
	if r.Case != "" {
		number = "case " + r.Case
	}
	if r.Device != "" {
		on = "[" + strings.TrimSuffix(r.Device+", "+r.DType, ", ") + "]"
	}
	return joined(checkOf(r), r.Op, r.Subject, number, on)
}

func joined(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), "  ")
}

// keyOf identifies the result across runs: it does not depend on the case and the dtype.
func keyOf(r asserts.Result) string {
	subject, _, _ := strings.Cut(r.Subject, "[")
	on := ""
	if r.Device != "" {
		on = "[" + r.Device + "]"
	}
	key := joined(checkOf(r), r.Op, subject, on)
	if reason, _, _ := strings.Cut(r.Reason, "\n"); reason != "" && (r.Code == 0 || r.Status == asserts.Skipped) {
		key += ": " + reason
	}
	return key
}

func checkOf(r asserts.Result) string {
	if r.Code == 0 {
		return string(r.Status)
	}
	return r.Code.String() + " " + r.Code.Name()
}

func messageOf(r asserts.Result) string {
	switch {
	case r.Report != "":
		return r.Report
	case r.Reason != "":
		return titleOf(r) + ": " + r.Reason
	}
	return titleOf(r)
}
