// Package slicesx has loops over slices that package slices lacks.
package slicesx

import (
	"slices"
	"strings"
)

// Map returns what a function returns for each element; nil for an empty slice.
func Map[E, T any](all []E, of func(E) T) []T {
	made := slices.Grow([]T(nil), len(all))
	for _, e := range all {
		made = append(made, of(e))
	}
	return made
}

// Join is [strings.Join] of the texts that a function returns for each element.
func Join[E any](all []E, separator string, of func(E) string) string {
	return strings.Join(Map(all, of), separator)
}

// Nth returns element number i, or the zero value if there are fewer.
func Nth[T any](all []T, i int) (element T) {
	if i < len(all) {
		element = all[i]
	}
	return element
}
