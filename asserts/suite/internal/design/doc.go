// Package design decides which calls of an op are made: first those of recipes
// and of themes, then one value class of each argument, then pairs of them. What
// a kernel's errors ask for changes a call until the kernel takes it.
package design
