// Package watch checks every op that a program calls against its schema: an unmodified program, with a stock
// libtorch, and all its child processes. How it does so, and which calls it does not see, is in docs/watching.md.
package watch

//go:generate go run ./internal/regen
