package bind

import (
	"fmt"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"go.mod":           "module example.com/lib\n\ngo 1.26\n",
		"good/a.go":        "package good\n\n//opassert:kernel f\nfunc F() {}\n",
		"marked/a.go":      "package marked\n\n//opassert:kernel\nfunc F() {}\n",
		"broken/a.go":      "package broken\n\nvar x y\n\nvar z = x.w\nvar v = w\n",
		"broken/b.go":      "package broken\n\n\n\n\nfunc f() { return 1 }\n",
		"torn/a.go":        "package torn\n\nfunc f() { return 1 + }",
		"empty/readme.txt": "",
		"program/main.go":  "package main\n\n//opassert:kernel f\nfunc F() {}\n\nfunc main() {}\n",
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		folder string
		want   []string
	}{
		{"good", nil},
		{"marked", []string{"a.go:3:1: want one op behind the mark: //opassert:kernel add.Tensor"}},
		{"broken", []string{"a.go:3:7: undefined: y", "a.go:6:9: undefined: w", "b.go:6:19: too many return values\n\thave (number)\n\twant ()"}},
		{"torn", []string{"a.go:3:23: expected operand, found '}'"}},
		{"empty", []string{"no Go files in "}},
		{"program", []string{"it is package main, which the wrappers can't import"}},
		{"missing", []string{"load kernels from "}},
		{"..", []string{": the go command finds no package there; go build in that folder says why"}},
	}
	for _, tt := range tests {
		t.Run(tt.folder, func(t *testing.T) {
			pkg, err := Load(filepath.Join(dir, tt.folder))
			if len(tt.want) == 0 {
				if err != nil {
					t.Fatal(err)
				}
				if pkg.Path != "example.com/lib/good" || pkg.Name != "good" || len(pkg.Kernels) != 1 || pkg.Types.Scope().Lookup("F") == nil {
					t.Errorf("loaded %+v", pkg)
				}
				return
			}
			if err == nil {
				t.Fatal("no error")
			}
			got := strings.Join(complaints(err), "\n")
			if tt.folder == "torn" && strings.Count(got, "a.go:3:") != 1 {
				t.Errorf("a line has more than one error:\n%s", got)
			}
			if strings.Contains(got, "# example.com") {
				t.Errorf("what is said of the package is said again:\n%s", got)
			}
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("got %q, want %q in it", got, want)
				}
			}
		})
	}
	if _, err := Load(filepath.Join(dir, "missing")); !strings.Contains(err.Error(), "no such file") {
		t.Errorf("error %v does not say what is wrong", err)
	}
}

// What looks like a mark and is not read is told, each with the reason.
func TestUnread(t *testing.T) {
	dir := t.TempDir()
	const head = "package kernels\n\n"
	for name, text := range map[string]string{
		"go.mod": "module example.com/lib\n\ngo 1.26\n",
		"a.go": head + "//opassert:kernel f\nfunc F() {}\n\n" +
			"// opassert:kernel g\nfunc G() {}\n\n" +
			"//opassert:kernel h\n\nfunc H() {}\n\n" +
			"/* opassert:kernel i */\nfunc I() {\n\t//opassert:kernel j\n}\n\n" +
			"//opassert:kernel k\ntype K int\n\n" +
			"// A comment about opassert:kernel marks.\nfunc L() {} //OpAssert:Kernel l.out\n\n// opassert:observe\nfunc M() {}\n",
		"a_test.go":   head + "//opassert:kernel t\nfunc T() {}\n",
		"b_test.go":   "package kernels\n\n//opassert:kernel z\nfunc Z() {}\n\nfunc opassert(", // Go's own tools report it
		"c_plan9.go":  "//go:build plan9\n\n" + head + "//opassert:kernel p\nfunc P() {}\n",
		"d_other.txt": "//opassert:kernel x",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	pkg, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, u := range pkg.Unread {
		_, why, _ := strings.Cut(u.Msg, "is not read: ")
		got = append(got, fmt.Sprintf("%s:%d:%d %.20s", filepath.Base(u.Pos.Filename), u.Pos.Line, u.Pos.Column, why))
	}
	want := []string{
		"a.go:6:1 it is not spelled as", "a.go:9:1 it stands in no func", "a.go:13:1 it is not spelled as", "a.go:15:2 it stands in no func",
		"a.go:18:1 it stands in no func", "a.go:22:13 it is not spelled as", "a.go:24:1 it is not spelled as", "a_test.go:3:1 a kernel can't be in", "c_plan9.go:5:1 this build leaves th",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(pkg.Kernels) != 1 {
		t.Errorf("%d kernels, want F alone", len(pkg.Kernels))
	}
}

func TestParsePosition(t *testing.T) {
	tests := []struct {
		text string
		want token.Position
	}{
		{"a.go:3:5", token.Position{Filename: "a.go", Line: 3, Column: 5}},
		{"a:b.go:3:5", token.Position{Filename: "a:b.go", Line: 3, Column: 5}},
		{"a:b:c", token.Position{Filename: "a:b:c"}},
		{"12", token.Position{Filename: "12"}},
		{"-", token.Position{Filename: "-"}},
		{"", token.Position{}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, parsePosition(tt.text)); diff != "" {
			t.Errorf("%q: %s", tt.text, diff)
		}
	}
}

func TestRelative(t *testing.T) {
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	far := filepath.Join(filepath.Dir(filepath.Dir(wd)), "a.go")
	tests := []struct{ path, want string }{
		{filepath.Join(wd, "a.go"), "a.go"},
		{filepath.Join(filepath.Dir(wd), "a.go"), filepath.Join("..", "a.go")},
		{far, far},
		{"a.go", "a.go"},
	}
	for _, tt := range tests {
		if got := relative(tt.path); got != tt.want {
			t.Errorf("relative(%s) = %s, want %s", tt.path, got, tt.want)
		}
	}
}
