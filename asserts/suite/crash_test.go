package suite

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/asserts/suite/internal/work"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/schema"
)

// A case that ended its worker because of its size is not a crash, and is listed in every report.
func TestUnfinishedCasesAreTold(t *testing.T) {
	op := &report.OpResult{Op: "aten::f", Cases: 5, Ran: 5, Left: "after 3 cases that took too long"}
	slow, large := &ending{Crash: report.Crash{Cause: report.Hang}, cost: work.WordCostly}, &ending{Crash: report.Crash{Cause: report.OutOfMemory}, cost: work.WordVaried}
	for _, c := range []*ending{slow, slow, large} {
		if !c.expected() {
			t.Errorf("%+v counts against its op", c)
		}
		op.Leave(&c.Crash)
	}
	r := &report.Report{Ops: []*report.OpResult{op}}
	var got []string
	for _, result := range r.Results() {
		if result.Status == asserts.Skipped {
			got = append(got, strings.Repeat("x", result.Count)+" "+result.Reason)
		}
	}
	want := []string{
		"x a case was not finished: it needs more memory than a case may use",
		"xx a case was not finished: it has many elements or a large number, and takes longer than such a case may",
		" the cases that follow were not run: the op was left after 3 cases that took too long",
	}
	slices.Sort(want)
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	var text strings.Builder
	if err := r.WriteText(&text, report.Verbose); err != nil || op.Cases != 8 {
		t.Fatal(err, op.Cases)
	}
	for _, line := range []string{"cut     2: a case was not finished: it has many", "cut     1: the cases that follow"} {
		if !strings.Contains(text.String(), line) {
			t.Errorf("no %q in\n%s", line, text.String())
		}
	}
}

// An op is given up after its own crashes, and later after those of the library.
func TestForeignCrashes(t *testing.T) {
	own, foreign := report.Crash{Alone: true}, report.Crash{Alone: true, Foreign: true}
	for _, tt := range []struct {
		own, foreign int
		want         string
	}{{2, 9, ""}, {3, 9, "after 12 crashes"}, {0, maxForeign - 1, ""}, {1, maxForeign - 1, "after 40 crashes"}} {
		op := &report.OpResult{Crashes: slices.Concat(slices.Repeat([]report.Crash{own}, tt.own), slices.Repeat([]report.Crash{foreign}, tt.foreign))}
		if got := whyLeave(op, &foreign, 0); got != tt.want {
			t.Errorf("%d own crashes and %d others: %q, want %q", tt.own, tt.foreign, got, tt.want)
		}
	}
}

func TestSaid(t *testing.T) {
	for _, tt := range []struct {
		lines []string
		want  string
	}{
		{[]string{"one", "two"}, "two"},
		{[]string{"terminate called", "  what():  n != 8", "Exception raised from f"}, "  what():  n != 8"},
		{[]string{"  what():  first", "  what():  second"}, "  what():  second"},
	} {
		got := ""
		for _, line := range tt.lines {
			got = said(got, line)
		}
		if got != tt.want {
			t.Errorf("%q: %q, want %q", tt.lines, got, tt.want)
		}
	}
}

// A crash counts against its op unless only the library ran, or Python was called.
func TestWhoseCrash(t *testing.T) {
	op := engine.Operator{Schema: must.Get(schema.ParseDispatcher("ns::f(Tensor a) -> Tensor"))(t)}
	for _, tt := range []struct {
		name    string
		added   bool
		frame   string
		foreign func([]string) string
		want    string
	}{
		{"its own", true, "f (libf.so)", func([]string) string { return "" }, ""},
		{"the library's", true, "f (libf.so)", func([]string) string { return "PyTorch itself" }, "PyTorch itself"},
		{"of an op of the library", false, "f (libf.so)", func([]string) string { return "PyTorch itself" }, ""},
		{"of an engine that does not say", true, "f (libf.so)", nil, ""},
		{"in Python", true, "g (libpython3.so)", nil, "it calls into Python"},
	} {
		s := perform(t, func(q request, n int) []string {
			if q.From > 0 {
				return ran(q, q.From)
			}
			return append([]string{startOf(0), lineFrame + " " + tt.frame}, died("SIGSEGV")...)
		})
		s.run.Foreign, op.Added = tt.foreign, tt.added
		res := s.op(t.Context(), op)
		if len(res.Crashes) != 1 {
			t.Fatalf("%s: %d crashes, %s", tt.name, len(res.Crashes), res.Fault)
		}
		c := res.Crashes[0]
		if (c.Waived == "") != (tt.want == "") || !strings.HasPrefix(c.Waived, tt.want) || c.Foreign != strings.HasPrefix(tt.want, "PyTorch") {
			t.Errorf("%s: foreign %v, waived %q", tt.name, c.Foreign, c.Waived)
		}
	}
}

// The second run of a case decides the cause of the first.
func TestCrashedAgain(t *testing.T) {
	call := must.Get(encode(&sample.Case{Op: "ns::f", Names: []string{"a"}, Args: []sample.Value{sample.Tensor("float64", 5, 4)}}))(t)
	op := engine.Operator{Schema: must.Get(schema.ParseDispatcher("ns::f(Tensor a) -> Tensor"))(t)}
	garbled := []string{lineEnd + " {"}
	for _, tt := range []struct {
		name    string
		cause   string
		second  []string // lines of the case alone
		smaller []string // of a smaller call
		crashes int
		err     string
	}{
		{"slow once", report.Hang, []string{startOf(0), ended(report.CaseResult{}), lineDone}, nil, 0, ""},
		{"broken once", "SIGSEGV", []string{startOf(0), ended(report.CaseResult{}), lineDone}, nil, 1, ""},
		{"hangs in a call", report.Hang, append([]string{startOf(0), lineCall + " " + call}, died(report.Hang)...), nil, 1, ""},
		{"hangs somewhere", report.Hang, append([]string{startOf(0), lineFrame + " g"}, died(report.Hang)...), nil, 1, ""},
		{"hangs nowhere", report.Hang, append([]string{startOf(0)}, died(report.Hang)...), nil, 0, "never ends, although it makes no call"},
		{"ends its calls and not the case", report.Hang, append([]string{startOf(0), lineCall + " " + call, lineCall + " "}, died(report.Hang)...), nil, 0, ""},
		{"ends nowhere", "SIGSEGV", append([]string{startOf(0)}, died("SIGSEGV")...), nil, 1, ""},
		{"an answer that is cut", "SIGSEGV", garbled, nil, 0, "a worker's answer"},
		{"an answer with unknown tallies", "SIGSEGV", []string{lineEnd + ` {"like": 1}`}, nil, 0, "a worker's answer refers to"},
		{"a smaller call's answer that is cut", "SIGSEGV", append([]string{startOf(0), lineCall + " " + call}, died("SIGSEGV")...), garbled, 0, "a worker's answer"},
	} {
		s := perform(t, func(q request, n int) []string {
			if q.Case != "" {
				return tt.smaller
			}
			return tt.second
		})
		res := s.begin(op)
		err := s.crashed(t.Context(), op, res, &ending{Crash: report.Crash{Cause: tt.cause}})
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) || len(res.Crashes) != tt.crashes {
			t.Errorf("%s: %d crashes, want %d; %v", tt.name, len(res.Crashes), tt.crashes, err)
		}
	}
}

// The search for the smallest call that crashes stays within its limits, and reports the call that
// the worker made.
func TestShrink(t *testing.T) {
	large := &sample.Case{Op: "ns::f"}
	for _, name := range strings.Split("abcdefghijklmn", "") {
		large.Names, large.Args = append(large.Names, name), append(large.Args, sample.Tensor("float64", 5, 4))
	}
	one := func(v sample.Value) *sample.Case {
		return &sample.Case{Op: "ns::f", Names: []string{"a"}, Args: []sample.Value{v}}
	}
	small, other := one(sample.Tensor("float64", 4)), one(sample.Tensor("int8", 3))
	said := func(c *sample.Case) string { return lineCall + " " + must.Get(encode(c))(t) }
	ends := []string{startOf(0), ended(report.CaseResult{}), lineDone}
	crashes := func(status string, before ...string) []string {
		return append(append([]string{startOf(0)}, before...), died(status)...)
	}
	for _, tt := range []struct {
		name   string
		cause  string
		had    []report.Crash
		from   *sample.Case
		answer func(asked string, n int) []string
		asked  int
		call   string // if not that of the case
		err    bool
	}{
		{"nothing smaller crashes", "SIGSEGV", nil, large, func(string, int) []string { return ends }, shrinkCalls, "", false},
		{"nothing smaller crashes, of few", "SIGSEGV", nil, small, func(string, int) []string { return ends }, 2, "", false},
		{"all crash otherwise", "SIGSEGV", nil, large, func(string, int) []string { return crashes("SIGABRT") }, shrinkCrashes, "", false},
		{"each smaller call is the same", "SIGSEGV", nil, large, func(string, int) []string { return crashes("SIGSEGV", said(large)) }, shrinkCrashes, "", false},
		{"it ends before the call is said", "SIGSEGV", nil, small, func(asked string, n int) []string { return crashes("SIGSEGV") }, 3, "ns::f(a=float32[2])", false},
		{"another call was made", "SIGSEGV", nil, one(sample.Tensor("float64", 2)), func(string, int) []string { return crashes("SIGSEGV", said(other)) }, 3, other.String(), false},
		{"not where nothing ran before", "SIGSEGV", nil, one(sample.Tensor("float64", 2)), func(_ string, n int) []string {
			if n == 1 {
				return crashes("SIGSEGV")
			}
			return ends
		}, 2, "", false},
		{"an answer that is cut", "SIGSEGV", nil, large, func(string, int) []string { return []string{lineEnd + " {"} }, 1, "", true},
		{"a hang", report.Hang, nil, large, nil, 0, "", false},
		{"a device that is lost", report.DeviceLost, nil, large, nil, 0, "", false},
		{"the second of a cause", "SIGSEGV", []report.Crash{{Cause: "SIGSEGV", Alone: true}}, large, nil, 0, "", false},
		{"the second, where the first came once", "SIGSEGV", []report.Crash{{Cause: "SIGSEGV"}}, large, func(string, int) []string { return ends }, shrinkCalls, "", false},
		{"of another cause", "SIGSEGV", []report.Crash{{Cause: "SIGFPE", Alone: true}}, large, func(string, int) []string { return ends }, shrinkCalls, "", false},
	} {
		s := perform(t, func(q request, n int) []string { return tt.answer(q.Case, n) })
		crash := &ending{Crash: report.Crash{Cause: tt.cause}, called: must.Get(encode(tt.from))(t)}
		res := s.begin(engine.Operator{Schema: must.Get(schema.ParseDispatcher("ns::f(Tensor a) -> Tensor"))(t)})
		res.Crashes = tt.had
		err := s.shrink(t.Context(), res, crash)
		if want := cmp.Or(tt.call, tt.from.String()); (err != nil) != tt.err || len(s.asked) != tt.asked || crash.Call != want {
			t.Errorf("%s: %d requests, want %d; %s, want %s; %v", tt.name, len(s.asked), tt.asked, crash.Call, want, err)
		}
	}
}
