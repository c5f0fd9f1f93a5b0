package torch

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/internal/dev/must"
)

// built compiles testdata/debug/kernels.cpp into a library, or a program.
func built(t *testing.T, flags ...string) string {
	t.Helper()
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip(err)
	}
	file := filepath.Join(t.TempDir(), "kernels.so")
	cmd := exec.Command("g++", append(flags, "-fPIC", "-o", file, "testdata/debug/kernels.cpp")...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return file
}

// functionOf returns a function of a library by the beginning of its name in C++.
func (d *debugged) functionOf(t *testing.T, name string) elf.Symbol {
	t.Helper()
	i := slices.IndexFunc(d.names, func(full string) bool { return strings.HasPrefix(full, name) })
	if i < 0 {
		t.Fatalf("no function %s in %q", name, d.names)
	}
	return d.functions[i]
}

// The place of a kernel is where its function is declared or its lambda begins, even where a template of PyTorch calls
// it or has it inlined. An optimized lambda begins with its first statement.
func TestKernelLine(t *testing.T) {
	source := must.Get(filepath.Abs("testdata/debug/kernels.cpp"))(t)
	for level, lambda := range map[string]int{"-O0": 27, "-O1": 28, "-O2": 28} {
		d := debug(built(t, "-shared", "-g", level))
		for name, want := range map[string]int{
			"c10::of_function<&mine::fills>": 5, "c10::of_function<&mine::fills_all>": 10,
			"c10::of_lambda<": lambda, "mine::fills_all": 10,
		} {
			if at := d.kernel(d.functionOf(t, name).Value); at.File != source || at.Line != want {
				t.Errorf("%s %s: %v, want line %d", level, name, at, want)
			}
		}
		if at := d.kernel(d.functionOf(t, "mine::fills_all").Value + 1); at.Line != 0 {
			t.Errorf("%s: of no function: %v", level, at)
		}
	}
}

// Code that is inlined has the lines of its calls too, without those of headers.
func TestLines(t *testing.T) {
	for _, flags := range [][]string{{"-shared"}, {"-no-pie"}} {
		file := built(t, append(flags, "-g", "-O2")...)
		d := debug(file)
		all, inlined := d.functionOf(t, "mine::fills_all"), 0
		for pc := all.Value; pc < all.Value+all.Size; pc++ {
			lines := Lines(file, pc-d.base)
			if len(lines) == 0 || filepath.Base(lines[0].File) != "kernels.cpp" {
				t.Fatalf("%v: at %#x %v", flags, pc, lines)
			}
			var text []string
			for _, at := range lines {
				text = append(text, fmt.Sprintf("%d %s", at.Line, at.Func))
			}
			if got := strings.Join(text, " < "); got == "7 fills < 11 mine::fills_all(float*)" {
				inlined++
			} else if lines[0].Line == 7 {
				t.Errorf("%v: at %#x %s", flags, pc, got)
			}
		}
		if inlined == 0 {
			t.Errorf("%v: no code is inlined", flags)
		}
		if (d.base == 0) != (flags[0] == "-shared") {
			t.Errorf("%v: the program begins at %#x", flags, d.base)
		}
		if n := testing.AllocsPerRun(10, func() { Lines(file, all.Value-d.base) }); n > 2 {
			t.Errorf("%v: a line that is known is read again, with %v allocations", flags, n)
		}
		if lines := Lines(file, 1<<40); lines != nil {
			t.Errorf("%v: behind its end: %v", flags, lines)
		}
	}
}

// A library without debug information has no lines.
func TestWithoutLines(t *testing.T) {
	for _, file := range []string{built(t, "-shared"), filepath.Join(t.TempDir(), "absent.so")} {
		if lines := Lines(file, 0x1130); lines != nil {
			t.Errorf("%s: %v", file, lines)
		}
		if at := debug(file).kernel(0x1130); at.Line != 0 {
			t.Errorf("%s: %v", file, at)
		}
	}
}

// A frame of a library that was built with -g has a line.
func TestFramesWithLines(t *testing.T) {
	file := built(t, "-shared", "-g", "-O0")
	all := debug(file).functionOf(t, "mine::fills_all")
	end := all.Value + all.Size - 1
	raw := []string{
		fmt.Sprintf("kernels.so %#x _ZN4mine9fills_allEPf %s", end, file),
		fmt.Sprintf("kernels.so %#x ? %s", end, file),
		fmt.Sprintf("kernels.so %#x ? %s", 0, file),
		fmt.Sprintf("libtorch_cpu.so %#x at::add %s", end, file),
	}
	const want = "mine::fills_all (kernels.cpp:13) < kernels.cpp:13 < kernels.so+0x0 < at::add (libtorch_cpu.so)"
	if got := strings.Join(Frames(raw), " < "); got != want {
		t.Error(got)
	}
}

func TestMapped(t *testing.T) {
	pc := uint64(reflect.ValueOf(TestMapped).Pointer())
	self := must.Get(os.Executable())(t)
	for _, process := range []string{"self", fmt.Sprint(os.Getpid())} {
		path, offset := mapped(process, pc)
		if path != self || offset == 0 || offset >= pc {
			t.Errorf("of %s: %s, %#x", process, path, offset)
		}
	}
	if path, offset := mapped("self", 1); path != "" || offset != 0 {
		t.Errorf("of no code: %s, %#x", path, offset)
	}
}
