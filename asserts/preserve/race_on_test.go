//go:build race

package preserve

// A step takes twenty times as long.
const (
	defaultSteps = 20_000
	games        = 20
)
