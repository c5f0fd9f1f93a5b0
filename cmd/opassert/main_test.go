package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/opassert/opassert/cmd/opassert/internal/cli"
	"github.com/opassert/opassert/internal/dev/golden"
	"github.com/opassert/opassert/internal/dev/libtorchtest"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/internal/installed"
)

func TestMain(m *testing.M) {
	if os.Getenv("OPASSERT_TEST_SYSTEM") == "none" {
		installed.System = nil
	}
	testscript.Main(libtorchtest.Tests{M: m}, map[string]func(){
		"opassert": func() { os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr)) },
	})
}

// userModule is the go.mod of a user's repository.
func userModule(root string) string {
	return "module example.com/lib\n\ngo 1.26.0\n\n" +
		"require github.com/opassert/opassert v0.0.0\n\n" +
		"replace github.com/opassert/opassert => " + root + "\n"
}

// Every script runs the command as a user types it.
func TestScripts(t *testing.T) {
	root := must.Get(filepath.Abs("../.."))(t)
	work, home := t.TempDir(), t.TempDir()
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		WorkdirRoot:   work, // the folder that testscript makes stays if not all scripts run
		UpdateScripts: *golden.Update,
		Condition: func(name string) (bool, error) {
			if name != "long" {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			return os.Getenv("OPASSERT_LONG") != "", nil
		},
		Setup: func(env *testscript.Env) error {
			err := os.WriteFile(filepath.Join(env.WorkDir, "go.mod"), []byte(userModule(root)), 0o666)
			if err != nil {
				return err
			}
			env.Setenv("ROOT", root)
			env.Setenv("HOME", home)
			env.Setenv("GOPROXY", "off")
			for _, name := range []string{"OPASSERT_MUTANT", "OPASSERT_MUTANT_LOG"} { // of internal/dev/mutate
				env.Setenv(name, os.Getenv(name))
			}
			for _, name := range []string{"GOCACHE", "GOMODCACHE"} {
				out, err := exec.Command("go", "env", name).Output()
				if err != nil {
					return err
				}
				env.Setenv(name, strings.TrimSpace(string(out)))
			}
			return nil
		},
	})
}

// long skips a test that takes minutes.
func long(t *testing.T) {
	t.Helper()
	if os.Getenv("OPASSERT_LONG") == "" {
		t.Skip("some minutes; OPASSERT_LONG=1 runs it")
	}
}
