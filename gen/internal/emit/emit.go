// Package emit prints wrappers as Go text. It decides nothing: names, types and
// checks come from gen/internal/bind, gen/internal/typed and gen/plan.
package emit

import (
	"github.com/opassert/opassert/gen/internal/bind"
	"github.com/opassert/opassert/gen/internal/typed"
)

// A Header is the header of every generated file.
type Header struct {
	Package string   // the package name
	Sources []string // the files and folders that it is made from
	Always  bool     // the checks run in every build, not only under the tag opassert

	build string // the constraint on builds
}

// Wrappers returns the text of a file of wrappers, formatted: of the debug build, or of every one.
func Wrappers(f Header, wrappers []bind.Wrapper) ([]byte, error) {
	w := newWriter()
	if !f.Always {
		f.build = "opassert"
	}
	w.version()
	w.reserve(wrappers)
	if len(wrappers) > 0 && wrappers[0].Observer != nil {
		for _, declaration := range w.observed(wrappers[0].Observer) {
			w.add(declaration)
		}
	}
	w.lists(wrappers)
	for _, wrapper := range wrappers {
		summary := wrapper.Name + " calls " + kernelName(wrapper.Kernel.Func) + checked(wrapper.Plan)
		w.add(w.function(wrapper, summary, w.wrapperBody(wrapper)))
		w.add(w.table(wrapper.OpVar, wrapper.Plan))
	}
	w.add(w.kernels(wrappers))
	return w.text(f)
}

// Release returns the text of a file of the same functions for other builds, formatted. It imports what the kernels do.
func Release(f Header, wrappers []bind.Wrapper) ([]byte, error) {
	w := newWriter()
	f.build = "!opassert"
	w.reserve(wrappers)
	for _, wrapper := range wrappers {
		w.add(w.release(wrapper))
	}
	return w.text(f)
}

// Typed returns the text of a file of typed functions over libtorch, formatted.
func Typed(f Header, funcs []typed.Func) ([]byte, error) {
	w := newWriter()
	w.version()
	w.add(w.enabled(f.Always))
	for _, fn := range funcs {
		w.add(w.typed(fn))
		w.add(w.table(fn.OpVar, fn.Plan))
	}
	return w.text(f)
}
