package cli

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/opassert/opassert/cmd/opassert/internal/watch"
)

// parseChild reads the value of -child.
func parseChild(text string) (*watch.Child, error) {
	pid, file, _ := strings.Cut(text, ":")
	child, err := strconv.ParseUint(pid, 10, 31)
	waits, bad := strconv.ParseUint(file, 10, 31)
	if err != nil || bad != nil || child == 0 {
		return nil, fmt.Errorf("%q: want PID:FILE, two numbers", text)
	}
	return &watch.Child{Pid: int(child), Waits: os.NewFile(uintptr(waits), "child")}, nil
}
