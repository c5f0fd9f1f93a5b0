package preload_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/cmd/opassert/internal/preload"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/internal/procstat"
)

// probing is an object with the target library libprobe.so.
const probing = `
static void opened(void) {
  char path[PATH_MAX];
  static int done;
  begin();
  if (own.field[FOLDER] != NULL && !done && find_library("libprobe.so", path)) done = 1, ask_and_open(path);
}
static void starts(void) {}`

// A bench has the programs that the tests run.
type bench struct {
	starts, child, probe, fits string
	slow                       time.Duration // a folder without the fitting library
}

func build(t *testing.T) bench {
	t.Helper()
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil { // a folder of the tests, for other users too
		t.Fatal(err)
	}
	empty := filepath.Join(dir, "empty.c")
	must.Do(t, os.WriteFile(empty, []byte("int nothing;\n"), 0o644))
	file := func(name string, args ...string) string {
		out := filepath.Join(dir, name)
		if text, err := exec.Command("cc", append(args, "-o", out)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		return out
	}
	return bench{
		starts: file("starts", "testdata/starts.c", "-w"), child: file("child", "testdata/child.c", "-ldl"),
		probe: file("libprobe.so", "-shared", empty), fits: file("libfits.so", "-shared", empty),
	}
}

// A watched is the outcome of a program.
type watched struct {
	out       string
	status    int
	left      []string
	unwatched []string
	asked     int
}

func (b bench) run(t *testing.T, command ...string) watched {
	t.Helper()
	var w watched
	object := must.Get(preload.New(preload.ObjectSpec{Name: "test", Source: probing, Variable: "OPASSERT_TEST", Library: "libprobe.so", Fit: func(string) (string, error) {
		w.asked++
		time.Sleep(b.slow)
		return b.fits, nil
	}}))(t)
	object.Serve(nil)
	var out bytes.Buffer
	end := must.Get(preload.Program{Command: command, Stdout: &out, Stderr: &out}.Run(t.Context(), object))(t)
	if err := object.Close(); err != nil {
		t.Error(err)
	}
	w.out, w.status, w.left, w.unwatched = out.String(), end.Status, end.Left, object.Unwatched()
	return w
}

// However a program is started, the object is in it, and its environment is the one
// that it would have without.
func TestChildren(t *testing.T) {
	b := build(t)
	ways := []string{
		"execv", "execve", "execvp", "execvpe", "execl", "execlp", "execle", "fexecve", "execveat", "posix_spawn", "posix_spawnp",
		"system", "popen", "wordexp", "fork", "clone", "clone3", "double fork", "no env", "closed", "memfd",
	}
	if os.Getuid() == 0 {
		ways = append(ways, "setuid", "setgid", "network namespace")
	}
	t.Setenv("PS1", "a variable")
	for _, how := range ways {
		t.Run(how, func(t *testing.T) {
			command := []string{b.starts, how, b.child, b.probe, "1"}
			w := b.run(t, command...)
			bare := must.Get(exec.Command(command[0], command[1:]...).CombinedOutput())(t)
			if diff := cmp.Diff(string(bare), w.out); diff != "" {
				t.Error(diff)
			}
			if w.asked != 1 || len(w.unwatched)+len(w.left) > 0 {
				t.Errorf("the object asked %d times, want 1; unwatched %q, left %q", w.asked, w.unwatched, w.left)
			}
		})
	}
}

// A program that is not a child of this process gets the objects to open, and is awaited.
func TestBeside(t *testing.T) {
	b := build(t)
	out := must.Get(exec.Command("sh", "-c", `"$@" >/dev/null 2>&1 & echo $!`, "sh", b.child, "none", "700").Output())(t)
	pid := must.Get(strconv.Atoi(strings.TrimSpace(string(out))))(t)
	source, sink, err := os.Pipe()
	must.Do(t, err)
	defer source.Close()
	object := must.Get(preload.New(preload.ObjectSpec{Name: "test", Source: probing, Variable: "OPASSERT_TEST", Library: "libprobe.so"}))(t)
	object.Serve(nil)
	end := must.Get(preload.Program{Child: &preload.Child{Pid: pid, Waits: sink}}.Run(t.Context(), object))(t)
	must.Do(t, object.Close())
	said := strings.Split(string(must.Get(io.ReadAll(source))(t)), "\x00")
	if end.Status != 0 || len(end.Left) > 0 || len(said) != 3 || !filepath.IsAbs(said[0]) || said[1] == "" {
		t.Errorf("ended with %d, left %q, was told %q", end.Status, end.Left, said)
	}
	if state := procstat.Of(pid); len(state) > 0 && state[0] != "Z" {
		t.Errorf("process %d still runs", pid)
	}
}

// A program without the object, or whose object can't reach opassert, is listed, with
// the reason.
func TestNotWatched(t *testing.T) {
	b := build(t)
	tests := []struct {
		how, unwatched string
	}{
		{"system call", "has loaded libprobe.so, and not opassert's object: it was started without LD_PRELOAD in its environment, and not through libc"},
		{"daemon, system call", "has loaded libprobe.so, and not opassert's object: it was started without LD_PRELOAD in its environment, and not through libc"},
		{"renamed daemon, system call", "has loaded libprobe.so, and not opassert's object: it was started without LD_PRELOAD in its environment, and not through libc"},
		{"sudden daemon, system call", "has loaded libprobe.so, and not opassert's object: it was started without LD_PRELOAD in its environment, and not through libc"},
		{"sudden daemon, system calls", "has loaded libprobe.so, and not opassert's object: it was started without LD_PRELOAD in its environment, and not through libc"},
		{"no sockets", "has loaded libprobe.so, and could not reach opassert"},
	}
	for _, tt := range tests {
		t.Run(tt.how, func(t *testing.T) {
			w := b.run(t, b.starts, tt.how, b.child, b.probe, "1500")
			want := regexp.MustCompile(`^process \d+ \(` + regexp.QuoteMeta(b.child+" "+b.probe+" 1500") + `\) ` + tt.unwatched + "$")
			if w.asked != 0 || len(w.unwatched) != 1 || !want.MatchString(w.unwatched[0]) {
				t.Errorf("the object asked %d times, unwatched %q, want one %v", w.asked, w.unwatched, want)
			}
		})
	}
	t.Run("without the library", func(t *testing.T) {
		if w := b.run(t, b.starts, "system call", b.child, "none", "200"); len(w.unwatched) > 0 {
			t.Errorf("unwatched %q", w.unwatched)
		}
	})
	t.Run("that maps it as data", func(t *testing.T) {
		data := filepath.Join(t.TempDir(), "libprobe.so")
		must.Do(t, os.WriteFile(data, make([]byte, 48<<20), 0o644))
		if w := b.run(t, b.starts, "system call", b.child, data, "200"); len(w.unwatched) > 0 {
			t.Errorf("unwatched %q", w.unwatched)
		}
	})
	t.Run("privileges", func(t *testing.T) {
		if os.Getuid() != 0 {
			t.Skip("another group's file takes root")
		}
		must.Do(t, os.Chown(b.child, 0, 65534))
		must.Do(t, os.Chmod(b.child, 0o755|os.ModeSetgid))
		w := b.run(t, b.starts, "execve", b.child, b.probe, "1500")
		if len(w.unwatched) != 1 || !strings.HasSuffix(w.unwatched[0], "it runs with more privileges than its caller, which disables LD_PRELOAD") {
			t.Errorf("unwatched %q", w.unwatched)
		}
	})
}

// A library that is opened by a plain name is noticed, and found where it is without
// the object, unless by the caller's own path: then it is reported.
func TestPlainNames(t *testing.T) {
	b := build(t)
	folder, name := filepath.Split(b.probe)
	const unseen = " has loaded libprobe.so in a way that opassert does not notice"
	for _, tt := range []struct {
		how, link, path string
		asked           int
		unwatched       string
	}{
		{"LD_LIBRARY_PATH", "-g0", folder, 1, ""},
		{"LD_LIBRARY_PATH, not the caller's path", "-Wl,-rpath,/no/such/folder:/tmp/none", folder, 1, ""},
		{"nowhere", "-g0", "", 0, ""},
		{"nowhere, by the caller's path", "-Wl,-rpath,/no/such/folder", "", 0, ""},
		{"the caller's path", "-Wl,-rpath,/no/such/folder:" + folder, "", 0, unseen},
		{"beside the caller", "-Wl,-rpath,$ORIGIN", "", 0, unseen},
		{"beside the caller, in braces", "-Wl,-rpath,/no/such/folder:${ORIGIN}/../" + filepath.Base(folder), "", 0, unseen},
		{"the caller's older path", "-Wl,--disable-new-dtags,-rpath," + folder, "", 0, unseen},
	} {
		t.Run(tt.how, func(t *testing.T) {
			child := filepath.Join(folder, "caller")
			if out, err := exec.Command("cc", "testdata/child.c", "-ldl", "-o", child, tt.link).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			t.Setenv("LD_LIBRARY_PATH", tt.path)
			w := b.run(t, child, name, "1000")
			if w.asked != tt.asked || len(w.unwatched) != min(1, len(tt.unwatched)) || !strings.HasSuffix(strings.Join(w.unwatched, ""), tt.unwatched) {
				t.Errorf("the object asked %d times, want %d; unwatched %q, want %q", w.asked, tt.asked, w.unwatched, tt.unwatched)
			}
		})
	}
}

// A process is watched however long its libraries take to load.
func TestSlowLoads(t *testing.T) {
	b := build(t)
	source := filepath.Join(t.TempDir(), "slow.c")
	must.Do(t, os.WriteFile(source, []byte("#include <unistd.h>\n__attribute__((constructor)) static void load(void) { sleep(2); }\n"), 0o644))
	if out, err := exec.Command("cc", "-shared", source, "-o", b.probe).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if w := b.run(t, b.child, b.probe, "1"); w.asked != 1 || len(w.unwatched) > 0 {
		t.Errorf("the object asked %d times, want 1; unwatched %q", w.asked, w.unwatched)
	}
	if w := b.run(t, "sh", "-c", `"$@" & sleep 1; kill -9 $!`, "sh", b.child, b.probe, "1"); w.asked != 0 || len(w.unwatched) > 0 {
		t.Errorf("killed as it loads, the object asked %d times, want 0; unwatched %q", w.asked, w.unwatched)
	}
}

// A process that is killed before its own code runs is not reported; one that runs
// is. The object here ignores libraries that a program is linked to.
func TestKilledBeforeMain(t *testing.T) {
	b := build(t)
	dir := t.TempDir()
	source, child := filepath.Join(dir, "large.c"), filepath.Join(dir, "linked")
	if err := os.WriteFile(source, []byte("#include <unistd.h>\nint atoi(const char *); char *getenv(const char *);\nchar large[64 << 20];\n__attribute__((constructor)) static void load(void) { sleep(atoi(getenv(\"LOADS\"))); }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"-shared", source, "-o", b.probe},
		{"testdata/child.c", "-ldl", "-Wl,--no-as-needed", b.probe, "-o", child},
	} {
		if out, err := exec.Command("cc", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	t.Setenv("LOADS", "60")
	if w := b.run(t, "sh", "-c", `"$@" & sleep 1; kill -9 $!`, "sh", child, "none", "1"); len(w.unwatched) > 0 {
		t.Errorf("unwatched %q, want none", w.unwatched)
	}
	t.Setenv("LOADS", "0")
	if w := b.run(t, child, "none", "1000"); len(w.unwatched) != 1 || !strings.HasSuffix(w.unwatched[0], " has loaded libprobe.so in a way that opassert does not notice") {
		t.Errorf("unwatched %q, want one", w.unwatched)
	}
}

// A child that is forked while another thread loads the fitting library does not have
// it, and is reported.
func TestForkedWhileLoading(t *testing.T) {
	b := build(t)
	b.slow = 3 * time.Second
	program := filepath.Join(t.TempDir(), "forks")
	if out, err := exec.Command("cc", "testdata/forks.c", "-ldl", "-pthread", "-o", program).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := regexp.MustCompile(`^process \d+ \(.*/forks .*\) has loaded libprobe.so in a way that opassert does not notice$`)
	if w := b.run(t, program, b.probe); w.asked != 1 || len(w.unwatched) != 1 || !want.MatchString(w.unwatched[0]) {
		t.Errorf("the object asked %d times, want 1; unwatched %q, want one %v", w.asked, w.unwatched, want)
	}
}

// A process that outlives the program is waited for.
func TestDaemons(t *testing.T) {
	b := build(t)
	began := time.Now()
	w := b.run(t, b.starts, "daemon", b.child, b.probe, "600")
	if w.asked != 1 || len(w.unwatched)+len(w.left) > 0 || time.Since(began) < 600*time.Millisecond {
		t.Errorf("the object asked %d times, want 1; unwatched %q, left %q, after %v", w.asked, w.unwatched, w.left, time.Since(began))
	}
}

// Errors and statuses are those of the replaced functions.
func TestErrors(t *testing.T) {
	b := build(t)
	for _, how := range []string{"execve", "execvp", "posix_spawn", "execl"} {
		for _, child := range []string{"no/such/file", ".", "testdata/child.c"} {
			command := []string{b.starts, how, child, b.probe, "0"}
			bare, _ := exec.Command(command[0], command[1:]...).CombinedOutput()
			if w := b.run(t, command...); w.out != string(bare) {
				t.Errorf("%s %s: %s", how, child, cmp.Diff(string(bare), w.out))
			}
		}
	}
	if w := b.run(t, "sh", "-c", "kill -9 $$"); w.status != -9 {
		t.Errorf("status %d", w.status)
	}
}

// The folder for temporary files may have any name, and may be removed.
func TestTemporaryFolders(t *testing.T) {
	b := build(t)
	for _, name := range []string{"a b", "a:b", strings.Repeat("long/", 40), "plain"} {
		dir := filepath.Join(t.TempDir(), name)
		must.Do(t, os.MkdirAll(dir, 0o777))
		t.Setenv("TMPDIR", dir)
		w := b.run(t, "sh", "-c", `rm -rf "$TMPDIR"; exec "$@"`, "sh", b.starts, "execve", b.child, b.probe, "1")
		if w.asked != 1 || len(w.unwatched) > 0 || !strings.Contains(w.out, "A=b\nmine ") {
			t.Errorf("TMPDIR %s: the object asked %d times, unwatched %q\n%s", dir, w.asked, w.unwatched, w.out)
		}
	}
}

// Libraries that a program preloads itself stay, and come last.
func TestOwnPreload(t *testing.T) {
	b := build(t)
	t.Setenv("LD_PRELOAD", b.fits)
	w := b.run(t, "sh", "-c", "echo $LD_PRELOAD; cat /proc/self/maps")
	first, _, _ := strings.Cut(w.out, "\n")
	if first != b.fits || !strings.Contains(w.out, b.fits+"\n") || !regexp.MustCompile(`/test-[0-9a-f]+\.so\n`).MatchString(w.out) {
		t.Errorf("LD_PRELOAD is %q\n%s", first, w.out)
	}
}

// Other users' processes cannot connect to opassert.
func TestSecret(t *testing.T) {
	b := build(t)
	t.Setenv("TMPDIR", t.TempDir())
	object := must.Get(preload.New(preload.ObjectSpec{Name: "test", Source: probing, Variable: "OPASSERT_TEST", Library: "libprobe.so"}))(t)
	defer object.Close()
	object.Serve(nil)
	cmd := exec.Command(b.child, b.probe, "1")
	files, err := filepath.Glob(filepath.Join(os.TempDir(), "opassert-test*", "object.so"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	cmd.Env = []string{"LD_PRELOAD=" + files[0], "OPASSERT_TEST=" + strings.Repeat("x", 26) + ":y:" + filepath.Dir(files[0]) + ":" + files[0]}
	out, _ := cmd.CombinedOutput()
	if !strings.Contains(string(out), "opassert is gone") || len(object.Unwatched()) > 0 {
		t.Errorf("unwatched %q\n%s", object.Unwatched(), out)
	}
}
