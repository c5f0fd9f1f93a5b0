package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/internal/dev/must"
)

// inFolder changes to a new folder with files that contain their names.
func inFolder(t *testing.T, files ...string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, name := range files {
		must.Do(t, os.MkdirAll(filepath.Dir(name), 0o777))
		must.Do(t, os.WriteFile(name, []byte(name), 0o666))
	}
}

// pipe returns the path of a pipe, and a function that returns the data written to
// it. The path is of this process, so that a mutant cannot replace a file of the
// system.
func pipe(t *testing.T) (path string, written func() string) {
	t.Helper()
	r, w, err := os.Pipe()
	must.Do(t, err)
	t.Cleanup(func() { r.Close(); w.Close() })
	return fmt.Sprintf("/dev/fd/%d", w.Fd()), func() string {
		must.Do(t, w.Close())
		return string(must.Get(io.ReadAll(r))(t))
	}
}

// claimed returns the error of a command line with flags of each kind.
func claimed(program bool, args ...string) error {
	inv := newInvocation(command{name: "x", program: program}, args, io.Discard, io.Discard)
	newOutputFlag(inv.flags, "out")
	newOutputFlag(inv.flags, "html")
	newBaselineFlags(inv.flags)
	inv.flags.VisitAll(func(f *flag.Flag) { f.Usage = "a `file`" })
	inv.flags.String("schema", "", "a `file`")
	inv.flags.String("word", "", "a `word`")
	libs := new(repeated)
	inv.flags.Var(libs, "lib", "a `library`")
	if err := inv.flags.Parse(args); err != nil {
		return err
	}
	return inv.claimFiles(inv.flags.Args())
}

// An output that would replace a file that the command uses, or can't be written, is
// an error.
func TestClaims(t *testing.T) {
	inFolder(t, "a", "b", "c.so", "d.so", "dir/tags.yaml", "dir/ops.yaml", "pkg/__main__.py", "test.py")
	must.Do(t, os.Symlink("a", "link"))
	must.Do(t, os.Symlink("new", "dangling"))
	must.Do(t, os.Symlink("dir", "other"))
	self := must.Get(os.Executable())(t)
	device, _ := pipe(t)
	for _, tt := range []struct {
		args []string
		want string // in the error, "" for none
	}{
		{[]string{"-out", "new", "a"}, ""},
		{[]string{"-out", "a"}, ""},
		{[]string{"-out", "a", "a"}, "-out would replace a, which argument a reads"},
		{[]string{"-out", "link", "a"}, "which argument a reads"},
		{[]string{"-out", "gone/../a", "a"}, "which argument a reads"},
		{[]string{"-out", "a", "link"}, "which argument link reads"},
		{[]string{"-out", "b", "a"}, ""},
		{[]string{"-out", "new", "-html", "new"}, "-html and -out would write the same file, new"},
		{[]string{"-out", "dangling", "-html", "new"}, "would write the same file"},
		{[]string{"-out", "dir/x", "-html", "other/x"}, "would write the same file"},
		{[]string{"-out", "dir/x", "-html", "x"}, ""},
		{[]string{"-out", "dir/x", "-html", "dir/y"}, ""},
		{[]string{"-out", "a", "-html", "new"}, ""},
		{[]string{"-out", device, "-html", device}, ""},
		{[]string{"-out", "c.so", "-lib", "d.so", "-lib", "c.so"}, "which -lib reads"},
		{[]string{"-out", "c.so", "-lib", "d.so"}, ""},
		{[]string{"-out", "dir/tags.yaml", "-schema", "dir/ops.yaml"}, "which -schema reads"},
		{[]string{"-out", "tags.yaml", "-schema", "dir/ops.yaml"}, ""},
		{[]string{"-out", "a", "-word", "a"}, ""},
		{[]string{"-out", "test.py", "test.py::test_f"}, "which argument test.py::test_f reads"},
		{[]string{"-out", "a", "--", "--x=a"}, "which argument --x=a reads"},
		{[]string{"-out", "pkg/__main__.py", "pkg"}, "which argument pkg reads"},
		{[]string{"a", "a"}, ""},
		{[]string{"-out", "", "-html", ""}, ""},
		{[]string{"-out", "new", "-schema", "new"}, ""},
		{[]string{"-out", "a", "-baseline", "a"}, "which -baseline reads"},
		{[]string{"-baseline", "none/x"}, ""},
		{[]string{"-out", "dir"}, "it is a folder"},
		{[]string{"-out", "none/x"}, "no such file or directory"},
		{[]string{"-html", "none/x", "-out", "none/y"}, "none/y"},
		{[]string{"-out", self}, "would replace " + self + ", which the command reads"},
	} {
		var bad *usageError
		err := claimed(false, tt.args...)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %q", tt.args, err, tt.want)
		}
		if clash := err != nil && strings.Contains(err.Error(), "would"); errors.As(err, &bad) != clash {
			t.Errorf("%q: %v is an error in the command line: %v", tt.args, err, !clash)
		}
	}
	if u := (use{path: "link"}).at(); u.path != "link" { // under the user's name
		t.Errorf("link is named %s", u.path)
	}
	for _, name := range []string{"a", "b"} {
		if text := must.Get(os.ReadFile(name))(t); string(text) != name {
			t.Errorf("%s holds %q", name, text)
		}
	}
	if entries := must.Get(os.ReadDir("."))(t); len(entries) != 10 {
		t.Errorf("%d entries", len(entries))
	}
}

// Two arguments of a program may name the same file.
func TestClaimsOfAProgram(t *testing.T) {
	inFolder(t, "a", "b")
	if err := claimed(true, "-out", "a", "--", "prog", "a"); err == nil {
		t.Error("an output replaces an input of the program")
	}
	inv := &invocation{}
	must.Do(t, inv.claim(use{by: "x", path: "a", theirs: true, writes: true}, use{by: "y", path: "a", theirs: true}))
	if err := inv.claimRead("z", "a", "none"); err == nil || len(inv.uses) != 3 {
		t.Errorf("%v, %d uses", err, len(inv.uses))
	}
}

// A worker claims nothing: its run did.
func TestWorkersClaimNothing(t *testing.T) {
	inFolder(t, "a")
	t.Setenv("OPASSERT_WORKER", "x")
	if err := claimed(false, "-out", "a", "a"); err != nil {
		t.Error(err)
	}
}

// Standard streams are files like others, unless they are pipes or terminals.
func TestStreams(t *testing.T) {
	inFolder(t, "a", "b")
	out := must.Get(os.OpenFile("a", os.O_RDWR, 0))(t)
	defer out.Close()
	inv := newInvocation(command{name: "x"}, nil, io.Discard, io.Discard)
	inv.own = streams{out, io.Discard}
	if must.Do(t, inv.claim(inv.streams()...)); len(inv.uses) != 2 {
		t.Errorf("%d streams, want the input and the output", len(inv.uses))
	}
	for path, want := range map[string]string{"a": "standard output and -f would write the same file, a", "b": ""} {
		err := inv.claim(use{by: "-f", path: path, writes: true})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), strings.TrimPrefix(want, "standard output and -f ")) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	inv.uses, inv.own = nil, streams{out, out}
	if err := inv.claim(inv.streams()...); err != nil || len(inv.uses) != 3 {
		t.Errorf("two streams to one file: %v", err)
	}
}

// A stream's name in /dev is the same file as the stream.
func TestStreamByItsName(t *testing.T) {
	inFolder(t, "a")
	file := must.Get(os.Stat("a"))(t)
	named, stream := use{by: "-f", path: "/dev/stdout", writes: true, file: file}, use{by: "standard output", stream: true, writes: true, file: file}
	other := use{by: "-g", path: "a", writes: true, file: file}
	for _, tt := range []struct {
		u, v  use
		clash bool
	}{{named, stream, false}, {stream, named, false}, {other, stream, true}, {stream, other, true}, {stream, stream, false}} {
		if err := tt.u.clash(tt.v); (err != nil) != tt.clash {
			t.Errorf("%s and %s: %v", tt.u.by, tt.v.by, err)
		}
	}
}

// Flags declare the files that they name.
func TestFilesOf(t *testing.T) {
	inFolder(t, "a", "dir/__main__.py", "x=a")
	for arg, want := range map[string][]string{
		"a": {"a"}, "none": nil, "a::test": {"a"}, "--file=a": {"a"}, "dir": {"dir/__main__.py"}, "x=a": {"x=a", "a"}, "": nil,
	} {
		if got := filesOf(arg); !slices.Equal(slices.Compact(got), want) {
			t.Errorf("%q: %q, want %q", arg, got, want)
		}
	}
	for path, want := range map[string]*os.File{"/dev/stdout": os.Stdout, "/dev/./fd/2": os.Stderr, "/dev/stdin": nil, "a": nil} {
		if ownStream(path) != want {
			t.Errorf("%s is another stream", path)
		}
	}
	f := flag.NewFlagSet("", flag.ContinueOnError)
	folder := newOutputFlag(f, "folder")
	must.Do(t, f.Parse([]string{"-folder", "x"}))
	if *folder != "x" || f.Lookup("folder").Value.String() != "x" {
		t.Error(*folder)
	}
}
