//go:build race

package model

// A step takes twenty times as long.
const (
	defaultSteps = 20_000
	games        = 20
)
