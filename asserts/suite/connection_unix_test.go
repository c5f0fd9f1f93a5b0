//go:build unix

package suite

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/dev/must"
)

// connectionVariable makes a process of this test use its connection in one way.
const connectionVariable = "OPASSERT_TEST_CONNECTION"

// The lines of a worker before it serves, with a run and without one.
func TestConnection(t *testing.T) {
	switch os.Getenv(connectionVariable) {
	case "forked":
		c := &connection{out: bufio.NewWriter(os.Stdout), pid: 1}
		c.say("it is", os.Getpid())
		os.Exit(3)
	case "":
	default:
		limit := func() uint64 {
			var l syscall.Rlimit
			must.Do(t, syscall.Getrlimit(syscall.RLIMIT_AS, &l))
			return l.Cur
		}
		before := limit()
		Loading("")
		fmt.Print(before == limit())
		Loading("a b")
		fmt.Print(before == limit())
		for _, err := range []error{errors.New("no"), &engine.LibraryFault{Message: "its"}, &engine.Lost{Message: "gone"}} {
			Refuse(err)
		}
		os.Exit(0)
	}
	for _, tt := range []struct {
		way, key   string // "": unreadable
		variable   string
		status     int
		out, says  string
		complaints string
	}{
		{"forked", "K", "", 0, "", "", ""},
		{"told", "", "", 0, "truetrue", "", ""},
		{"told", "K", "", 0, "truefalse", `K load ""; K load "a b"; K fault "no"; K library "its"; K lost "the device is lost: gone"; `, loadMark + loadMark},
		{"", "", WorkerVariable, 2, "", "", "a worker's key: read key: bad file descriptor"},
		{"", "empty", WorkerVariable, 2, "", "", "a worker's key: it is empty"},
		{"", "K", WorkerVariable, 0, "", fmt.Sprintf("K %s ", lineReady), ""},
	} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestConnection$")
		cmd.Env = append(os.Environ(), connectionVariable+"="+tt.way)
		if tt.variable != "" {
			cmd.Env = append(cmd.Env, tt.variable+"="+t.TempDir())
		}
		var out, complaints strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &complaints
		replies, keys := must.Get(os.CreateTemp(t.TempDir(), ""))(t), must.Get(os.CreateTemp(t.TempDir(), ""))(t)
		fmt.Fprint(keys, strings.TrimPrefix(tt.key, "empty"))
		must.Get(keys.Seek(0, io.SeekStart))(t)
		if tt.key == "" {
			keys = must.Get(os.OpenFile(keys.Name(), os.O_WRONLY, 0))(t)
		}
		cmd.ExtraFiles = []*os.File{replies, keys}
		cmd.Run()
		said := strings.ReplaceAll(string(must.Get(os.ReadFile(replies.Name()))(t)), "\n", "; ")
		if cmd.ProcessState.ExitCode() != tt.status || out.String() != tt.out || !strings.HasPrefix(said, tt.says) || (said == "") != (tt.says == "") || !strings.Contains(complaints.String(), tt.complaints) || tt.complaints == "" && complaints.Len() > 0 {
			t.Errorf("%+v: %v, %s", tt, cmd.ProcessState, cmp.Diff(tt.out+"|"+tt.says+"|"+tt.complaints, out.String()+"|"+said+"|"+complaints.String()))
		}
	}
}

// A worker answers no request that was sent to the one before, and does not stumble over the rest
// of one: a run would take the answer for that to its next request, about another op.
func TestRequestsForTheWorkerBefore(t *testing.T) {
	p := must.Get(startProcess(func() *exec.Cmd { return exec.Command(os.Args[0]) }, t.TempDir(), new(workerSet), startup))(t)
	defer p.stop()
	ops := must.Get(newFakeEngine().Operators())(t)
	fmt.Fprintln(p.in, `5, "to": 6}`)
	fmt.Fprintf(p.in, `{"worker": %d, "op": %q, "from": 3, "to": 4}`+"\n", p.worker.Pid+1, ops[0].Name())
	p.send(request{Op: ops[1].Name(), From: 5, To: 6})
	line, ok := p.next(startup)
	for ok && !strings.HasPrefix(line, lineStart) {
		line, ok = p.next(startup)
	}
	if number, _, _ := strings.Cut(strings.TrimPrefix(line, lineStart+" "), " "); number != "5" {
		t.Errorf("the first answer begins with %q, want one about case 5", line)
	}
	for ok && line != lineDone {
		line, ok = p.next(startup)
	}
	if !ok {
		t.Error("the request has no whole answer")
	}
}
