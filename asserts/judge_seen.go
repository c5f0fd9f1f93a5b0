package asserts

import (
	"fmt"
	"strings"

	"github.com/opassert/opassert/internal/slicesx"
)

// Seen is the observations of one call: plain data, from a wrapper, from the libtorch engine or from a log.
type Seen struct {
	Level   Level
	Before  []Observation // every tensor of every argument in order, before the call
	After   []Observation // the same tensors after it
	Results []Observation // every tensor of every return in order; none if the call failed

	// The number of tensors of each of Op.Args and of Op.Results; nil if each has one.
	ArgLens, ResultLens []int

	// The names in reports of the tensors of each of Op.Args and of Op.Results; tensors without a name are numbered.
	ArgNames, ResultNames [][]string

	// Numbers are the returned integers, floats and bools as text, also those in lists; "" is an
	// unknown one. Nil if the engine does not supply them.
	Numbers []string

	Modes []Mode // active during the call

	// Earlier are the arguments and the fresh returns of the op's previous call, with their parts, if still referenced.
	Earlier []Earlier

	// Late is every tensor of After and then of Results some milliseconds after the call; nil if not observed again.
	Late []Observation

	// Alone reports that no other thread used the tensors during the call: only the op can have taken a reference.
	Alone bool

	// Made reports that only the op can have released a reference to an argument, in a library
	// without autograd: the arguments were made for this call, or no other goroutine ran.
	Made bool

	// Plain reports that the library, as one in Go, has no autograd, functionalization or compilers to mention in reports.
	Plain bool

	// Autograd reports that the call went through autograd, which saves tensors for backward: only OA014 is judged.
	Autograd bool
}

// late splits Late by subject.
func (s *Seen) late(op *Op) (args, results [][]Observation) {
	n := min(len(s.After), len(s.Late))
	return split(s.Late[:n], s.ArgLens, op.Args), split(s.Late[n:], s.ResultLens, op.Results)
}

// Number replaces IDs by serial numbers, in order of appearance: reports are equal in every run, even with addresses.
func (s *Seen) Number() {
	numbers := make(map[ID]ID)
	numberOf := func(id ID) ID {
		if id != 0 && numbers[id] == 0 {
			numbers[id] = ID(len(numbers) + 1)
		}
		return numbers[id]
	}
	numbered := make(map[*Snapshot]bool)
	var number func(o *Observation)
	number = func(o *Observation) {
		o.Impl, o.Storage = numberOf(o.Impl), numberOf(o.Storage)
		if o.Content == nil || numbered[o.Content] {
			return
		}
		numbered[o.Content] = true
		for i := range o.Content.Parts {
			number(&o.Content.Parts[i].Observation)
		}
	}
	for _, side := range [][]Observation{s.Before, s.After, s.Results} {
		for i := range side {
			number(&side[i])
		}
	}
	for i := range s.Earlier {
		number(&s.Earlier[i].Now)
	}
}

// Earlier is a return or an argument of an earlier call: at the end of that call, and after this one.
type Earlier struct {
	Then, Now Observation
	Arg       int // of an argument, one more than its position in the schema; 0 for a return
}

// Tensors returns the call as far as its tensors were observed: "scale(x=float32[2], xs=[int64[3]])".
func (s *Seen) Tensors(op *Op, others ...string) string {
	before, _, _ := s.Split(op)
	var args []string
	for i, arg := range op.Args {
		texts := slicesx.Join(before[i], ", ", func(o Observation) string { return o.shape() })
		if arg.List {
			texts = "[" + texts + "]"
		}
		if !arg.Inside {
			args = append(args, arg.Name+"="+texts)
		}
	}
	_, name, _ := strings.Cut(op.Name, "::")
	return name + "(" + strings.Join(append(args, others...), ", ") + ")"
}

// shape returns a tensor's dtype and sizes: "float32[2, 3]".
func (o *Observation) shape() string {
	switch {
	case !o.Defined():
		return "none"
	case o.Content == nil:
		return "a tensor"
	}
	return o.Content.DType + strings.ReplaceAll(fmt.Sprint(o.Content.Sizes), " ", ", ")
}

// Split returns the observations of each argument, before and after the call, and of each return.
func (s *Seen) Split(op *Op) (before, after, results [][]Observation) {
	return split(s.Before, s.ArgLens, op.Args), split(s.After, s.ArgLens, op.Args),
		split(s.Results, s.ResultLens, op.Results)
}

// split cuts observations into one run for each subject. Missing runs are empty, and surplus observations are dropped.
func split(obs []Observation, lens []int, subjects []Subject) [][]Observation {
	runs := make([][]Observation, len(subjects))
	for i, s := range subjects {
		n := 1
		if s.List && lens != nil {
			n = 0
			if i < len(lens) {
				n = lens[i]
			}
		}
		n = max(0, min(n, len(obs)))
		runs[i], obs = obs[:n], obs[n:]
	}
	return runs
}
