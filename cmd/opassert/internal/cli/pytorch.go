package cli

import (
	"fmt"

	"github.com/opassert/opassert/internal/installed"
)

// findSchemas returns the native_functions.yaml of the PyTorch in a folder, or for ""
// of the one found, and prints which it is.
func (inv *invocation) findSchemas(dir string) (string, error) {
	path, torch, err := installed.FindSchemas(dir)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(inv.stderr, "opassert: schemas of %v (%s): %s\n", torch, torch.Found, path)
	return path, nil
}
