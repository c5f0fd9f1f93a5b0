package torch

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"github.com/opassert/opassert/internal/tensor"
)

// recursive is appended to a function that calls itself.
const recursive = ", recursive"

const mostFrames = 12

// Frames turns the stack of a crash, as a worker writes it, into the functions of the op: innermost first, up to
// opassert's call, without the dispatcher's. Python functions follow those that they called.
func Frames(raw []string) []string {
	python := slices.IndexFunc(raw, func(line string) bool { return strings.HasPrefix(line, "Fatal Python error") })
	if python < 0 {
		return nativeFrames(raw)
	}
	return append(nativeFrames(raw[:python]), pythonFrames(raw[python:])...)
}

var pythonFrame = regexp.MustCompile(`^  File "(.*)", line (\d+) in (.*)$`)

// pythonFrames returns the Python functions, except the host's and those of torch that call a kernel.
func pythonFrames(raw []string) (frames []string) {
	for _, line := range raw {
		m := pythonFrame.FindStringSubmatch(line)
		if m != nil && !strings.Contains(m[1], hostFolder) && m[1] != "<string>" && !strings.Contains(m[1], "/torch/_") &&
			len(frames) < mostFrames {
			frames = append(frames, fmt.Sprintf("%s (%s:%s)", m[3], m[1], m[2]))
		}
	}
	return frames
}

// address reads a line of oa_frame_line: the name of a file, an offset, a function or "?", and the file.
func address(line string) (file, offset, symbol, path string) {
	file, rest, _ := strings.Cut(line, " ")
	offset, rest, _ = strings.Cut(rest, " ")
	symbol, path, _ = strings.Cut(rest, " ")
	return file, offset, symbol, path
}

// builtAt returns the line of source of a frame, if its library was built with -g, or else the library.
func builtAt(file, offset, symbol, path string) string {
	pc, err := strconv.ParseUint(offset, 0, 64)
	if err == nil && !system(file) && !begins(file, tensor.Libraries) {
		if lines := Lines(path, pc); len(lines) > 0 {
			return fmt.Sprintf("%s:%d", filepath.Base(lines[0].File), lines[0].Line)
		}
	}
	if symbol == "?" {
		return file + "+" + offset
	}
	return file
}

func nativeFrames(raw []string) []string {
	var frames []string
	own := 0 // up to the outermost function of the op
	for _, line := range raw {
		file, offset, symbol, path := address(line)
		if strings.Contains(file, "-shim-") || !strings.Contains(file, ".so") || strings.HasPrefix(file, "libpython") {
			break
		}
		name := builtAt(file, offset, symbol, path)
		if symbol != "?" {
			name = demangle.Filter(symbol, demangle.NoParams, demangle.NoTemplateParams) + " (" + name + ")"
		}
		switch n := len(frames); {
		case n == 0 && system(file): // where an op that corrupts memory, or aborts, ends
		case begins(name, dispatchers) || n == mostFrames:
		case n > 0 && strings.TrimSuffix(frames[n-1], recursive) == name:
			frames[n-1] = name + recursive
		default:
			frames = append(frames, name)
			if !system(file) {
				own = n + 1
			}
		}
	}
	return frames[:own] // without the functions that start a thread
}

// Foreign returns the reason why a crash is not the op's, or "": none of its own
// functions is on the stack, or another op crashed in a kernel of its backend.
func Foreign(raw []string) string {
	if inFallback(raw) {
		return "PyTorch itself ends the process, in a fallback: no function of the op's library is on the stack"
	}
	if op := calledIn(raw); op != "" {
		return fmt.Sprintf("aten::%s ends the process, in a kernel of the backend, which the op calls: "+
			"-op aten::%[1]s checks that", op)
	}
	return ""
}

// inFallback reports whether a stack has functions of PyTorch and none of the op: a fallback crashed, before the kernel
// or after it. If the C library found corrupt memory, the kernel may have corrupted it before.
func inFallback(raw []string) bool {
	for i, line := range raw {
		file, _, _ := strings.Cut(line, " ")
		switch {
		case strings.Contains(file, "-shim-"):
			return i > 0
		case i == 0 && system(file) && !slices.ContainsFunc(raw, inRuntime):
			return false
		case !system(file) && !begins(file, tensor.Libraries):
			return false
		}
	}
	return false // the call is not known
}

var (
	// onHost are the prefixes of PyTorch's libraries without kernels for other devices.
	onHost = []string{"libtorch.so", "libtorch_cpu.so", "libtorch_python.so", "libc10.so"}

	// dispatched matches functions of PyTorch that call an op.
	dispatched = regexp.MustCompile(`^at::_ops::(\w+)::`)
)

// calledIn returns the op of PyTorch in whose kernel a stack ends, if that kernel is
// not in PyTorch's libraries for the CPU, or "".
func calledIn(raw []string) string {
	backend := false
	for _, line := range raw {
		file, _, symbol, _ := address(line)
		if m := dispatched.FindStringSubmatch(demangle.Filter(symbol, demangle.NoParams)); m != nil && backend {
			return m[1]
		}
		if strings.Contains(file, "-shim-") {
			return ""
		}
		backend = backend || !system(file) && !begins(file, onHost)
	}
	return ""
}

// inRuntime reports whether a frame is of the C++ run time, as for an uncaught exception.
func inRuntime(line string) bool { return strings.HasPrefix(line, "libstdc++.so") }

// runtimes are the prefixes of the files of the C and C++ run times.
var runtimes = []string{"libc.so", "libstdc++.so", "libgcc_s.so", "libpthread.so", "libm.so", "ld-linux"}

func system(file string) bool { return begins(file, runtimes) }

func begins(text string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(text, p) })
}

// dispatchers are the prefixes of the dispatcher's functions.
var dispatchers = []string{
	"c10::impl::", "c10::Dispatcher::", "c10::OperatorHandle::", "c10::KernelFunction::", "c10::BoxedKernel::",
}
