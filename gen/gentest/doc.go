// Package gentest is the wrappers of the embedded engine's kernels, as the
// generator writes them. They check in every build: the command runs them.
// Package tagged, below, is the same for a library that wants its checks in
// the debug build only.
package gentest

//go:generate go run ./regen ../..
