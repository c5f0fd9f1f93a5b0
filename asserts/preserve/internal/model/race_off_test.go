//go:build !race

package model

const (
	defaultSteps = 1_000_000
	games        = 100 // of tests that play a number of them
)
