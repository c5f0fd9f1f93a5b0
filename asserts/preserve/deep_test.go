//go:build opassert

package preserve_test

import (
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts/preserve/internal/deep"
)

//go:noinline
func makeDeep(depth int) { deep.Make(depth) }

// Stacks of leaks include the library's caller, however deep in the library the handle is made.
func TestStacksReachTheUser(t *testing.T) {
	depths := []int{0, 6, 13, 14, 15, 16, 40, 200}
	for _, depth := range depths {
		makeDeep(depth)
	}
	handles := 0
	for _, f := range deep.Leaks() {
		handles += f.Handles
		if !strings.Contains(f.Made, "preserve_test.makeDeep\n") || !strings.Contains(f.Made, "deep_test.go:") {
			t.Errorf("no frame of the user's in\n%s", f.Made)
		}
	}
	if handles != len(depths) {
		t.Errorf("%d handles leaked, want %d", handles, len(depths))
	}
}
