package work

import (
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
)

// keep takes over the results of a call, and releases those of the previous one. Through autograd a
// result references the tensors from which it was computed.
func (r *Runner) keep(t *Target, m *maker, args []any, out *engine.Outcome) {
	r.earlier.release()
	if _, ok := r.Engine.(engine.ArgumentKeeper); ok && r.Level >= asserts.Content {
		for i, a := range args {
			r.earlier.add(r.Engine, a, i+1)
		}
		r.earlier.extra = m.detach()
	}
	returns := t.operator.Schema.Func.Returns
	for i, v := range out.Results {
		if r.Level >= asserts.Content && !out.Seen.Autograd && i < len(returns) && returns[i].Type.IsTensorLike() &&
			returns[i].Alias == nil {
			r.earlier.add(r.Engine, v, 0)
		} else {
			engine.Release([]any{v})
		}
	}
	r.earlier.op = t
}

func (k *lastCall) add(e engine.Engine, v any, arg int) {
	switch v := v.(type) {
	case []any:
		for _, element := range v {
			k.add(e, element, arg)
		}
	case engine.Tensor:
		k.tensors, k.args = append(k.tensors, v), append(k.args, arg)
		k.then = append(k.then, e.Look(v))
	}
}

// now returns the held tensors, as they were at the end of their call and as they are now.
func (k *lastCall) now(e engine.Engine, t *Target) []asserts.Earlier {
	if k.op != t {
		k.release()
	}
	var all []asserts.Earlier
	for i, t := range k.tensors {
		for part, now := range e.Look(t) {
			if part < len(k.then[i]) {
				all = append(all, asserts.Earlier{Then: k.then[i][part], Now: now, Arg: k.args[i]})
			}
		}
	}
	return all
}

func (k *lastCall) release() {
	for i, t := range k.tensors {
		if k.args[i] == 0 {
			t.Release()
		}
	}
	for _, t := range k.extra {
		t.Release()
	}
	*k = lastCall{}
}
