package probe

import (
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

// A Call is a call of an op that returned.
type Call struct {
	Runner
	Op     engine.Operator
	Judged *asserts.Op
	Level  asserts.Level
	Case   *sample.Case
	Seen   *asserts.Seen
	Threw  string          // the message of a call after it
	Known  map[string]bool // what the probe knows about the op
	Free   bool            // set by a probe: this call is not of its budget
}

// A Runner makes calls of an op again.
type Runner interface {
	// Arguments makes those of a case in a setup, or returns nil.
	Arguments(c *sample.Case, how Setup) Arguments
	// Try makes a call as each case does, and returns what it shows, or nil.
	Try(c *sample.Case) *asserts.Seen
	// LostWrites makes a call, and returns the arguments of which it writes copies that are never read, and where.
	LostWrites(c *sample.Case) map[string]asserts.Site
	// Traces reports whether the engine tracks the copies that kernels make of arguments.
	Traces() bool
	// Divides reports whether kernels divide their work among threads, whose number can be set.
	Divides() bool
}

// Arguments are those of some calls.
type Arguments interface {
	// Call makes a call with the seed of the setup, and returns what it shows, or nil if it throws.
	Call() *asserts.Seen
	// Copy writes tensors that are like them into these.
	Copy(Arguments) bool
	Release()
}

// Often is the number of comparisons after which two ways to make a call count as different: if an
// op adds in the order of its threads, two results may be equal by chance.
const Often = 10

// Again makes the call again.
func (c *Call) Again(how Setup) *asserts.Seen { return c.call(c.Case, how) }

func (c *Call) call(like *sample.Case, how Setup) *asserts.Seen {
	args := c.Arguments(like, how)
	if args == nil {
		return nil
	}
	defer args.Release()
	return args.Call()
}

// Repeats reports whether a call returns the same each time it is repeated.
func (c *Call) Repeats(how Setup, seen *asserts.Seen) bool {
	for range Often {
		if then := c.Again(how); then == nil || len(Unlike(c.Judged, seen, then)) > 0 {
			return false
		}
	}
	return true
}

// Same reports whether the other call was made, and no bytes differ.
func (c *Call) Same(a, b *asserts.Seen) bool {
	return b != nil && len(compare.Differing(c.Judged, a, b)) == 0
}

// Unlike returns the results of an op that differ between two calls, including those without copied bytes.
func Unlike(op *asserts.Op, a, b *asserts.Seen) []compare.Difference {
	return append(compare.Differing(op, a, b), compare.Unknown(op, a, b)...)
}

// Differing returns a fault for each result whose bytes differ between two calls.
func (c *Call) Differing(a, b *asserts.Seen, like asserts.Fault) []asserts.Fault {
	return about(compare.Differing(c.Judged, a, b), like)
}

func about(all []compare.Difference, like asserts.Fault) []asserts.Fault {
	return slicesx.Map(all, func(d compare.Difference) asserts.Fault { return About(d, like) })
}

// About returns a fault for a difference whose cause is known.
func About(d compare.Difference, like asserts.Fault) asserts.Fault {
	like.Argument, like.Return = d.Argument, d.Return
	differ := "some"
	if d.Bytes > 0 {
		differ = strconv.Itoa(d.Bytes)
	}
	like.Saw = fmt.Sprintf("%s of %d bytes of {} %s", differ, d.Of, like.Saw)
	return like
}

// Repeatable reports whether the op must return the same when repeated.
func (c *Call) Repeatable() bool { return Repeatable(c.Op.Schema) }

// Repeatable reports whether an op must return the same when repeated.
func Repeatable(op *schema.Op) bool {
	random := func(tag string) bool { return strings.HasPrefix(tag, "nondeterministic") }
	draws := func(a schema.Argument) bool { return strings.HasPrefix(a.Type.String(), "Generator") }
	return !slices.ContainsFunc(op.Tags, random) && !slices.ContainsFunc(op.Func.Args, draws)
}

// leaves matches the names of ops that are meant to return uninitialized memory, but not of ops on empty things, such
// as remove_empty_rows, or on images, such as resize_bilinear. mayLeave matches those that may, writing no byte.
var (
	leaves   = regexp.MustCompile(`^_?(new_)?(empty|alloc|uninit)|^_?resize[sd]?(_as|_sparse|_output)*_?$|_resize_?$`)
	mayLeave = regexp.MustCompile(`_(empty|alloc|uninit)[a-z]*(_like|_strided)?$`)
)

// LeavesMemory reports whether an op is meant to return uninitialized memory.
func LeavesMemory(op *schema.Op) bool {
	return leaves.MatchString(op.Func.Name.Base) || mayLeave.MatchString(op.Func.Name.Base)
}

func (c *Call) leavesMemory() bool { return LeavesMemory(c.Op.Schema) }

// MustWrite reports whether an op should have written bytes that depend on the old contents of memory.
func MustWrite(op *schema.Op, d compare.Difference) bool {
	return !LeavesMemory(op) || mayLeave.MatchString(op.Func.Name.Base) && d.Bytes < d.Of
}
