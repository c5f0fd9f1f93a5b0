// Package repro writes programs that show the findings of a run without opassert:
// Python that imports torch and the library alone.
package repro
