package torch

import (
	"cmp"
	"embed"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/libtorch"
	"github.com/opassert/opassert/internal/installed"
)

//go:embed host/*.py
var hostFiles embed.FS

// hostProgram returns the concatenated files of a Python program: each uses the
// definitions of those before it.
func hostProgram(names ...string) string {
	var program strings.Builder
	for _, name := range names {
		text, _ := hostFiles.ReadFile("host/" + name + ".py")
		program.Write(append(text, '\n'))
	}
	return program.String()
}

// hostFile is the file name of such a program in Python.
const hostFile = "<string>"

// HostEnvironment returns the variables of a worker whose kernels are in a Python
// that imports modules.
func HostEnvironment(python *installed.Python, modules []string) ([]string, error) {
	environment, err := Environment(python.Torch, nil)
	return append(environment,
		"OPASSERT_PYTHON="+python.Path,
		"OPASSERT_HOST="+hostProgram("places", "load", "builds", "registrations", "parameters", "fakes", "symbols", "strays", "drops", "slopes", "formulas", "state", "conditions", "texts", "triton", "serve"),
		"OPASSERT_MODULES="+strings.Join(modules, ","),
		// No threads, which a fork would not have, and no parallel compilers.
		"OPENBLAS_NUM_THREADS=01", "TORCHINDUCTOR_COMPILE_THREADS=1",
		"TRITON_INTERPRET="+cmp.Or(os.Getenv("TRITON_INTERPRET"), "1"),
	), err
}

// A host is the Python of a worker's kernels.
type host struct {
	server     int                     // the process forked for this worker
	added      map[string]asserts.Site // the ops that its modules added, and their kernels
	conditions map[string]string       // the conditions of kernels, by the text of their exceptions
}

// hosted connects a worker to the Python of its kernels, nil without one.
func hosted() (*host, error) {
	calls, server, list := remote()
	if calls == 0 {
		return nil, nil
	}
	h := &host{server, make(map[string]asserts.Site), make(map[string]string)}
	for line := range strings.Lines(list) {
		words := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(words) != 3 {
			return nil, fmt.Errorf("the host of the kernels lists the op %q", line)
		}
		number, _ := strconv.Atoi(words[2])
		h.added[words[0]] = asserts.Site{File: words[1], Line: number}
	}
	return h, libtorch.UseRemote(calls)
}

func (h *host) adds(op string) bool {
	_, ok := h.added[op]
	return ok
}

// Server returns the process that runs kernels for this one, or 0.
func (l *Libtorch) Server() int {
	if l.host == nil {
		return 0
	}
	return l.host.server
}
