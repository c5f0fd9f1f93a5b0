package watch

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/schema"
)

// opRecord is what the watcher sends of an operator: marks, and its line in the listing, with an
// argument or a return a record.
func opRecord(marks, name, flags string, records ...string) string {
	text := marks + "\n" + strings.Join([]string{"op", "64", name, "", "CPU", flags, "", "", ""}, "\x1f") + "\x1e"
	for _, r := range records {
		text += strings.ReplaceAll(r, "|", "\x1f") + "\x1e"
	}
	return text
}

const (
	reads  = "arg|x|Tensor|||t"
	writes = "arg|x|Tensor(a!)||write|t"
	makes  = "ret||Tensor|t"
	itself = "ret||Tensor(a!)|t"
)

// fromPlanner are ops with the plans of all checks.
func fromPlanner(t *testing.T) *ops {
	planner := newPlanner(t)
	return &ops{byText: make(map[string]*watchedOp), plan: func(_, _ string, op *schema.Op) (engine.Checks, error) {
		p := planner.Plan(op)
		return engine.Checks{Op: p.Asserts(asserts.Meta), Waived: p.Waivers()}, nil
	}}
}

// planned says which checks of an op are judged on watched calls, and the reasons why others are not.
func planned(w *watchedOp) string {
	var judged, unseen []string
	for _, c := range w.judged.Checks {
		judged = append(judged, fmt.Sprintf("%v of %v", c.Code, w.judged.Subject(c.On).Name))
	}
	for _, s := range w.unseen {
		reason, _, _ := strings.Cut(s.Reason, ",")
		reason, _, _ = strings.Cut(reason, ":")
		unseen = append(unseen, fmt.Sprintf("%v %s", s.Code, reason))
	}
	return strings.Join(judged, ", ") + "; " + strings.Join(unseen, ", ")
}

// The checks that are not judged where calls are seen are skips, each with its reason.
func TestWatchedOps(t *testing.T) {
	const boxed = "OA001 replaced handles are invisible in boxed calls"
	for _, tt := range []struct {
		name, record     string
		custom, followed bool
		want             string
	}{
		{"PyTorch's", opRecord("", "aten::f", "", reads, makes), false, false,
			"OA002 of x, OA009 of x, OA003 of result, OA005 of result, OA007 of result, OA017 of result; " + boxed + ", OA016 not judged of PyTorch's own ops, OA014 not judged of PyTorch's own ops"},
		{"PyTorch's, with another kernel", opRecord("K", "aten::f", "", reads, makes), true, false,
			"OA002 of x, OA009 of x, OA016 of x, OA003 of result, OA005 of result, OA007 of result, OA017 of result; " + boxed + ", OA014 not judged of PyTorch's own ops"},
		{"PyTorch's, in-place", opRecord("", "aten::f_", "", writes, itself), false, false,
			"OA002 of x, OA010 of x, OA013 of x, OA006 of result, OA017 of result; " + boxed + ", OA015 bytes of PyTorch's own ops are not copied, OA016 not judged of PyTorch's own ops, OA014 not judged of PyTorch's own ops"},
		{"PyTorch's, decomposing", opRecord("", "aten::f", "composite top", reads, makes), false, false, "OA002 of x, OA009 of x; " + boxed + ", OA016 not judged of PyTorch's own ops"},
		{"a library's", opRecord("", "my::f", "", reads, makes), true, true, "OA002 of x, OA009 of x, OA016 of x, OA003 of result, OA005 of result, OA007 of result, OA017 of result; " + boxed},
		{"a library's, in-place", opRecord("", "my::f_", "", writes, itself), true, true, "OA002 of x, OA010 of x, OA013 of x, OA015 of x, OA016 of x, OA006 of result, OA017 of result; " + boxed},
		{"with versions that are raised above", opRecord("A", "my::f_", "", writes, itself), true, true,
			"OA002 of x, OA013 of x, OA015 of x, OA016 of x, OA006 of result, OA017 of result; " + boxed + ", OA010 autograd's kernel raises the version"},
		{"a library's, decomposing", opRecord("", "my::f", "composite top", reads, makes), true, false,
			"OA001 of x, OA002 of x, OA009 of x, OA016 of x, OA007 of result, OA017 of result; OA003 the op decomposes, OA005 the op decomposes, OA014 the op decomposes"},
		{"a view", opRecord("", "my::v", "", "arg|x|Tensor(a)|||t", "arg|y|Tensor|||t", "ret||Tensor(a)|t"), true, true,
			"OA002 of x, OA009 of x, OA002 of y, OA009 of y, OA016 of y, OA003 of result, OA004 of result, OA007 of result, OA017 of result; " + boxed + ", OA016 autograd keeps the base of a view"},
		{"with a list", opRecord("", "my::l", "", "arg|xs|Tensor[]|||l", reads), true, false, "OA001 of xs, OA002 of xs, OA009 of xs, OA016 of xs, OA002 of x, OA009 of x, OA016 of x; " + boxed},
	} {
		o := fromPlanner(t)
		w, answer, err := o.meet("2.6.0", tt.record)
		must.Do(t, err)
		if got := planned(w); got != tt.want {
			t.Errorf("%s:\n%s\n%s", tt.name, got, tt.want)
		}
		want := append(words(0, truth(tt.custom), 1, 0, truth(tt.followed)), words(expect(w.judged, w.waived)...)...)
		if w.custom != tt.custom || w.followed != tt.followed || !bytes.Equal(answer, want) {
			t.Errorf("%s: custom %v, followed %v, answer %v, want %v", tt.name, w.custom, w.followed, answer, want)
		}
	}
}

// The fix of a finding names what has the schema.
func TestDeclaredOps(t *testing.T) {
	file := filepath.Join(t.TempDir(), "m.py")
	must.Do(t, os.WriteFile(file, []byte("library =\nlibrary.define(\"f(Tensor x) -> Tensor\")\n"), 0o600))
	for registered, want := range map[string]string{
		"/lib/torch/_library/custom_ops.py:7": asserts.CustomOp, file + ":1": "Library.define at m.py:2", "ops.cpp:3": "m.def at ops.cpp:3",
	} {
		record := strings.Replace(opRecord("", "my::f", "", reads, makes), "CPU\x1f\x1f\x1f", "CPU\x1f\x1f\x1fregistered at "+registered, 1)
		w, _, err := fromPlanner(t).meet("2.6.0", record)
		if must.Do(t, err); w.judged.Declared != want || w.faked.Declared != want {
			t.Errorf("%s: declared by %q", registered, w.judged.Declared)
		}
	}
}

// The answer about an op says whether its calls are observed and recorded.
func TestAnswersAboutOps(t *testing.T) {
	mine, torchs := opRecord("", "my::f", "", reads, makes), opRecord("", "aten::f", "", reads, makes)
	only := func(name string) func(string) bool { return func(op string) bool { return op == name } }
	for _, tt := range []struct {
		name, record      string
		keep              int
		wants             func(string) bool
		watched, recorded bool
	}{
		{"all", mine, 0, nil, true, false},
		{"recorded", mine, 2, nil, true, true},
		{"PyTorch's", torchs, 2, nil, true, false},
		{"selected", torchs, 2, only("aten::f"), true, true},
		{"not selected", mine, 0, only("aten::f"), false, false},
		{"unread", opRecord("", "my::f", "", "arg|x|Tensor(|||t"), 0, nil, false, false},
	} {
		o := fromPlanner(t)
		o.record, o.wants = tt.keep, tt.wants
		w, answer, err := o.meet("2.6.0", tt.record)
		must.Do(t, err)
		followed := truth(tt.watched && w.custom)
		if got := answer[16:40]; !bytes.Equal(got, words(truth(tt.watched), truth(tt.recorded), followed)) {
			t.Errorf("%s: watched, recorded and followed are %v", tt.name, got)
		}
		if again, _, err := o.meet("2.6.0", tt.record); err != nil || again != w || len(o.all) != 1 {
			t.Errorf("%s: it is another op when it is met again, %v", tt.name, err)
		}
		if other, _, err := o.meet("2.15.0", tt.record); err != nil || other == w || o.numbered(1) != other {
			t.Errorf("%s: it is the same op in another version, %v", tt.name, err)
		}
		if o.numbered(-1) != nil || o.numbered(2) != nil || o.numbered(0) != w {
			t.Errorf("%s: ops have other numbers", tt.name)
		}
	}
	o := fromPlanner(t)
	if _, _, err := o.meet("2.6.0", "\nop"); err == nil || len(o.all) > 0 {
		t.Error("a record that is cut short is an op")
	}
	o.plan = func(string, string, *schema.Op) (engine.Checks, error) { return engine.Checks{}, errors.New("no plan") }
	if _, _, err := o.meet("2.6.0", mine); err == nil {
		t.Error("an op without a plan is met")
	}
}

// An allowlist waives a check on the device of a violation, or on that of the call, or makes it a note.
func TestExcusedOnDevice(t *testing.T) {
	o := fromPlanner(t)
	waived := []asserts.Excuse{{Code: asserts.FreshImpl, Symptom: "other"}, {Code: asserts.AutogradKernel, Reason: "known"}}
	all := o.plan
	o.plan = func(version, device string, op *schema.Op) (engine.Checks, error) {
		checks, err := all(version, device, op)
		switch device {
		case "cuda":
			checks.Waived = waived
		case "cpu":
			checks.Op.Notes = waived
		case "xpu":
			checks.Waived, err = waived, errors.New("no plan")
		}
		return checks, err
	}
	w, _, err := o.meet("2.6.0", opRecord("Kcuda", "my::f", "", reads, makes))
	must.Do(t, err)
	if w.followed || !w.waived.Has(asserts.AutogradKernel) {
		t.Errorf("a waived op is followed: %v, waived %v", w.followed, w.waived)
	}
	for _, tt := range []struct {
		on, call string
		code     asserts.Code
		want     bool
		note     string
	}{
		{"cuda", "cuda", asserts.AutogradKernel, true, ""}, {"meta", "cuda", asserts.AutogradKernel, true, ""}, {"cuda", "meta", asserts.AutogradKernel, true, ""},
		{"meta", "meta", asserts.AutogradKernel, false, ""}, {"cuda", "cuda", asserts.FreshImpl, false, ""}, {"cpu", "cpu", asserts.AutogradKernel, false, "known"},
		{"cpu", "cpu", asserts.FreshImpl, false, ""}, {"xpu", "xpu", asserts.AutogradKernel, false, ""}, {"meta", "cpu", asserts.AutogradKernel, false, "known"},
	} {
		v := &asserts.Violation{Code: tt.code, Device: tt.on}
		if got := w.excuses(v, tt.call); got != tt.want || v.Note != tt.note {
			t.Errorf("%v on %s, in a call on %s: waived %v, note %q", tt.code, tt.on, tt.call, got, v.Note)
		}
	}
}
