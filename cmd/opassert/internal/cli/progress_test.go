package cli

import (
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/schema"
)

// operators returns ops with these names; one with an exclamation mark is not called.
func operators(names ...string) (ops []engine.Operator) {
	for _, name := range names {
		o := engine.Operator{Schema: &schema.Op{Namespace: "my"}}
		o.Schema.Func.Name.Base = strings.TrimSuffix(name, "!")
		if strings.HasSuffix(name, "!") {
			o.Missing = "no kernel"
		}
		ops = append(ops, o)
	}
	return ops
}

// A line is updated only on a terminal that supports it, and not if messages are discarded.
func TestShows(t *testing.T) {
	inFolder(t, "a")
	device := must.Get(os.OpenFile(os.DevNull, os.O_RDWR, 0))(t)
	defer device.Close()
	file, closed := must.Get(os.Open("a"))(t), must.Get(os.Open(os.DevNull))(t)
	must.Do(t, closed.Close())
	defer file.Close()
	for _, tt := range []struct {
		own, talk io.Writer
		term      string
		want      bool
	}{
		{device, device, "xterm", true}, {device, device, "dumb", false}, {device, io.Discard, "xterm", false}, {file, file, "xterm", false}, {closed, closed, "xterm", false},
		{new(strings.Builder), device, "xterm", false},
	} {
		t.Setenv("TERM", tt.term)
		if inv := (&invocation{stderr: tt.talk, own: streams{stderr: tt.own}}); inv.shows() != tt.want {
			t.Errorf("%T %v: %v", tt.own, tt.term, !tt.want)
		}
	}
	t.Setenv("TERM", "xterm")
	var out strings.Builder
	inv := &invocation{stderr: &out, own: streams{stderr: device}}
	synctest.Test(t, func(t *testing.T) {
		p := startProgress(inv, operators("slow"), nil)
		time.Sleep(31 * time.Second)
		p.end()
		time.Sleep(time.Hour)
	})
	if out.Len() > 0 {
		t.Errorf("besides the line of a terminal: %s", &out)
	}
	var told []string
	p := &progress{add: func(title string) { told = append(told, title) }, shown: make(map[string][]*report.Finding)}
	fresh := &report.Finding{Violation: &asserts.Violation{Code: asserts.FreshImpl, Op: "my::op"}}
	p.found("my::op\n", []*report.Finding{fresh})
	p.found("my::op\n", []*report.Finding{fresh})
	note, known := &asserts.Violation{Op: "my::a", Note: "debatable"}, &asserts.Violation{Op: "my::b"}
	p.opDone(&report.OpResult{
		Op:       "my::op\n",
		Findings: []*report.Finding{{Violation: note}, {Violation: known, Known: true}, fresh},
		Crashes:  []report.Crash{{Cause: "hang"}, {Cause: "SIGSEGV", Alone: true}},
	})
	if want := []string{`OA003  my::op\n  argument `, `crash  my::op\n  SIGSEGV`}; len(told) != 2 || !strings.HasPrefix(told[0], want[0]) || told[1] != want[1] {
		t.Errorf("%q, want %q", told, want)
	}
	if p.found("my::op\n", []*report.Finding{fresh}); len(told) != 3 {
		t.Errorf("%q: the op ended, and runs again", told)
	}
	if line := (&progress{begun: time.Now(), all: 3}).line(); line != "0 of 3 ops in 0s, 0 cases, 0 findings" {
		t.Error(line)
	}
}

// Without a terminal there is a line each half minute, also during a slow op.
func TestProgressInLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		inv := &invocation{stderr: &out}
		p := startProgress(inv, operators("known", "missing!", "quick", "slow", "last"), map[string]*report.OpResult{"my::known": {}})
		p.opDone(&report.OpResult{Op: "my::known", Cases: 7})
		p.opDone(&report.OpResult{Op: "my::missing"})
		p.opStarted("my::quick")
		p.opStarted("my::slow")
		time.Sleep(20 * time.Second)
		p.opDone(&report.OpResult{Op: "my::quick", Cases: 3})
		p.opStarted("my::last\n")
		time.Sleep(55 * time.Second)
		p.opDone(&report.OpResult{Op: "my::slow"})
		time.Sleep(20 * time.Second)
		p.end()
		time.Sleep(time.Hour)
		want := `
opassert: 3 of 5 ops in 30s, 10 cases, 0 findings, about 1m0s left: my::slow
opassert: 3 of 5 ops in 1m0s, 10 cases, 0 findings, about 2m0s left: my::slow
opassert: 4 of 5 ops in 1m30s, 10 cases, 0 findings, about 45s left: my::last\n
`
		if diff := cmp.Diff(want[1:], out.String()); diff != "" {
			t.Error(diff)
		}
	})
}

// A terminal gets colours, and a pipe none.
func TestColoursOnATerminal(t *testing.T) {
	var out strings.Builder
	inv := newInvocation(command{name: "check"}, nil, &out, &out)
	inv.own = streams{&out, &out}
	const text = "  error OA009  the kernel writes argument x\n"
	must.Do(t, inv.coloured(func(w io.Writer) error { _, err := io.WriteString(w, text); return err }))
	if out.String() != text {
		t.Errorf("%q, want %q", &out, text)
	}
	out.Reset()
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	terminal := must.Get(os.OpenFile(os.DevNull, os.O_WRONLY, 0))(t)
	defer terminal.Close()
	inv.own.stdout = terminal
	must.Do(t, inv.coloured(func(w io.Writer) error { _, err := io.WriteString(w, text); return err }))
	if out.Len() > 0 {
		t.Errorf("a terminal gets no colours: %q", &out)
	}
	t.Setenv("NO_COLOR", "1")
	must.Do(t, inv.coloured(func(w io.Writer) error { _, err := io.WriteString(w, text); return err }))
	if out.String() != text {
		t.Errorf("with NO_COLOR: %q", &out)
	}
	if got := string(paint([]byte(text))); got != "\x1b[1;31m  error OA009\x1b[0m  the kernel writes argument x\n" {
		t.Errorf("with colours: %q", got)
	}
	if got := string(paint([]byte("  note  OA011  it differs\n"))); got != "\x1b[1;34m  note  OA011\x1b[0m  it differs\n" {
		t.Errorf("a note with colours: %q", got)
	}
}
