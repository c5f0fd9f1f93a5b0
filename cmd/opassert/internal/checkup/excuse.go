package checkup

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/opassert/opassert/allowlist"
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/slicesx"
)

// excuses returns the entries of the allowlists that apply here, with the cases that they excused.
func (c *Run) excuses(results []*report.OpResult) []report.Excuse {
	at := allowlist.Where{Device: cmp.Or(c.Device, string(engine.CPU)), Version: c.library, Day: time.Now()}
	names := make(map[string][]string)
	for _, o := range c.Operators {
		names[o.Name()] = slices.Concat(allowlist.Names(o.Schema), allowlist.Names(unqualified(o.Schema)))
	}
	var all []report.Excuse
	for _, list := range c.allowed {
		for _, e := range list.Entries {
			if !e.Applies(at) {
				continue
			}
			one := report.Excuse{Entry: e.Pos.String(), Op: e.Op, Checks: excused(e), Reason: e.Reason}
			for _, op := range results {
				if slices.Contains(names[op.Op], e.Op) {
					one.Ran = one.Ran || op.Ran > 0 || len(op.Crashes) > 0
					one.Cases += casesOf(e, op)
				}
			}
			all = append(all, one)
		}
	}
	return all
}

// casesOf returns the number of cases of an op that an entry excused.
func casesOf(e *allowlist.Entry, op *report.OpResult) (n int) {
	for _, w := range op.Waived {
		if covers(e, w.Code, w.Symptom) {
			n += w.Count
		}
	}
	for _, c := range op.Crashes {
		excuses := func(cause string) bool { return slices.Contains(e.Crashes, cause) }
		if slices.ContainsFunc(report.SameCauses(c.Cause), excuses) {
			n++
		}
	}
	for _, f := range op.Findings {
		if f.Violation.Note != "" && covers(e, f.Violation.Code, f.Violation.Symptom) {
			n += f.Times
		}
	}
	return n
}

// covers reports whether an entry excuses the fault of a violation. If OA007 or OA008 names the tensor that a return
// shares with, OA003 and OA005 are not reported; an entry for those is for the same fault.
func covers(e *allowlist.Entry, code asserts.Code, symptom asserts.Symptom) bool {
	named := func(x asserts.Excuse) bool { return x.Covers(code, symptom) }
	fresh := e.Checks.Has(asserts.FreshImpl) || e.Checks.Has(asserts.FreshStorage)
	alias := code == asserts.UndeclaredAlias || code == asserts.OutputAlias
	return e.Checks.Has(code) || slices.ContainsFunc(e.Symptoms, named) || fresh && alias
}

// excused lists what an entry excuses.
func excused(e *allowlist.Entry) string {
	words := []string{e.Checks.String()}
	if e.Checks == asserts.AllCodes {
		words[0] = "all"
	}
	for _, x := range e.Symptoms {
		words = append(words, x.Symptom.Of(x.Code))
	}
	words = append(words, slicesx.Map(e.Crashes, func(cause string) string { return "crash " + cause })...)
	return strings.TrimSpace(strings.Join(words, " "))
}
