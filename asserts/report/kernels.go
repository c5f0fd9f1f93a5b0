package report

import (
	"fmt"
	"strings"

	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/slicesx"
)

// An Unrun is an op that a run on a device leaves out: the device has no kernel of its own, and no name asked for it.
type Unrun struct {
	Op     string            `json:"op"`
	Kernel engine.KernelKind `json:"kernel"`
}

func (u Unrun) why() string {
	switch u.Kernel {
	case engine.SharedKernel:
		return "not run: its kernel is that of all devices; -op names it"
	case engine.FallbackKernel:
		return "not run: it has no kernel for the device, whose fallback serves it; -op names it"
	}
	return "not run: it has no kernel for the device"
}

// A Served is the number of ops that a sort of kernel serves, and the number of these that ran.
type Served struct {
	Kernel engine.KernelKind `json:"kernel"`
	Ops    int               `json:"ops"`
	Ran    int               `json:"ran"`
}

var servedBy = map[engine.KernelKind]string{
	engine.OwnKernel: "with a kernel of the device's own", engine.SharedKernel: "with one of all devices",
	engine.FallbackKernel: "without, which the device's fallback serves", engine.NoKernel: "with none",
}

// servedLine describes the ops by sort of kernel, "" on the CPU.
func servedLine(all []Served) string {
	parts := slicesx.Map(all,
		func(s Served) string { return fmt.Sprintf("%d of %d %s", s.Ran, s.Ops, servedBy[s.Kernel]) })
	if len(parts) == 0 {
		return ""
	}
	return "ran, of those for the device: " + strings.Join(parts, ", ")
}
