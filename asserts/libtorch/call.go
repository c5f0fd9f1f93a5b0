package libtorch

import (
	"fmt"
	"slices"

	"github.com/opassert/opassert/asserts"
)

// An Outcome is the results and observations of a call. It can be reused for the next
// call, which then allocates less; its old results are overwritten, not released.
type Outcome struct {
	Results []Value // in schema order; the caller releases them

	// Seen is the input of the judge. The op's subjects are followed by as many for their parts; see [asserts.WithParts].
	Seen asserts.Seen

	Autograd bool // call through autograd, as a program does

	observations        []asserts.Observation
	argLens, resultLens []int
	parts               []part
}

// Release releases all handles in the results, and returns the first error.
func (o *Outcome) Release() error {
	err := Value{List: o.Results}.Release()
	o.Results = o.Results[:0]
	return err
}

// Call calls the operator the way autograd does, and observes its tensors before and after. Omitted
// last arguments have their defaults. At the level [asserts.Off] nothing is observed.
//
// An error is an [*Error] if the operator threw or arguments do not fit the schema, and a [*HandleError] for a handle
// that is not live. If an operator threw and changed its arguments, out.Seen has the observations.
func (op *Op) Call(level asserts.Level, out *Outcome, args ...Value) error {
	return op.call(level, out, args, func(request, reply []int64) { cross(crossing{function: fnCall}, request, reply) })
}

func (op *Op) call(level asserts.Level, out *Outcome, args []Value, cross func(request, reply []int64)) error {
	s := newScratch()
	defer s.free()
	out.Results = out.Results[:0]
	out.Seen = asserts.Seen{Level: min(level, asserts.Content), Autograd: out.Autograd}
	if err := op.request(s, out, args); err != nil {
		return err
	}
	cross(s.request, s.reply)
	r := s.answer()
	if s.reply[0] == statusWrote {
		inputs := out.takeArguments(&r, op)
		out.takeNothing(op)
		out.complete(inputs)
	}
	if err := s.thrown(op.Name, &r); err != nil {
		return err
	}
	if level != asserts.Off {
		inputs := out.takeArguments(&r, op)
		out.takeResults(&r, op)
		out.complete(inputs)
	}
	for range op.Returns {
		out.Results = append(out.Results, r.value())
	}
	return nil
}

// Object makes the arguments of a call, without making it, and returns the first: an object of a
// custom class from [New], so that several calls get the same one.
func (op *Op) Object(args ...Value) (Value, error) {
	return op.object(args, func(request, reply []int64) { cross(crossing{function: fnObject}, request, reply) })
}

func (op *Op) object(args []Value, cross func(request, reply []int64)) (made Value, err error) {
	s := newScratch()
	defer s.free()
	var out Outcome
	if err := op.request(s, &out, args); err != nil {
		return made, err
	}
	cross(s.request, s.reply)
	r := s.answer()
	if err := s.thrown(op.Name, &r); err != nil {
		return made, err
	}
	return r.value(), nil
}

// PassTo calls another operator, of schema (int[] request, str op) -> str, with the request for a
// call of this one and its name, and returns its result. The tensors are held meanwhile.
func (op *Op) PassTo(other *Op, args ...Value) (passed string, err error) {
	s := newScratch()
	defer s.free()
	var out, answer Outcome
	if err := op.request(s, &out, args); err != nil {
		return "", err
	}
	err = other.Call(asserts.Off, &answer, Ints(s.request...), String(op.Name))
	for _, v := range answer.Results { // one, unless it threw
		passed = v.Str
	}
	return passed, err
}

// request writes the call in the form that call.cpp describes, and counts the tensors of each subject in out.argLens.
func (op *Op) request(s *scratch, out *Outcome, args []Value) error {
	s.put(op.address, int64(out.Seen.Level), truth(out.Autograd), 0, 0)
	first := len(s.request)
	s.starts = append(s.starts[:0], make([]int, len(op.Args))...)
	out.argLens = out.argLens[:0]
	for _, subject := range op.subjects {
		s.starts[subject] = len(s.request) - first
		n := 0
		if subject < len(args) {
			var err error
			if n, err = s.tensors(&args[subject]); err != nil {
				return op.argumentError(subject, err)
			}
		}
		if n == 0 && !op.Args[subject].holds.list() {
			s.put(0)
			n = 1
		}
		out.argLens = append(out.argLens, n)
	}
	s.request[first-1] = int64(len(s.request) - first)
	for i := range args {
		if i >= len(op.Args) {
			return &Error{Op: op.Name, Refused: true, Message: fmt.Sprintf("it has %d arguments, not %d",
				len(op.Args), len(args))}
		}
		if op.Args[i].holds.subject() {
			continue
		}
		s.starts[i] = len(s.request) - first
		if _, err := s.tensors(&args[i]); err != nil {
			return op.argumentError(i, err)
		}
	}
	s.request[first-2] = int64(len(s.request) - first)
	for i := range args {
		if _, err := s.write(&args[i], int64(s.starts[i])); err != nil {
			return op.argumentError(i, err)
		}
	}
	return nil
}

func (op *Op) argumentError(i int, err error) error {
	return fmt.Errorf("%s: argument %d %q: %w", op.Name, i, op.Args[i].Name, err)
}

// takeArguments reads the observations of arguments, before and after the call, and returns their number.
func (out *Outcome) takeArguments(r *reader, op *Op) int {
	out.observations, out.parts = out.observations[:0], out.parts[:0]
	for side := before; side <= after; side++ {
		for subject, n := range out.argLens {
			for element := range n {
				out.take(r, side, subject, element)
			}
		}
	}
	for range int(r.word()) {
		out.insert(r, op)
	}
	return len(out.observations)
}

// insert reads a tensor that was added to a list: at its index there was no tensor before.
func (out *Outcome) insert(r *reader, op *Op) {
	var added, part asserts.Observation
	argument, half, end := int(r.word()), len(out.observations)/2, 0
	for range r.observation(&added) {
		r.observation(&part)
	}
	for i, subject := range op.subjects {
		if end += out.argLens[i]; subject == argument {
			out.argLens[i]++
			out.observations = slices.Insert(out.observations, half+end, added)
			out.observations = slices.Insert(out.observations, end, asserts.Observation{})
			return
		}
	}
}

// complete sets out.Seen from the observations, the first inputs of which are of arguments.
func (out *Outcome) complete(inputs int) {
	seen := &out.Seen
	seen.Before = out.observations[:inputs/2]
	seen.After = out.observations[inputs/2 : inputs]
	seen.Results = out.observations[inputs:]
	seen.ArgLens, seen.ResultLens = out.argLens, out.resultLens
	seen.ArgNames, seen.ResultNames = nil, nil
	if len(out.parts) > 0 {
		out.addParts()
	}
}

func (out *Outcome) takeResults(r *reader, op *Op) {
	out.resultLens = out.resultLens[:0]
	for i := range op.Returns {
		n := int(r.word())
		if !op.Returns[i].holds.subject() {
			for range n { // hidden from the schema
				out.take(r, unseen, 0, 0)
			}
			continue
		}
		for element := range n {
			out.take(r, result, len(out.resultLens), element)
		}
		if n == 0 && !op.Returns[i].holds.list() {
			out.observations = append(out.observations, asserts.Observation{})
			n = 1
		}
		out.resultLens = append(out.resultLens, n)
	}
}

// takeNothing records that no return has a tensor.
func (out *Outcome) takeNothing(op *Op) {
	out.resultLens = out.resultLens[:0]
	for i := range op.Returns {
		if op.Returns[i].holds.subject() {
			out.resultLens = append(out.resultLens, 0)
		}
	}
}

func (out *Outcome) take(r *reader, side moment, subject, element int) {
	var o asserts.Observation
	into := &o
	if side != unseen {
		out.observations = append(out.observations, o)
		into = &out.observations[len(out.observations)-1]
	}
	for range r.observation(into) {
		if what := r.observation(&o); side != unseen {
			out.parts = append(out.parts, part{side, subject, element, partNames[what], o})
		}
	}
}
