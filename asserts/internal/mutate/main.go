// Command mutate tells how good the tests of some source files are: it breaks
// every comparison in them, one at a time, and sees whether a test fails.
//
//	go run ./asserts/internal/mutate -tests ./asserts,./gen/gentest asserts/judge.go
//
// Each comparison is negated, taken for true and taken for false. All mutants
// are compiled at once, into test binaries that an environment variable
// switches, so that a mutant costs one run of the tests. The exit status is 1
// when a mutant survives.
package main

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	tests := flag.String("tests", "", "the `packages` whose tests must notice, with commas between")
	skip := flag.String("skip", "", "a `pattern` of tests to leave out, such as those that count allocations")
	timeout := flag.Duration("timeout", time.Minute, "how long the tests of one package may run before a mutant counts as noticed")
	flag.Parse()
	survivors, err := run(flag.Args(), strings.Split(*tests, ","), *skip, *timeout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(2)
	}
	if survivors > 0 {
		os.Exit(1)
	}
}

// variable switches the mutants: "12 true" takes comparison 12 for true.
const variable = "OPASSERT_MUTANT"

// ways are the mutants of one comparison.
var ways = []string{"not", "true", "false"}

// A site is one comparison in the source.
type site struct {
	pos  token.Position
	text string
}

func run(files, packages []string, skip string, timeout time.Duration) (survivors int, err error) {
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	sites, overlay, err := instrument(files, dir)
	if err != nil {
		return 0, err
	}
	binaries, err := build(packages, overlay, dir)
	if err != nil {
		return 0, err
	}
	suite := suite{binaries, skip, timeout}
	if name := suite.failing(""); name != "" {
		return 0, fmt.Errorf("the tests of %s fail without a mutant", name)
	}
	killed := 0
	for i, s := range sites {
		for _, way := range ways {
			if suite.failing(fmt.Sprint(i, " ", way)) != "" {
				killed++
				continue
			}
			survivors++
			fmt.Printf("%v: survived as %s: %s\n", s.pos, way, s.text)
		}
	}
	fmt.Printf("%d comparisons, %d mutants, %d killed, %d survived: score %.1f%%\n",
		len(sites), killed+survivors, killed, survivors, 100*float64(killed)/float64(max(1, killed+survivors)))
	return survivors, nil
}

// instrument writes copies of the files in which every comparison goes
// through the switch, and an overlay that puts them in place.
func instrument(files []string, dir string) ([]site, string, error) {
	replace := map[string]string{}
	var sites []site
	for i, file := range files {
		abs, err := filepath.Abs(file)
		if err != nil {
			return nil, "", err
		}
		src, err := os.ReadFile(abs)
		if err != nil {
			return nil, "", err
		}
		fset := token.NewFileSet()
		tree, err := parser.ParseFile(fset, file, src, 0)
		if err != nil {
			return nil, "", err
		}
		text := switched(fset, tree, src, &sites)
		copied := filepath.Join(dir, strconv.Itoa(i)+".go")
		switchFile := filepath.Join(dir, strconv.Itoa(i)+"_switch.go")
		if err := os.WriteFile(copied, text, 0o666); err != nil {
			return nil, "", err
		}
		if err := os.WriteFile(switchFile, fmt.Appendf(nil, switchSource, tree.Name.Name, variable), 0o666); err != nil {
			return nil, "", err
		}
		replace[abs] = copied
		replace[filepath.Join(filepath.Dir(abs), "mutant_switch.go")] = switchFile
	}
	overlay := filepath.Join(dir, "overlay.json")
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, "", err
	}
	return sites, overlay, os.WriteFile(overlay, text, 0o666)
}

const switchSource = `package %s

import (
	"os"
	"strconv"
	"strings"
)

var mutantSite, mutantWay = func() (int, string) {
	site, way, _ := strings.Cut(os.Getenv(%q), " ")
	n, err := strconv.Atoi(site)
	if err != nil {
		return -1, ""
	}
	return n, way
}()

func mutant(site int, v bool) bool {
	if site != mutantSite {
		return v
	}
	switch mutantWay {
	case "not":
		return !v
	case "true":
		return true
	}
	return false
}
`

// switched gives the source with mutant(n, ...) around each comparison, and
// adds the comparisons to sites.
func switched(fset *token.FileSet, tree *ast.File, src []byte, sites *[]site) []byte {
	type insertion struct {
		offset int
		order  int // at one offset: closing before opening, inner closing first
		text   string
	}
	var insertions []insertion
	ast.Inspect(tree, func(n ast.Node) bool {
		if decl, ok := n.(*ast.GenDecl); ok && decl.Tok == token.CONST {
			return false
		}
		e, ok := n.(*ast.BinaryExpr)
		if !ok || !isComparison(e.Op) {
			return true
		}
		from, to := fset.Position(e.Pos()), fset.Position(e.End())
		id := len(*sites)
		*sites = append(*sites, site{from, string(src[from.Offset:to.Offset])})
		insertions = append(insertions,
			insertion{from.Offset, id, fmt.Sprintf("mutant(%d, ", id)},
			insertion{to.Offset, -id - 1, ")"})
		return true
	})
	slices.SortStableFunc(insertions, func(a, b insertion) int {
		return cmp.Or(cmp.Compare(a.offset, b.offset), cmp.Compare(a.order, b.order))
	})
	var out []byte
	last := 0
	for _, in := range insertions {
		out = append(append(out, src[last:in.offset]...), in.text...)
		last = in.offset
	}
	return append(out, src[last:]...)
}

func isComparison(op token.Token) bool {
	switch op {
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
		return true
	}
	return false
}

// A binary is the compiled tests of a package.
type binary struct{ path, dir, pkg string }

func build(packages []string, overlay, dir string) ([]binary, error) {
	var binaries []binary
	for i, pkg := range packages {
		out, err := exec.Command("go", "list", "-f", "{{.Dir}}", pkg).Output()
		if err != nil {
			return nil, fmt.Errorf("go list %s: %w", pkg, err)
		}
		b := binary{filepath.Join(dir, strconv.Itoa(i)+".test"), strings.TrimSpace(string(out)), pkg}
		cmd := exec.Command("go", "test", "-c", "-overlay", overlay, "-o", b.path, pkg)
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("go test -c %s: %w\n%s", pkg, err, out)
		}
		binaries = append(binaries, b)
	}
	return binaries, nil
}

// A suite is the tests that should notice a mutant.
type suite struct {
	binaries []binary
	skip     string
	timeout  time.Duration
}

// failing gives the first package whose tests fail under the mutant, or "".
func (s suite) failing(mutant string) string {
	for _, b := range s.binaries {
		cmd := exec.Command(b.path, "-test.short", "-test.failfast", "-test.timeout", s.timeout.String(), "-test.skip", cmp.Or(s.skip, "^$"))
		cmd.Dir = b.dir
		cmd.Env = append(os.Environ(), variable+"="+mutant)
		if cmd.Run() != nil {
			return b.pkg
		}
	}
	return ""
}
