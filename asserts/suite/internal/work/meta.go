package work

import (
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
)

// twins returns the arguments as they are on meta, or why there are none.
func (r *Runner) twins(m *maker, c *sample.Case, args []any) ([]any, string) {
	if !c.Plain() {
		return nil, "a tensor that is not plain has no twin on meta"
	}
	made, err := r.Engine.Twins(m.tensors)
	if err != nil {
		return nil, "no twins: " + sample.Clip(err.Error())
	}
	m.extra = append(m.extra, made...)
	return swap(args, m.tensors, made), ""
}

// swap puts twins where tensors are, and meta where the device is asked for.
func swap(args []any, tensors, twins []engine.Tensor) []any {
	out := make([]any, len(args))
	for i, a := range args {
		switch a := a.(type) {
		case engine.Tensor:
			out[i] = twins[slices.Index(tensors, a)]
		case []any:
			out[i] = swap(a, tensors, twins)
		case engine.Device:
			out[i] = engine.Device("meta")
		default:
			out[i] = a
		}
	}
	return out
}

func (r *Runner) callMeta(t *Target, a *attempt, twins []any) {
	out, err := r.Engine.Call(t.Gen.Name, twins, asserts.Content)
	engine.Release(out.Results)
	switch text, _ := engine.Message(err); {
	case err == nil:
		out.Seen.Number()
		a.meta = &out.Seen
	case strings.Contains(text, "Could not run") || strings.Contains(text, "not implemented for 'Meta'"):
		a.why = "no kernel on meta"
	default:
		a.why = "the call on meta threw: " + sample.Clip(err.Error())
	}
}
