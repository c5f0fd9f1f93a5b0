package cli

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/opassert/opassert/allowlist"
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
)

var allowCommand = command{
	name:    "allow",
	args:    "audit",
	summary: "list allowlist entries that no case needed",
	run:     runAllow,
}

// An audited entry is an entry in the form of allow audit -json.
type auditedEntry struct {
	Entry   string `json:"entry"` // its place
	Op      string `json:"op"`
	Checks  string `json:"checks"`
	Reason  string `json:"reason"`
	Verdict string `json:"verdict"` // needed, not needed, not run or no such op
	Cases   int    `json:"cases"`   // that needed it
}

func runAllow(inv *invocation) error {
	flags := newCheckFlags(inv.flags)
	asJSON := newJSONFlag(inv.flags, "array")
	switch {
	case len(inv.raw) > 0 && inv.raw[0] == "audit":
		inv.raw = inv.raw[1:]
	case len(inv.raw) == 0 || !slices.Contains([]string{"-h", "--h", "-help", "--help"}, inv.raw[0]):
		return usagef("want allow audit")
	}
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	if len(flags.allow) == 0 {
		return usagef("want -allow FILE or a preset: %s", strings.Join(allowlist.PresetNames(), ", "))
	}
	if *flags.engine != "" && *flags.engine != "libtorch" {
		return usagef("the audit runs on the engine libtorch")
	}
	*flags.engine = "libtorch"
	if isWorker() {
		return flags.serve(inv)
	}
	entries, err := flags.entries()
	if err != nil {
		return err
	}
	checked, err := flags.start(inv)
	defer checked.close()
	if err == nil {
		err = checked.matched(checked.unmatched)
	}
	if err != nil {
		return err
	}
	checked.operators = opsOf(checked.operators, entries)
	var stale error
	err = checked.run(context.Background(), inv, func(r *report.Report) error {
		err := inv.printAudit(audit(entries, r), *asJSON)
		if errors.Is(err, errFindings) {
			stale, err = err, nil
		}
		return err
	})
	if err == nil || errors.Is(err, errFindings) { // of the ops, which the audit does not report
		return stale
	}
	return err
}

func (f *checkFlags) entries() ([]*allowlist.Entry, error) {
	var all []*allowlist.Entry
	for _, path := range f.allow {
		list, err := allowlist.Open(path, nil)
		if err != nil {
			return nil, err
		}
		all = append(all, list.Entries...)
	}
	return all, nil
}

func opsOf(ops []engine.Operator, entries []*allowlist.Entry) []engine.Operator {
	return slices.DeleteFunc(slices.Clone(ops), func(o engine.Operator) bool {
		names := allowlist.Names(o.Schema)
		return !slices.ContainsFunc(entries, func(e *allowlist.Entry) bool { return slices.Contains(names, e.Op) })
	})
}

// names reports whether an entry is for an op, given with its namespace.
func names(e *allowlist.Entry, op string) bool {
	namespace, plain, _ := strings.Cut(op, "::")
	base, _, _ := strings.Cut(plain, ".")
	entry := strings.TrimPrefix(e.Op, namespace+"::")
	return entry == plain || entry == base
}

func audit(entries []*allowlist.Entry, report *report.Report) []auditedEntry {
	var audited []auditedEntry
	for _, e := range entries {
		a := auditedEntry{Entry: e.Pos.String(), Op: e.Op, Checks: excuses(e), Reason: e.Reason, Verdict: "no such op"}
		for _, op := range report.Ops {
			if names(e, op.Op) {
				a.add(e, op)
			}
		}
		audited = append(audited, a)
	}
	return audited
}

// add merges the result of an op that the entry names. The worst verdict of its ops counts.
func (a *auditedEntry) add(e *allowlist.Entry, op *report.OpResult) {
	for _, w := range op.Waived {
		if covers(e.Checks, w.Code) {
			a.Cases += w.Count
		}
	}
	for _, c := range op.Crashes {
		if slices.Contains(e.Crashes, c.Cause) {
			a.Cases++
		}
	}
	for _, f := range op.Findings {
		if covers(e.Checks, f.Violation.Code) {
			a.Cases += f.Times
		}
	}
	switch {
	case a.Cases > 0:
		a.Verdict = "needed"
	case op.Ran > 0:
		a.Verdict = "not needed"
	case a.Verdict == "no such op":
		a.Verdict = "not run"
	}
}

// covers reports whether an entry excuses the fault of a violation. If OA007 or OA008
// names the tensor that a return shares with, OA003 and OA005 are not reported; an
// entry for those is for the same fault.
func covers(set asserts.Codes, code asserts.Code) bool {
	fresh := set.Has(asserts.FreshImpl) || set.Has(asserts.FreshStorage)
	return set.Has(code) || fresh && (code == asserts.UndeclaredAlias || code == asserts.OutputAlias)
}

// excuses lists the violations that an entry excuses.
func excuses(e *allowlist.Entry) string {
	words := []string{checksText(e.Checks)}
	return strings.TrimSpace(strings.Join(append(words, e.Crashes...), " "))
}

func checksText(set asserts.Codes) string {
	if set == asserts.AllCodes {
		return "all"
	}
	return set.String()
}

// printAudit prints the verdicts; an entry that was run and not needed is a
// finding.
func (inv *invocation) printAudit(audited []auditedEntry, asJSON bool) error {
	if asJSON {
		if err := inv.json(audited); err != nil {
			return err
		}
	} else {
		for _, a := range audited {
			inv.line("%s: %-10s  %s %s  (%s)", a.Entry, a.Verdict, a.Op, a.Checks, a.Reason)
		}
	}
	if slices.ContainsFunc(audited, func(a auditedEntry) bool { return a.Verdict == "not needed" }) {
		return errFindings
	}
	return nil
}
