package suite

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/compare"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/asserts/suite/internal/work"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/schema"
)

// A script answers the requests of a supervisor like a worker, in this process. Its answers are
// lines; text before a bar is first written to the worker's standard error.
type script struct {
	*supervisor
	asked []request
	lives bool // a process represents the worker
	ends  sync.Mutex
	over  bool // it does not answer any more
}

// closing ends the answers of a script.
const closing = "closing"

// perform makes a supervisor of an op with three cases whose worker has these answers.
func perform(t *testing.T, answer func(q request, n int) []string) *script {
	t.Helper()
	requests, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	replies, none, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	none.Close()
	gone := &exec.Cmd{Process: &os.Process{Pid: 1 << 30}} // no system has so many
	p := &process{cmd: gone, worker: gone.Process, workers: new(workerSet), in: in, replies: replies, ended: make(chan struct{}), lines: make(chan string, 1<<10), stderr: new(lastBytes)}
	close(p.ended)
	s := &script{supervisor: &supervisor{run: &Run{To: 3, Timeout: time.Hour, Worker: noWorker}, workers: p.workers, p: p}}
	done := make(chan bool)
	go func() {
		defer close(done)
		defer s.end()
		for in := bufio.NewScanner(requests); in.Scan(); {
			var q request
			if err := json.Unmarshal(in.Bytes(), &q); err != nil {
				t.Errorf("request %s: %v", in.Text(), err)
			}
			s.asked = append(s.asked, q)
			if !s.lives {
				p.op = "" // nothing is to be replaced
			}
			for _, line := range answer(q, len(s.asked)) {
				if text, rest, ok := strings.Cut(line, "|"); ok {
					p.stderr.Write([]byte(text))
					line = rest
				}
				if line == closing {
					return
				}
				p.lines <- line
			}
		}
	}()
	t.Cleanup(func() { in.Close(); <-done })
	return s
}

func (s *script) end() {
	s.ends.Lock()
	defer s.ends.Unlock()
	s.over = true
	close(s.p.lines)
}

func noWorker() *exec.Cmd { return exec.Command("/dev/null/worker") }

// live starts a process that represents the worker. When it ends, another one replaces it.
func (s *script) live(t *testing.T) {
	t.Helper()
	s.lives = true
	s.p.worker = s.sleeper(t, "")
}

// sleeper starts a process that begins with a command of the shell.
func (s *script) sleeper(t *testing.T, first string) *os.Process {
	cmd := exec.Command("sh", "-c", first+" exec sleep 600")
	must.Do(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill() })
	go func() {
		cmd.Wait()
		s.ends.Lock()
		defer s.ends.Unlock()
		if !s.over {
			s.p.lines <- lineDied + " SIGABRT"
			s.p.lines <- fmt.Sprint(lineReady, " ", speaking(s.sleeper(t, "").Pid))
		}
	}()
	return cmd.Process
}

// do runs the op, and returns its result and the requests, in short form.
func (s *script) do(t *testing.T) (*report.OpResult, []string) {
	t.Helper()
	op := must.Get(schema.ParseDispatcher("ns::f(Tensor a) -> Tensor"))(t)
	res := s.op(t.Context(), engine.Operator{Schema: op})
	var asked []string
	for _, q := range s.asked {
		words := fmt.Sprintf("%d-%d", q.From, q.To)
		if q.Show {
			words += " alone"
		}
		if len(q.Skip) > 0 {
			words += fmt.Sprint(" skip ", slices.Compact(slices.Sorted(slices.Values(q.Skip))))
		}
		if len(q.Without) > 0 {
			words += fmt.Sprint(" without ", q.Without)
		}
		if q.AsItIs {
			words += " as it is"
		}
		if q.Learned != "" {
			words += fmt.Sprint(" learned ", q.Learned, " ", len(q.Origins))
		}
		asked = append(asked, words)
	}
	return res, asked
}

// ran returns the lines of cases that end, up to the end of the request.
func ran(q request, from int) []string {
	var lines []string
	for n := from; n < q.To; n++ {
		lines = append(lines, startOf(n), ended(report.CaseResult{Case: n, Ran: true}))
	}
	return append(lines, lineDone)
}

func startOf(n int) string { return fmt.Sprint(lineStart, " ", n, " ", work.WordVaried) }

func line(word string, c report.CaseResult) string {
	text, _ := json.Marshal(c)
	return word + " " + string(text)
}

func ended(c report.CaseResult) string { return line(lineEnd, c) }

// died returns the lines of the watcher of a worker that died, and of the next one.
func died(status string) []string {
	return []string{lineDied + " " + status, fmt.Sprint(lineReady, " ", speaking(0))}
}

// A case that ends its worker runs once more alone, and the others still run: the report, and
// further requests, depend on how it ended.
func TestCrashesOfAScript(t *testing.T) {
	violation := &report.Finding{Violation: &asserts.Violation{Code: asserts.UndeclaredAlias}, Case: 0}
	found := func(n int) report.CaseResult {
		return report.CaseResult{Case: n, Ran: true, Found: []*report.Finding{violation}}
	}
	for _, tt := range []struct {
		name   string
		before string // op that the worker ran
		answer func(q request, n int) []string
		asked  []string
		cases  int
		want   []string // crashes: the case, the cause and whether it is confirmed alone
	}{
		{"none", "", func(q request, n int) []string { return ran(q, q.From) }, []string{"0-3"}, 3, nil},
		{"in a case, alone too", "", func(q request, n int) []string {
			if q.From > 1 {
				return ran(q, q.From)
			}
			return append(append(ran(request{To: 1}, q.From)[:2*(1-q.From)], startOf(1)), died("SIGSEGV")...)
		}, []string{"0-3", "1-2 alone skip [1]", "2-3 skip [1]"}, 3, []string{"1 SIGSEGV alone"}},
		{"in a case, not alone", "", func(q request, n int) []string {
			if n > 1 {
				return ran(q, q.From)
			}
			return append([]string{startOf(0)}, died("SIGABRT")...)
		}, []string{"0-3", "0-1 alone skip [0]", "1-3 skip [0]"}, 3, []string{"0 SIGABRT"}},
		{"killed from outside once", "", func(q request, n int) []string {
			if n > 1 {
				return ran(q, q.From)
			}
			return append([]string{startOf(0), ended(report.CaseResult{Ran: true}), startOf(1)}, died("SIGKILL")...)
		}, []string{"0-3", "0-3"}, 3, nil},
		{"killed each time", "", func(q request, n int) []string {
			if q.From > 0 {
				return ran(q, q.From)
			}
			return append([]string{startOf(0)}, died("SIGKILL")...)
		}, []string{"0-3", "0-3", "0-1 alone", "0-1 alone", "1-3"}, 3, []string{"0 SIGKILL alone"}},
		{"after another op", "ns::g", func(q request, n int) []string {
			if n > 1 {
				return ran(q, q.From)
			}
			return append([]string{startOf(0)}, died("SIGSEGV")...)
		}, []string{"0-3", "0-3"}, 3, nil},
		{"after the same op", "ns::f", func(q request, n int) []string {
			if q.From > 0 {
				return ran(q, q.From)
			}
			return append([]string{startOf(0)}, died("SIGSEGV")...)
		}, []string{"0-3", "0-1 alone skip [0]", "1-3 skip [0]"}, 3, []string{"0 SIGSEGV alone"}},
		{"of what asks for much memory", "", func(q request, n int) []string {
			if n > 1 {
				return ran(q, q.From)
			}
			return append([]string{startOf(0), "fatal error: out of memory|" + lineCall + " "}, died(goExit)...)
		}, []string{"0-3", "1-3 skip [0]"}, 3, nil},
		{"of each case", "", func(q request, n int) []string {
			return append([]string{startOf(q.From)}, died("SIGSEGV")...)
		}, []string{"0-3", "0-1 alone skip [0]", "1-3 skip [0]", "1-2 alone skip [0 1]", "2-3 skip [0 1]", "2-3 alone skip [0 1 2]"}, 3, []string{"0 SIGSEGV alone", "1 SIGSEGV alone", "2 SIGSEGV alone"}},
		{"over a smaller call", "", func(q request, n int) []string {
			if n > 1 {
				return ran(q, q.From)
			}
			return append([]string{startOf(0), line(lineShown, found(0))}, died("SIGSEGV")...)
		}, []string{"0-3", "1-3 as it is"}, 3, []string{"0 OA"}},
		{"over a smaller call of the last case", "", func(q request, n int) []string {
			return append(append(ran(request{To: 2}, 0)[:4], startOf(2), line(lineShown, found(2))), died("SIGSEGV")...)
		}, []string{"0-3"}, 3, []string{"0 OA"}},
		{"with twins", "", func(q request, n int) []string {
			if len(q.Without) > 0 {
				return ran(q, q.From)
			}
			return append([]string{startOf(0), lineCall + " x", lineDevice + " cpu", lineTwin + " meta"}, died("SIGSEGV")...)
		}, []string{"0-3", "0-1 alone skip [0]", "0-3 without [meta]"}, 3, []string{"0 SIGSEGV alone"}},
		{"after what it learned", "", func(q request, n int) []string {
			if n > 1 {
				return ran(q, q.From)
			}
			return append([]string{startOf(0), lineLearned + " much", ended(report.CaseResult{Ran: true, Origin: &report.Origin{}}), startOf(1)}, died("SIGSEGV")...)
		}, []string{"0-3", "1-2 alone skip [1] learned much 1", "2-3 skip [1] learned much 1"}, 3, []string{"1 SIGSEGV"}},
		{"of what a case builds on", "", func(q request, n int) []string {
			switch n {
			case 1:
				return append([]string{startOf(0), ended(report.CaseResult{Ran: true}), startOf(1)}, died("SIGSEGV")...)
			case 2: // the first case
				return append([]string{startOf(0)}, died("SIGSEGV")...)
			}
			return ran(q, q.From)
		}, []string{"0-3", "1-2 alone skip [1]", "1-2 alone skip [0 1]", "2-3 skip [0 1]"}, 3, []string{"1 SIGSEGV"}},
		{"of an op with a finding that shows again", "", func(q request, n int) []string {
			switch {
			case n == 1:
				return append([]string{startOf(0), ended(found(0)), startOf(1)}, died("SIGSEGV")...)
			case q.From == 0:
				return []string{startOf(0), ended(found(0)), lineDone}
			}
			return ran(q, q.From)
		}, []string{"0-3", "1-2 alone skip [1]", "2-3 skip [1]", "0-1 skip [1]"}, 3, []string{"0 OA", "1 SIGSEGV"}},
		{"of an op with a finding that does not", "", func(q request, n int) []string {
			if n > 1 {
				return ran(q, q.From)
			}
			return append([]string{startOf(0), ended(found(0)), startOf(1)}, died("SIGSEGV")...)
		}, []string{"0-3", "1-2 alone skip [1]", "2-3 skip [1]", "0-1 skip [1]"}, 3, []string{"1 SIGSEGV"}},
	} {
		s := perform(t, tt.answer)
		s.p.op = tt.before
		res, asked := s.do(t)
		if res.Fault != "" {
			t.Errorf("%s: %s", tt.name, res.Fault)
		}
		if diff := cmp.Diff(tt.asked, asked); diff != "" {
			t.Errorf("%s: requests (-want +got):\n%s", tt.name, diff)
		}
		var got []string
		for _, f := range res.Findings {
			got = append(got, fmt.Sprint(f.Case, " OA"))
		}
		for _, c := range res.Crashes {
			words := fmt.Sprint(c.Case, " ", c.Cause)
			if c.Alone {
				words += " alone"
			}
			got = append(got, words)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || res.Cases != tt.cases {
			t.Errorf("%s: %d cases, want %d (-want +got):\n%s", tt.name, res.Cases, tt.cases, diff)
		}
	}
}

// A finding whose repeated call ends the worker is counted with its cause.
func TestFindingThatIsNotRepeated(t *testing.T) {
	shows := report.CaseResult{Ran: true, Found: []*report.Finding{{Violation: &asserts.Violation{Code: asserts.UndeclaredAlias}}}}
	res, _ := perform(t, func(q request, n int) []string {
		switch {
		case n == 1:
			return append([]string{startOf(0), ended(shows), startOf(1)}, died("SIGSEGV")...)
		case q.From == 0:
			return append([]string{startOf(0)}, died("SIGBUS")...)
		}
		return ran(q, q.From)
	}).do(t)
	want := map[string]int{"it shows OA007, but the repeated call ended its process: SIGBUS": 1}
	if diff := cmp.Diff(want, res.Unfinished); diff != "" || len(res.Findings) > 0 {
		t.Errorf("%d findings (-want +got):\n%s", len(res.Findings), diff)
	}
}

// A crash has the last call, its device, its stack, and the reason if it is allowed.
func TestCrashOfACall(t *testing.T) {
	call := must.Get(encode(&sample.Case{Op: "ns::f", Names: []string{"a"}, Args: []sample.Value{sample.Tensor("float32", 2)}}))(t)
	calls := 0
	s := perform(t, func(q request, n int) []string {
		if q.Case != "" {
			calls++ // a smaller one
			return []string{startOf(q.From), lineCall + " " + q.Case, lineCall + " ", ended(report.CaseResult{Case: q.From}), lineDone}
		}
		if q.From > 0 {
			return ran(q, q.From)
		}
		return append([]string{startOf(0), lineCall + " " + call, lineDevice + " cpu", lineCall + " ", lineFrame + " inner", lineFrame + " said " + what + "oh", lineFrame + " outer"}, died("SIGSEGV")...)
	})
	s.run.Frames = func(raw []string) []string { return raw[1:] }
	s.run.Waived = func(op *schema.Op, cause string) string { return "may " + cause }
	res, _ := s.do(t)
	if len(res.Crashes) != 1 {
		t.Fatalf("%d crashes, %s", len(res.Crashes), res.Fault)
	}
	c := res.Crashes[0]
	if c.Call != "ns::f(a=float32[2])" || c.Device != engine.CPU || c.Twin || c.Waived != "may SIGSEGV" || c.Said != "oh" || !slices.Equal(c.Frames, []string{"outer"}) {
		t.Errorf("%+v", c)
	}
	if calls > shrinkCalls {
		t.Errorf("%d smaller calls", calls)
	}
}

// A crash is reported with the smallest call that crashes in the same way.
func TestCrashOfASmallerCall(t *testing.T) {
	call := must.Get(encode(&sample.Case{Op: "ns::f", Names: []string{"a"}, Args: []sample.Value{sample.Tensor("float64", 5, 4)}}))(t)
	for cause, want := range map[string]string{"SIGSEGV": "ns::f(a=float32[4])", "SIGABRT": "ns::f(a=float64[5, 4])"} {
		s := perform(t, func(q request, n int) []string {
			if q.Case == "" && q.From > 0 {
				return ran(q, q.From)
			}
			this, status := call, "SIGSEGV"
			if q.Case != "" {
				this, status = q.Case, cause
				c, err := decode[sample.Case](q.Case)
				if err != nil || !slices.Contains(c.Args[0].Tensor.Sizes, 4) {
					return []string{startOf(q.From), ended(report.CaseResult{Case: q.From}), lineDone}
				}
			}
			return append([]string{startOf(q.From), lineCall + " " + this}, died(status)...)
		})
		res, asked := s.do(t)
		if len(res.Crashes) != 1 || res.Crashes[0].Call != want || res.Fault != "" || len(asked) > shrinkCalls+4 {
			t.Errorf("smaller calls end in %s: %s, want %s, after %d requests: %+v", cause, res.Fault, want, len(asked), res.Crashes)
		}
	}
}

// For a cause with which an op crashed before, no smaller call is searched.
func TestSecondCrashOfACause(t *testing.T) {
	call := must.Get(encode(&sample.Case{Op: "ns::f", Names: []string{"a"}, Args: []sample.Value{sample.Tensor("float64", 5, 4)}}))(t)
	s := perform(t, func(q request, n int) []string {
		if q.From > 1 {
			return ran(q, q.From)
		}
		this := call
		if q.Case != "" {
			this = q.Case
		}
		return append([]string{startOf(q.From), lineCall + " " + this}, died("SIGSEGV")...)
	})
	res, _ := s.do(t)
	if len(res.Crashes) != 2 || res.Crashes[0].Call == "ns::f(a=float64[5, 4])" || res.Crashes[1].Call != "ns::f(a=float64[5, 4])" {
		t.Errorf("%s %+v", res.Fault, res.Crashes)
	}
}

// A call that needs much memory may end its worker, and a costly one may take too long.
func TestExpected(t *testing.T) {
	for _, tt := range []struct {
		cause, cost string
		want        bool
	}{
		{report.OutOfMemory, work.WordVaried, true}, {report.OutOfMemory, work.WordCostly, true}, {report.OutOfMemory, "", false},
		{report.Hang, work.WordCostly, true}, {report.Hang, work.WordVaried, false}, {report.Hang, "", false}, {"SIGSEGV", work.WordCostly, false},
	} {
		if e := (&ending{Crash: report.Crash{Cause: tt.cause}, cost: tt.cost}); e.expected() != tt.want {
			t.Errorf("%s of a case that costs %q is expected: %v", tt.cause, tt.cost, !tt.want)
		}
	}
}

// A truncated result is an error, and is not added.
func TestOnceEnds(t *testing.T) {
	s := perform(t, func(q request, n int) []string { return []string{lineEnd + " {"} })
	if crash, err := s.once(context.Background(), request{Op: "ns::f", To: 3}, time.Hour, func(*report.CaseResult) { t.Error("a case was added") }); err == nil || crash != nil {
		t.Errorf("a result that is cut: %v, %v", crash, err)
	}
}

// The first lines of a worker decide whether it is ready, and its description in the report.
func TestReady(t *testing.T) {
	ready := fmt.Sprint(lineReady, " ", speaking(os.Getpid()))
	for _, tt := range []struct {
		name    string
		lines   []string
		ok      bool
		refusal string
		loads   []string
		died    bool
	}{
		{"ready", []string{ready}, true, "", nil, false},
		{"with libraries", []string{lineLoad + ` "a b"`, lineLoad + ` ""`, ready}, true, "", []string{"a b", ""}, false},
		{"another version", []string{lineReady + " 7"}, false, "another version", nil, false},
		{"a fault", []string{lineFault + ` "no \"room\""`, ready}, false, `no "room"`, nil, false},
		{"a fault without quotes", []string{lineFault + ` oh no`, ready}, false, `oh no`, nil, false},
		{"a kernel's line", []string{lineForeign + " hello", ready}, false, `"hello"`, nil, false},
		{"dead", []string{lineDied + " SIGSEGV", ready}, false, "", nil, true},
		{"gone", nil, false, "", nil, false},
		{"something else first", []string{"hm", ready}, true, "", nil, false},
	} {
		p := &process{workers: new(workerSet), lines: make(chan string, 8), stderr: new(lastBytes)}
		for _, line := range tt.lines {
			p.lines <- line
		}
		close(p.lines)
		ok := p.ready(time.Hour)
		if ok != tt.ok || p.died != tt.died || !slices.Equal(p.loads, tt.loads) || (p.refusal == nil) != (tt.refusal == "") || p.refusal != nil && !strings.Contains(p.refusal.Error(), tt.refusal) {
			t.Errorf("%s: %v, %q, died %v: %v", tt.name, ok, p.loads, p.died, p.refusal)
		}
		if tt.ok && (p.worker == nil || p.worker.Pid != os.Getpid()) {
			t.Errorf("%s: the worker is %v", tt.name, p.worker)
		}
	}
	self := must.Get(os.FindProcess(os.Getpid()))(t)
	silent := &process{workers: new(workerSet), cmd: &exec.Cmd{Process: self}, lines: make(chan string), stderr: new(lastBytes)}
	if silent.ready(10 * time.Millisecond) {
		t.Error("a silent worker is ready")
	}
}

// The output of a worker is reported with the library that it was loading.
func TestWrittenAfter(t *testing.T) {
	all := written{"before", "first", " \n", "third"}
	for i, want := range map[int]string{-1: ": before", 0: ": first", 1: "", 2: ": third", 3: "", -2: ""} {
		if got := all.after(i, 3); got != want {
			t.Errorf("after %d: %q, want %q", i, got, want)
		}
	}
	if got := (written{"end of the first", "second"}).after(0, 2); got != ": end of the first" {
		t.Errorf("what lost its beginning: %q", got)
	}
}

// An op is given up after a call that hangs, and after some crashes or slow cases.
func TestWhyLeave(t *testing.T) {
	crashes := func(n int, alone bool) *report.OpResult {
		r := new(report.OpResult)
		for range n {
			r.Crashes = append(r.Crashes, report.Crash{Alone: alone})
		}
		return r
	}
	segv, hang := report.Crash{Cause: "SIGSEGV"}, report.Crash{Cause: report.Hang, Alone: true}
	for _, tt := range []struct {
		name string
		r    *report.OpResult
		last report.Crash
		slow int
		want string
	}{
		{"none", crashes(0, true), segv, 0, ""}, {"few alone", crashes(maxRepeated-1, true), segv, maxSlow - 1, ""}, {"enough alone", crashes(maxRepeated, true), segv, 0, "crashes"},
		{"some not alone", crashes(maxCrashes-1, false), segv, 0, ""}, {"enough", crashes(maxCrashes, false), segv, 0, "crashes"}, {"slow", crashes(0, true), segv, maxSlow, "too long"},
		{"a hang", crashes(1, true), hang, 0, "hangs"}, {"a hang among others", crashes(1, false), report.Crash{Cause: report.Hang}, 0, ""},
	} {
		if got := whyLeave(tt.r, &tt.last, tt.slow); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// Workers get a request for each op, and errors of an op are its results.
func TestRequestsOfAScript(t *testing.T) {
	violation := &report.Finding{Violation: &asserts.Violation{Code: asserts.UndeclaredAlias}}
	end := func(n int) string { return ended(report.CaseResult{Case: n, Ran: true}) }
	fault := []string{lineFault + ` "oh"`}
	segv := func(lines ...string) []string { return append(lines, died("SIGSEGV")...) }
	for _, tt := range []struct {
		name   string
		before string // op that the worker ran
		to     int    // 0 means 3
		answer func(q request, n int) []string
		asked  []string
		fault  string
	}{
		{name: "a crash in the last case", answer: func(q request, n int) []string {
			if n == 1 {
				return segv(startOf(0), end(0), startOf(1), end(1), startOf(2))
			}
			return ran(q, q.From)
		}, asked: []string{"0-3", "2-3 alone skip [2]"}},
		{name: "three crashes of five cases", to: 5, answer: func(q request, n int) []string {
			return segv(startOf(q.From))
		}, asked: []string{"0-5", "0-1 alone skip [0]", "1-5 skip [0]", "1-2 alone skip [0 1]", "2-5 skip [0 1]", "2-3 alone skip [0 1 2]"}},
		{name: "killed after the crash of a worker of another op", before: "ns::g", answer: func(q request, n int) []string {
			switch n {
			case 1:
				return segv(startOf(0))
			case 2:
				return append([]string{startOf(0)}, died("SIGKILL")...)
			}
			return ran(q, q.From)
		}, asked: []string{"0-3", "0-3", "0-3"}},
		{name: "three cases without memory", to: 5, answer: func(q request, n int) []string {
			if n > 3 {
				return ran(q, q.From)
			}
			return append([]string{startOf(q.From), "fatal error: out of memory|" + lineCall + " "}, died(goExit)...)
		}, asked: []string{"0-5", "1-5 skip [0]", "2-5 skip [0 1]", "3-5 skip [0 1 2]"}},
		{name: "a fault of ours in a crash alone", answer: func(q request, n int) []string {
			if n == 1 {
				return segv(startOf(0))
			}
			return fault
		}, asked: []string{"0-3", "0-1 alone skip [0]"}, fault: "oh"},
		{name: "a fault of ours over a finding once more", answer: func(q request, n int) []string {
			switch n {
			case 1:
				return segv(startOf(0), ended(report.CaseResult{Ran: true, Found: []*report.Finding{violation}}), startOf(1))
			case 4:
				return fault
			}
			return ran(q, q.From)
		}, asked: []string{"0-3", "1-2 alone skip [1]", "2-3 skip [1]", "0-1 skip [1]"}, fault: "oh"},
		{name: "a fault of ours over a smaller call", answer: func(q request, n int) []string {
			return append([]string{startOf(0), line(lineShown, report.CaseResult{}), "panic: oh\n\ngoroutine 1 [running]:\n" + ours + "f()\n\n|" + lineCall + " "}, died(goExit)...)
		}, asked: []string{"0-3"}, fault: "panic: oh"},
		{name: "the library's fault", answer: func(q request, n int) []string { return []string{lineLibrary + ` "oh"`} }, asked: []string{"0-3"}, fault: "oh"},
		{name: "a foreign word", answer: func(q request, n int) []string { return []string{"hm hm"} }, asked: []string{"0-3"}, fault: `a worker answered "hm"`},
		{name: "a death without another worker", answer: func(q request, n int) []string {
			return []string{startOf(0), lineDied + " SIGSEGV", closing}
		}, asked: []string{"0-3"}, fault: "start a worker"},
		{name: "a crash with twins after another", answer: func(q request, n int) []string {
			switch {
			case q.From == 0:
				return segv(startOf(0))
			case len(q.Without) == 0:
				return segv(startOf(1), lineCall+" x", lineTwin+" meta")
			}
			return ran(q, q.From)
		}, asked: []string{"0-3", "0-1 alone skip [0]", "1-3 skip [0]", "1-2 alone skip [0 1]", "1-3 skip [0] without [meta]"}},
		{name: "a crash of an earlier case after later ones", to: 5, answer: func(q request, n int) []string {
			switch n {
			case 1:
				return segv(startOf(0), end(0), startOf(1))
			case 3:
				return segv(startOf(2), end(2), startOf(0))
			}
			return ran(q, q.From)
		}, asked: []string{"0-5", "1-2 alone skip [1]", "2-5 skip [1]", "3-5 skip [0 1]"}},
		{name: "a crash of an earlier case before them", answer: func(q request, n int) []string {
			switch n {
			case 1:
				return segv(startOf(0))
			case 2:
				return segv(startOf(0))
			case 3:
				return segv(startOf(1))
			case 4:
				return segv(startOf(1))
			case 5:
				return segv(startOf(0))
			}
			return ran(q, q.From)
		}, asked: []string{"0-3", "0-1 alone skip [0]", "1-3 skip [0]", "1-2 alone skip [0 1]", "2-3 skip [0 1]", "2-3 skip [0 1]"}},
	} {
		s := perform(t, tt.answer)
		s.p.op = tt.before
		if tt.to > 0 {
			s.run.To = tt.to
		}
		res, asked := s.do(t)
		if diff := cmp.Diff(tt.asked, asked); diff != "" {
			t.Errorf("%s: requests (-want +got):\n%s", tt.name, diff)
		}
		if (res.Fault == "") != (tt.fault == "") || !strings.HasPrefix(res.Fault, tt.fault) || res.Library != (tt.name == "the library's fault") {
			t.Errorf("%s: fault %q, want %q; the library's: %v", tt.name, res.Fault, tt.fault, res.Library)
		}
	}
}

// A case that takes too long runs alone with its full time, and then all do. One that needs much is
// left out.
func TestSlowCasesOfAScript(t *testing.T) {
	slow := func(q request) []string { return []string{startOf(q.From), lineCall + " x"} }
	for _, tt := range []struct {
		name   string
		to     int
		answer func(q request, n int) []string
		asked  []string
		want   []string
		left   string
	}{
		{"once", 3, func(q request, n int) []string {
			if n == 1 {
				return slow(q)
			}
			return ran(q, q.From)
		}, []string{"0-3", "0-1 alone skip [0]", "0-3"}, nil, ""},
		{"twice", 3, func(q request, n int) []string {
			if n == 1 || n == 3 {
				return slow(q)
			}
			return ran(q, q.From)
		}, []string{"0-3", "0-1 alone skip [0]", "0-3", "0-1 alone skip [0]", "1-3 skip [0]"}, nil, ""},
		{"alone too", 3, func(q request, n int) []string { return slow(q) }, []string{"0-3", "0-1 alone skip [0]"}, []string{"0 hang"}, "after a call that hangs"},
		{"of much", 5, func(q request, n int) []string {
			return []string{fmt.Sprint(lineStart, " ", q.From, " ", work.WordCostly)}
		}, []string{"0-5", "1-5 skip [0]", "2-5 skip [0 1]"}, nil, "after 3 cases that took too long"},
	} {
		s := perform(t, tt.answer)
		s.live(t)
		s.p.op = "ns::g" // a slow worker was not broken by another op
		s.run.To, s.run.Timeout = tt.to, 400*time.Millisecond
		res, asked := s.do(t)
		if diff := cmp.Diff(tt.asked, asked); diff != "" || res.Fault != "" || res.Left != tt.left {
			t.Errorf("%s: %s left %q, want %q: requests (-want +got):\n%s", tt.name, res.Fault, res.Left, tt.left, diff)
		}
		var got []string
		for _, c := range res.Crashes {
			got = append(got, fmt.Sprint(c.Case, " ", c.Cause))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: crashes (-want +got):\n%s", tt.name, diff)
		}
	}
	if got := grace(work.WordCostly, time.Hour); got != time.Hour/costly || grace(work.WordVaried, time.Hour) != time.Hour {
		t.Errorf("a costly case gets %v", got)
	}
}

// A worker that has run something is replaced, by its watcher or by a new one.
func TestRenew(t *testing.T) {
	s := perform(t, nil)
	s.live(t)
	first := s.p.worker.Pid
	if s.renew(); s.p.worker.Pid != first {
		t.Error("a worker that ran nothing was replaced")
	}
	s.p.op = "ns::f"
	if s.renew(); s.p == nil || s.p.worker.Pid == first {
		t.Error("a worker was not replaced")
	}
	s = perform(t, nil)
	s.p.op = "ns::f"
	s.p.in.Close()
	if s.renew(); s.p != nil {
		t.Error("a worker that nothing replaces was not stopped")
	}
}

// A worker whose state outside of tensors an op changed runs no other op.
func TestWorkerThatAnOpLeftChanged(t *testing.T) {
	for _, tt := range []struct {
		about   asserts.Place
		renewed bool
	}{{asserts.Place{Name: "a"}, false}, {asserts.Process, true}} {
		s := perform(t, func(q request, n int) []string {
			f := &report.Finding{Violation: &asserts.Violation{Code: asserts.UndeclaredWrite, Subject: tt.about}}
			return []string{startOf(0), ended(report.CaseResult{Ran: true, Found: []*report.Finding{f}}), lineDone}
		})
		s.live(t)
		first := s.p.worker.Pid
		if res, _ := s.do(t); len(res.Findings) != 1 || s.p.worker.Pid == first == tt.renewed {
			t.Errorf("%v: %d findings; another worker: %v", tt.about, len(res.Findings), s.p.worker.Pid != first)
		}
	}
}

// A worker that died without a replacement is stopped.
func TestDeadOnce(t *testing.T) {
	s := perform(t, func(q request, n int) []string { return []string{startOf(1), lineDied + " SIGSEGV", closing} })
	crash, err := s.once(t.Context(), request{Op: "ns::f", To: 3}, time.Hour, nil)
	if err != nil || crash == nil || crash.Case != 1 || crash.Cause != "SIGSEGV" || s.p != nil {
		t.Errorf("%+v, %v; stopped: %v", crash, err, s.p == nil)
	}
}

// An interrupted run returns no result for the op that was running.
func TestInterruptedOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := perform(t, func(q request, n int) []string {
		cancel()
		return []string{lineDone}
	})
	if crash, err := s.once(ctx, request{Op: "ns::f", To: 3}, time.Hour, nil); err != context.Canceled || crash != nil || s.p != nil {
		t.Errorf("%v, %v; stopped: %v", crash, err, s.p == nil)
	}
}

// The schema's faults and arguments that no call writes are findings of an op, the latter for ops
// that are not PyTorch's.
func TestFindingsOfAllCalls(t *testing.T) {
	op := must.Get(schema.ParseDispatcher("ns::f_(Tensor(a!) a) -> Tensor"))(t)
	ofFile := *op
	ofFile.Pos.Filename = "ops.yaml"
	for _, tt := range []struct {
		name  string
		o     engine.Operator
		lint  bool
		later int
		want  []string
	}{
		{"PyTorch's", engine.Operator{Schema: op}, false, 0, nil},
		{"PyTorch's, with the schema", engine.Operator{Schema: op}, true, 0, []string{"f_ is in-place by its name"}},
		{"added", engine.Operator{Schema: op, Added: true}, false, 0, []string{"none of 100 calls"}},
		{"added, with cases left", engine.Operator{Schema: op, Added: true}, false, 1, nil},
		{"of a file", engine.Operator{Schema: &ofFile}, false, 0, []string{"none of 100 calls"}},
	} {
		s := perform(t, func(q request, n int) (lines []string) {
			for n := q.From; n < q.To; n++ {
				lines = append(lines, startOf(n), ended(report.CaseResult{Case: n, Ran: true, Later: tt.later, Writes: []compare.Write{{Sizes: []int64{int64(n)}}}}))
			}
			return append(lines, lineDone)
		})
		if s.run.To = 100; tt.lint {
			s.run.Lint = func(*schema.Op) []asserts.Excuse { return nil }
		}
		found := s.op(t.Context(), tt.o).Findings
		if !slices.EqualFunc(found, tt.want, func(f *report.Finding, saw string) bool { return strings.HasPrefix(f.Violation.Saw, saw) }) {
			t.Errorf("%s: %d findings, want %q", tt.name, len(found), tt.want)
			for _, f := range found {
				t.Log(f.Violation.Saw)
			}
		}
	}
}

// Found is called with what a case shows, before the op has ended.
func TestFoundAtOnce(t *testing.T) {
	f := &report.Finding{Violation: &asserts.Violation{Code: asserts.UndeclaredAlias}}
	s := perform(t, func(q request, n int) []string {
		return []string{startOf(0), ended(report.CaseResult{Ran: true, Found: []*report.Finding{f}}), lineDone}
	})
	var shown []string
	s.run.Found = func(op string, found []*report.Finding) {
		shown = append(shown, fmt.Sprint(op, len(found), found[0].Violation.Code))
	}
	if res, _ := s.do(t); len(res.Findings) != 1 || !slices.Equal(shown, []string{res.Op + "1 OA007"}) {
		t.Errorf("%d findings, shown %q", len(res.Findings), shown)
	}
}

// A worker that does not start is a fault of each op, and is not tried again; ops without a kernel
// need none.
func TestWorkerThatDoesNotStart(t *testing.T) {
	op := func(text string) engine.Operator {
		return engine.Operator{Schema: must.Get(schema.ParseDispatcher(text))(t)}
	}
	missing := op("ns::c(Tensor a) -> Tensor")
	missing.Missing = "it has no kernel"
	var begun, done []string
	tried := 0
	run := Run{
		Operators: []engine.Operator{op("ns::b(Tensor a) -> Tensor"), missing, op("ns::a(Tensor a) -> Tensor")}, To: 3, Workers: 1, Timeout: time.Hour,
		Worker:  func() *exec.Cmd { tried++; return noWorker() },
		Started: func(op string) { begun = append(begun, op) },
		Done:    func(r *report.OpResult) { done = append(done, r.Op) },
	}
	results := must.Get(run.Do(t.Context()))(t)
	var got []string
	for _, r := range results {
		got = append(got, r.Op+" "+strings.SplitN(r.Fault, ":", 2)[0])
	}
	slices.Sort(done)
	if want := []string{"ns::a start a worker", "ns::b start a worker", "ns::c "}; !slices.Equal(got, want) || tried != 1 || !slices.Equal(begun, []string{"ns::b", "ns::a"}) || len(done) != 3 {
		t.Errorf("%q, want %q; tried %d times; started %q, done %q", got, want, tried, begun, done)
	}
	ctx, cancel := context.WithCancel(t.Context())
	run.Started, run.Done = func(string) { cancel() }, nil
	if results, err := run.Do(ctx); err != context.Canceled || slices.ContainsFunc(results, func(r *report.OpResult) bool { return r.Op == "ns::b" }) {
		t.Errorf("an interrupted run has %d results: %v", len(results), err)
	}
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	if _, err := run.Do(t.Context()); err == nil || !strings.Contains(err.Error(), "TMPDIR") {
		t.Errorf("without a folder: %v", err)
	}
}
