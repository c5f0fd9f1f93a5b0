package checkup

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/optest"
	"github.com/opassert/opassert/asserts/suite"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/cmd/opassert/internal/settings"
	"github.com/opassert/opassert/gen"
	"github.com/opassert/opassert/internal/subprocess"
	"github.com/opassert/opassert/schema"
)

// A goModule is the Go module, or the workspace, of the working folder, with its generated packages.
type goModule struct {
	root   string
	suites []gen.Suite
	err    error

	scratch *suite.Scratch // the folder that they are in
}

var errNoModule = errors.New("nothing was checked: " +
	"no package of a Go module or workspace here was written by opassert gen: " +
	"mark kernels with //opassert:kernel and run opassert gen; -engine libtorch checks libtorch")

// find looks for the module once.
func (m *goModule) find() error {
	if m.root != "" || m.err != nil {
		return m.err
	}
	m.err = errNoModule
	for _, place := range GoPlaces() {
		suites, err := gen.Suites(place.Root, place.Pattern)
		if err != nil || len(suites) > 0 {
			m.root, m.suites, m.err = place.Root, suites, err
			break
		}
	}
	return m.err
}

// GoList returns the lines of go list in a folder.
func GoList(dir string, args ...string) ([]string, error) {
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	cmd.Dir = dir
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, strings.TrimSpace(said.String()))
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == '\n' }), nil
}

// ModuleSchemas returns the schema files of the generated packages in the module or the workspace.
func ModuleSchemas() (files []string, err error) {
	for _, place := range GoPlaces() {
		packages, err := GoList(place.Root, "-e", "-find", "-f", "{{.ImportPath}} {{.Dir}}", place.Pattern)
		if err != nil {
			return nil, err
		}
		for _, p := range packages {
			path, dir, _ := strings.Cut(p, " ")
			file, err := gen.SchemaFile(filepath.Join(dir, gen.FileName))
			if err != nil {
				return nil, err
			}
			own := strings.HasPrefix(path, "github.com/opassert/opassert/")
			if file != "" && !own && !slices.Contains(files, file) {
				files = append(files, file)
			}
		}
		if len(files) > 0 {
			break
		}
	}
	return files, nil
}

// A GoPlace is a folder and a pattern of the go command.
type GoPlace struct{ Root, Pattern string }

// Workspace is the go command's pattern for the modules of a workspace.
const Workspace = "work"

// GoPlaces are the module of the working folder, and the workspace.
func GoPlaces() []GoPlace {
	out, err := exec.Command("go", "env", "GOMOD", "GOWORK").Output()
	if err != nil {
		return nil
	}
	lines := append(strings.Split(string(out), "\n"), "", "")
	var places []GoPlace
	if mod := lines[0]; filepath.Base(mod) == "go.mod" {
		places = append(places, GoPlace{filepath.Dir(mod), "./..."})
	}
	if work := lines[1]; filepath.Base(work) == "go.work" {
		places = append(places, GoPlace{filepath.Dir(work), Workspace})
	}
	return places
}

// prepareModule builds a program for each generated package of the module.
func prepareModule(c *Run) ([]*kernelProgram, error) {
	m := &c.module
	if err := m.find(); err != nil {
		return nil, err
	}
	c.printSettings()
	var checked []gen.Suite
	var paths []string
	for _, s := range m.suites {
		if s.Maker == nil {
			fmt.Fprintf(c.Messages, "%v: the kernels of %s are not checked, as no function makes their tensors\n"+howToMake,
				s.Pos, s.Path, cmp.Or(s.Home, "of the tensors"), cmp.Or(s.Tensor, "*Tensor"))
			continue
		}
		checked, paths = append(checked, s), append(paths, s.Path)
	}
	if len(checked) == 0 {
		return nil, errors.New("nothing was checked: no generated package of this module has a function " +
			"that makes its tensors; -engine libtorch checks libtorch")
	}
	fmt.Fprintf(c.Messages, "opassert: Go kernels of %s; -engine libtorch checks libtorch\n", strings.Join(paths, ", "))
	var err error
	if m.scratch, err = suite.NewScratch(); err != nil {
		return nil, err
	}
	var programs []*kernelProgram
	for i, s := range checked {
		path := filepath.Join(m.scratch.Folder, fmt.Sprint("worker", i))
		if err := m.build(s, path); err != nil {
			return nil, err
		}
		programs = append(programs, c.program(s, path))
	}
	return programs, nil
}

// printSettings lists the files of settings of modules in the workspace, which apply only in their folders.
func (c *Run) printSettings() {
	var printed []string
	for _, s := range c.module.suites {
		path, err := settings.Find(s.Dir)
		if err == nil && path != "" && path != c.Settings && !slices.Contains(printed, path) {
			fmt.Fprintf(c.Messages, "opassert: %s is not read here: it applies to opassert check in its folder\n", path)
			printed = append(printed, path)
		}
	}
}

// howToMake are the lines to write for a package without a function that makes its tensors, of a type.
const howToMake = "Write in package %s, in a file with //go:build opassert that is not a test, " +
	`as go doc github.com/opassert/opassert/asserts/maker has it:

	//opassert:make
	func FromSpec(s maker.Spec) (%s, error) {
		data, err := maker.Elements[float64](s, 1) // in row-major order; make the tensor of them

`

// program is the worker that was built for a package.
func (c *Run) program(s gen.Suite, path string) *kernelProgram {
	p := &kernelProgram{binary: path, suite: &s, job: &optest.Job{
		Engine: "Go kernels of " + s.Path, Level: c.Level, Seed: c.Seed,
		Waived: map[string][]asserts.Excuse{}, Notes: map[string][]asserts.Excuse{},
	}}
	if c.CasesFile != "" {
		p.job.Cases, _ = filepath.Abs(c.CasesFile) // workers change to other folders
	}
	if rel, err := filepath.Rel(c.module.root, s.Dir); err == nil {
		p.space = strings.ReplaceAll(filepath.ToSlash(rel), "/", ".")
	}
	p.start = worker(path, nil, func() []string {
		text, _ := json.Marshal(p.job) // plain values
		return []string{optest.JobVariable + "=" + string(text)}
	})
	return p
}

// workerText is the program of a worker for one generated package. The go command's overlay puts it in a folder below
// that package, where it may import the same internal packages.
//
//go:embed worker.go.tmpl
var workerText string

var workerProgram = template.Must(template.New("").Parse(workerText))

const workerFolder = "opassertworker"

// build builds the worker of a generated package, with the module's settings.
func (m *goModule) build(s gen.Suite, path string) error {
	var text bytes.Buffer
	if err := workerProgram.Execute(&text, s); err != nil {
		return err
	}
	overlay, err := gen.Overlay(m.root, filepath.Join(s.Dir, workerFolder, "main.go"), path+".go")
	if err != nil {
		return err
	}
	for name, text := range map[string][]byte{path + ".go": text.Bytes(), path + ".json": overlay} {
		if err := os.WriteFile(name, text, 0o666); err != nil {
			return err
		}
	}
	cmd := exec.Command("go", "build", "-buildvcs=false", gen.DebugBuild(), "-overlay", path+".json", "-o", path,
		s.Path+"/"+workerFolder)
	cmd.Dir = m.root
	defer subprocess.Command(cmd)()
	if out, err := cmd.CombinedOutput(); err != nil {
		hint := ""
		if bytes.Contains(out, []byte("optest.Serve")) {
			hint = "\nthe module has another version of github.com/opassert/opassert than this command: " +
				"go tool opassert runs the module's"
		}
		return fmt.Errorf("build the worker for the kernels of %s: %w\n%s%s", s.Path, err, bytes.TrimSpace(out), hint)
	}
	return nil
}

// sources returns the files that the worker was built from, without the standard library's.
func (m *goModule) sources(p *kernelProgram) ([]string, error) {
	format := "{{if not .Standard}}{{$dir := .Dir}}"
	for _, kind := range strings.Fields("GoFiles CgoFiles CFiles CXXFiles FFiles HFiles SFiles SysoFiles EmbedFiles") {
		format += "{{range ." + kind + "}}{{$dir}}/{{.}}\n{{end}}"
	}
	return GoList(m.root, "-deps", gen.DebugBuild(), "-overlay", p.binary+".json", "-f", format+"{{end}}",
		p.suite.Path+"/"+workerFolder)
}

// qualify distinguishes ops of several packages by a namespace.
func qualify(programs []*kernelProgram) {
	had := make(map[string]int)
	for _, p := range programs {
		for _, o := range p.operators {
			had[o.Name()]++
		}
	}
	for _, p := range programs {
		if slices.ContainsFunc(p.operators, func(o engine.Operator) bool { return had[o.Name()] > 1 }) {
			p.job.Namespace = p.space
			for _, o := range p.operators {
				o.Schema.Namespace = p.space + "." + o.Schema.Namespace
			}
		}
	}
}

// waive passes the waivers of the allowlists to the programs.
func (c *Run) waive() {
	for _, p := range c.programs {
		if p.job == nil || len(c.Allow) == 0 {
			continue
		}
		for _, o := range p.operators {
			for _, op := range []*schema.Op{o.Schema, unqualified(o.Schema)} {
				plan := Planned(c.planner.Plan(op), c.Level)
				p.job.Waived[o.Name()] = append(p.job.Waived[o.Name()], plan.Waived...)
				p.job.Notes[o.Name()] = append(p.job.Notes[o.Name()], plan.Op.Notes...)
			}
		}
	}
}

// unqualified is the op without the namespace that qualify added.
func unqualified(op *schema.Op) *schema.Op {
	dot := strings.LastIndexByte(op.Namespace, '.')
	if dot < 0 {
		return op
	}
	plain := *op
	plain.Namespace = op.Namespace[dot+1:]
	return &plain
}
