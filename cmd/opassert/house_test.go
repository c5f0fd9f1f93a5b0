package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/opassert/opassert/internal/dev/golden"
	"github.com/opassert/opassert/internal/dev/must"
)

const module = "github.com/opassert/opassert"

// A room has the imports that its packages may have.
type room struct {
	dir    string
	ours   []string // of our own packages
	others []string // of other modules
}

// holds reports whether a package is in the room.
func (r room) holds(pkg string) bool {
	if alone, ok := strings.CutPrefix(r.dir, "="); ok {
		return pkg == alone
	}
	return within(pkg, r.dir)
}

// rooms lists our packages and the modules that each room may import. A room is a
// folder with all below it, the longest match counts, and a room may always import
// packages in it. "=" before a folder means that package only, as an import or as the
// room itself.
var rooms = []room{
	{"schema", []string{"internal/tensor", "internal/yamlfile"}, []string{"gopkg.in/yaml.v3"}},
	{"allowlist", []string{"schema", "internal/tensor", "internal/yamlfile", "asserts"}, []string{"gopkg.in/yaml.v3"}},
	{"gen", []string{"schema", "allowlist", "gen/plan", "gen/internal/bind", "gen/internal/typed", "gen/internal/emit"}, []string{"github.com/rogpeppe/go-internal"}},
	{"gen/plan", []string{"schema", "internal/yamlfile", "allowlist", "asserts"}, nil},
	{"gen/internal/bind", []string{"schema", "internal/yamlfile", "gen/plan"}, []string{"golang.org/x/tools"}},
	{"gen/internal/typed", []string{"schema", "gen/plan"}, nil},
	{"gen/internal/emit", []string{"asserts", "gen/plan", "gen/internal/bind", "gen/internal/typed"}, nil},
	{"gen/vet", []string{"schema", "gen", "gen/internal/bind"}, []string{"golang.org/x/tools"}},
	{"=asserts", []string{"internal/tensor", "internal/usual", "internal/printable"}, nil},
	{"asserts/maker", []string{"=asserts"}, nil},
	{"asserts/internal", nil, nil},
	{"asserts/internal/wire", []string{"=asserts", "internal/tensor"}, nil},
	{"asserts/libtorch", []string{"=asserts", "=internal/compile", "internal/installed", "=internal/subprocess", "=asserts/preserve", "internal/tensor"}, nil},
	{"asserts/preserve", []string{"=asserts", "internal/printable"}, nil},
	{"asserts/report", []string{"asserts/suite/compare", "=asserts", "internal/printable", "asserts/suite/engine", "schema"}, nil},
	{"asserts/suite", []string{"asserts/suite/compare", "=asserts", "asserts/report", "internal/printable", "schema", "internal/locked", "internal/procstat", "internal/tensor"}, nil},
	{"asserts/suite/compare", []string{"=asserts", "internal/tensor"}, nil},
	{"asserts/suite/engine", []string{"asserts/suite/compare", "=asserts", "=asserts/maker", "schema", "internal/tensor"}, nil},
	{"asserts/suite/internal/sample", []string{"asserts/suite/engine", "internal/yamlfile", "schema", "internal/tensor"}, nil},
	{"asserts/suite/internal/design", []string{"asserts/report", "asserts/suite/engine", "internal/yamlfile", "asserts/suite/internal/sample", "schema", "internal/tensor"}, []string{"gopkg.in/yaml.v3"}},
	{"asserts/suite/internal/probe", []string{"asserts/suite/compare", "=asserts", "asserts/suite/engine", "asserts/suite/internal/sample", "asserts/suite/internal/design", "asserts/report", "schema", "internal/tensor"}, nil},
	{"asserts/suite/repro", []string{"asserts/suite/internal/probe", "=asserts", "asserts/suite/engine", "asserts/suite/internal/sample", "asserts/report", "schema", "internal/subprocess", "internal/locked", "internal/printable", "internal/tensor"}, []string{"gopkg.in/yaml.v3"}},
	{"asserts/suite/internal/work", []string{"asserts/suite/internal/probe", "asserts/suite/compare", "=asserts", "asserts/suite/engine", "asserts/suite/internal/sample", "asserts/suite/internal/design", "asserts/report", "schema", "internal/tensor"}, nil},
	{"asserts/optest", []string{"=asserts", "=asserts/suite/gokernels", "=asserts/maker", "=asserts/suite", "asserts/suite/engine", "asserts/report", "schema"}, nil},
	{"cmd/opassert", []string{"schema", "allowlist", "gen", "asserts", "internal", "docs/reference"}, nil},
	{"docs/reference", nil, nil},
	{"cmd/opassert/internal/start", []string{"schema"}, []string{"golang.org/x/tools"}},
	{"internal/dev/addcheck", []string{"=asserts"}, nil},
	{"internal/dev/addprobe", nil, nil},
	{"internal/dev/references", nil, []string{"golang.org/x/tools"}},
	{"cmd/opassert/internal/checkup", []string{"allowlist", "asserts", "cmd/opassert/internal/settings", "cmd/opassert/internal/torch", "gen", "internal/compile",
		"internal/installed", "internal/printable", "internal/subprocess", "internal/testbed", "internal/yamlfile", "schema"}, nil},
	{"cmd/opassert/internal/prebuild", []string{"internal/compile", "internal/installed", "cmd/opassert/internal/watch", "cmd/opassert/internal/live", "=asserts/libtorch"}, nil},
	{"internal/dev/must", nil, nil},
	{"internal/slicesx", nil, nil},
	{"internal/dev/golden", []string{"internal/dev/must"}, []string{"github.com/google/go-cmp"}},
	{"internal/tensor", nil, nil},
	{"internal/printable", nil, nil},
	{"internal/subprocess", nil, nil},
	{"internal/locked", nil, nil},
	{"internal/owner", nil, nil},
	{"internal/procstat", nil, nil},
	{"internal/yamlfile", nil, []string{"gopkg.in/yaml.v3"}},
	{"internal/installed", []string{"internal/subprocess"}, nil},
	{"internal/compile", []string{"=internal/subprocess", "internal/installed", "internal/locked", "internal/owner", "internal/printable"}, nil},
	{"internal/usual", nil, nil},
	{"cmd/opassert/internal/preload", []string{"internal/compile", "internal/installed", "internal/locked", "internal/printable", "internal/procstat", "internal/subprocess"}, []string{"golang.org/x/sys"}},
	{"asserts/suite/gokernels", []string{"=asserts", "asserts/preserve", "asserts/suite/engine", "internal/tensor", "schema"}, nil},
	{"cmd/opassert/internal/torch", []string{"asserts/suite/compare", "=asserts", "internal/compile", "internal/installed", "internal/locked", "=asserts/libtorch", "=asserts/suite", "asserts/suite/engine", "schema", "internal/tensor"}, []string{"github.com/ianlancetaylor/demangle"}},
	{"cmd/opassert/internal/live", []string{"asserts/preserve", "cmd/opassert/internal/trace", "internal/printable", "internal/compile", "cmd/opassert/internal/preload"}, nil},
	{"cmd/opassert/internal/watch", []string{"asserts", "schema", "internal/compile", "internal/installed", "cmd/opassert/internal/live", "cmd/opassert/internal/preload", "internal/printable", "internal/procstat", "internal/tensor", "cmd/opassert/internal/torch", "internal/usual"}, nil},
	{"internal/dev/libtorchtest", []string{"allowlist", "=asserts", "asserts/libtorch", "gen/plan", "internal/compile", "internal/installed", "internal/locked", "internal/dev/must", "schema"}, []string{"gopkg.in/yaml.v3"}},
	{"cmd/opassert/internal/trace", []string{"=asserts/preserve", "internal/printable"}, nil},
	{"cmd/opassert/internal/settings", []string{"internal/owner", "internal/yamlfile"}, []string{"gopkg.in/yaml.v3"}},
	{"internal/testbed", []string{"=asserts", "asserts/suite/compare", "internal/tensor"}, nil},
	{"internal/testbed/engine", []string{"=asserts", "internal/testbed", "=asserts/suite/gokernels", "asserts/suite/engine", "schema", "internal/tensor"}, nil},
	{"internal/testbed/gentest", []string{"asserts", "internal/testbed"}, nil},
	{"internal/testbed/gentest/regen", []string{"gen", "schema", "internal/testbed/faults"}, nil},
	{"internal/testbed/gentest/aten", []string{"gen", "asserts", "testdata/conformance"}, nil},
	{"internal/testbed/selftest", []string{"asserts", "schema", "internal/testbed"}, nil},
	{"testdata", nil, nil},
}

// The import edges are the design: only those above are allowed.
func TestImportEdges(t *testing.T) {
	out := must.Get(exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, module+"/...").Output())(t)
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		pkg := strings.TrimPrefix(fields[0], module+"/")
		for _, imp := range fields[1:] {
			if why := edge(pkg, imp); why != "" {
				t.Errorf("%s imports %s: %s", pkg, imp, why)
			}
		}
	}
}

// edge returns what is wrong with an import, or "".
func edge(pkg, imp string) string {
	in := -1
	for i, r := range rooms {
		if r.holds(pkg) && (in < 0 || len(r.dir) > len(rooms[in].dir)) {
			in = i
		}
	}
	if in < 0 {
		return "the package is in no room"
	}
	r := rooms[in]
	ours, isOurs := strings.CutPrefix(imp, module+"/")
	inside := func(dir string) bool { return room{dir: dir}.holds(ours) }
	outside := func(mod string) bool { return within(imp, mod) }
	switch {
	case ours == "internal/slicesx", isOurs && (r.holds(ours) || slices.ContainsFunc(r.ours, inside)):
		return ""
	case isOurs:
		return "no such edge in the design"
	case !strings.Contains(strings.Split(imp, "/")[0], "."):
		return "" // the standard library
	case slices.ContainsFunc(r.others, outside):
		return ""
	}
	return "the room does not use that module"
}

func within(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

// api are the packages that others may import, in the README's order.
var api = []string{"asserts", "asserts/maker", "asserts/optest", "asserts/preserve", "asserts/report", "asserts/suite", "asserts/suite/engine", "asserts/libtorch",
	"schema", "allowlist", "gen", "gen/plan", "gen/vet"}

// shared are the packages of the suite that the command, or the embedded engine, shares with it, and the pages.
var shared = []string{"asserts/suite/compare", "asserts/suite/gokernels", "asserts/suite/repro", "docs/reference"}

// Packages that are not API are internal, except shared ones.
func TestHousePublic(t *testing.T) {
	out := must.Get(exec.Command("go", "list", "-f", `{{if and .GoFiles (ne .Name "main")}}{{.ImportPath}}{{end}}`, module+"/...").Output())(t)
	for pkg := range strings.FieldsSeq(string(out)) {
		pkg = strings.TrimPrefix(pkg, module+"/")
		if !strings.Contains("/"+pkg, "/internal/") && !slices.Contains(api, pkg) && !slices.Contains(shared, pkg) {
			t.Errorf("%s is not API: move it behind internal", pkg)
		}
	}
	last := len(api) - 1
	sentence := "API are the packages `" + strings.Join(api[:last], "`, `") + "` and `" + api[last] + "`"
	if !strings.Contains(strings.Join(strings.Fields(readme(t)), " "), sentence) {
		t.Errorf("README.md does not say: %s", sentence)
	}
}

// The API grows by a line of a golden file, which is read before it is committed.
func TestPublicNames(t *testing.T) {
	var names []string
	for _, pkg := range api {
		for _, file := range must.Get(filepath.Glob(filepath.Join("../..", pkg, "*.go")))(t) {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			parsed := must.Get(parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution))(t)
			if ast.IsGenerated(parsed) {
				continue // follows a table, which is read
			}
			for _, decl := range parsed.Decls {
				for _, name := range exported(decl) {
					names = append(names, pkg+"."+name+"\n")
				}
			}
		}
	}
	slices.Sort(names)
	golden.Compare(t, "api.txt", strings.Join(slices.Compact(names), ""))
}

// exported returns the exported names that a declaration adds to a package, a method
// with its type.
func exported(decl ast.Decl) []string {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		if !decl.Name.IsExported() {
			return nil
		}
		if decl.Recv == nil {
			return []string{decl.Name.Name}
		}
		of := strings.TrimPrefix(types.ExprString(decl.Recv.List[0].Type), "*")
		if !ast.IsExported(of) {
			return nil
		}
		return []string{of + "." + decl.Name.Name}
	case *ast.GenDecl:
		var names []string
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				names = append(names, spec.Name.Name)
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					names = append(names, name.Name)
				}
			}
		}
		return slices.DeleteFunc(names, func(name string) bool { return !ast.IsExported(name) })
	}
	return nil
}

// The test of the edges can fail.
func TestEdgeRefuses(t *testing.T) {
	tests := []struct {
		pkg, imp string
		ok       bool
	}{
		{"schema", module + "/asserts", false},
		{"asserts", module + "/schema", false},
		{"asserts", module + "/internal/testbed/c10", false},
		{"internal/testbed/c10", module + "/asserts/libtorch", false},
		{"internal/testbed/kernels", module + "/asserts/suite", false},
		{"asserts/libtorch", module + "/asserts/suite", false},
		{"internal/compile", module + "/internal/installed", true},
		{"asserts/preserve", module + "/internal/testbed/c10", false},
		{"asserts/new", "fmt", false},
		{"asserts", "gopkg.in/yaml.v3", false},
		{"asserts", "fmt", true},
		{"schema", module + "/internal/slicesx", true},
		{"internal/testbed/kernels", module + "/internal/testbed/c10", true},
		{"gen/plan", "golang.org/x/tools/go/packages", false},
		{"gen/internal/bind", "golang.org/x/tools/go/packages", true},
		{"internal/testbed/gentest", module + "/gen", false},
		{"asserts/suite", module + "/asserts", true},
		{"asserts/suite", module + "/asserts/libtorch", false},
		{"asserts/suite", module + "/gen/plan", false},
		{"internal/compile", module + "/asserts", false},
		{"elsewhere", "fmt", false},
	}
	for _, tt := range tests {
		if got := edge(tt.pkg, tt.imp) == ""; got != tt.ok {
			t.Errorf("%s -> %s allowed: %v, want %v", tt.pkg, tt.imp, got, tt.ok)
		}
	}
}

// The page on the architecture links to existing files.
func TestArchitectureNamesFiles(t *testing.T) {
	text := must.Get(os.ReadFile(filepath.Join(root, "docs", "architecture.md")))(t)
	links := regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(string(text), -1)
	if len(links) < 20 {
		t.Fatalf("the page has %d links", len(links))
	}
	for _, l := range links {
		if _, err := os.Stat(filepath.Join(root, "docs", l[1])); err != nil {
			t.Errorf("docs/architecture.md: %v", err)
		}
	}
}

// Folders of killed processes are recognised by their locks: one of os.MkdirTemp
// alone is never removed.
func TestTemporaryFoldersAreLocked(t *testing.T) {
	allowed := []string{"internal/locked", "internal/compile", "internal/dev/mutate"} // the second has its own locks, the third is a tool of CI
	source := os.DirFS(root)
	must.Do(t, fs.WalkDir(source, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || path.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") || slices.Contains(allowed, path.Dir(file)) {
			return err
		}
		if text := must.Get(fs.ReadFile(source, file))(t); strings.Contains(string(text), "os.MkdirTemp(") {
			t.Errorf("%s makes a temporary folder: use internal/locked", file)
		}
		return nil
	}))
}

// words match a private dialect that comments and messages must not use.
var words = regexp.MustCompile(`(?i)\b(but for|for want of|in the place of|there is none|(some|any|no)body|told|lets? go of|-?[01] is none|(it|that|which|where it) (is|are) no [a-km-z]+)\b`)

// dialect are further words of it, of which the rooms in read are free.
var (
	dialect = regexp.MustCompile(`(?i)\b(takes? in|spared|trouble|(says?|said) nothing|the call before|held against|holds? \w+ against|nothing of which|of which nothing|who (asks|wants|gives|takes|has)|stands? (beside|in|where|there|behind|apart)|goes? on|for ever|looks? closer|says? so|says (which|how|what|whether|where|why|who)|is let|made ready|lets? go|anew|as it was|so many|the like|behind the|handed (to|over|in|a)|put to)\b`)
	read    = []string{"allowlist", "asserts", "cmd", "docs", "gen", "internal", "python", "schema", "CONTRIBUTING.md", "README.md"}
	written = []string{".go", ".c", ".cpp", ".h", ".md", ".py", ".txt"}
)

// Comments, messages and documentation are in the words of Go's and PyTorch's documentation,
// except what was recorded, and the sections that programs write beside it.
func TestWords(t *testing.T) {
	source := os.DirFS(root)
	must.Do(t, fs.WalkDir(source, ".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git" || file == "docs/findings"):
			return fs.SkipDir
		case strings.HasSuffix(file, "_test.go") || !slices.Contains(written, path.Ext(file)):
			return nil
		}
		avoided := []*regexp.Regexp{words}
		if slices.Contains(read, strings.Split(file, "/")[0]) {
			avoided = append(avoided, dialect)
		}
		n := 0
		for line := range strings.Lines(string(must.Get(fs.ReadFile(source, file))(t))) {
			n++
			for _, w := range avoided {
				if found := w.FindString(line); found != "" {
					t.Errorf("%s:%d: %q is not a word of Go's or PyTorch's documentation", file, n, found)
				}
			}
		}
		return nil
	}))
}

// No package has more lines over 120 columns than its ceiling in long_lines.txt, which -update lowers.
func TestHouseLongLines(t *testing.T) {
	const table = "testdata/long_lines.txt"
	long := longLines(t)
	lowered := make(map[string]int)
	for line := range strings.Lines(string(must.Get(os.ReadFile(table))(t))) {
		var pkg string
		var most int
		must.Get(fmt.Sscanf(line, "%s %d", &pkg, &most))(t)
		lowered[pkg] = min(most, long[pkg])
	}
	var text strings.Builder
	for _, pkg := range slices.Sorted(maps.Keys(long)) {
		if most := lowered[pkg]; long[pkg] > most {
			t.Errorf("%s: %d lines over 120 columns, want at most %d: break them", pkg, long[pkg], most)
		}
		if lowered[pkg] > 0 {
			fmt.Fprintf(&text, "%s %d\n", pkg, lowered[pkg])
		}
	}
	if *golden.Update {
		must.Do(t, os.WriteFile(table, []byte(text.String()), 0o666))
	}
}

// longLines counts the lines over 120 columns of each package's files that are written by hand, tests aside.
func longLines(t *testing.T) map[string]int {
	source, long := os.DirFS(root), make(map[string]int)
	generated := regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)
	must.Do(t, fs.WalkDir(source, ".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && file != "."):
			return fs.SkipDir
		case path.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		text := string(must.Get(fs.ReadFile(source, file))(t))
		if generated.MatchString(text) {
			return nil
		}
		for line := range strings.Lines(text) {
			if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > 120 {
				long[path.Dir(file)]++
			}
		}
		return nil
	}))
	return long
}
