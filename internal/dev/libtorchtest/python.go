package libtorchtest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/opassert/opassert/internal/installed"
)

// EachPython runs a test on each Python of $OPASSERT_PYTHONS, a list like $PATH, or else on python3. Without PyTorch
// the test is skipped, or fails with OPASSERT_NEED_PYTORCH=1.
func EachPython(t *testing.T, test func(*testing.T, *installed.Python)) {
	t.Helper()
	paths := filepath.SplitList(os.Getenv("OPASSERT_PYTHONS"))
	if len(paths) == 0 {
		paths = []string{""}
	}
	for _, path := range paths {
		python, err := installed.FindPython(path)
		switch {
		case err == nil:
			t.Run(python.Torch.Number(), func(t *testing.T) { test(t, python) })
		case os.Getenv("OPASSERT_NEED_PYTORCH") != "":
			t.Error(err)
		default:
			t.Skip(err)
		}
	}
}
