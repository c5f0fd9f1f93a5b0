package work

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/loop"
	"github.com/opassert/opassert/schema"
)

// The same call is made again in memory that holds something else until it is written, and
// on the other side of pages that can't be touched. Where the bytes of a return differ, more
// calls, on the first side, distinguish results that follow the memory from those that
// differ by themselves, and from those that follow the alignment of tensors.

// often is how many times two ways to make a call are held to differ: where an op adds in the order in which
// its threads come, the results of two calls are now and then the same, and those of others not.
const often = 10

// unsteady is the reason why no result is held to follow memory.
const unsteady = "the results of two calls differ in memory that is filled alike too"

// A repetition is the result of a repeated call.
type repetition struct {
	made    bool
	unknown bool   // something differs, but its bytes are not kept
	left    string // why what follows memory is left out, or ""
	faults  []asserts.Fault
}

// unkept is the reason why bytes that differ are not compared.
var unkept = fmt.Sprintf("no bytes are kept of a storage of more than %d", asserts.SnapshotLimit)

// repeat makes the first call of an attempt again, unless it touched memory that it may
// not touch: its results may be the bytes that it read there.
func (r *Runner) repeat(t *Target, a *attempt) repetition {
	if len(a.memory.faults) > 0 {
		r.frame(t, a)
		return repetition{}
	}
	first, then := a.calls[0].seen, r.seenAgain(t, a.c, otherSide)
	if then == nil {
		return repetition{}
	}
	if astray := r.touched(t).faults; len(astray) > 0 || !t.repeatable() {
		return repetition{faults: astray}
	}
	differ := asserts.Differing(t.judged, first, then[0])
	if len(differ) == 0 {
		return repetition{made: true, unknown: len(asserts.Unknown(t.judged, first, then[0])) > 0}
	}
	filled, own, made := r.apart(t, a, differ)
	if !made {
		return repetition{}
	}
	shown := repetition{made: true}
	alike, why := r.leftOnCPU(t, a, filled)
	for _, d := range differ {
		i := slices.IndexFunc(filled, d.Same)
		switch {
		case slices.ContainsFunc(own, d.Same):
			if t.mustWrite(d) { // memory that is not filled differs too
				shown.left, shown.faults = unsteady, append(shown.faults, about(d, nondeterministic))
			}
		case i < 0: // it follows the side of the pages
		case slices.ContainsFunc(alike, d.Same):
			shown.left = why
		case t.mustWrite(filled[i]):
			shown.faults = append(shown.faults, about(filled[i], uninitialised))
		}
	}
	return shown
}

// apart returns which results differ between calls in memory that is filled in two ways, on the first side, and
// which of those that differ on the other differ by themselves too.
func (r *Runner) apart(t *Target, a *attempt, differ []asserts.Difference) (filled, own []asserts.Difference, made bool) {
	first, other := a.calls[0].seen, r.seenAgain(t, a.c, otherFill)
	if other == nil {
		return nil, nil, false
	}
	filled = asserts.Differing(t.judged, first, other[0])
	for range often {
		again := r.seenAgain(t, a.c, otherFill, firstTime)
		if again == nil {
			return nil, nil, false
		}
		own = slices.Concat(own, asserts.Differing(t.judged, other[0], again[0]), asserts.Differing(t.judged, first, again[1]))
		follows := func(d asserts.Difference) bool {
			i := slices.IndexFunc(filled, d.Same)
			return i >= 0 && t.mustWrite(filled[i]) && !slices.ContainsFunc(own, d.Same)
		}
		if !slices.ContainsFunc(differ, follows) {
			break
		}
	}
	return filled, own, true
}

// leftOnCPU returns which results that follow memory are so on the CPU too, where the call is on another
// device, and why they are left out: an op whose kernels both leave memory as it was is to.
func (r *Runner) leftOnCPU(t *Target, a *attempt, filled []asserts.Difference) (alike []asserts.Difference, why string) {
	i := slices.IndexFunc(a.calls, func(c call) bool { return c.on == engine.CPU })
	if i <= 0 {
		return nil, ""
	}
	if !a.c.Plain() {
		return filled, "the kernel for the CPU was not asked whether it leaves memory as it was: " + a.calls[i].why
	}
	twins := r.seenAgain(t, a.c, firstTime.onCPU(), otherFill.onCPU())
	if twins == nil {
		return nil, ""
	}
	return asserts.Differing(t.judged, twins[0], twins[1]), "the kernel for the CPU leaves memory as it was too"
}

// frame makes a call again that was not stopped at a page where it wrote memory that it may
// not: on the other side it may be, which shows the kernel's frames.
func (r *Runner) frame(t *Target, a *attempt) {
	faults := a.memory.faults
	if slices.ContainsFunc(faults, func(f asserts.Fault) bool { return len(f.Frames) == 0 }) && r.seenAgain(t, a.c, otherSide) != nil {
		more := r.touched(t).faults
		for i := range faults {
			faults[i] = faults[i].Framed(more)
		}
	}
}

// repeatable reports whether the op is to return the same again.
func (t *Target) repeatable() bool {
	op := t.operator.Schema
	return !slices.ContainsFunc(op.Tags, func(tag string) bool { return strings.HasPrefix(tag, "nondeterministic") }) && !slices.ContainsFunc(op.Func.Args, func(a schema.Argument) bool {
		return strings.HasPrefix(a.Type.String(), "Generator")
	})
}

// leaves matches the names of ops whose work is to return memory as it is, and not
// those of ops on empty things, as remove_empty_rows, or on images, as resize_bilinear.
// mayLeave matches those of ops that may: then no byte is written.
var (
	leaves   = regexp.MustCompile(`^_?(new_)?(empty|alloc|uninit)|^_?resize[sd]?(_as|_sparse|_output)*_?$|_resize_?$`)
	mayLeave = regexp.MustCompile(`_(empty|alloc|uninit)[a-z]*(_like|_strided)?$`)
)

func (t *Target) leavesMemory() bool {
	name := t.operator.Schema.Func.Name.Base
	return leaves.MatchString(name) || mayLeave.MatchString(name)
}

// mustWrite reports whether the op is to write bytes that follow the old contents of memory.
func (t *Target) mustWrite(d asserts.Difference) bool {
	return !t.leavesMemory() || mayLeave.MatchString(t.operator.Schema.Func.Name.Base) && d.Bytes < d.Of
}

// seenAgain makes calls with new arguments, each arranged in another way, and returns the
// observations; nil where one throws.
func (r *Runner) seenAgain(t *Target, c *sample.Case, ways ...arrangement) (all []*asserts.Seen) {
	for _, how := range ways {
		m := maker{engine: r.Engine, room: &r.room}
		defer m.release()
		_, seen := r.seen(t, &m, c, how)
		if seen == nil {
			return nil
		}
		all = append(all, seen)
	}
	return all
}

// seen makes the arguments of a case and the call, and returns those and the observations,
// nil where it throws.
func (r *Runner) seen(t *Target, m *maker, c *sample.Case, how arrangement) ([]any, *asserts.Seen) {
	c, args, err := r.arguments(m, c, how)
	if err != nil {
		return nil, nil
	}
	if how.twin {
		twin := call{on: engine.CPU}
		twin.args, twin.why = r.twins(m, c, args, twin.on)
		r.callTwins(t, &twin)
		return twin.args, twin.seen
	}
	return args, r.called(t, args)
}

// called makes a call and returns the observations, nil where it throws.
func (r *Runner) called(t *Target, args []any) *asserts.Seen {
	out, err := r.Engine.Call(t.Gen.Name, args, asserts.Content)
	if err != nil {
		return nil
	}
	engine.Release(out.Results)
	return &out.Seen
}

// differing returns a fault for each result whose bytes differ between two calls.
func (t *Target) differing(a, b *asserts.Seen, like asserts.Fault) []asserts.Fault {
	return loop.Map(asserts.Differing(t.judged, a, b), func(d asserts.Difference) asserts.Fault { return about(d, like) })
}

// about returns a fault with the difference of which it says the cause.
func about(d asserts.Difference, like asserts.Fault) asserts.Fault {
	like.Code = cmp.Or(like.Code, asserts.NondeterministicResult)
	like.Argument, like.Return = d.Argument, d.Return
	differ := "some"
	if d.Bytes > 0 {
		differ = strconv.Itoa(d.Bytes)
	}
	like.Saw = fmt.Sprintf("%s of %d bytes %s", differ, d.Of, like.Saw)
	return like
}

var uninitialised = asserts.Fault{
	Code: asserts.UninitialisedResult,
	Saw:  fmt.Sprintf("follow what the memory held before the call: they differ where it is filled with %#02x and with %#02x, and where it is filled alike they are the same", firstFill, secondFill),
	Fix:  "write every element, also where a dimension is empty or nothing is computed: at::zeros in place of at::empty",
}

// unpromised is the note of results that differ.
const unpromised = "no schema promises that a result is the same again"

var nondeterministic = asserts.Fault{
	Saw:  "differ between two calls with the same values and the same seed",
	Fix:  "let the result depend on the arguments alone, not on addresses, time, threads or earlier calls; a random one takes a Generator and has the tag nondeterministic_seeded",
	Note: unpromised,
}
