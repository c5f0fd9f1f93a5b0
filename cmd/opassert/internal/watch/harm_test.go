package watch_test

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// alone returns the output of a program that is not watched.
func alone(t *testing.T, program ...string) string {
	t.Helper()
	out, err := exec.Command(program[0], program[1:]...).Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", program, err, out)
	}
	return string(out)
}

// Compilers, exporters and higher-order operators give the same results at every level.
func TestTracedProgramsRunAsAlone(t *testing.T) {
	long(t)
	eachPython(t, func(t *testing.T, p python) {
		if strings.HasPrefix(p.torch.Number(), "1.") {
			t.Skip("1.13 has no torch.export")
		}
		program := []string{p.path, "testdata/traced.py"}
		want := alone(t, program...)
		if !strings.HasSuffix(want, "failed 0\n") {
			t.Fatalf("the program fails alone:\n%s", want)
		}
		for _, flags := range [][]string{nil, {"-level", "content", "-record", filepath.Join(t.TempDir(), "cases.yaml")}, {"-preserve"}} {
			o := run(t, flags, program...)
			if diff := cmp.Diff(want, o.stdout); diff != "" || o.status != 0 || len(o.found) > 0 {
				t.Errorf("%v: exit status %d\n%s\n%s", flags, o.status, diff, o.stderr)
			}
		}
	})
}

// A program may use each of the watcher's dispatch keys, and its kernels run as they
// do alone. Without the key below autograd nothing is watched, and the exit status is
// 2.
func TestProgramHasTheKeysThatItWants(t *testing.T) {
	eachPython(t, func(t *testing.T, p python) {
		if strings.HasPrefix(p.torch.Number(), "1.") {
			t.Skip("fallbacks are registered from Python since 2.2")
		}
		for key, status := range map[string]int{"TESTING_ONLY_GenericMode": 0, "TESTING_ONLY_GenericWrapper": 0, "DeferredInit": 0, "Fake": 2} {
			t.Run(key, func(t *testing.T) {
				program := []string{p.path, "testdata/wanted.py", key}
				if key == "DeferredInit" {
					program = append(program, p.compiled(t, "wanted"))
				}
				o := run(t, nil, program...)
				if diff := cmp.Diff(alone(t, program...), o.stdout); diff != "" || o.status != status {
					t.Errorf("exit status %d, want %d\n%s\n%s", o.status, status, diff, o.stderr)
				}
				if unwatched := strings.Contains(o.stderr, "the program uses the dispatch key Fake"); unwatched != (status == 2) {
					t.Errorf("the report says that the program is not watched: %v\n%s", unwatched, o.stderr)
				}
			})
		}
	})
}

// All signals are left to the program, also the one that the watcher registers with
// Python's faulthandler: here it ends the program.
func TestSignalsAreTheProgramsOwn(t *testing.T) {
	eachPython(t, func(t *testing.T, p python) {
		for _, number := range []int{43, 44} { // 43 is the first that the watcher tries
			program := []string{p.path, "testdata/signals.py", strconv.Itoa(number)}
			out, err := exec.Command(program[0], program[1:]...).Output()
			if err == nil {
				t.Fatalf("the program outlives signal %d", number)
			}
			o := run(t, nil, program...)
			if diff := cmp.Diff(string(out), o.stdout); diff != "" || o.status != -number {
				t.Errorf("signal %d: exit status %d\n%s\n%s", number, o.status, diff, o.stderr)
			}
			if diff := cmp.Diff(expected(t, "testdata/signals.py"), lines(o.found, false)); diff != "" {
				t.Errorf("signal %d: %s\n%s", number, diff, o.stderr)
			}
		}
	})
}

func TestCompiledCallsAreToldOnceAtTheirLines(t *testing.T) {
	long(t)
	eachPython(t, func(t *testing.T, p python) {
		if strings.HasPrefix(p.torch.Number(), "1.") {
			t.Skip("1.13 has no torch.compile")
		}
		t.Setenv("TORCHINDUCTOR_CACHE_DIR", t.TempDir())
		o := run(t, []string{"-level", "content"}, p.path, "testdata/compiled.py")
		if diff := cmp.Diff(expected(t, "testdata/compiled.py"), lines(o.found, false)); diff != "" || o.stdout != "done\n" {
			t.Errorf("%s\n%s\n%s", diff, o.stdout, o.stderr)
		}
		if !strings.Contains(o.stderr, "calls were answered by fakes") {
			t.Errorf("calls of fakes are not counted:\n%s", o.stderr)
		}
	})
}

// A libtorch that is opened by a plain name is watched too.
func TestLibtorchOfPlainName(t *testing.T) {
	eachPython(t, func(t *testing.T, p python) {
		if strings.HasPrefix(p.torch.Number(), "1.") {
			t.Skip("1.13 has no C functions that call ops")
		}
		t.Setenv("LD_LIBRARY_PATH", p.torch.Lib)
		for _, flags := range [][]string{nil, {"-preserve"}} {
			o := run(t, flags, p.path, "testdata/plain.py")
			if o.status != 0 || o.stdout != "failed 0\n" || !strings.Contains(o.stderr, "opassert run: calls 2, ops 2, processes 1: nothing found") {
				t.Errorf("%v: exit status %d\n%s\n%s", flags, o.status, o.stdout, o.stderr)
			}
		}
	})
}

// A kernel, and a class that answers for it, may count the references to their arguments.
func TestKernelsCountTheReferencesThatTheyDoAlone(t *testing.T) {
	long(t)
	eachPython(t, func(t *testing.T, p python) {
		program := []string{p.path, "testdata/references.py"}
		want := alone(t, program...)
		for _, flags := range [][]string{{"-level", "identity"}, {"-level", "content"}, {"-preserve"}} {
			o := run(t, flags, program...)
			if diff := cmp.Diff(want, o.stdout); diff != "" || o.status != 0 {
				t.Errorf("%v: exit status %d\n%s\n%s", flags, o.status, diff, o.stderr)
			}
		}
	})
}
