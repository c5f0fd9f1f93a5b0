package torch

import (
	"regexp"
	"strings"
	"testing"

	"github.com/opassert/opassert/internal/dev/must"
)

var (
	defined  = regexp.MustCompile(`(?m)^(?:def|class) (\w+)`)
	imported = regexp.MustCompile(`(?m)^(?:from [\w.]+ )?import (.+)$`)
)

// The files of a Python program share their names: no two define the same one, except
// modules imported under their own.
func TestHostFilesShareNoNames(t *testing.T) {
	entries := must.Get(hostFiles.ReadDir("host"))(t)
	owner := make(map[string]string)
	for _, e := range entries {
		file := e.Name()
		text := must.Get(hostFiles.ReadFile("host/" + file))(t)
		names := defined.FindAllStringSubmatch(string(text), -1)
		for _, line := range imported.FindAllStringSubmatch(string(text), -1) {
			for name := range strings.SplitSeq(line[1], ", ") {
				if _, as, ok := strings.Cut(name, " as "); ok {
					names = append(names, []string{"", as})
				}
			}
		}
		for _, n := range names {
			if other := owner[n[1]]; other != "" {
				t.Errorf("%s and %s both have %s", other, file, n[1])
			}
			owner[n[1]] = file
		}
	}
}
