package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/libtorch"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/cmd/opassert/internal/preload"
	"github.com/opassert/opassert/cmd/opassert/internal/watch"
	"github.com/opassert/opassert/internal/compile"
	"github.com/opassert/opassert/internal/installed"
	"github.com/opassert/opassert/internal/printable"
	"github.com/opassert/opassert/schema"
)

// An examination is one line of doctor.
type examination struct {
	name    string
	without string // the features that do not work without it
	look    func() (string, error)
}

func runDoctor(inv *invocation) error {
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	missing := inv.examine("NO", needed())
	inv.examine("--", optional)
	if len(missing) > 0 {
		return &findingsError{"missing: " + strings.Join(missing, ", ")}
	}
	return nil
}

// examine prints a line for each examination, marks the failed ones, and returns their names.
func (inv *invocation) examine(mark string, all []examination) (missing []string) {
	for _, e := range all {
		shown, text, err := "ok", "", error(nil)
		if text, err = e.look(); err != nil {
			missing = append(missing, e.name)
			shown, text = mark, err.Error()+": without it "+e.without
		}
		first, rest, _ := strings.Cut(text, "\n")
		inv.line("%s  %-9s %s", shown, e.name, first)
		for line := range strings.Lines(rest) {
			inv.line("%13s %s", "", strings.TrimSuffix(line, "\n"))
		}
	}
	return missing
}

// optional is not needed to check the ops of PyTorch and of Python modules, if the
// package has a library for the PyTorch.
var optional = []examination{
	{"compiler", "PyTorch releases that the package does not know cannot be used", compile.Compiler},
	{"go", "check of Go kernels, gen and vet do not run", func() (string, error) { return exec.LookPath("go") }},
}

func needed() []examination {
	return []examination{
		{"opassert", "nothing works", func() (string, error) {
			return fmt.Sprintf("%s %s %s/%s", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH), nil
		}},
		{"libtorch", "gen, list, plan, lint, vet, trace and check -engine c10 work, and Go kernels are checked",
			foundLibtorch},
		{"shim", "check -lib and check of PyTorch's ops do not run", fits(libtorch.Shim, func() (*installed.Torch, error) {
			torch, _, err := installed.Find("")
			return torch, err
		})},
		{"watcher", "run and pytest --opassert do not run", fits(watch.Watcher, watchedTorch)},
		{"python", "check -module and lint -module do not run", func() (string, error) {
			python, err := installed.FindPython("")
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("%s imports PyTorch %s", python.Path, python.Torch.Version), nil
		}},
		{"watching", "run and pytest --opassert do not work", tryWatching},
		{"preload", "", func() (string, error) {
			if set := os.Getenv("LD_PRELOAD"); set != "" {
				return "LD_PRELOAD=" + printable.Line(set) + " is loaded into watched programs after opassert's object", nil
			}
			return "LD_PRELOAD is not set", nil
		}},
		{"cache", "each command compiles its libraries again", compile.Folder},
	}
}

// fits looks for a library for the libtorch, or makes it.
func fits(library func() *compile.CppLibrary, find func() (*installed.Torch, error)) func() (string, error) {
	return func() (string, error) {
		torch, err := find()
		if err != nil {
			return "", err
		}
		return library().Path(torch)
	}
}

// watchedTorch returns the PyTorch of a user's programs: that of the Python on the
// path, even if another one is found first.
func watchedTorch() (*installed.Torch, error) {
	if python, err := installed.FindPython(""); err == nil {
		return python.Torch, nil
	}
	torch, _, err := installed.Find("")
	return torch, err
}

// tryWatching watches a program that calls one op.
func tryWatching() (string, error) {
	torch, err := watchedTorch()
	if err != nil {
		return "", err
	}
	python := torch.Python()
	if python == "" {
		return "", fmt.Errorf("no Python imports %v: install PyTorch from its wheel", torch)
	}
	var talk strings.Builder
	report, err := watch.Run(context.Background(), watch.Config{
		Program: preload.Program{
			Command: []string{python, "-c", "import torch; torch.ones(1)"}, Stdout: io.Discard, Stderr: &talk,
		},
		Plan:   func(_, _ string, _ *schema.Op) (engine.Checks, error) { return engine.Checks{}, nil },
		Policy: asserts.Aware(), Sample: 1,
	})
	switch {
	case err != nil:
		return "", err
	case report.Status != 0:
		return "", fmt.Errorf("%s cannot import torch: %s", python, printable.Lines(strings.TrimSpace(talk.String())))
	case len(report.Unwatched) > 0:
		return "", errors.New(strings.Join(report.Unwatched, "; "))
	}
	return fmt.Sprintf("of the ops that %s called, %d were seen", filepath.Base(python), report.Calls), nil
}
