package probe

import (
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/compare"
)

var _ = add(Row{
	Name: "lost-transposed", How: "with a transposed argument that it changes", At: Returned, Budget: some, InGo: true,
	Key:       wholeCall,
	When:      func(c *Call) bool { return c.Case.Plain() && len(unknown(c, isMatrix)) > 0 },
	Find:      func(r *Row, c *Call) []asserts.Fault { return lost(r, c, transpose, isMatrix, isStrided) },
	Fault:     lostWrite("lost-strided", "the kernel writes {}, but not where it is transposed"),
	NoProgram: lintHasNone,
})

const lintHasNone = "no program shows what is found in the schema"

func lostWrite(symptom asserts.Symptom, saw string) asserts.Fault {
	return asserts.Fault{Code: asserts.SchemaLint, Symptom: symptom, Saw: saw}
}

// A writable reports whether a tensor is one whose writes may be lost.
type writable func(c *Call, w compare.Write) bool

func isMatrix(_ *Call, w compare.Write) bool  { return len(w.Sizes) > 1 }
func isStrided(_ *Call, w compare.Write) bool { return w.Strided }

func argument(c *Call, w compare.Write) string { return c.Op.Schema.Func.Args[w.Arg].Name }

// unknown returns the writes of a call that may be lost in a changed one, by their position.
func unknown(c *Call, may writable) map[int]bool {
	all := make(map[int]bool)
	for i, w := range compare.WritesOf(c.Judged, c.Seen) {
		if w.Changed && may(c, w) && !c.Known[argument(c, w)] {
			all[i] = true
		}
	}
	return all
}

// lost makes a changed call, and returns the arguments that it does not write, unlike the unchanged one.
// Those that it writes are known from then on. A call counts if the op refuses it.
func lost(r *Row, c *Call, change Change, may, is writable) (faults []asserts.Fault) {
	like := c.Case.Clone()
	change(c.Op.Schema, like)
	seen := c.Try(like)
	c.Free = seen != nil
	asked := unknown(c, may)
	for i, w := range compare.WritesOf(c.Judged, seen) {
		switch f := r.Fault; {
		case !asked[i] || !is(c, w):
		case w.Changed:
			c.Known[argument(c, w)] = true
		default:
			f.Argument = argument(c, w)
			faults = append(faults, f)
		}
	}
	return faults
}

func wholeCall(c *Call) string { return c.Case.Key() }
