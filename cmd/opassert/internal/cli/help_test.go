package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/internal/must"
)

// Each command has a text of its own, and each text is of a command or a subject.
func TestHelpTexts(t *testing.T) {
	want := append(commandNames(), "cases", "config")
	slices.Sort(want)
	var got []string
	for _, file := range must.Get(helpTexts.ReadDir("help"))(t) {
		name := strings.TrimSuffix(file.Name(), ".txt")
		if got = append(got, name); helpText(name) == "" {
			t.Errorf("%s is empty", file.Name())
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("texts of %v, want of %v", got, want)
	}
}
