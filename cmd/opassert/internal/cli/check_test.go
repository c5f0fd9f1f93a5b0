package cli

import (
	"runtime"
	"testing"
)

// A run on four processors or more has more workers, as one of them may wait.
func TestUsualWorkers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for n, want := range map[int]int{1: 1, 2: 2, 4: 5, 5: 6, 1000: mostWorkers} {
		runtime.GOMAXPROCS(n)
		if got := usualWorkers(); got != want {
			t.Errorf("%d workers on %d processors, want %d", got, n, want)
		}
	}
}
