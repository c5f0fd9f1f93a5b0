package gen

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/internal/dev/must"
)

func TestCheckNeighbours(t *testing.T) {
	const text = head + "\npackage ops\n\nconst enabled = true\n\nfunc Add() {}\n\nvar opAdd int\n\nfunc init() {}\n\nvar _ = 1\n"
	tests := []struct{ name, file, text, want string }{
		{"nothing in common", "a.go", "package ops\n\nfunc Sub() {}\n\nfunc init() {}\n\ntype T int\n\nfunc (T) Add() {}\n\nvar _ = T(0)\n", ""},
		{"a function", "a.go", "package ops\n\nfunc Add() {}\n",
			"a.go:3:6: Add is declared here, but opassert_gen.go:7:6 would declare it, too: rename this one, or choose another folder with -out"},
		{"a constant", "a.go", "package ops\n\nconst (\n\ta = 1\n\tb, enabled = 2, 3\n)\n",
			"a.go:5:5: enabled is declared here, but opassert_gen.go:5:7 would declare it, too: rename this one, or choose another folder with -out"},
		{"a type in a test", "a_test.go", "package ops\n\ntype opAdd int\n",
			"a_test.go:3:6: opAdd is declared here, but opassert_gen.go:9:5 would declare it, too: rename this one, or choose another folder with -out"},
		{"an external test", "a_test.go", "package ops_test\n\nfunc Add() {}\n", ""},
		{"another package", "a.go", "package other\n",
			"a.go:1:9: this is package other, but opassert_gen.go would be package ops: choose -package other, or another folder with -out"},
		{"another package's test", "a_test.go", "package other_test\n",
			"a_test.go:1:9: this is package other, but opassert_gen.go would be package ops: choose -package other, or another folder with -out"},
		{"a program run by hand", "a.go", "//go:build ignore\n\npackage main\n", ""},
		{"another system", "a_plan9.go", "package main\n", ""},
		{"torn", "a.go", "package other {\n", ""},
		{"no Go", "a.txt", "package main\n", ""},
		{"assembly", "a.s", "package main\n", ""},
		{"a name like a test's", "a.go", "package ops_test\n",
			"a.go:1:9: this is package ops_test, but opassert_gen.go would be package ops: choose -package ops_test, or another folder with -out"},
		{"in the debug build", "a.go", "//go:build opassert\n\npackage ops\n\nfunc Add() {}\n",
			"a.go:5:6: Add is declared here, but opassert_gen.go:7:6 would declare it, too: rename this one, or choose another folder with -out"},
		{"the file of before", FileName, "package main\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			must.Do(t, os.WriteFile(tt.file, []byte(tt.text), 0o666))
			got := ""
			if err := checkNeighbours([]File{{FileName, []byte(text)}}); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Chdir(t.TempDir())
	must.Do(t, os.WriteFile("a.go", []byte("package ops\n"), 0o666))
	if err := checkNeighbours([]File{{FileName, []byte("package ops\n\nfunc {")}}); err == nil {
		t.Error("what is generated is no Go, and no error")
	}
	if err := checkNeighbours([]File{{filepath.Join(t.TempDir(), "none", FileName), []byte(text)}}); err != nil {
		t.Errorf("a folder that is not there: %v", err)
	}
}
