package emit

import (
	"strconv"

	"github.com/opassert/opassert/gen/internal/bind"
	"github.com/opassert/opassert/gen/plan"
	"github.com/opassert/opassert/internal/slicesx"
)

// kernels returns the list of the package's ops with the functions that run them.
func (w *writer) kernels(wrappers []bind.Wrapper) string {
	names := plan.NewNameSet()
	var lines []string
	for _, f := range wrappers {
		names[f.Name] = true
		fields := "Op: &" + f.OpVar + ", Func: " + w.kernel(f)
		if f.Order != nil {
			fields += ", Order: []int{" + slicesx.Join(f.Order, ", ", strconv.Itoa) + "}"
		}
		lines = append(lines, "{"+fields+"},")
	}
	name := names.Pick("Kernels", "")
	return rows(
		comment(name+" are the ops of this package with their kernels."),
		"var "+name+" = []"+w.asserts("Kernel")+block(1, lines...),
	)
}

// kernel returns the function itself: kernels.Add, (*kernels.Library).Add.
func (w *writer) kernel(f bind.Wrapper) string {
	fn := f.Kernel.Func
	if recv := fn.Signature().Recv(); recv != nil {
		return "(" + w.typ(recv.Type()) + ")." + fn.Name()
	}
	return w.qual(fn.Pkg(), fn.Name())
}
