// Prebuild compiles the libraries that opassert loads into programs and workers, for each libtorch of its arguments,
// into a folder that is packaged with the command; see .ci/wheel. If $GOARCH is set, $CXX compiles for it.
package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/opassert/opassert/asserts/libtorch"
	"github.com/opassert/opassert/cmd/opassert/internal/live"
	"github.com/opassert/opassert/cmd/opassert/internal/watch"
	"github.com/opassert/opassert/internal/compile"
	"github.com/opassert/opassert/internal/installed"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: prebuild OUT [LIBTORCH...]")
		os.Exit(2)
	}
	compile.Architecture = cmp.Or(os.Getenv("GOARCH"), compile.Architecture)
	err := objects(os.Args[1])
	for _, folder := range os.Args[2:] {
		err = errors.Join(err, templates(folder, os.Args[1]))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "prebuild:", err)
		os.Exit(1)
	}
}

// objects copies the preloaded libraries.
func objects(out string) error {
	for _, compile := range []func() (string, error){watch.Loader().Compile, live.Stubs().Compile} {
		file, err := compile()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(out, filepath.Base(file)), text, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// templates compiles the templates for a release of libtorch.
func templates(folder, out string) error {
	torch, err := installed.Inspect(folder)
	if err != nil {
		return err
	}
	for _, library := range []*compile.CppLibrary{libtorch.Shim(), watch.Watcher(), live.PyobjHooks()} {
		if err := library.Template(torch, out); err != nil {
			return err
		}
	}
	return nil
}
