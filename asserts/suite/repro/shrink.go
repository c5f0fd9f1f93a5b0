package repro

import (
	"slices"

	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/tensor"
	"github.com/opassert/opassert/schema"
)

// shrink keeps the smallest program that shows a fault, of those for smaller calls.
func (l language) shrink(f Problem, way int, p *report.ReproProgram, by *programRunner) error {
	if f.Finding == nil { // the run has looked for the smallest call that crashes
		return nil
	}
	first, smallest := *p, *p
	smaller := f.smaller()
	for tries, at, failed := l.tries, 0, 0; tries > 0 && failed < len(smaller); tries-- {
		one := smaller[at%len(smaller)]
		at, failed = at+1, failed+1
		texts, err := l.texts(one)
		if err != nil || way >= len(texts) {
			continue
		}
		if err := l.put(p, texts[way]); err != nil {
			return err
		}
		if shown, _ := l.try(by, p.File); shown { // the smaller ones before failed, but the next ones may not
			smallest, smaller, at, failed = *p, one.smaller(), at-1, 0
		}
	}
	*p = smallest
	if err := save(p); err != nil || smallest.Text == first.Text {
		return err
	}
	if shown, _ := l.run(by, p.File); shown {
		return nil
	}
	*p = first
	return save(p)
}

// smaller returns a finding with smaller calls, the smallest first.
func (f Problem) smaller() (all []Problem) {
	op, err := schema.ParseDispatcher(qualified(f.Op))
	if err != nil {
		return nil
	}
	c, err := readCase(op, f.Finding.Recipe)
	if err != nil {
		return nil
	}
	known := map[string]bool{f.Finding.Recipe: true}
	for _, s := range smallerCases(op, c) {
		one := *f.Finding
		one.Recipe, one.Call = s.Recipe(), s.String()
		if !known[one.Recipe] {
			all = append(all, Problem{f.Op, &one, nil, f.turn})
		}
		known[one.Recipe] = true
	}
	return all
}

type reduction func(*sample.Case)

// smallerCases returns cases with arguments left to their defaults, with shorter lists and with
// smaller tensors of simpler forms: all at once, and then one by one.
func smallerCases(op *schema.Op, c *sample.Case) (all []*sample.Case) {
	with := func(reductions ...reduction) {
		d := c.Clone()
		for _, reduce := range reductions {
			reduce(d)
		}
		all = append(all, d)
	}
	fewer := fewerArguments(op, c)
	with(append(fewer, ofAll(shortened(2)), ofAll(plain))...)
	for _, reduce := range append(fewer, ofAll(shortened(1)), ofAll(shortened(2))) {
		with(reduce)
	}
	for i := range c.Tensors() {
		for _, reduce := range []func(*sample.TensorSpec){shortened(1), plain, flatter} {
			with(func(d *sample.Case) { reduce(d.Tensors()[i]) })
		}
	}
	return all
}

// fewerArguments returns reductions that leave arguments to their defaults, or lists with one element.
func fewerArguments(op *schema.Op, c *sample.Case) (all []reduction) {
	apart := !slices.ContainsFunc(c.Tensors(), func(t *sample.TensorSpec) bool { return t.Same > 0 || t.View > 0 })
	for i, arg := range op.Func.Args {
		holds := c.Args[i].Kind == sample.TensorValue || c.Args[i].Kind == sample.ListValue && arg.Type.HoldsTensors()
		if arg.Default != "" && (apart || !holds) {
			all = append(all, func(d *sample.Case) { d.Args[i] = sample.Value{} })
		}
		if holds && apart {
			all = append(all, func(d *sample.Case) { d.Args[i].List = d.Args[i].List[:min(1, len(d.Args[i].List))] })
		}
	}
	return all
}

func ofAll(reduce func(*sample.TensorSpec)) reduction {
	return func(d *sample.Case) {
		for _, t := range d.Tensors() {
			reduce(t)
		}
	}
}

func shortened(n int64) func(*sample.TensorSpec) {
	return func(t *sample.TensorSpec) {
		for d := range t.Sizes {
			t.Sizes[d] = min(t.Sizes[d], n)
		}
	}
}

func plain(t *sample.TensorSpec) { t.Form, t.Arrangement = engine.Strided, tensor.Contiguous }

func flatter(t *sample.TensorSpec) {
	if len(t.Sizes) > 1 {
		t.Sizes = t.Sizes[1:]
	}
}
