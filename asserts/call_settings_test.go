package asserts_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/dev/must"
)

func TestOPASSERT(t *testing.T) {
	tests := []struct {
		text     string
		level    asserts.Level
		reporter asserts.Reporter
		policy   string
		sample   float64
	}{
		{"", asserts.Content, asserts.Panic, "aware", 1},
		{"panic", asserts.Content, asserts.Panic, "aware", 1},
		{"log", asserts.Content, asserts.Logged, "aware", 1},
		{"collect", asserts.Content, asserts.Collected, "aware", 1},
		{"off", asserts.Off, asserts.Panic, "aware", 1},
		{"off,level=content", asserts.Off, asserts.Panic, "aware", 1},
		{"level=content", asserts.Content, asserts.Panic, "aware", 1},
		{"level=identity", asserts.Identity, asserts.Panic, "aware", 1},
		{"sample=0.1", asserts.Content, asserts.Panic, "aware", 0.1},
		{"policy=pytorch", asserts.Content, asserts.Panic, "pytorch", 1},
		{"collect, level=content, sample=0, policy=pytorch", asserts.Content, asserts.Collected, "pytorch", 0},
	}
	for _, test := range tests {
		level, reporter, policy, sample, err := asserts.ParseOPASSERT(test.text)
		if err != nil || level != test.level || reporter != test.reporter || policy.Name != test.policy || sample != test.sample {
			t.Errorf("%q: %v, %T, %s, %v, %v", test.text, level, reporter, policy.Name, sample, err)
		}
	}
	for _, text := range []string{"panik", "level", "level=", "level=meta", "level=off", "sample=2", "sample=-1", "sample=NaN", "sample=x", "policy=lax", "log,panik", "panic=1", ",", "log,", "=content"} {
		_, _, _, _, err := asserts.ParseOPASSERT(text)
		if err == nil || !strings.Contains(err.Error(), "OPASSERT="+text) || !strings.Contains(err.Error(), "level=identity or content") {
			t.Errorf("%q: error %v does not list the options", text, err)
		}
	}
	for text, want := range map[string]string{
		"log,collect": "want one of log and collect", "level=content, level=identity": "want one of level=content and level=identity", "log,log": "want one of log and log",
	} {
		if _, _, _, _, err := asserts.ParseOPASSERT(text); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// child is the program that TestProcess runs: two calls, the second of which violates a rule.
func child() {
	defer func() {
		switch p := recover().(type) {
		case *asserts.Violation:
			fmt.Println("panicked:", p.Title())
		case error:
			fmt.Println("panicked:", p)
		}
	}()
	op := newAdd()
	binary(op, healthy, newTensor(4), newTensor(4))
	for range 3 {
		binary(op, aliasing, newTensor(4), newTensor(4))
	}
	fmt.Println("went on")
}

// A childRun represents the tests of a package.
type childRun string

func (r childRun) Run() int {
	if r == "judged before" {
		op := newAdd()
		asserts.Judge(op, &asserts.Seen{}, asserts.Aware())
		for range 2 {
			func() {
				defer func() { fmt.Println("panicked:", recover() != nil) }()
				binary(op, healthy, newTensor(4), newTensor(4))
			}()
		}
		return 0
	}
	if r == "noted" {
		op := newAdd()
		op.Notes = []asserts.Excuse{{Code: asserts.UndeclaredAlias, Reason: "debatable"}}
		binary(op, aliasing, newTensor(4), newTensor(4))
		return 0
	}
	if strings.HasPrefix(string(r), "broken") {
		child()
	} else {
		binary(newAdd(), healthy, newTensor(4), newTensor(4))
	}
	if strings.HasSuffix(string(r), "failing") {
		return 3
	}
	return 0
}

func TestMain(m *testing.M) {
	if child := os.Getenv("OPASSERT_TEST_CHILD"); child != "" {
		if os.Getenv("OPASSERT_TEST_MAIN") == "" {
			os.Exit(childRun(child).Run())
		}
		if os.Getenv("OPASSERT_TEST_MAIN") == "program" {
			flag.CommandLine = flag.NewFlagSet("", flag.PanicOnError) // unlike in tests
			os.Exit(childRun(child).Run())
		}
		os.Exit(asserts.Main(childRun(child)))
	}
	os.Unsetenv("OPASSERT") // it may be set for this test run
	asserts.SetLevel(asserts.Identity)
	os.Exit(m.Run())
}

// OPASSERT as a user sets it.
func TestProcess(t *testing.T) {
	const panicked = "panicked: OA007 undeclared-alias  asserts_test.binary  return 0 \"result\"   [cpu, uint8]\n"
	tests := []struct {
		opassert string
		child    childRun
		out      string
		reports  int    // on standard error
		errOut   string // also on standard error; "" for no more
		status   int
	}{
		{"", "broken", panicked, 0, "", 0},
		{"log", "broken", "went on\n", 1, "", 1},
		{"collect", "broken", "went on\n", 1, "opassert: calls 4, ", 1},
		{"collect", "healthy", "", 0, "opassert: calls 1, ", 0},
		{"collect", "noted", "", 1, "(note)", 0},
		{"collect", "failing", "", 0, "opassert: calls 1, ", 3},
		{"collect", "broken and failing", "went on\n", 1, "opassert: calls 4, ", 3},
		{"off", "broken", "went on\n", 0, "", 0},
		{"collect,sample=0.5", "broken", "went on\n", 1, "not in the sample: calls 2", 1},
		{"level=contents", "broken", "panicked: opassert: OPASSERT=level=contents: unknown option \"level=contents\"; the options are " +
			"panic, log, collect or off, level=identity or content, sample=0..1, policy=aware or pytorch\n", 0, "", 0},
		{"level=contents", "judged before", "panicked: true\npanicked: true\n", 0, "", 0},
	}
	for _, test := range tests {
		t.Run(test.opassert+" "+string(test.child), func(t *testing.T) {
			t.Parallel()
			exe := must.Get(os.Executable())(t)
			var out, errOut strings.Builder
			cmd := exec.Command(exe)
			cmd.Env = append(os.Environ(), "OPASSERT_TEST_CHILD="+string(test.child), "OPASSERT_TEST_MAIN=yes", "OPASSERT="+test.opassert)
			cmd.Stdout, cmd.Stderr = &out, &errOut
			cmd.Run()
			if diff := cmp.Diff(test.out, out.String()); diff != "" {
				t.Error(diff)
			}
			if n := strings.Count(errOut.String(), "\n  rule "); !strings.Contains(errOut.String(), test.errOut) || n != test.reports {
				t.Errorf("%d reports, want %d, and %q in\n%s", n, test.reports, test.errOut, errOut.String())
			}
			if test.errOut == "" && test.reports == 0 && errOut.Len() > 0 || test.errOut == "" && strings.Contains(errOut.String(), "opassert: ") {
				t.Errorf("more than the reports:\n%s", errOut.String())
			}
			if status := cmd.ProcessState.ExitCode(); status != test.status {
				t.Errorf("exit %d, want %d", status, test.status)
			}
		})
	}
}

// A violation without a reporter is not lost.
func TestWithoutMain(t *testing.T) {
	exe := must.Get(os.Executable())(t)
	for _, test := range []struct{ opassert, main, out, errOut string }{
		{"log", "", "panicked: OA007", "without a TestMain that calls asserts.Main"},
		{"collect", "", "panicked: OA007", "without a TestMain that calls asserts.Main"},
		{"log", "program", "went on", "OA007"},
		{"collect", "program", "went on", "OA007"},
	} {
		var out, errOut strings.Builder
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), "OPASSERT_TEST_CHILD=broken", "OPASSERT_TEST_MAIN="+test.main, "OPASSERT="+test.opassert)
		cmd.Stdout, cmd.Stderr = &out, &errOut
		cmd.Run()
		if !strings.HasPrefix(out.String(), test.out) || !strings.Contains(errOut.String(), test.errOut) {
			t.Errorf("OPASSERT=%s %s: %s\n%s", test.opassert, test.main, &out, &errOut)
		}
	}
}

func TestSample(t *testing.T) {
	for _, test := range []struct {
		share float64
		want  string // which of each op's first ten calls are checked
	}{
		{1, "xxxxxxxxxx"}, {0.5, "x.x.x.x.x."}, {0.1, "x........."}, {0.3, "x..x..x..."}, {0, ".........."},
	} {
		restore := asserts.SetSample(test.share)
		ops := []*asserts.Op{newAdd(), newAdd()}
		got := make([]string, len(ops))
		// The ops take turns: the sample must not always have the same one.
		for range 10 {
			for i, op := range ops {
				mark := "."
				func() {
					defer asserts.SetReporter(reporter(func(asserts.Violations) { mark = "x" }))()
					binary(op, aliasing, newTensor(4), newTensor(4))
				}()
				got[i] += mark
			}
		}
		restore()
		for _, g := range got {
			if g != test.want {
				t.Errorf("sample %v: checked %s, want %s", test.share, g, test.want)
			}
		}
	}
}

func TestContext(t *testing.T) {
	outer := collect(t)
	op := newAdd()
	write := func(self, other *tensor) *tensor { self.impl.storage.bytes[0]++; return newTensor(4) }

	inner := new(asserts.Collector)
	ctx := asserts.WithLevel(asserts.WithReporter(t.Context(), inner), asserts.Content)
	binaryContext(ctx, op, write, newTensor(4), newTensor(4))
	if got := linesOf(inner); len(got) != 1 || !strings.HasPrefix(got[0], "OA009") {
		t.Errorf("found %v, want OA009", got)
	}
	binaryContext(t.Context(), op, write, newTensor(4), newTensor(4))
	binaryContext(asserts.WithLevel(t.Context(), asserts.Off), op, aliasing, newTensor(4), newTensor(4))
	lax := asserts.Aware().With(asserts.Row{Trait: asserts.MetaTensor, Skip: asserts.AllCodes, Reason: "meta"})
	meta := func(self, other *tensor) *tensor {
		v := other.view()
		v.impl.traits |= asserts.MetaTensor
		return v
	}
	binaryContext(asserts.WithPolicy(t.Context(), lax), op, meta, newTensor(4), newTensor(4))
	all := asserts.Mode{Name: "all", Invalidates: asserts.AllCodes}
	binaryContext(asserts.WithMode(t.Context(), all), op, aliasing, newTensor(4), newTensor(4))
	//lint:ignore SA1012 a wrapper passes on what its kernel would get
	binaryContext(nil, op, healthy, newTensor(4), newTensor(4))
	if got := linesOf(outer); got != nil {
		t.Errorf("found %v outside the contexts", got)
	}
	binaryContext(t.Context(), op, meta, newTensor(4), newTensor(4))
	if got := linesOf(outer); len(got) != 1 {
		t.Errorf("found %v, want what the context excused before", got)
	}
}

// A context outlives a change of the process's settings.
func TestContextFollowsProcess(t *testing.T) {
	c := collect(t)
	ctx := asserts.WithLevel(t.Context(), asserts.Identity)
	op := newAdd()
	leave := asserts.EnterMode(asserts.Mode{Name: "all", Invalidates: asserts.AllCodes})
	binaryContext(ctx, op, aliasing, newTensor(4), newTensor(4))
	if got := linesOf(c); got != nil {
		t.Errorf("found %v under the mode", got)
	}
	leave()
	leave()
	binaryContext(ctx, op, aliasing, newTensor(4), newTensor(4))
	if got := linesOf(c); len(got) != 1 {
		t.Errorf("found %v after the mode, want one", got)
	}
}

func TestSetAndRestore(t *testing.T) {
	c := collect(t)
	op := newAdd()
	restores := []func(){
		asserts.SetReporter(asserts.Log(io.Discard)),
		asserts.SetLevel(asserts.Off),
		asserts.SetPolicy(asserts.PyTorch()),
	}
	binary(op, aliasing, newTensor(4), newTensor(4))
	// Out of order, each restores its own setting.
	for _, restore := range restores {
		restore()
	}
	binary(op, aliasing, newTensor(4), newTensor(4))
	if got := linesOf(c); len(got) != 1 {
		t.Errorf("found %v, want one", got)
	}
}

// Contexts of one parent, and modes entered one after the other, are independent.
func TestScopesAreApart(t *testing.T) {
	c := collect(t)
	mode := func(name string) asserts.Mode {
		return asserts.Mode{Name: name, Invalidates: asserts.CodesOf(asserts.FreshImpl)}
	}
	modesOf := func(ctx context.Context) string {
		c.Reset()
		binaryContext(ctx, newAdd(), aliasing, newTensor(4), newTensor(4))
		found := c.Found()
		if len(found) != 1 {
			t.Fatalf("found %v", found)
		}
		var names []string
		for _, s := range found[0].Skipped {
			names = append(names, s.Reason)
		}
		return strings.Join(names, " ")
	}
	for depth := range 6 {
		parent := t.Context()
		var leave []func()
		for i := range depth {
			leave = append(leave, asserts.EnterMode(asserts.Mode{Name: fmt.Sprint("outer ", i)}))
			parent = asserts.WithLevel(parent, asserts.Identity)
		}
		one, two := asserts.WithMode(parent, mode("one")), asserts.WithMode(parent, mode("two"))
		both := asserts.WithMode(one, asserts.Mode{Name: "three", Invalidates: asserts.CodesOf(asserts.FreshStorage)})
		for _, test := range []struct {
			ctx  context.Context
			want string
		}{{one, "mode one"}, {two, "mode two"}, {one, "mode one"}, {both, "mode one mode three"}, {two, "mode two"}, {parent, ""}} {
			if got := modesOf(test.ctx); got != test.want {
				t.Errorf("%d deep: skips for %q, want %q", depth, got, test.want)
			}
		}
		for _, l := range leave {
			l()
		}
	}
}

// Contents are observed in tests if OPASSERT sets no level, and nowhere else.
func TestUsualLevel(t *testing.T) {
	if asserts.LevelUnset(true) != asserts.Content || asserts.LevelUnset(false) != asserts.Identity {
		t.Errorf("a test is at %v, another program at %v", asserts.LevelUnset(true), asserts.LevelUnset(false))
	}
}
