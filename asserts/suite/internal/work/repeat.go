package work

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/compare"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/slicesx"
	"github.com/opassert/opassert/schema"
)

// The same call is repeated in memory with other initial contents, and on the other side of pages
// without access. If the bytes of a return differ, more calls, on the first side, distinguish
// results that depend on the memory from those that are not reproducible, and from those that
// depend on the alignment of tensors.

// often is the number of comparisons after which two ways to make a call count as different: if an
// op adds in the order of its threads, two results may be equal by chance.
const often = 10

// unsteady is the reason why no result counts as depending on memory.
const unsteady = "the results of two calls differ even in memory that is filled equally"

// A repetition is the result of a repeated call.
type repetition struct {
	made    bool
	unknown bool   // something differs, but its bytes are not copied
	left    string // why results that depend on memory are not reported, or ""
	faults  []asserts.Fault
}

// unkept is the reason why bytes that differ are not compared.
var notCopied = fmt.Sprintf("no bytes are copied of a storage of more than %d", asserts.SnapshotLimit)

// repeat repeats the first call of an attempt, unless it accessed memory illegally: its results may
// be the bytes that it read there.
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
	differ := compare.Differing(t.judged, first, then[0])
	if len(differ) == 0 {
		return repetition{made: true, unknown: len(compare.Unknown(t.judged, first, then[0])) > 0}
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
			if t.mustWrite(d) { // memory that is not filled differs, too
				shown.left, shown.faults = unsteady, append(shown.faults, about(d, nondeterministic))
			}
		case i < 0: // it depends on the side of the pages
		case slices.ContainsFunc(alike, d.Same):
			shown.left = why
		case t.mustWrite(filled[i]):
			shown.faults = append(shown.faults, about(filled[i], uninitialised))
		}
	}
	return shown
}

// apart returns the results that differ between calls in memory filled in two ways, on the first
// side, and which of those that differ on the other side are not reproducible.
func (r *Runner) apart(t *Target, a *attempt, differ []compare.Difference) (filled, own []compare.Difference, made bool) {
	first, other := a.calls[0].seen, r.seenAgain(t, a.c, otherFill)
	if other == nil {
		return nil, nil, false
	}
	filled = compare.Differing(t.judged, first, other[0])
	for range often {
		again := r.seenAgain(t, a.c, otherFill, firstTime)
		if again == nil {
			return nil, nil, false
		}
		own = slices.Concat(own, compare.Differing(t.judged, other[0], again[0]), compare.Differing(t.judged, first, again[1]))
		follows := func(d compare.Difference) bool {
			i := slices.IndexFunc(filled, d.Same)
			return i >= 0 && t.mustWrite(filled[i]) && !slices.ContainsFunc(own, d.Same)
		}
		if !slices.ContainsFunc(differ, follows) {
			break
		}
	}
	return filled, own, true
}

// leftOnCPU returns the results that depend on memory on the CPU, too, if the call is on another
// device, and why they are not reported: an op whose kernels both leave memory unwritten is meant
// to.
func (r *Runner) leftOnCPU(t *Target, a *attempt, filled []compare.Difference) (alike []compare.Difference, why string) {
	i := slices.IndexFunc(a.calls, func(c deviceCall) bool { return c.on == engine.CPU })
	if i <= 0 {
		return nil, ""
	}
	if !a.c.Plain() {
		return filled, "it is unknown whether the kernel for the CPU leaves memory unwritten: " + a.calls[i].why
	}
	twins := r.seenAgain(t, a.c, firstTime.onCPU(), otherFill.onCPU())
	if twins == nil {
		return nil, ""
	}
	return compare.Differing(t.judged, twins[0], twins[1]), "the kernel for the CPU leaves memory unwritten, too"
}

// frame repeats a call that wrote memory illegally without being stopped at a page: on the other
// side it may be, which shows the kernel's frames.
func (r *Runner) frame(t *Target, a *attempt) {
	faults := a.memory.faults
	if slices.ContainsFunc(faults, func(f asserts.Fault) bool { return len(f.Frames) == 0 }) && r.seenAgain(t, a.c, otherSide) != nil {
		more := r.touched(t).faults
		for i := range faults {
			faults[i] = faults[i].Framed(more)
		}
	}
}

// repeatable reports whether the op must return the same when repeated.
func (t *Target) repeatable() bool {
	op := t.operator.Schema
	return !slices.ContainsFunc(op.Tags, func(tag string) bool { return strings.HasPrefix(tag, "nondeterministic") }) && !slices.ContainsFunc(op.Func.Args, func(a schema.Argument) bool {
		return strings.HasPrefix(a.Type.String(), "Generator")
	})
}

// leaves matches the names of ops that are meant to return uninitialized memory, but not of ops on
// empty things, such as remove_empty_rows, or on images, such as resize_bilinear. mayLeave matches
// the names of ops that may, without writing any byte.
var (
	leaves   = regexp.MustCompile(`^_?(new_)?(empty|alloc|uninit)|^_?resize[sd]?(_as|_sparse|_output)*_?$|_resize_?$`)
	mayLeave = regexp.MustCompile(`_(empty|alloc|uninit)[a-z]*(_like|_strided)?$`)
)

func (t *Target) leavesMemory() bool {
	name := t.operator.Schema.Func.Name.Base
	return leaves.MatchString(name) || mayLeave.MatchString(name)
}

// mustWrite reports whether the op should have written bytes that depend on the old contents of
// memory.
func (t *Target) mustWrite(d compare.Difference) bool {
	return !t.leavesMemory() || mayLeave.MatchString(t.operator.Schema.Func.Name.Base) && d.Bytes < d.Of
}

// seenAgain makes calls with new arguments, each in another arrangement, and returns the
// observations; nil if one throws.
func (r *Runner) seenAgain(t *Target, c *sample.Case, ways ...callSetup) (all []*asserts.Seen) {
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

// seen makes the arguments of a case and the call, and returns both, nil if it throws.
func (r *Runner) seen(t *Target, m *maker, c *sample.Case, how callSetup) ([]any, *asserts.Seen) {
	c, args, err := r.arguments(t, m, c, how)
	if err != nil {
		return nil, nil
	}
	if how.twin {
		twin := deviceCall{on: engine.CPU}
		twin.args, twin.why = r.twins(m, c, args, twin.on)
		r.callTwins(t, &twin)
		return twin.args, twin.seen
	}
	return args, r.called(t, args)
}

// called makes a call and returns the observations, nil if it throws.
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
	return slicesx.Map(compare.Differing(t.judged, a, b), func(d compare.Difference) asserts.Fault { return about(d, like) })
}

// about returns a fault for a difference whose cause is known.
func about(d compare.Difference, like asserts.Fault) asserts.Fault {
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
	Saw:  fmt.Sprintf("depend on the contents of the memory before the call: they differ if it is filled with %#02x or %#02x, and are reproducible if it is filled equally", firstFill, secondFill),
	Fix:  "write every element, even if a dimension is empty or nothing is computed: use at::zeros instead of at::empty",
}

// unpromised is the note on results that differ.
const unpromised = "no schema promises that results are reproducible"

var nondeterministic = asserts.Fault{
	Saw:  "differ between two calls with the same values and the same seed",
	Fix:  "make the result depend only on the arguments, not on addresses, time, threads or earlier calls; a random op needs a Generator argument or the tag nondeterministic_seeded",
	Note: unpromised,
}
