// Package probe is the table of the probes: a probe makes a call of an op again with something
// changed, such as the seed, and compares the results. Each is a row in a file of its own.
package probe
