//go:build opassert

package asserts

// Enabled is true in the debug build, with the build tag opassert. Generated wrappers are bare calls without it.
const Enabled = true
