// Package procstat reads Linux's status of a process or a thread.
package procstat

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// Of returns the fields of proc_pid_stat(5) of a process, from the state on; none if
// there is no /proc or no such process.
func Of(pid int) []string { return Read(fmt.Sprintf("/proc/%d/stat", pid)) }

// Read returns the same fields from a file.
func Read(file string) []string {
	text, _ := os.ReadFile(file)
	return strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])) // the name before it may contain anything
}
