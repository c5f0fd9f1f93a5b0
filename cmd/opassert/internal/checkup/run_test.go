package checkup

import (
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
)

// Only the paths of files below the folder of a run are relative to it.
func TestNameFrom(t *testing.T) {
	for file, want := range map[string]string{
		"/home/me/lib/ops.py":    "ops.py",
		"/home/me/lib/src/op.py": "src/op.py",
		"/home/me/library/op.py": "/home/me/library/op.py",
		"/home/me/op.py":         "/home/me/op.py",
		"ops.cpp":                "ops.cpp",
		"":                       "",
	} {
		r := &report.OpResult{Site: asserts.Site{File: file, Line: 1}, Findings: []*report.Finding{{Violation: &asserts.Violation{Site: asserts.Site{File: file, Line: 2}}}}}
		nameFrom("/home/me/lib", []*report.OpResult{r})
		if got := r.Findings[0].Violation.Site; r.Site != (asserts.Site{File: want, Line: 1}) || got != (asserts.Site{File: want, Line: 2}) {
			t.Errorf("%q: %v and %v, want %q", file, r.Site, got, want)
		}
	}
}
