package work

import (
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
)

// earlier is what the last call of an op returned without an alias set. It is held
// for one more call, which must leave it alone: kernels that return memory of a
// buffer, under a new storage each time, show in nothing else.
type earlier struct {
	op      *Target
	tensors []engine.Tensor
	then    [][]asserts.Observation
}

// keep takes over what a call returned, and releases what the one before did.
// Through autograd a result keeps what made it.
func (r *Runner) keep(t *Target, out *engine.Outcome) {
	r.earlier.release()
	returns := t.operator.Schema.Func.Returns
	for i, v := range out.Results {
		if r.Level >= asserts.Content && !out.Seen.Autograd && i < len(returns) && returns[i].Type.IsTensorLike() && returns[i].Alias == nil {
			r.earlier.add(r.Engine, v)
		} else {
			engine.Release([]any{v})
		}
	}
	r.earlier.op = t
}

// again makes the call of an attempt once more where nothing was held in it.
func (r *Runner) again(t *Target, a *attempt) *attempt {
	if a.cpu.Earlier == nil && len(r.earlier.tensors) > 0 {
		if b, err := r.Try(t, a.c); err == nil {
			return b
		}
	}
	return a
}

func (k *earlier) add(e engine.Engine, v any) {
	switch v := v.(type) {
	case []any:
		for _, element := range v {
			k.add(e, element)
		}
	case engine.Tensor:
		k.tensors = append(k.tensors, v)
		k.then = append(k.then, e.Look(v))
	default:
		engine.Release([]any{v})
	}
}

// now returns what is held as it was and as it is.
func (k *earlier) now(e engine.Engine, t *Target) []asserts.Earlier {
	if k.op != t {
		k.release()
	}
	var all []asserts.Earlier
	for i, t := range k.tensors {
		for part, now := range e.Look(t) {
			if part < len(k.then[i]) {
				all = append(all, asserts.Earlier{Then: k.then[i][part], Now: now})
			}
		}
	}
	return all
}

func (k *earlier) release() {
	for _, t := range k.tensors {
		t.Release()
	}
	*k = earlier{}
}
