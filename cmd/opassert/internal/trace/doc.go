// Package trace reads the log of a PyTorch that prints how it changes the Python objects of storages, and finds the
// line where preservation broke. The form of the log is in docs/objects.md.
//
// A [Reader] is an io.Writer: it takes the log in pieces of any size, in one pass. It keeps only living objects: a
// [Life] is passed on when it ends, with at most [MaxEvents] events. [Read] reads a file. [HTML] draws
// lives and violations; [LogReport] writes the violations as text and as JSON.
package trace
