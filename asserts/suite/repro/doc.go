// Package repro writes, for what a run found, programs that show it without
// opassert: Python that imports torch and the library alone.
package repro
