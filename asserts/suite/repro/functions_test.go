package repro

import (
	"strings"
	"testing"
)

// Each source consists of its head and its definitions, and no two definitions of a language have
// one name.
func TestDefinitions(t *testing.T) {
	for name, source := range map[string]string{"Python": pythonSource, "C++": cppSource, "Go": goSource} {
		definitions := definitionsIn(source)
		all, names := "", make(map[string]bool)
		for _, d := range definitions {
			all += d.text
			if names[d.name] {
				t.Errorf("%s: two definitions of %s", name, d.name)
			}
			names[d.name] = true
		}
		if !strings.HasSuffix(strings.ReplaceAll(source, "\n\n\n", "\n\n"), all) || len(definitions) < 10 {
			t.Errorf("%s: %d definitions, which do not end the source", name, len(definitions))
		}
	}
}
