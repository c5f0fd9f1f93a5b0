package asserts_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
)

var torchWords = regexp.MustCompile("autograd|gradient|functionaliz|compiler")

// Reports on a library without autograd, functionalization and compilers do not mention them; those
// on PyTorch do.
func TestPlain(t *testing.T) {
	for c := range asserts.AllCodes.All() {
		if text := c.BreaksPlain(); torchWords.MatchString(text) && c != asserts.AutogradKernel || text == "" {
			t.Errorf("%v: %s", c, text)
		}
	}
	view, write := wholeOp("f(Tensor self) -> Tensor"), wholeOp("f_(Tensor(a!) self) -> Tensor(a!)")
	ints := func(o asserts.Observation) asserts.Observation {
		content := *o.Content
		content.DType = "int64"
		o.Content = &content
		return o
	}
	self := see(1, 2, holding("a"))
	for _, tt := range []struct {
		name        string
		op          *asserts.Op
		seen        asserts.Seen
		plain, says string
	}{
		{"a report", view, asserts.Seen{Before: list{self}, After: list{self}, Results: list{see(3, 2, holding("a"))}},
			"breaks  an in-place write to one silently changes the other\n", "compilers assume that they are independent"},
		{"a note", write, asserts.Seen{Before: list{ints(self)}, After: list{ints(see(1, 2, holding("b")))}, Results: list{ints(see(1, 2, holding("b")))}},
			"versions of tensors of this dtype are seldom compared", "can't require grad, so autograd never compares its version"},
		{"a skip", view, asserts.Seen{Alone: true, Before: list{self}, After: list{see(1, 2, holding("a"), uses(2, 1))}, Results: list{see(3, 2, holding("a"))}},
			"a view of it is returned, and may hold it", "autograd keeps the base of a view"},
	} {
		for _, plain := range []bool{false, true} {
			tt.seen.Level, tt.seen.Plain = asserts.Content, plain
			verdict := asserts.Judge(tt.op, &tt.seen, asserts.Aware())
			var b strings.Builder
			for _, v := range verdict.Violations {
				v.WriteReport(&b)
			}
			for _, s := range verdict.Skips {
				b.WriteString(s.Reason)
			}
			text, want := b.String(), tt.says
			if plain {
				want = tt.plain
			}
			if !strings.Contains(text, want) || torchWords.MatchString(text) == plain {
				t.Errorf("%s, plain %v:\n%s", tt.name, plain, text)
			}
		}
	}
}
