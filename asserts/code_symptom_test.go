package asserts

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/opassert/opassert/internal/dev/golden"
	"github.com/opassert/opassert/internal/dev/must"
)

// The page of checks lists the symptoms that are notes, with their reasons.
func TestNotesOnThePage(t *testing.T) {
	const path, head = "../docs/reference/checks.md", "| symptom | of the check | why |\n|---|---|---|\n"
	var want strings.Builder
	for _, n := range noted {
		fmt.Fprintf(&want, "| %s | %s | %s |\n", n.symptom.Of(n.code), n.code.Name(), n.reason)
	}
	page := string(must.Get(os.ReadFile(path))(t))
	before, after, _ := strings.Cut(page, head)
	_, after, _ = strings.Cut(after, "\n\n")
	whole := before + head + want.String() + "\n" + after
	if *golden.Update {
		must.Do(t, os.WriteFile(path, []byte(whole), 0o666))
	} else if page != whole {
		t.Errorf("%s differs: go test ./asserts -run TestNotesOnThePage -update writes\n%s", path, &want)
	}
}
