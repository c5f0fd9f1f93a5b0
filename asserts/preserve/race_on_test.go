//go:build race

package preserve

const defaultSteps = 50_000 // a step takes twenty times as long
