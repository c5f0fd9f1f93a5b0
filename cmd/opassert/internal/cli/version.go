package cli

import (
	"fmt"
	"runtime"

	"github.com/opassert/opassert/internal/installed"
)

func runVersion(inv *invocation) error {
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	fmt.Fprintf(inv.stdout, "opassert %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	found, err := foundLibtorch()
	if err != nil {
		found = fmt.Sprintf("no libtorch: %v", err)
	}
	fmt.Fprintln(inv.stdout, found)
	return nil
}

// foundLibtorch returns a line for the libtorch that is used, and one for each other.
func foundLibtorch() (string, error) {
	found, others, err := installed.Find("")
	if err != nil {
		return "", err
	}
	lines := fmt.Sprintf("%v (%s)", found, found.Found)
	for _, other := range others {
		lines += fmt.Sprintf("\nalso %v (%s)", other, other.Found)
	}
	return lines, nil
}
