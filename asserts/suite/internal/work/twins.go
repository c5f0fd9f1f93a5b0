package work

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
)

// calls returns the calls of a case, with twins of its arguments on the devices other than the first.
func (r *Runner) calls(t *Target, m *maker, c *sample.Case, args []any) []deviceCall {
	devices := r.Engine.Devices()
	all := []deviceCall{{on: devices[0], args: args}}
	if r.Level < asserts.Meta {
		return all
	}
	for _, on := range devices[1:] {
		twin := deviceCall{on: on}
		if slices.Contains(t.Without, on) {
			twin.why = fmt.Sprintf("a call of the op on %s ended its process", on)
		} else {
			twin.args, twin.why = r.twins(m, c, args, on)
		}
		all = append(all, twin)
	}
	return all
}

// twins returns copies of the arguments on a device, or the reason why they can't be made.
func (r *Runner) twins(m *maker, c *sample.Case, args []any, on engine.Device) ([]any, string) {
	if !c.Plain() {
		return nil, fmt.Sprintf("a tensor that is not plain has no twin on %s", on)
	}
	made, err := r.Engine.Twins(m.tensors, on)
	if err != nil {
		return nil, "no twins: " + sample.Clip(err.Error())
	}
	m.extra = append(m.extra, made...)
	return swap(args, m.tensors, made, on), ""
}

// swap replaces tensors by twins, and devices in arguments by that of the twins.
func swap(args []any, tensors, twins []engine.Tensor, on engine.Device) []any {
	out := make([]any, len(args))
	for i, a := range args {
		switch a := a.(type) {
		case engine.Tensor:
			out[i] = twins[slices.Index(tensors, a)]
		case []any:
			out[i] = swap(a, tensors, twins, on)
		case engine.Device:
			out[i] = on
		default:
			out[i] = a
		}
	}
	return out
}

func (r *Runner) callTwins(t *Target, c *deviceCall) {
	if c.why != "" {
		return
	}
	if t.Twinning != nil {
		t.Twinning(c.on)
	}
	out, err := r.Engine.Call(t.Gen.Name, c.args, asserts.Content)
	engine.Release(out.Results)
	own := t.operator.OnMeta && c.on == engine.Meta // then it is an op that the kernel calls
	switch text, _ := engine.Message(err); {
	case err == nil:
		out.Seen.Number()
		c.seen = &out.Seen
		t.metaRan = t.metaRan || c.on == engine.Meta
	case !own && (strings.Contains(text, "Could not run") ||
		strings.Contains(strings.ToLower(text), fmt.Sprintf("not implemented for '%s'", c.on))):
		c.why = fmt.Sprintf("no kernel on %s", c.on)
	default:
		c.said = sample.Clip(err.Error())
		c.why = fmt.Sprintf("the call on %s threw: %s", c.on, c.said)
		if own {
			t.metaThrew++
		}
	}
}

// enoughThrown is the number of calls in which a kernel for meta has to throw, and in no other return, to be
// broken: one that refuses some arguments is compared in other calls.
const enoughThrown = 8

// brokenMeta returns that the op's own kernel for meta throws in every call that the op accepts.
func (t *Target) brokenMeta(c *deviceCall) []asserts.Fault {
	if c.on != engine.Meta || c.said == "" || t.metaRan || t.metaThrew == 0 || t.metaThrew < enoughThrown && !t.Single {
		return nil
	}
	return []asserts.Fault{{
		Code: asserts.MetaAlias, Saw: "the kernel returns, and the one for meta throws in every call: " + c.said,
		Fix: "make the kernel for meta accept what the kernel accepts, and return what the schema says",
	}}
}
