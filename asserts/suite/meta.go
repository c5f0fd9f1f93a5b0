package suite

import (
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts"
)

// twins returns the arguments as they are on meta, or why there are none.
func (r *runner) twins(m *maker, c *Case, args []any) ([]any, string) {
	if !c.plain() {
		return nil, "a tensor that is not plain has no twin on meta"
	}
	made, err := r.engine.Twins(m.tensors)
	if err != nil {
		return nil, "no twins: " + clipped(err.Error())
	}
	m.extra = append(m.extra, made...)
	return swap(args, m.tensors, made), ""
}

// swap puts twins where tensors are, and meta where the device is asked for.
func swap(args []any, tensors, twins []Tensor) []any {
	out := make([]any, len(args))
	for i, a := range args {
		switch a := a.(type) {
		case Tensor:
			out[i] = twins[slices.Index(tensors, a)]
		case []any:
			out[i] = swap(a, tensors, twins)
		case Device:
			out[i] = Device("meta")
		default:
			out[i] = a
		}
	}
	return out
}

func (r *runner) callMeta(t *target, a *attempt, twins []any) {
	out, err := r.engine.Call(t.gen.name, twins, asserts.Content)
	Release(out.Results)
	switch text, _ := message(err); {
	case err == nil:
		out.Seen.Number()
		a.meta = &out.Seen
	case strings.Contains(text, "Could not run") || strings.Contains(text, "not implemented for 'Meta'"):
		a.why = "no kernel on meta"
	default:
		a.why = "the call on meta threw: " + clipped(err.Error())
	}
}
