package repro

import (
	"os"
	"slices"

	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/asserts/suite/report"
	"github.com/opassert/opassert/internal/tensor"
	"github.com/opassert/opassert/schema"
)

// shrink keeps the smallest program that shows a fault, of those of smaller calls.
func (l language) shrink(f Fault, way int, p *report.Program, by *runner) error {
	if f.Finding == nil { // the run has looked for the smallest call that crashes
		return nil
	}
	kept := *p
	for tries, changed := l.tries, true; changed; {
		changed = false
		for _, smaller := range f.smaller() {
			if tries--; tries < 0 {
				break
			}
			texts, err := l.texts(smaller)
			if err != nil || way >= len(texts) {
				continue
			}
			if err := l.put(p, texts[way]); err != nil {
				return err
			}
			if shown, _ := l.run(by, p.File); shown {
				f, kept, changed = smaller, *p, true
				break
			}
		}
	}
	*p = kept
	return os.WriteFile(p.File, []byte(p.Text), 0o666)
}

// smaller returns a finding with smaller calls, the smallest first.
func (f Fault) smaller() (all []Fault) {
	op, err := schema.ParseDispatcher(qualified(f.Op))
	if err != nil {
		return nil
	}
	c, err := readCase(op, f.Finding.Recipe)
	if err != nil {
		return nil
	}
	for _, s := range smallerCases(op, c) {
		one := *f.Finding
		one.Recipe, one.Call = s.Recipe(), s.String()
		if one.Recipe != f.Finding.Recipe {
			all = append(all, Fault{f.Op, &one, nil, f.turn})
		}
	}
	return all
}

// smallerCases returns cases with arguments left to their defaults, with shorter lists and
// with smaller tensors of plainer forms.
func smallerCases(op *schema.Op, c *sample.Case) (all []*sample.Case) {
	with := func(change func(d *sample.Case) bool) {
		if d := c.Clone(); change(d) {
			all = append(all, d)
		}
	}
	apart := !slices.ContainsFunc(c.Tensors(), func(t *sample.TensorSpec) bool { return t.Same > 0 || t.View > 0 })
	for i, arg := range op.Func.Args {
		holds := c.Args[i].Kind == sample.TensorValue || c.Args[i].Kind == sample.ListValue && arg.Type.HoldsTensors()
		with(func(d *sample.Case) bool {
			d.Args[i] = sample.Value{}
			return arg.Default != "" && c.Args[i].Kind != sample.DefaultValue && (apart || !holds)
		})
		with(func(d *sample.Case) bool {
			n := len(d.Args[i].List)
			d.Args[i].List = d.Args[i].List[:min(1, n)]
			return d.Args[i].Kind == sample.ListValue && holds && n > 1 && apart
		})
	}
	for _, n := range []int64{1, 2} {
		with(func(d *sample.Case) bool { return shorten(d.Tensors(), n) })
	}
	for i := range c.Tensors() {
		one := func(d *sample.Case) []*sample.TensorSpec { return d.Tensors()[i : i+1] }
		with(func(d *sample.Case) bool { return shorten(one(d), 1) })
		with(func(d *sample.Case) bool {
			t := one(d)[0]
			plain := t.Form == engine.Strided && t.Arrangement == tensor.Contiguous
			t.Form, t.Arrangement = engine.Strided, tensor.Contiguous
			return !plain
		})
		with(func(d *sample.Case) bool {
			t := one(d)[0]
			ok := len(t.Sizes) > 1
			t.Sizes = t.Sizes[min(1, len(t.Sizes)):]
			return ok
		})
	}
	return all
}

// shorten makes dimensions of tensors as short as n, and reports whether one was longer.
func shorten(ts []*sample.TensorSpec, n int64) (changed bool) {
	for _, t := range ts {
		for d := range t.Sizes {
			if t.Sizes[d] > n {
				t.Sizes[d], changed = n, true
			}
		}
	}
	return changed
}
