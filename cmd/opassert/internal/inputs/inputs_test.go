package inputs

import (
	"go/types"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/opassert/opassert/gen"
	"github.com/opassert/opassert/internal/dev/must"
)

// files are a module's, with the kernels Add, which has a helper, Neg, which has a
// type, and Load, which reads a file.
var files = map[string]string{
	"ops/opassert_gen.go": `package ops
import "m/k"
var opAdd = asserts.Op{Name: "aten::add", Schema: "add(Tensor self) -> Tensor"}
var opNeg = asserts.Op{Name: "aten::neg", Schema: "neg(Tensor self) -> Tensor"}
var opLoad = asserts.Op{Name: "aten::load", Schema: "load(Tensor self) -> Tensor"}
var Kernels = []asserts.Kernel{
	{Op: &opAdd, Func: k.Add},
	{Op: &opNeg, Func: k.Neg},
	{Op: &opLoad, Func: k.Load},
}
`,
	"k/k.go": `package k
func Add(v *V) *V { return helper(v, two) }
func helper(v *V, by int) *V { return v }
const two = 2
`,
	"k/neg.go": `package k
import "strings"
type box struct{ V }
func (b box) String() string { return strings.Repeat("-", minus) }
const minus = 1
func Neg(v *V) *V { return print(box{}) }
func unused() {}
`,
	"k/load.go": `package k
import "os"
func Load(v *V) *V { read(); return v }
func read() { os.ReadFile("x") }
`,
	"v/v.go": `package v
import "os"
type V struct{}
func Make() *V { return nil }
var verbose = os.Getenv("VERBOSE")
func init() { register() }
func register() {}
`,
}

// digests are those of the ops of the module with an edit: in a file, a text and
// what replaces it.
func digests(t *testing.T, dir string, edit ...string) (all [3]string) {
	t.Helper()
	p := &KernelProgram{named: make(map[string][]*declaration), roots: []string{started, "Make"}}
	s := gen.Suite{Path: "m/ops", Kernels: "Kernels", Maker: new(types.Func)}
	for name, text := range files {
		if len(edit) > 0 && name == edit[0] {
			if !strings.Contains(text, edit[1]) {
				t.Fatalf("%s has no %s", name, edit[1])
			}
			text = strings.Replace(text, edit[1], edit[2], 1)
		}
		path := filepath.Join(dir, name)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o777))
		must.Do(t, os.WriteFile(path, []byte(text), 0o666))
	}
	p.ops = make(map[string]*declaration)
	for _, name := range []string{"ops/opassert_gen.go", "k/k.go", "k/neg.go", "k/load.go", "v/v.go"} {
		pkg := &listedPackage{ImportPath: "m/" + filepath.Dir(name), Dir: filepath.Join(dir, filepath.Dir(name)), GoFiles: []string{filepath.Base(name)}}
		pkg.Module = &module{Main: true}
		must.Do(t, p.add(pkg, s))
	}
	return [3]string{p.Digest("aten::add"), p.Digest("aten::neg"), p.Digest("aten::load")}
}

func TestDigestChangesWithWhatACallReaches(t *testing.T) {
	dir := t.TempDir()
	before := digests(t, dir)
	if before[0] == "" || before[1] == "" || before[0] == before[1] {
		t.Fatalf("digests %q", before)
	}
	if before[2] != "" {
		t.Errorf("an op that reads a file has a digest")
	}
	for _, c := range []struct {
		what, file, from, to string
		add, neg             bool // it changes
	}{
		{"nothing", "k/k.go", "two", "two", false, false},
		{"what no kernel calls", "k/neg.go", "unused() {}", "unused() { }", false, false},
		{"a kernel", "k/k.go", "helper(v, two)", "helper(v, 2)", true, false},
		{"what it calls", "k/k.go", "{ return v }", "{ return nil }", true, false},
		{"a constant of it", "k/k.go", "two = 2", "two = 3", true, false},
		{"a constant of a method of a type of it", "k/neg.go", "minus = 1", "minus = 2", false, true},
		{"an import", "k/neg.go", `"strings"`, `strings "m/strings"`, false, true},
		{"where it stands", "k/k.go", "func Add", "\nfunc Add", true, false},
		{"what hides another declaration", "k/load.go", "func read", "func helper() {}\nfunc read", true, false},
		{"a schema", "ops/opassert_gen.go", "neg(Tensor self)", "neg(Tensor(a!) self)", false, true},
		{"a binding", "ops/opassert_gen.go", "Func: k.Neg", "Func: k.Neg, Order: []int{0}", false, true},
		{"what makes tensors", "v/v.go", "Make() *V { return nil }", "Make() *V { return new(V) }", true, true},
		{"a variable", "v/v.go", `"VERBOSE"`, `"LOUD"`, true, true},
		{"what starts", "v/v.go", "register() {}", "register() { panic(0) }", true, true},
		{"what reads an archive", "k/k.go", "package k\nfunc Add(v *V) *V { return", "package k\nimport \"archive/zip\"\nfunc Add(v *V) *V { zip.OpenReader(\"x\"); return", true, false},
		{"what reads", "k/k.go", "func Add", "//go:linkname helper other.helper\nfunc Add", true, false},
	} {
		after := digests(t, dir, c.file, c.from, c.to)
		if add, neg := after[0] != before[0], after[1] != before[1]; add != c.add || neg != c.neg {
			t.Errorf("%s changed: the digest of add changed %v, want %v; of neg %v, want %v", c.what, add, c.add, neg, c.neg)
		}
	}
}

// A program that links a C library has no digests, as changes of the library are not
// noticed; Go's own packages may link the system's.
func TestDigestOfLinkedLibraries(t *testing.T) {
	for _, c := range []struct {
		pkg  listedPackage
		want bool // a digest
	}{
		{listedPackage{Module: &module{}}, true},
		{listedPackage{CgoLDFLAGS: []string{"-lresolv"}}, true},
		{listedPackage{Module: &module{}, CgoLDFLAGS: []string{"-lblas"}}, false},
		{listedPackage{Module: &module{Main: true}, CgoPkgConfig: []string{"openblas"}}, false},
	} {
		p := &KernelProgram{named: make(map[string][]*declaration), roots: []string{started}, ops: map[string]*declaration{"aten::add": {}}}
		must.Do(t, p.add(&c.pkg, gen.Suite{}))
		if digest := p.Digest("aten::add"); (digest != "") != c.want {
			t.Errorf("%+v: digest %q", c.pkg, digest)
		}
	}
}

// A file that is edited while the kernels run is an error.
func TestFilesWrittenSinceTheBuild(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "k.go"), nil, 0o666))
	now := time.Now()
	for _, c := range []struct {
		module *module
		built  time.Time
		fails  bool
	}{
		{&module{Main: true}, now.Add(time.Hour), false},
		{&module{Main: true}, now.Add(-time.Hour), true},
		{&module{Replace: &module{}}, now.Add(-time.Hour), true},
		{&module{}, now.Add(-time.Hour), false},
		{nil, now.Add(-time.Hour), false},
	} {
		if err := (&listedPackage{Dir: dir, Module: c.module}).unchanged(c.built); (err != nil) != c.fails {
			t.Errorf("%v built at %v: %v", c.module, c.built, err)
		}
	}
}

// Packages of other modules, and those with other files than Go, count as a whole.
func TestDigestOfBuilds(t *testing.T) {
	for _, pkg := range []listedPackage{
		{ImportPath: "other/dep", BuildID: "1"},
		{ImportPath: "m/cgo", BuildID: "1", Module: &module{Main: true}, other: other{CgoFiles: []string{"c.go"}}},
		{ImportPath: "m/data", BuildID: "1", Module: &module{Main: true}, other: other{EmbedFiles: []string{"table"}}},
		{ImportPath: "github.com/opassert/opassert/asserts", BuildID: "1", Module: &module{Main: true}},
	} {
		digest := func(build string) string {
			p := &KernelProgram{ops: map[string]*declaration{"op": {}}}
			pkg.BuildID = build
			must.Do(t, p.add(&pkg, gen.Suite{}))
			return p.Digest("op")
		}
		if first, again, other := digest("1"), digest("1"), digest("2"); first != again || first == other {
			t.Errorf("%s: the digest does not follow its build", pkg.ImportPath)
		}
	}
	if digest := (&KernelProgram{}).Digest("op"); digest != "" {
		t.Errorf("an op that is not there has the digest %s", digest)
	}
}
