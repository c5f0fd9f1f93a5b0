package gen

import "github.com/opassert/opassert/gen/internal/bind"

// A Suite is a generated package that lists its kernels, with what a run of
// them all needs.
type Suite = bind.Suite

// Suites finds the generated packages of the Go module in the folder root, sorted
// by path, for `opassert check`.
func Suites(root string) ([]Suite, error) { return bind.Suites(root) }
