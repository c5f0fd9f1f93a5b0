// Package design decides which calls of an op are made: first those of recipes and of themes, then one value class of
// each argument, then pairs of classes. A call is changed as the kernel's errors require until the kernel accepts it.
package design
