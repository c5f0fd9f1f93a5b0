package torch

import (
	"archive/zip"
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/libtorch"
	"github.com/opassert/opassert/internal/compile"
	"github.com/opassert/opassert/internal/installed"
)

//go:embed host/opassert_host/*.py
var hostFiles embed.FS

// hostFolder is in the paths of the host's files in Python.
const hostFolder = ".zip/opassert_host/"

func hostZip() ([]byte, error) {
	var all bytes.Buffer
	to := zip.NewWriter(&all)
	err := fs.WalkDir(compile.Embedded(hostFiles, "host"), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := hostFiles.ReadFile("host/" + name)
		if err != nil {
			return err
		}
		file, err := to.CreateHeader(&zip.FileHeader{Name: name}) // stored: no import needs zlib
		if err != nil {
			return err
		}
		_, err = file.Write(text)
		return err
	})
	err = errors.Join(err, to.Close())
	return all.Bytes(), err
}

// hostPackage returns the file of the host's package in the cache.
var hostPackage = sync.OnceValues(func() (string, error) {
	text, err := hostZip()
	if err != nil {
		return "", err
	}
	return compile.Stored("host", ".zip", text)
})

// hostProgram returns a Python program that calls a function of a module of the host's package. The
// folders that Python searches for modules are a user's: the zip is one of them only for that import.
func hostProgram(module, call string) (string, error) {
	file, err := hostPackage()
	return fmt.Sprintf("import sys; sys.path.insert(0, %s); import opassert_host; del sys.path[0]; "+
		"from opassert_host import %s; %[2]s.%s", strconv.QuoteToASCII(file), module, call), err
}

// HostEnvironment returns the variables of a worker whose kernels are in a Python that imports modules.
func HostEnvironment(python *installed.Python, modules []string) ([]string, error) {
	environment, err := Environment(python.Torch, nil)
	program, without := hostProgram("serve", "main()")
	return append(environment,
		"OPASSERT_PYTHON="+python.Path,
		"OPASSERT_HOST="+program,
		"OPASSERT_MODULES="+strings.Join(modules, ","),
		// No threads, which a fork would not have, and no parallel compilers.
		"OPENBLAS_NUM_THREADS=01", "TORCHINDUCTOR_COMPILE_THREADS=1",
		"TRITON_INTERPRET="+cmp.Or(os.Getenv("TRITON_INTERPRET"), "1"),
	), errors.Join(err, without)
}

type host struct {
	server     int                     // the process forked for this worker
	added      map[string]asserts.Site // the ops that its modules added, and their kernels
	loaded     []string                // the files of libraries, and of all that it imported
	conditions map[string]string       // the conditions of kernels, by the text of their exceptions
}

// hosted connects a worker to the Python of its kernels, nil without one.
func hosted() (*host, error) {
	calls, server, list := remote()
	if calls == 0 {
		return nil, nil
	}
	h := &host{server: server, added: make(map[string]asserts.Site), conditions: make(map[string]string)}
	for line := range strings.Lines(list) {
		words := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(words) != 3 {
			return nil, fmt.Errorf("the host of the kernels lists the op %q", line)
		}
		if words[0] == "" {
			h.loaded = append(h.loaded, words[1])
			continue
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
