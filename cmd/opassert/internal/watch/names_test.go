package watch_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/opassert/opassert/internal/dev/must"
)

// Any name of a program is escaped in every output: it stays in one line, and is not
// a command to a terminal or a CI.
func TestNamesAreText(t *testing.T) {
	long(t)
	eachPython(t, func(t *testing.T, p python) {
		folder := t.TempDir()
		outputs := map[string]string{"-junit": "j.xml", "-sarif": "s.sarif", "-html": "p.html", "-record": "r.yaml", "-log": "events.log"}
		flags := []string{"-preserve", "-lines", "-op", "named::*"}
		for flag, name := range outputs {
			outputs[flag] = filepath.Join(folder, name)
			flags = append(flags, flag, outputs[flag])
		}
		o := run(t, flags, p.path, "testdata/names.py")
		if len(o.found) < 25 || o.status != 2 || !strings.Contains(o.stderr, "NOT WATCHED: process ") {
			t.Errorf("status %d with %d findings:\n%s", o.status, len(o.found), o.stderr)
		}
		for _, f := range o.found {
			if f.Op != "named::same" {
				t.Errorf("found in %s: %s", f.Op, f.Saw)
			}
		}
		outputs["standard error"] = filepath.Join(folder, "stderr")
		must.Do(t, os.WriteFile(outputs["standard error"], []byte(o.stderr), 0o666))
		for flag, file := range outputs {
			text, err := os.ReadFile(file)
			if err != nil || len(text) == 0 || !utf8.Valid(text) {
				t.Errorf("%s: %v, %d bytes, UTF-8: %v", flag, err, len(text), utf8.Valid(text))
			}
			if flag != "-record" && !strings.Contains(string(text), `u001b[31m`) {
				t.Errorf("%s has none of the names", flag)
			}
			for line := range strings.Lines(string(text)) {
				line = strings.TrimSuffix(line, "\n")
				bad := strings.IndexFunc(line, func(r rune) bool { return r != '\t' && !unicode.IsGraphic(r) })
				if start := strings.TrimSpace(line); bad >= 0 || strings.HasPrefix(start, "::") || strings.HasPrefix(start, "forged") || strings.Contains(line, "##[") || strings.Contains(line, "<script>alert") && flag == "-html" {
					t.Errorf("%s has the line %.300q", flag, line)
				}
			}
			if len(text) > 1<<22 {
				t.Errorf("%s has %d bytes: a name is not cut", flag, len(text))
			}
		}
	})
}
