//go:build !race

package preserve

const defaultSteps = 1_000_000
