// Package unmarked has no kernel.
package unmarked
