package cli

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/cmd/opassert/internal/checkup"
	"github.com/opassert/opassert/cmd/opassert/internal/torch"
	"github.com/opassert/opassert/internal/installed"
)

// moduleFlags name Python modules, and the interpreter that imports them.
type moduleFlags struct {
	names       modules
	interpreter *string
}

func newModuleFlags(f *flag.FlagSet) *moduleFlags {
	m := new(moduleFlags)
	f.Var(&m.names, "module", "")
	m.interpreter = f.String("python", "", "")
	return m
}

// modules are values of -module, each with one name or several.
type modules struct{ repeated }

func (m *modules) Set(value string) error {
	names := moduleNames(value)
	for _, name := range names {
		if strings.Contains(name, "/") || strings.HasSuffix(name, ".py") {
			return fmt.Errorf("%s is a file: the name of its module is %s, which Python looks for in PYTHONPATH",
				name, moduleOf(name))
		}
	}
	if len(names) == 0 {
		return errors.New("it names no module")
	}
	return m.repeated.Set(value)
}

// moduleOf returns the name of the module of a file, with its packages.
func moduleOf(file string) string {
	name := strings.TrimSuffix(filepath.Base(file), ".py")
	file, _ = filepath.Abs(file)
	for folder := filepath.Dir(file); folder != filepath.Dir(folder); folder = filepath.Dir(folder) {
		if _, err := os.Stat(filepath.Join(folder, "__init__.py")); err != nil {
			break
		}
		name = filepath.Base(folder) + "." + name
	}
	return strings.TrimSuffix(name, ".__init__")
}

func moduleNames(value string) []string {
	return strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
}

func (m *moduleFlags) pythonModules() []string { return moduleNames(m.names.String()) }

// lint returns the findings in the registrations of the modules, and what was looked at.
func (m *moduleFlags) lint(inv *invocation) ([]torch.LintRow, string, error) {
	python, err := installed.FindPython(*m.interpreter)
	if err != nil {
		return nil, "", err
	}
	registered, err := torch.LintModules(python, m.pythonModules(), inv.stderr)
	if err != nil {
		return nil, "", err
	}
	if registered.Ops == 0 {
		err = fmt.Errorf("nothing to check: %s adds no ops%s", strings.Join(m.pythonModules(), ", "), checkup.OnImport)
	}
	var functions []string
	for _, what := range []string{"kernel", "fake", "formula", "rule"} {
		if n := registered.Looked[what]; n > 0 {
			functions = append(functions, report.Count(n, what))
		}
	}
	looked := report.Count(registered.Ops, "op") + ": " + cmp.Or(strings.Join(functions, ", "), "no Python function")
	return append([]torch.LintRow{}, registered.Found...), looked, err
}
