// Command regen writes the generated packages of this repository. It does not
// use the opassert command, which imports them: after a change of the
// generator they may not compile.
package main

import (
	"fmt"
	"go/scanner"
	"os"
	"path/filepath"

	"github.com/opassert/opassert/gen"
)

// packages are the generated packages, seen from the repository's root.
var packages = []gen.Options{
	{Schema: "asserts/c10/kernels/ops.yaml", Kernels: "asserts/c10/kernels", Out: "gen/gentest", Always: true},
	{Schema: "asserts/c10/kernels/ops.yaml", Kernels: "asserts/c10/kernels", Out: "gen/gentest/tagged"},
	{Schema: "gen/gentest/idle/ops.yaml", Kernels: "gen/gentest/idle", Out: "gen/gentest/idle/checked", Always: true},
	{Schema: "gen/gentest/idle/ops.yaml", Kernels: "gen/gentest/idle", Out: "gen/gentest/idle/release"},
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: regen ROOT")
		os.Exit(2)
	}
	for _, o := range packages {
		if err := write(os.Args[1], o); err != nil {
			scanner.PrintError(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func write(root string, o gen.Options) error {
	o.Schema = filepath.Join(root, o.Schema)
	o.Kernels = filepath.Join(root, o.Kernels)
	o.Out = filepath.Join(root, o.Out)
	result, err := gen.Generate(o)
	if err != nil {
		return err
	}
	stale, err := gen.Stale(result.Files)
	if err != nil {
		return err
	}
	return gen.Write(stale)
}
