package bind

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"github.com/opassert/opassert/schema"
)

// OutOfOrder says which parameter of a kernel has the name of an argument that
// stands elsewhere in the schema, "" for none. Parameters are bound by their
// order alone, so such a kernel gets another tensor than it thinks.
func OutOfOrder(op *schema.Op, kernel *types.Func) string {
	args := op.Func.Args
	for i, p := range kernelParams(Kernel{Func: kernel}) {
		named := slices.IndexFunc(args, func(a schema.Argument) bool { return sameName(a.Name, p.Name()) })
		if i < len(args) && named >= 0 && !sameName(args[i].Name, p.Name()) {
			return fmt.Sprintf("parameter %d of kernel %s is called %s and gets argument %s, while %s is argument %d of %s: put the parameters in the schema's order",
				i+1, kernel.Name(), p.Name(), args[i].Name, args[named].Name, named+1, op.Func)
		}
	}
	return ""
}

// sameName reports whether names are the same except for case and underscores, as
// grad_output and gradOutput.
func sameName(snake, camel string) bool {
	plain := func(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }
	return plain(snake) == plain(camel)
}
