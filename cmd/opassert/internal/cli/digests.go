package cli

import (
	"debug/buildinfo"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// digests returns digests of what decides the results, for the report. Shards run on several machines:
// no path, time or variable is in them.
func (c *checkup) digests() (map[string]string, error) {
	f := c.flags
	var own, kernels, lists, flags, ops inputs
	if own.add(version()); version() == "(devel)" || strings.HasSuffix(version(), "+dirty") { // that of many sources
		own.addContents(math.MaxInt64, itself())
	}
	if *f.schema != "" {
		kernels.addContents(math.MaxInt64, *f.schema, filepath.Join(filepath.Dir(*f.schema), "tags.yaml"))
	}
	kernels.addContents(math.MaxInt64, f.files...)
	for _, module := range f.pythonModules() {
		kernels.addContents(math.MaxInt64, moduleFiles(f.host.Source(module))...)
	}
	for _, p := range c.programs {
		if p.listed != nil {
			kernels.addContents(startOfFile, slices.DeleteFunc(slices.Clone(p.listed.Files), ofMachine)...)
		}
		if p.suite == nil {
			continue
		}
		sources, err := f.module.sources(p) // since the binary has their paths
		if err != nil {
			return nil, err
		}
		kernels.addContents(math.MaxInt64, sources...)
		if info, err := buildinfo.ReadFile(p.binary); err == nil {
			kernels.add(info.GoVersion)
		}
	}
	lists.addContents(math.MaxInt64, f.allow...)
	flags.add(*f.engine, *f.only, *f.timeout, *f.autograd, f.watchesMemory(), *f.tolerance, f.pythonModules(), *f.version)
	flags.addContents(math.MaxInt64, *f.casesFile)
	ops.add(f.ops)
	return map[string]string{
		"kernels": kernels.digest(), "opassert": own.digest(), "allowlists": lists.digest(), "flags": flags.digest(), "ops": ops.digest(),
	}, nil
}

// startOfFile is how much of a loaded file counts: those of a libtorch have gigabytes, and the number of their build at
// the start.
const startOfFile = 16 << 20

var (
	code     = regexp.MustCompile(`\.py$|\.so(\.|$)`)
	machines = regexp.MustCompile(`^/(usr/)?lib(32|64)?/|/libpython3[^/]*$|/python3\.\d+/([^/-]+/|[^/]+$|lib-dynload/)|` +
		`/opassert(-\d+)?/[^/]+\.so$`)
)

// ofMachine reports whether a loaded file is no code, or belongs to the system, the standard library of a Python, or
// was compiled by opassert: each machine may have its own.
func ofMachine(file string) bool { return !code.MatchString(file) || machines.MatchString(file) }
