// Package gen makes Go wrappers that check kernels against their schemas, from a schema file,
// allowlists and a Go package of kernels. Generate returns them, Write writes them to files.
package gen

import (
	"cmp"
	"fmt"
	"go/scanner"
	"go/token"
	"path/filepath"
	"time"

	"github.com/opassert/opassert/allowlist"
	"github.com/opassert/opassert/gen/internal/bind"
	"github.com/opassert/opassert/gen/internal/emit"
	"github.com/opassert/opassert/gen/internal/typed"
	"github.com/opassert/opassert/gen/plan"
	"github.com/opassert/opassert/schema"
)

// Options are the input and the output of a generation.
type Options struct {
	Schema  string   // the schema file
	Tags    string   // the tags file, "" for the tags.yaml beside the schema, if any
	Kernels string   // the folder of the kernels' Go package; not for GenerateTyped
	Out     string   // the folder of the generated package
	Package string   // its name, "" for Out's last element
	Tensor  string   // the tensor type, "" to find it from the kernels
	Preset  string   // the plan preset, "" for full
	Allow   []string // allowlist files
	Version string   // the library's version, for allowlist entries with versions, and see schema.Config
	Device  string   // of the tensors, for allowlist entries with devices; "" if not known
	Always  bool     // the checks run in every build
	Today   time.Time

	Base   func() (*schema.File, error) // as in schema.Config
	Strict bool                         // as in schema.Config
}

// FileName and releaseName are the names of the generated files in the out folder: that of the
// debug build, with the build tag opassert, or of every build, and that of builds without it.
const (
	FileName    = "opassert_gen.go"
	releaseName = "opassert_release_gen.go"
)

// A File is a generated file.
type File struct {
	Path string
	Text []byte
}

// Unbound holds ops without a kernel, and marks of kernels for unknown ops.
type Unbound = bind.Unbound

// Skipped is an Op that has no Go form, with the Reason.
type Skipped = typed.Skipped

// A Result holds the generated files, and the ops and marks without a function.
type Result struct {
	Files   []File
	Made    int          // number of functions
	Source  *schema.File // the schema file
	Expired []*allowlist.Entry

	// Of Generate.
	Unbound Unbound
	Unread  scanner.ErrorList // comments that look like marks of kernels but are not read
	Order   scanner.ErrorList // kernels with parameter names that contradict the schema's order

	// Of GenerateTyped.
	Skipped []Skipped
}

// Generate makes wrappers of the kernels in a Go package. Errors in the user's files are a [scanner.ErrorList]; the
// result still lists the kernels without an op and the ops without a kernel.
func Generate(o Options) (Result, error) {
	if err := distinctFolders(o.Kernels, o.Out); err != nil {
		return Result{}, err
	}
	in, err := o.read()
	if err != nil {
		return Result{}, err
	}
	pkg, err := bind.Load(o.Kernels)
	if err != nil {
		return Result{}, err
	}
	result := in.Result
	if len(pkg.Kernels) == 0 {
		return result, fmt.Errorf("no function in %s has the mark of a kernel: "+
			"write //opassert:kernel add.Tensor right above one", o.Kernels)
	}
	wrappers, unbound, err := bind.Bind(pkg, in.Source.Ops, in.planner, o.Tensor)
	result.Made, result.Unbound, result.Unread = len(wrappers), unbound, pkg.Unread
	if err != nil {
		return result, err
	}
	for _, w := range wrappers {
		why := bind.Unnamed(w.Plan.Op, w.Kernel)
		if w.Order == nil && len(w.Kernel.Names) == 0 {
			why = cmp.Or(bind.OutOfOrder(w.Plan.Op, w.Kernel.Func), why)
		}
		if why != "" {
			result.Order.Add(w.Kernel.Pos, "warning: "+why)
		}
	}
	text, err := emit.Wrappers(in.file, wrappers)
	if err != nil { //mutate:equivalent false: every input can be printed
		return result, err
	}
	result.Files = o.file(text)
	if !o.Always {
		bare, err := emit.Release(in.file, wrappers)
		if err != nil { //mutate:equivalent false: every input can be printed
			return result, err
		}
		result.Files = append(result.Files, File{filepath.Join(o.Out, releaseName), bare})
	}
	return result, checkNeighbours(result.Files)
}

// GenerateTyped makes typed functions that call the ops of a real libtorch.
func GenerateTyped(o Options) (Result, error) {
	in, err := o.read()
	if err != nil {
		return Result{}, err
	}
	result := in.Result
	funcs, skipped, err := typed.Funcs(in.Source.Ops, in.planner)
	result.Made, result.Skipped = len(funcs), skipped
	if err != nil {
		return result, err
	}
	text, err := emit.Typed(in.file, funcs)
	if err != nil { //mutate:equivalent false: every input can be printed
		return result, err
	}
	result.Files = o.file(text)
	return result, checkNeighbours(result.Files)
}

// An input is the common input of every generation.
type input struct {
	Result  // without files
	file    emit.Header
	planner *plan.Planner
}

func (o Options) read() (in input, err error) {
	in.file.Always = o.Always
	if in.file.Package, err = o.packageName(); err != nil {
		return in, err
	}
	if in.file.Sources, err = o.sources(); err != nil {
		return in, err
	}
	config := schema.Config{Tags: o.Tags, Version: o.Version, Base: o.Base, Strict: o.Strict, Kernels: o.Kernels != ""}
	if in.Source, err = config.Load(o.Schema); err != nil {
		return in, err
	}
	in.planner, in.Expired, err = NewPlanner(o, in.Source.Ops)
	return in, err
}

func (o Options) file(text []byte) []File { return []File{{filepath.Join(o.Out, FileName), text}} }

// NewPlanner makes the planner for the options, and returns the expired allowlist entries.
func NewPlanner(o Options, ops []*schema.Op) (*plan.Planner, []*allowlist.Entry, error) {
	var lists []*allowlist.List
	var expired []*allowlist.Entry
	for _, path := range o.Allow {
		list, err := allowlist.Open(path, ops)
		if err != nil {
			return nil, nil, err
		}
		lists = append(lists, list)
		expired = append(expired, list.Expired(o.Today)...)
	}
	at := allowlist.Where{Device: o.Device, Version: o.Version, Day: o.Today}
	planner, err := plan.NewPlanner(cmp.Or(o.Preset, "full"), lists, at)
	return planner, expired, err
}

func (o Options) packageName() (string, error) {
	name := o.Package
	if name == "" {
		out, err := filepath.Abs(o.Out)
		if err != nil {
			return "", err
		}
		name = filepath.Base(out)
	}
	if !token.IsIdentifier(name) || name == "_" {
		return "", fmt.Errorf("%q can't be a package's name: choose another with -package", name)
	}
	return name, nil
}

func distinctFolders(kernels, out string) error {
	k, err := filepath.Abs(kernels)
	w, outErr := filepath.Abs(out)
	if err == nil && outErr == nil && k == w {
		return fmt.Errorf("the wrappers can't go into the kernels' own package %s: choose another folder with -out", kernels)
	}
	return cmp.Or(err, outErr)
}
