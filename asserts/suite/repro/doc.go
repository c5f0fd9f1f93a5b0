// Package repro writes programs that show the findings of a run without opassert, and runs them: Python that imports
// only torch and the library, C++ if Python cannot call the op, and Go that imports the module of a Go kernel.
package repro
