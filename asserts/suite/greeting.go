package suite

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"io"
	"reflect"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/design"
	"github.com/opassert/opassert/asserts/suite/internal/work"
)

// A greeting is the first line of a worker: its protocol, its version of opassert, and the process in which its kernels
// run. A worker is built from the opassert that a module requires, and its run from that of the command.
type greeting struct {
	dialect, version string
	kernels          int
}

func speaking(kernels int) greeting { return greeting{dialect(), ownVersion(), kernels} }

func (g greeting) String() string {
	return fmt.Sprintf("%s %s %d", g.dialect, strconv.Quote(g.version), g.kernels)
}

// parseGreeting parses a greeting. If it is invalid, the worker is of another version.
func parseGreeting(text string) (g greeting) {
	if _, err := fmt.Sscanf(text, "%s %q %d", &g.dialect, &g.version, &g.kernels); err != nil {
		return greeting{version: "another version"}
	}
	return g
}

// understood returns an error for a worker with another protocol.
func (g greeting) understood() error {
	if g.dialect == dialect() {
		return nil
	}
	have := ownVersion()
	return fmt.Errorf("the module requires opassert %s, with which its kernels were built, but this command is %s, and "+
		"their protocols differ: run the module's own, go tool opassert, or have the module require this one, "+
		"go get -tool %scmd/opassert@%s",
		g.version, have, ours, published(have))
}

// published returns the version in the form that the go command can fetch, or "latest".
func published(version string) string {
	if strings.HasPrefix(version, "v") && !strings.Contains(version, " ") {
		return version
	}
	return "latest"
}

// ownVersion returns the version of opassert in this program: "v1.2.3", or "v0.0.0 (../opassert)" by go.mod's replace.
func ownVersion() string {
	info, _ := debug.ReadBuildInfo()
	return versionIn(cmp.Or(info, new(debug.BuildInfo)))
}

func versionIn(program *debug.BuildInfo) string {
	modules := append(program.Deps, &program.Main)
	i := slices.IndexFunc(modules, func(m *debug.Module) bool { return m.Path+"/" == ours })
	switch {
	case i < 0:
		return "(devel)"
	case modules[i].Replace != nil:
		return fmt.Sprintf("%s (%s)", modules[i].Version, modules[i].Replace.Path)
	}
	return cmp.Or(modules[i].Version, "(devel)")
}

// dialect identifies the protocol between a run and a worker: the lines, and the types of the
// values in them. Two programs with the same dialect understand each other.
func dialect() string {
	h := fnv.New64a()
	fmt.Fprintln(h, replyFile, keyFile, lineReady, lineLoad, lineStart, lineCall, lineDevice, lineTwin,
		lineFrame, lineShown, lineEnd, lineLearned, lineApart, lineDone, lineList, lineFault, lineLibrary, lineLost, lineDied)
	described := make(map[reflect.Type]bool)
	for _, v := range []any{request{}, report.CaseResult{}, Listing{}, design.Learned{}, work.Calls{}} {
		describe(h, reflect.TypeOf(v), described)
	}
	return strconv.FormatUint(h.Sum64(), 16)
}

// describe writes the structure of a type, each named type once.
func describe(w io.Writer, t reflect.Type, described map[reflect.Type]bool) {
	fmt.Fprintln(w, t)
	if described[t] {
		return
	}
	described[t] = true
	switch t.Kind() {
	case reflect.Map:
		describe(w, t.Key(), described)
		describe(w, t.Elem(), described)
	case reflect.Pointer, reflect.Slice, reflect.Array:
		describe(w, t.Elem(), described)
	case reflect.Struct:
		for i := range t.NumField() {
			fmt.Fprintln(w, t.Field(i).Name, t.Field(i).Tag)
			describe(w, t.Field(i).Type, described)
		}
	}
}

// ours is the prefix of the names of opassert's own functions.
const ours = "github.com/opassert/opassert/"

// A Listing is the ops of an engine, as reported by a worker. The process of the suite itself loads
// no library: one that crashes or exits while it is loaded only ends a worker.
type Listing struct {
	Version   string // the engine's
	Operators []engine.Operator
	Unloaded  []*engine.LoadError // libraries that could not be loaded
	Files     []string            // that were loaded with the libraries
	Wrote     []string            // output of libraries while they were loaded
}
