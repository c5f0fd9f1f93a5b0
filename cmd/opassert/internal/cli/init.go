package cli

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/opassert/opassert/cmd/opassert/internal/start"
)

func runInit(inv *invocation) error {
	o := start.Options{Version: version()}
	inv.flags.StringVar(&o.Package, "package", "", "")
	inv.flags.StringVar(&o.Schema, "schema", "", "")
	inv.flags.StringVar(&o.Func, "func", "", "")
	inv.flags.StringVar(&o.Clone, "clone", "", "")
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	if o.Clone == "" && !strings.HasPrefix(o.Version, "v") {
		return usagef("this opassert is of no released version: want -clone FOLDER, the folder of its source")
	}
	if o.Clone != "" {
		clone, err := filepath.Abs(o.Clone)
		if err != nil {
			return err
		}
		o.Clone, o.Version = clone, "v0.0.0"
	}
	in := bufio.NewScanner(os.Stdin)
	inv.ask(in, &o.Package, "package", "the folder of a package of the library", ".")
	inv.ask(in, &o.Schema, "schema", "a schema file of its ops; none: one is written", "")
	files, kernels, err := start.Files(o)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := os.MkdirAll(filepath.Dir(f.Path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(f.Path, f.Text, 0o666); err != nil {
			return err
		}
		fmt.Fprintln(inv.stdout, f.Path)
	}
	fmt.Fprintf(inv.stderr, "functions with a kernel: %d. "+
		"Their schemas are of their types: what they share and write is for you to say.\nIn %s:\n"+
		"  go mod tidy\n  go generate ./...\n  go tool opassert check\n", kernels, filepath.Dir(files[0].Path))
	return nil
}

// ask asks for a flag that is not given, if a person can answer.
func (inv *invocation) ask(in *bufio.Scanner, value *string, flag, what, otherwise string) {
	if *value == "" && terminal(os.Stdin) && inv.shows() {
		fmt.Fprintf(inv.stderr, "-%s, %s [%s]: ", flag, what, otherwise)
		if in.Scan() {
			*value = strings.TrimSpace(in.Text())
		}
	}
	if *value == "" {
		*value = otherwise
	}
}
