package asserts_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
)

var torchWords = regexp.MustCompile("autograd|gradient|functionaliz|compiler|TensorImpl|StorageImpl|[^-]storage")

// Reports on a library without autograd, functionalization and compilers do not mention them; those
// on PyTorch do.
func TestPlain(t *testing.T) {
	for c := range asserts.AllCodes.All() {
		text := (&asserts.Violation{Code: c, Plain: true}).Error()
		if torchWords.MatchString(text) && c != asserts.AutogradKernel || c.BreaksPlain() == "" {
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
			"a tensor of this dtype has a version that is seldom compared", "can't require grad, so autograd never compares its version"},
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

// A library without versions is not judged by them, and no skip has the reason.
func TestPlainVersions(t *testing.T) {
	for _, plain := range []bool{false, true} {
		self := see(1, 2, holding("a"), traits(asserts.NoVersion))
		op := wholeOp("f_(Tensor(a!) self) -> Tensor(a!)")
		seen := &asserts.Seen{Level: asserts.Content, Plain: plain, Before: list{self}, After: list{self}, Results: list{self}}
		verdict := asserts.Judge(op, seen, asserts.Aware())
		of := func(s asserts.Skip) bool { return s.Code == asserts.VersionBump }
		if n := slices.ContainsFunc(append(verdict.Skips, verdict.Unheld(op, seen)...), of); n == plain {
			t.Errorf("plain %v, skipped %v", plain, n)
		}
	}
}

// An op that returns what it writes has no other way, by its name or its argument.
func TestFixOfReturnedSelf(t *testing.T) {
	for schema, other := range map[string]bool{
		"f_(Tensor(a!) self) -> Tensor(a!)":                 false,
		"f_.x(Tensor(a!) self) -> Tensor(a!)":               false,
		"f.out(Tensor x, *, Tensor(a!) self) -> Tensor(a!)": false,
		"f(Tensor(a!) self) -> Tensor(a!)":                  true,
		"f.y_(Tensor(a!) self, Tensor x) -> Tensor(a!)":     true,
	} {
		op := wholeOp(schema)
		seen := healthyCall(op)
		seen.Results[0].Impl = 99
		found := asserts.Judge(op, seen, asserts.Aware()).Violations
		if len(found) != 1 || !strings.HasPrefix(found[0].Fix, "return self itself") || strings.Contains(found[0].Fix, "drop the alias set") != other {
			t.Errorf("%s: %v", schema, found)
		}
	}
}
