package watch

import (
	"os"
	"strconv"
	"syscall"
	"testing"
)

// A process that no diary can be made for is told so, and is no holder.
func TestNoDiary(t *testing.T) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	h := make(holders)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 0, Max: limit.Max}); err != nil {
		t.Skip(err)
	}
	file, err := h.diary(strconv.Itoa(os.Getpid()))
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if file != nil || err == nil || len(h) > 0 {
		t.Errorf("%v, %v, %d holders", file, err, len(h))
	}
}
