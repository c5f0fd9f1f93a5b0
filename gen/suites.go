package gen

import (
	"go/scanner"
	"path/filepath"

	"github.com/opassert/opassert/gen/internal/bind"
	"github.com/opassert/opassert/schema"
)

// A Suite is a generated package that lists its kernels, with the functions needed to run them all.
type Suite = bind.Suite

// Suites finds the generated packages that a pattern of the go command matches in the folder root, built with the tag
// opassert, sorted by path, for `opassert check`. Wrappers that the schema file no longer fits are an error.
func Suites(root, pattern string) ([]Suite, error) {
	suites, err := bind.Suites(root, pattern)
	if err != nil {
		return nil, err
	}
	var stale scanner.ErrorList
	for _, s := range suites {
		changed := ChangedSince(filepath.Join(s.Dir, FileName))
		for _, t := range s.Tables {
			if why := changed(t.Name, t.Schema); why != "" {
				stale.Add(s.Position(t.Pos), why+": run go generate, or opassert gen")
			}
		}
	}
	stale.Sort()
	return suites, stale.Err()
}

// ChangedSince returns a function that returns what the schema file has, if that is not the schema from which a
// generated file was made. If the file is missing, there is nothing to compare, and opassert gen reports it.
func ChangedSince(generated string) func(op, text string) string {
	path, _ := SchemaFile(generated)
	file, err := schema.Config{Kernels: true}.Load(path)
	if err != nil {
		return func(_, _ string) string { return "" }
	}
	now := map[string]string{}
	for _, op := range file.Ops {
		now[op.Namespace+"::"+op.Func.Name.String()] = op.Func.String()
	}
	return func(op, text string) string {
		switch current, ok := now[op]; {
		case !ok:
			return "the schema file no longer has " + op
		case current != text:
			return "the schema file now has " + current
		}
		return ""
	}
}

// DebugBuild returns the go command's flag for the build with the tag opassert, and with the tags in GOFLAGS.
func DebugBuild() string { return bind.DebugBuild() }

// Overlay returns the text of an overlay for the go command in a folder: that of the -overlay in
// GOFLAGS, with one file more.
func Overlay(dir, file, content string) ([]byte, error) { return bind.Overlay(dir, file, content) }
