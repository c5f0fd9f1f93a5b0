package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts"
)

// A Fake is a call of a function registered with torch.library.register_fake, which compilers call
// instead of an op's kernel, on tensors without contents.
type Fake struct {
	Seen    asserts.Seen // at the content level, without bytes; no results if it failed
	Open    []Open       // sizes, strides and offsets of results that depend on contents
	Missing bool         // the op has no fake
	Beside  *Fake        // the same call of the op's kernel for the CPU, if the call was on another device
	Guards  []Guard
	Fault   string       // how it violates the schema: "raises TypeError: ..."
	Refuses bool         // the fault is an error that the fake raises itself
	Symbols bool         // it raises only if sizes are symbols
	Site    asserts.Site // of the function
	// Elsewhere are the other devices of its returns when its arguments are on a GPU.
	Elsewhere []string
}

// A Guard is a condition on symbolic sizes that a fake sets, although it returns the same without it.
type Guard struct {
	Arg   int    `json:"argument"` // position in the schema
	Text  string // "x.shape[0] == 4"
	At    string // the line that sets it
	Other string // "x [5]": sizes that do not meet it, for which the fake returns the same
}

// An Open is a size, a stride or an offset that a fake leaves open.
type Open struct {
	Result, Dim int   // the position in asserts.Seen.Results, and the dimension
	Least, Most int64 // of a size
	Stride      bool
	Offset      bool // an offset in the storage; Dim is unused
}

// Fakes compares the call of an op's fake with that of its kernel: which tensors share storage, and the sizes,
// strides, dtype and device of the returns, and of the arguments that the op writes. A missing fake is a note. If the
// kernel shares storage against the schema, which Judge reports, the two are not compared.
func Fakes(op *asserts.Op, real *asserts.Seen, fake *Fake, policy *asserts.Policy) asserts.Verdict {
	r, f := newCall(op, real, policy), newCall(op, fake.Settled(real), policy)
	f.fake = true
	switch {
	case fake.Missing:
		v := r.reportCall("it has a kernel and no fake", fmt.Sprintf("register one, torch.library.register_fake(\"%s\"), "+
			"which makes tensors of the kernel's sizes, strides and dtypes", op.Name))
		v.Symptom = asserts.NoFake
	case fake.Fault != "":
		v := r.reportCall("the kernel returns, and its fake "+fake.Fault, "")
		switch {
		case fake.Symbols:
			v.Symptom = asserts.SymbolicSizes
		case strings.Contains(fake.Fault, "raises "):
			v.Symptom = asserts.FakeRaises
		default:
			v.Fix = "make the fake return, and change, what the schema says"
		}
		if fake.Refuses {
			v.Fix = "make the kernel refuse the arguments too, or remove the check from the fake"
		}
	default:
		r.compareReturns(f)
		r.compareWritten(f)
		v := r.compareNumbers(f, func(a, b float64) bool { return near(a, b, 0) },
			"compute the number in the fake as the kernel does; or, if it depends on contents, leave it open: "+
				"torch.library.get_ctx().new_dynamic_size()")
		if v != nil {
			v.Breaks = "compiled code has the fake's number as a constant"
		}
		for _, g := range fake.Guards {
			r.reportGuard(g)
		}
		if len(fake.Elsewhere) > 0 {
			v := r.reportCall("for tensors on a GPU its fake returns some on "+strings.Join(fake.Elsewhere, ", "), "")
			v.Symptom = "gpu-fake"
		}
	}
	verdict := r.conclude()
	for _, v := range verdict.Violations {
		v.Site = fake.Site
	}
	return verdict
}

// consequences are the effects in compilers of a difference between fake and kernel.
var consequences = map[string]string{
	"sharing": "compiled programs drop a write that the other tensor should see, or move it",
	"dtype":   "compiled code reads the bytes of one dtype as the other",
	"device":  "compiled programs copy to, and launch kernels on, another device than the tensor's",
	"sizes":   "inductor's code asserts the fake's sizes, or else computes with wrong elements, or beyond the last",
	"strides": "inductor's code asserts the fake's strides, or else computes with wrong elements",
}

// compareWritten compares the sizes, strides and dtypes of the written arguments after the two calls. If the kernel
// changes metadata that it must keep and the fake does not, the kernel is at fault: OA013.
func (c *call) compareWritten(m *call) {
	for _, a := range c.arguments {
		k := slices.IndexFunc(m.arguments, func(b *side) bool { return b.of == a.of && b.at.Element == a.at.Element })
		if !a.Write || a.Inside || k < 0 || a.before.Impl != a.after.Impl || !a.after.Defined() {
			continue
		}
		b := m.arguments[k]
		kept := asserts.Check{Code: asserts.InplaceMetadata, On: asserts.ArgRef(a.of)}
		keeps := !a.Output() && slices.Contains(c.op.Calls(), kept)
		if keeps && a.reshaped() && !b.reshaped() {
			c.skip("the kernel contradicts the schema, the fake does not")
			continue
		}
		if !c.judged(&a.after, &b.after) {
			continue
		}
		if saw := c.differences(m, a, b); len(saw) > 0 {
			v := c.reportSide(a)
			v.Other = b.after
			v.Saw = texts(saw)
			v.Breaks = "compiled code uses the fake's sizes and strides for a tensor with others"
			v.Fix = "change the argument in the fake as the kernel does, such as with resize_; or do not change it in the kernel"
			if keeps && !a.reshaped() {
				v.Fix = "do not change the argument's sizes and strides in the fake: the kernel keeps them, as an in-place op must"
			}
		}
	}
}

// compareNumbers compares the numbers that the two calls return, and reports the first pair that is not alike.
func (c *call) compareNumbers(m *call, alike func(a, b float64) bool, fix string) *asserts.Violation {
	kernel, other := c.seen.Numbers, m.seen.Numbers
	for i := range min(len(kernel), len(other)) {
		if a, b := kernel[i], other[i]; a != "" && b != "" && !likeText(a, b, alike) {
			v := c.reportCall(m.beside("returned", "number "+a, b), fix)
			v.Symptom = asserts.OtherContents
			return v
		}
	}
	return nil
}

func (s *side) reshaped() bool {
	b, a := s.before.Content, s.after.Content
	return b != nil && a != nil && !sameShape(b, a)
}

// reportGuard adds a violation about the argument whose size the guard is on.
func (c *call) reportGuard(g Guard) {
	for i := range c.op.Args {
		if on := &c.op.Args[i]; on.Index == g.Arg {
			v := c.report(on.Place(false, asserts.NoElement, ""))
			v.Symptom, v.Sizes = asserts.SizeGuard, g.Other
			v.Saw = fmt.Sprintf("its fake sets the guard %s (%s), and returns the same for other sizes, such as %s",
				g.Text, g.At, g.Other)
		}
	}
}

// Settled returns the call with those of the real call for unknown values, or the closest that the fake allows.
func (f *Fake) Settled(real *asserts.Seen) *asserts.Seen {
	seen := f.Seen
	seen.Results = slices.Clone(seen.Results)
	for i, o := range seen.Results {
		if o.Content != nil {
			content := *o.Content
			content.Sizes, content.Strides = slices.Clone(content.Sizes), slices.Clone(content.Strides)
			seen.Results[i].Content = &content
		}
	}
	for _, open := range f.Open {
		if open.Result >= len(real.Results) || real.Results[open.Result].Content == nil {
			continue
		}
		switch from, to := real.Results[open.Result].Content, seen.Results[open.Result].Content; {
		case open.Offset:
			to.Offset = from.Offset
		case open.Dim >= min(len(from.Sizes), len(from.Strides)):
		case open.Stride:
			to.Strides[open.Dim] = from.Strides[open.Dim]
		default:
			to.Sizes[open.Dim] = max(open.Least, min(from.Sizes[open.Dim], open.Most))
		}
	}
	return &seen
}
