package inputs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/opassert/opassert/gen"
)

// A listedPackage package is one that go list found.
type listedPackage struct {
	ImportPath, Dir, BuildID string
	Module                   *module
	GoFiles                  []string
	CgoLDFLAGS, CgoPkgConfig []string
	other
}

// A module is that of a package.
type module struct {
	Main    bool
	GoMod   string
	Replace *module
}

// other are compiled files that are not plain Go source.
type other struct {
	CgoFiles, CFiles, CXXFiles, MFiles, FFiles, HFiles, SFiles, SwigFiles, SwigCXXFiles, SysoFiles, EmbedFiles []string
}

func (o other) none() bool {
	text, _ := json.Marshal(o) // lists of strings
	return !bytes.Contains(text, []byte("["))
}

// own reports whether a package is the user's, and only has plain Go.
func (l *listedPackage) own() bool {
	return l.Module != nil && l.Module.Main && l.none() && !strings.HasPrefix(l.ImportPath, "github.com/opassert/opassert/")
}

// links reports whether a package links C libraries, whose changes are not noticed.
func (l *listedPackage) links() bool {
	return l.Module != nil && len(l.CgoLDFLAGS)+len(l.CgoPkgConfig) > 0
}

// unchanged returns an error if a file of a package was written after the program was
// built: the program may have either text.
func (l *listedPackage) unchanged(built time.Time) error {
	if l.Module == nil || !l.Module.Main && l.Module.Replace == nil {
		return nil
	}
	entries, err := os.ReadDir(l.Dir)
	for _, e := range entries {
		info, err := e.Info()
		source := !strings.HasSuffix(e.Name(), "_test.go") && e.Type().IsRegular()
		if source && (err != nil || info.ModTime().After(built)) {
			return fmt.Errorf("%s was written since the kernels were built", filepath.Join(l.Dir, e.Name()))
		}
	}
	return err
}

// list lists packages and all their dependencies, in the debug build.
func list(root string, paths []string) (all []*listedPackage, err error) {
	args := append([]string{"list", "-deps", "-export", "-json", gen.DebugBuild(), "github.com/opassert/opassert/asserts/optest"}, paths...)
	out, err := goCommand(root, args...)
	if err != nil {
		return nil, err
	}
	for lines := json.NewDecoder(bytes.NewReader(out)); ; {
		one := new(listedPackage)
		switch err := lines.Decode(one); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("go list: %w", err)
		}
		all = append(all, one)
	}
}

func goCommand(dir string, args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		err = fmt.Errorf("go %s: %w\n%s", args[0], err, bytes.TrimSpace(failed.Stderr))
	}
	return out, err
}
