// Package gentest is the wrappers of the embedded engine's kernels, as the
// generator writes them. They check in every build, as the command runs them.
package gentest

//go:generate go run ./regen ../../..
