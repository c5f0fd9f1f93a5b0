package gen

import "github.com/opassert/opassert/gen/internal/bind"

// A Suite is a generated package that lists its kernels, with the functions needed to run them all.
type Suite = bind.Suite

// Suites finds the generated packages that a pattern of the go command matches in
// the folder root, built with the tag opassert, sorted by path, for
// `opassert check`.
func Suites(root, pattern string) ([]Suite, error) { return bind.Suites(root, pattern) }

// DebugBuild returns the go command's flag for the build with the tag opassert, and with the tags
// in GOFLAGS.
func DebugBuild() string { return bind.DebugBuild() }
