package suite

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/design"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/dev/must"
)

// caseTime is the time limit of a case in these tests.
const caseTime = 600 * time.Millisecond

func runFake(t *testing.T, names ...string) map[string]*report.OpResult {
	t.Helper()
	return runFakeOn(t, 2, names...)
}

func runFakeOn(t *testing.T, workers int, names ...string) map[string]*report.OpResult {
	t.Helper()
	ops := must.Get(newFakeEngine().Operators())(t)
	if len(names) > 0 {
		ops = slices.DeleteFunc(ops, func(o engine.Operator) bool { return !slices.Contains(names, o.Schema.Func.Name.String()) })
	}
	run := Run{
		Operators: ops, To: 30, Workers: workers, Timeout: caseTime,
		Worker: func() *exec.Cmd { return exec.Command(os.Args[0]) },
	}
	results := must.Get(run.Do(context.Background()))(t)
	byName := make(map[string]*report.OpResult)
	for _, r := range results {
		byName[strings.TrimPrefix(r.Op, "aten::")] = r
	}
	return byName
}

// summary returns the essential results of an op in one line.
func summary(r *report.OpResult) string {
	var words []string
	for _, f := range r.Findings {
		words = append(words, fmt.Sprintf("%v on %s [%s]", f.Violation.Code, f.Violation.Subject, f.On()))
	}
	for _, c := range r.Crashes {
		words = append(words, strings.TrimSpace(fmt.Sprintf("%s in case %d [%s], alone: %v %s %v", c.Cause, c.Case, c.Device, c.Alone, strings.TrimPrefix(c.Call, r.Op), c.Frames)))
	}
	if fault, _, _ := strings.Cut(r.Fault, "\n"); fault != "" {
		words = append(words, "fault: "+fault)
	}
	if r.Ran == 0 {
		words = append(words, "never ran: "+r.Error)
	}
	return strings.Join(words, "; ")
}

func TestFaultsAreFoundAndCrashesContained(t *testing.T) {
	results := runFake(t)
	want := map[string]string{
		"good":                     "",
		"good_":                    "",
		"good_view":                "",
		"returns_input_when_empty": "OA007 on result [cpu]",
		"returns_input_waived":     "",
		"view_copies":              "OA004 on result [cpu]",
		"writes":                   "OA009 on argument self [cpu]",
		"no_bump_":                 "OA010 on argument self [cpu]",
		"meta_disagrees":           "OA011 on result [cpu, meta]",
		"wants_five_dims":          "",
		"never":                    "never ran: not today",
		"never_for_three":          "never ran: not for three",
		"crashes_on_bool":          "SIGSEGV in case 11 [cpu], alone: true (self=bool[2]) []",
		"crashes_on_meta":          "SIGSEGV in case 0 [meta], alone: true (self=float32[2]) []",
		"crashes_on_lpu":           "SIGSEGV in case 0 [lpu], alone: true (self=float32[2]) []",
		"writes_on_lpu":            "OA009 on argument self [lpu]",
		"crashes_when_smaller":     "OA007 on result [cpu]",
		"exits":                    "exit status 3 in case 0 [cpu], alone: true (self=float32[2]) []; exit status 3 in case 1 [cpu], alone: true (self=float32[3, 3]) []; exit status 3 in case 2 [cpu], alone: true (self=float32[2, 3, 4, 4]) []; never ran: ",
		"answers_for_the_worker":   `fault: a worker answered "so be it": the kernel may have written to file 3, which belongs to the worker; never ran: `,
		"answers_like_the_worker":  `fault: a worker answered "end {\"case\":0,\"ran\":true}": the kernel may have written to file 3, which belongs to the worker; never ran: `,
		"dies_in_words":            `fault: a worker answered "died SIGSEGV": the kernel may have written to file 3, which belongs to the worker; never ran: `,
		"reads_requests":           "",
		"fails_in_opassert":        "fault: panic: our own fault; never ran: ",
		"leaves_a_file":            "",
		"hoards_on_bool":           "out of memory in case 11 [cpu], alone: true (self=bool[2]) []",
		"loses_the_device_on_bool": "device lost in case 11 [cpu], alone: true (self=bool[2, 3]) []",
		"finds_it_lost":            "",
		"hangs":                    "hang in case 0 [cpu], alone: true (self=float32[3, 3]) []; never ran: ",
		"spins":                    "hang in case 0 [cpu], alone: true (self=float32[3, 3]) []; never ran: ",
		"waits_on_bool":            "",
		"breaks_memory":            "",
		"finds_it_broken":          "",
	}
	got := make(map[string]string)
	for name, r := range results {
		got[name] = summary(r)
	}
	for _, name := range append([]string{"crashes_late"}, remembering...) { // which have tests of their own
		delete(got, name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A lost device is a result of the case that lost it, with the device's error.
func TestLostDevice(t *testing.T) {
	r := runFake(t, "loses_the_device_on_bool")["loses_the_device_on_bool"]
	if len(r.Crashes) == 0 || r.Crashes[0].Cause != report.DeviceLost || !strings.HasSuffix(r.Crashes[0].Said, "no answer") || r.Ran < 10 {
		t.Errorf("%s; %d of %d cases ran: %+v", summary(r), r.Ran, r.Cases, r.Crashes)
	}
}

// An op that crashes on meta continues without it, from that case on, and reports it.
func TestCrashOnMetaLeavesTheCPU(t *testing.T) {
	r := runFake(t, "crashes_on_meta")["crashes_on_meta"]
	if len(r.Crashes) != 1 || r.Ran < 20 || r.Devices[engine.CPU].Judged[asserts.FreshImpl] != r.Ran || r.Devices[engine.Meta].Judged != (asserts.Counts{}) {
		t.Errorf("%s; %d of %d cases ran", summary(r), r.Ran, r.Cases)
	}
	if n := r.Devices[engine.Meta].Uncalled["a call of the op on meta ended its process"]; n != r.Ran {
		t.Errorf("%d of %d calls say why they are not compared with meta: %v", n, r.Ran, r.Devices[engine.Meta].Uncalled)
	}
	if text := (&report.Report{}).CrashText(r, r.Crashes[0]); !strings.HasPrefix(text, "crash  aten::crashes_on_meta  SIGSEGV in case 0  [meta]\n") {
		t.Error(text)
	}
}

// A crash on meta that also occurs in the same case without meta is reported for the CPU only: it
// had broken the memory before.
func TestCrashOnMetaIsTheCPUs(t *testing.T) {
	var r report.OpResult
	for _, tt := range []struct {
		c       report.Crash
		instead bool
		want    string
	}{
		{report.Crash{Case: 1, Device: "cpu"}, false, "1 cpu"},
		{report.Crash{Case: 2, Device: "meta", Twin: true}, false, "1 cpu, 2 meta"},
		{report.Crash{Case: 2, Device: "cpu"}, true, "1 cpu, 2 cpu"},
		{report.Crash{Case: 3, Device: "meta", Twin: true}, false, "1 cpu, 2 cpu, 3 meta"},
		{report.Crash{Case: 4, Device: "cpu"}, false, "1 cpu, 2 cpu, 3 meta, 4 cpu"},
	} {
		instead := len(r.AddCrash(&tt.c)) > 0
		var all []string
		for _, c := range r.Crashes {
			all = append(all, fmt.Sprint(c.Case, " ", c.Device))
		}
		if got := strings.Join(all, ", "); got != tt.want || instead != tt.instead {
			t.Errorf("after %v: %s (%v), want %s (%v)", tt.c, got, instead, tt.want, tt.instead)
		}
	}
}

// A crash that does not happen again in a process of its own is reported separately, and its case
// has the result of that process.
func TestCrashThatDoesNotRepeat(t *testing.T) {
	r := runFake(t, "crashes_late")["crashes_late"]
	if len(r.Crashes) == 0 || r.Ran < 10 {
		t.Errorf("%d crashes, %d of %d cases ran", len(r.Crashes), r.Ran, r.Cases)
	}
	for _, c := range r.Crashes {
		if c.Alone || c.Counts() {
			t.Errorf("case %d crashes alone: %v", c.Case, c)
		}
	}
	if shown := (&report.Report{Ops: []*report.OpResult{r}}); shown.Findings() != 0 {
		t.Errorf("%d findings", shown.Findings())
	}
}

// Damage that an op does to its worker's memory is not attributed to another op.
func TestCrashOfAnotherOp(t *testing.T) {
	results := runFakeOn(t, 1, "breaks_memory", "finds_it_broken")
	if r := results["finds_it_broken"]; len(r.Crashes) > 0 || r.Ran < 20 {
		t.Errorf("%s; %d of %d cases ran", summary(r), r.Ran, r.Cases)
	}
}

// A tensor that refers to itself, or to none, becomes a separate one.
func TestOwnEnds(t *testing.T) {
	all := []*sample.TensorSpec{{DType: "int8", Same: 1}, {DType: "bool", Same: 3}, {DType: "int32", Same: 2}, {DType: "int64", Same: 9}}
	design.Separate(all, all)
	for i, spec := range all {
		if spec.Same != 0 {
			t.Errorf("tensor %d is the same as another still: %v", i, spec)
		}
	}
}

// leftFile is a file that a kernel of the test writes to its working folder.
const leftFile = "left-by-a-kernel"

func TestKernelsWriteNothingWhereTheRunIs(t *testing.T) {
	if r := runFake(t, "leaves_a_file")["leaves_a_file"]; r.Ran == 0 {
		t.Fatal(r.Error)
	}
	if _, err := os.Stat(leftFile); !os.IsNotExist(err) {
		t.Errorf("%s is here: %v", leftFile, err)
	}
}

func TestMinimalCallIsShown(t *testing.T) {
	f := runFake(t, "returns_input_when_empty")["returns_input_when_empty"].Findings[0]
	if want := "aten::returns_input_when_empty(self=float32[0, 2])"; f.Call != want {
		t.Errorf("got %s, want %s", f.Call, want)
	}
	if f.Violation.Repro != fmt.Sprintf("-op aten::returns_input_when_empty -case %d", f.Case) {
		t.Errorf("repro %q", f.Violation.Repro)
	}
}

// A smaller call that ends the worker does not affect the case that ran, and is not a crash of that
// case.
func TestFindingOutlivesSmallerCall(t *testing.T) {
	r := runFake(t, "crashes_when_smaller")["crashes_when_smaller"]
	if len(r.Findings) != 1 || len(r.Crashes) > 0 || r.Ran < 20 {
		t.Fatalf("%s; %d of %d cases ran", summary(r), r.Ran, r.Cases)
	}
	if f := r.Findings[0]; f.Call != "aten::crashes_when_smaller(self=float32[3, 3])" || f.Times != r.Ran {
		t.Errorf("%s, %d times in %d cases", f.Call, f.Times, r.Ran)
	}
}

// A case is a function of schema, seed and number.
func TestCasesAreDeterministic(t *testing.T) {
	e := newFakeEngine()
	ops, _ := e.Operators()
	book := must.Get(design.Shipped())(t)
	differs := false
	for _, o := range ops {
		g := design.NewGenerator(o.Schema, book)
		for n := range 60 {
			a := g.Generate(sample.NewRandom(1, g.Name, n), n).String()
			if b := g.Generate(sample.NewRandom(1, g.Name, n), n).String(); a != b {
				t.Errorf("case %d of %s is %s and %s", n, g.Name, a, b)
			}
			differs = differs || a != g.Generate(sample.NewRandom(2, g.Name, n), n).String()
		}
	}
	if !differs {
		t.Error("the seed changes nothing")
	}
}

func TestAdaptingReachesWhatErrorsAskFor(t *testing.T) {
	r := runFake(t, "wants_five_dims")["wants_five_dims"]
	if r.Ran < r.Cases/2 {
		t.Errorf("%d of %d cases ran", r.Ran, r.Cases)
	}
	if r.Devices[engine.CPU].Judged[asserts.FreshImpl] != r.Ran {
		t.Errorf("OA003 judged %d times in %d calls", r.Devices[engine.CPU].Judged[asserts.FreshImpl], r.Ran)
	}
}

// A waived check that names the culprit still prevents others from reporting, and is counted.
func TestWaivedCheckUncoversNoOther(t *testing.T) {
	r := runFake(t, "returns_input_waived")["returns_input_waived"]
	if len(r.Findings) > 0 || len(r.Waived) != 1 || r.Waived[0].Count < r.Ran || r.Ran == 0 {
		t.Errorf("%s; waived %v in %d cases", summary(r), r.Waived, r.Ran)
	}
}

func TestPartsAreToldOnce(t *testing.T) {
	finding := func(index int, name string, inside bool) *report.Finding {
		place := asserts.Place{Return: true, Index: index, Name: name, Inside: inside}
		return &report.Finding{Violation: &asserts.Violation{Code: asserts.UndeclaredAlias, Subject: place}}
	}
	r := &report.OpResult{Findings: []*report.Finding{finding(0, "result.parts", true), finding(0, "result", false), finding(1, "other.parts", true)}}
	r.Settle()
	var names []string
	for _, f := range r.Findings {
		names = append(names, f.Violation.Subject.Name)
	}
	if diff := cmp.Diff([]string{"result", "other.parts"}, names); diff != "" {
		t.Error(diff)
	}
}

func TestInterruptedRunGivesWhatIsDone(t *testing.T) {
	ops := must.Get(newFakeEngine().Operators())(t)
	ctx, cancel := context.WithCancel(context.Background())
	run := Run{
		Operators: ops, To: 3, Workers: 1, Timeout: caseTime,
		Worker: func() *exec.Cmd { return exec.Command(os.Args[0]) },
		Done:   func(*report.OpResult) { cancel() },
	}
	results, err := run.Do(ctx)
	if err != context.Canceled || len(results) == 0 || len(results) == len(ops) {
		t.Errorf("%d results of %d ops, error %v", len(results), len(ops), err)
	}
	// Known results are not computed again.
	known := &report.OpResult{Op: ops[0].Name(), Ran: 99}
	run = Run{Operators: ops[:1], To: 3, Workers: 1, Known: map[string]*report.OpResult{known.Op: known}}
	results, err = run.Do(context.Background())
	if err != nil || len(results) != 1 || results[0].Ran != 99 {
		t.Errorf("results %v, error %v", results, err)
	}
}

// A crash in Python's own library does not count against the op: a worker runs no interpreter.
func TestCrashInPython(t *testing.T) {
	for frame, want := range map[string]bool{
		"PyGILState_Ensure (libpython3.11.so.1.0)": true, "mylib::python(libpython3::x)": false, "kernel (libops.so)": false,
	} {
		if got := (&report.Crash{Frames: []string{frame, "PyErr_Fetch (libpython3.11.so.1.0)"}}).InPython(); got != want {
			t.Errorf("%s: %v, want %v", frame, got, want)
		}
	}
}
