package cli

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/opassert/opassert/internal/watch"
)

// A childFlag is the value of -child.
type childFlag struct{ *watch.Child }

func (c *childFlag) String() string { return "" }

func (c *childFlag) Set(text string) error {
	pid, file, _ := strings.Cut(text, ":")
	child, err := strconv.ParseUint(pid, 10, 31)
	waits, bad := strconv.ParseUint(file, 10, 31)
	if err != nil || bad != nil || child == 0 {
		return fmt.Errorf("%q: want PID:FILE, two numbers", text)
	}
	c.Child = &watch.Child{Pid: int(child), Waits: os.NewFile(uintptr(waits), "child")}
	return nil
}
