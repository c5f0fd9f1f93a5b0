package cli

import (
	"errors"
	"os"
	"os/exec"
	"time"

	"github.com/opassert/opassert/cmd/opassert/internal/checkup"
	"github.com/opassert/opassert/internal/subprocess"
)

func runVet(inv *invocation) error {
	tags := inv.flags.String("tags", "", "")
	var packages repeated
	inv.flags.Var(&packages, "packages", "")
	if err := inv.parse(0, 1000); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	switch {
	case inv.flags.NArg() > 0:
		packages = inv.flags.Args()
	case len(packages) == 0:
		packages = vetted()
	}
	// The run's time keeps the go command from caching results, as it does not know
	// the schema files that they depend on.
	at := "-opassert.at=" + time.Now().Format(time.RFC3339Nano)
	cmd := exec.Command("go", append([]string{"vet", "-vettool=" + self, "-tags=opassert," + *tags, at}, packages...)...)
	cmd.Stdout, cmd.Stderr = inv.stdout, inv.stdout
	defer subprocess.Command(cmd)()
	var failed *exec.ExitError
	if err = cmd.Run(); errors.As(err, &failed) {
		return errFindings
	}
	return err
}

// vetted are the packages of the working folder's module, or of the workspace's, except opassert's own.
func vetted() []string {
	var patterns []string
	if places := checkup.GoPlaces(); len(places) > 0 && places[0].Pattern == checkup.Workspace {
		modules, _ := checkup.GoList("", "-m") // none: the default
		for _, module := range modules {
			if module != "github.com/opassert/opassert" {
				patterns = append(patterns, module+"/...")
			}
		}
	}
	if len(patterns) == 0 {
		return []string{"./..."}
	}
	return patterns
}
