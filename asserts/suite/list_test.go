package suite

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/dev/must"
)

// lister returns a function that starts a shell as a worker, and the number of starts. In its
// script say writes a line to the run, and ready is the greeting.
func lister(scripts ...string) (worker func() *exec.Cmd, started *int) {
	started = new(int)
	greeting := strings.TrimSuffix(fmt.Sprint(lineReady, " ", speaking(0)), "0")
	return func() *exec.Cmd {
		script := scripts[min(*started, len(scripts)-1)]
		*started++
		return exec.Command("sh", "-c", `key=$(cat <&4); say() { echo "$key $*" >&3; }; ready() { say "$0$$"; }; `+script, greeting)
	}, started
}

// List returns the ops that a worker lists, and the output of its libraries meanwhile.
func TestList(t *testing.T) {
	all := "say list " + must.Get(encode(Listing{Version: "v"}))(t)
	for _, tt := range []struct {
		name    string
		scripts []string
		started int
		wrote   []string
		err     string
	}{
		{"at once", []string{"ready; read q; " + all + "; cat"}, 1, nil, ""},
		{"killed over it", []string{"ready; read q; kill -9 $$", "ready; read q; " + all + "; cat"}, 2, nil, ""},
		{"with a library that writes", []string{`printf '\036' >&2; say 'load "x.so"'; echo hello >&2; printf '\036' >&2; say 'load ""'; ready; read q; ` + all + "; cat"}, 1, []string{"x.so writes while it is loaded: hello"}, ""},
		{"with one that is silent", []string{`printf '\036' >&2; say 'load "x.so"'; printf '\036' >&2; say 'load ""'; echo later >&2; ready; read q; ` + all + "; cat"}, 1, nil, ""},
		{"that can't load one", []string{`printf '\036' >&2; say 'load "x.so"'; say fault '"no room"'; sleep .1; echo why >&2`}, 1, nil, "load x.so: no room: why"},
		{"that crashes over one", []string{`printf '\036' >&2; say 'load "x.so"'; say died SIGSEGV; sleep .1; echo why >&2`}, 1, nil, "load x.so: SIGSEGV: why"},
		{"that takes no requests", []string{"exec 0<&-; ready"}, 1, nil, "did not list its ops"},
		{"that ends", []string{"ready; read q; exit 3"}, 1, nil, "did not list its ops"},
		{"that is said to die", []string{"ready; read q; say died SIGSEGV; cat"}, 1, nil, "did not list its ops"},
		{"that fails", []string{`ready; read q; say fault '"no room"'; cat`}, 1, nil, "no room"},
		{"that is not alone", []string{"ready; read q; echo me >&3; cat"}, 1, nil, `answered "me`},
		{"that says something first", []string{"ready; read q; say hm; " + all + "; cat"}, 1, nil, ""},
		{"garbled", []string{"ready; read q; say list x; cat"}, 1, nil, "illegal base64"},
	} {
		worker, started := lister(tt.scripts...)
		l, err := List(worker)
		if err == nil {
			defer l.Close()
		}
		switch {
		case *started != tt.started, (err == nil) != (tt.err == ""), err != nil && !strings.Contains(err.Error(), tt.err):
			t.Errorf("%s: started %d times, want %d; %v, want %s", tt.name, *started, tt.started, err, tt.err)
		case err == nil && (l.Version != "v" || !slices.Equal(l.Wrote, tt.wrote)):
			t.Errorf("%s: %+v", tt.name, l)
		}
	}
	t.Setenv("TMPDIR", "/dev/null")
	if _, err := List(nil); err == nil {
		t.Error("a worker has a folder where there is no room for one")
	}
}

// A run continues with the process started for the list, in a worker that has run nothing and in
// its folder. One that could not load a library is not kept.
func TestRunAfterList(t *testing.T) {
	all := must.Get(encode(Listing{Operators: must.Get(newFakeEngine().Operators())(t)[:1]}))(t)
	worker, started := lister(`export key; while ! sh -c '
		say() { echo "$key $*" >&3; }
		say "$0$$"
		while read q; do
			case $q in
			*list*) say list ` + all + `; listed=true ;;
			*) say end "{\"case\":0,\"ran\":${listed-false}}"; say done ;;
			esac
		done' "$0"; do say died SIGKILL; done`)
	l := must.Get(List(worker))(t)
	run := Run{Operators: l.Operators, To: 1, Workers: 1, Timeout: caseTime, Worker: worker, Listed: l}
	if folder, _, err := run.folder(); folder != l.scratch.work() || err != nil {
		t.Errorf("the others go to %s: %v", folder, err)
	}
	for want := range 2 {
		results := must.Get(run.Do(context.Background()))(t)
		if len(results) != 1 || results[0].Cases != 1 || results[0].Ran != 0 || results[0].Fault != "" || *started != 1+want {
			t.Errorf("%d were started: %+v", *started, results[0])
		}
	}
	l.Close()
	if _, err := os.Stat(l.scratch.Folder); !os.IsNotExist(err) {
		t.Error(err)
	}
	l = must.Get(List(worker))(t)
	p := <-l.worker
	l.worker <- p
	if l.Close(); !p.over() {
		t.Error("no run has taken the worker, and it goes on")
	}
	faulty, _ := lister("ready; read q; say list " + must.Get(encode(Listing{Unloaded: []*engine.LoadError{{Library: "x.so", Why: "why"}}}))(t) + "; cat")
	if l = must.Get(List(faulty))(t); l.take() != nil {
		t.Error("a worker is kept that could not load a library")
	}
	l.Close()
}

// Check runs an op in this process, unless the engine lacks what it needs.
func TestCheck(t *testing.T) {
	e, cfg := newFakeEngine(), fakeConfig()
	o := must.Get(e.Operator("aten::good"))(t)
	if res, err := Check(e, cfg, o, 0, 5); err != nil || res.Ran == 0 || res.Against() > 0 {
		t.Errorf("%+v, %v", res, err)
	}
	o.Missing = "a reason"
	if res, err := Check(e, cfg, o, 0, 5); err != nil || res.Cases > 0 {
		t.Errorf("of an op that lacks something: %+v, %v", res, err)
	}
}
