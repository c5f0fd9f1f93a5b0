// Package compare judges what no single call of an op shows: the same call on two devices, or of a
// kernel and its fake, calls that differ, and arguments that many calls do not change.
package compare
