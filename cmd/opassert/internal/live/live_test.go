package live

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts/preserve"
	"github.com/opassert/opassert/cmd/opassert/internal/preload"
	"github.com/opassert/opassert/cmd/opassert/internal/trace"
	"github.com/opassert/opassert/internal/compile"
	"github.com/opassert/opassert/internal/dev/libtorchtest"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/internal/installed"
)

// extension returns testdata/extension.cpp, compiled for a Python's PyTorch.
func extension(t *testing.T, python *installed.Python) string {
	t.Helper()
	l := compile.CppLibrary{Name: "extension", Files: []fs.FS{os.DirFS("testdata")}, Units: []string{"extension.cpp"}}
	return must.Get(l.Path(python.Torch))(t)
}

// With Fail, a program does not reach the line after its first finding.
func TestFail(t *testing.T) {
	libtorchtest.EachPython(t, func(t *testing.T, python *installed.Python) {
		var out bytes.Buffer
		program := preload.Program{Command: []string{python.Path, "testdata/faults.py", "double_release", "tensor"}, Stdout: &out, Stderr: &out}
		report, err := start(t.Context(), program, Config{Fail: true})
		if err != nil || report.Status != -15 || strings.Contains(out.String(), "went on") || len(report.Findings) == 0 {
			t.Errorf("status %d, %d findings, %v\n%s", report.Status, len(report.Findings), err, &out)
		}
	})
}

// An ended program was watched, and has a status.
type ended struct {
	*ObjectReport
	Status int
}

// start runs a program and watches only its objects.
func start(ctx context.Context, program preload.Program, config Config) (ended, error) {
	w, err := Start(config)
	if err != nil {
		return ended{}, err
	}
	status, err := w.Run(ctx, program)
	return ended{w.End(), status}, err
}

// An outcome is the result of a program.
type outcome struct {
	ended
	out    string
	log    trace.LogReport
	second bool // protocol
}

func runProgram(t *testing.T, python *installed.Python, args ...string) outcome {
	t.Helper()
	var out, log bytes.Buffer
	program := preload.Program{Command: append([]string{python.Path}, args...), Stdout: &out, Stderr: &out}
	report := must.Get(start(t.Context(), program, Config{Log: &log}))(t)
	for _, why := range report.Unwatched {
		t.Error(why)
	}
	r := trace.NewReader("", func(trace.Life) {})
	r.Write(log.Bytes())
	return outcome{report, out.String(), r.Close(), report.Protocol == preserve.Counting}
}

func TestHealthyPrograms(t *testing.T) {
	libtorchtest.EachPython(t, func(t *testing.T, python *installed.Python) {
		r := runProgram(t, python, "testdata/healthy.py", extension(t, python))
		if r.Status != 0 || !strings.Contains(r.out, "done") {
			t.Fatalf("status %d\n%s", r.Status, r.out)
		}
		for _, f := range r.Findings {
			t.Error(f.Report())
		}
		for _, v := range r.log.Violations {
			t.Errorf("the log: %s at line %d: %s", v.Code, v.Line, v.Saw())
		}
		if r.Processes < 4 || r.Events < 1000 || r.Lost > 0 || r.log.Unknown > 0 {
			t.Errorf("%d processes, %d events, %d lost; %d lines unknown: %v", r.Processes, r.Events, r.Lost, r.log.Unknown, r.log.Samples)
		}
		t.Log(r.Summary())
	})
}

// The address of a storage is used as a number by each function that takes one, after the storage was freed.
func TestFreedAddresses(t *testing.T) {
	libtorchtest.EachPython(t, func(t *testing.T, python *installed.Python) {
		if v := python.Torch.Number(); strings.HasPrefix(v, "1.") || strings.HasPrefix(v, "2.1.") {
			t.Skip("the slots of storages are not used")
		}
		r := runProgram(t, python, "testdata/faults.py", "freed_cdata", "storage")
		for _, f := range r.Findings {
			if f.Code != preserve.UseAfter || f.Root != nil || f.Site == nil || !strings.HasSuffix(f.Site.File, "faults.py") {
				t.Errorf("want OA106 of faults.py\n%s", f.Report())
			}
		}
		if len(r.Findings) != 4 {
			t.Errorf("%d findings, want 4\n%s", len(r.Findings), r.out)
		}
	})
}

func TestFaultsOfPrograms(t *testing.T) {
	type codes []preserve.Code
	libtorchtest.EachPython(t, func(t *testing.T, python *installed.Python) {
		version, extension := python.Torch.Number(), extension(t, python)
		for _, tt := range []struct {
			rule            string
			tensor, storage codes    // in the first protocol
			second          codes    // in the second, of both
			absent          []string // from versions
			kernels         codes    // of tensors up to 2.2, as kernels run in hermetic contexts
		}{
			{"double_release", codes{preserve.DoubleRelease, preserve.SharedDealloc}, codes{preserve.DoubleRelease, preserve.SharedDealloc}, codes{preserve.DoubleRelease}, nil, nil},
			{"unmarked", nil, nil, codes{preserve.OneOwner}, []string{"1.", "2.1.", "2.2.", "2.5.", "2.6."}, nil},
			{"second_object", codes{preserve.SameObject}, codes{preserve.SameObject}, codes{preserve.SameObject}, nil, nil},
			{"stale_slot", codes{preserve.UseAfter}, codes{preserve.UseAfter}, codes{preserve.UseAfter}, nil, nil},
			{"dead_object", codes{preserve.UseAfter}, codes{preserve.UseAfter}, codes{preserve.UseAfter}, nil, nil},
			{"placed_object", codes{preserve.SameObject}, codes{preserve.SameObject}, codes{preserve.SameObject}, nil, nil},
			{"wrong_tag", codes{preserve.OneInterpreter}, codes{preserve.OneInterpreter}, codes{preserve.OneInterpreter}, []string{"2.15."}, nil},
			// Storages have the line where they were made.
			{"hermetic", codes{preserve.Hermetic, preserve.SharedDealloc, preserve.SharedDealloc}, nil, nil, []string{"1.", "2.15."}, nil},
			{"kernel", nil, nil, nil, []string{"1.", "2.15."}, codes{preserve.Hermetic, preserve.SharedDealloc, preserve.SharedDealloc}},
		} {
			for kind, want := range map[string]codes{"tensor": tt.tensor, "storage": tt.storage} {
				if old := strings.HasPrefix(version, "2.1.") || strings.HasPrefix(version, "2.2."); old && kind == "tensor" && tt.kernels != nil {
					want = tt.kernels
				}
				if kind == "storage" && (strings.HasPrefix(version, "1.") || strings.HasPrefix(version, "2.1.")) { // whose slot is not used
					continue
				}
				t.Run(tt.rule+"_"+kind, func(t *testing.T) {
					r := runProgram(t, python, "testdata/faults.py", tt.rule, kind, extension)
					if r.second {
						want = tt.second
					}
					absent := slices.ContainsFunc(tt.absent, func(v string) bool { return strings.HasPrefix(version, v) })
					if strings.Contains(r.out, "absent") != absent {
						t.Fatalf("absent: want %t\n%s", absent, r.out)
					}
					if absent {
						want = nil
					}
					var got codes
					roots := 0
					for _, f := range r.Findings {
						got = append(got, f.Code)
						if f.Storage != (kind == "storage") {
							t.Errorf("%s is of a storage: %t", f.Code, f.Storage)
						}
						if slices.Contains(codes{preserve.SharedDealloc, preserve.Hermetic}, f.Code) && (f.Site == nil || !strings.HasSuffix(f.Site.File, "faults.py")) {
							t.Errorf("%s at %v: want a line of faults.py", f.Code, f.Site)
						}
						if f.Root == nil {
							roots++
						}
					}
					if len(want) > 0 && roots != 1 {
						t.Errorf("%d findings follow from no other, want 1", roots)
					}
					if !slices.Equal(got, want) {
						t.Errorf("got %v, want %v\n%s", got, want, r.out)
					}
				})
			}
		}
	})
}
