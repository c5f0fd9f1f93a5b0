package asserts

import (
	"fmt"
	"slices"
	"strings"
)

// A Fake is a call of a function that torch.library.register_fake registers: the one that
// compilers call instead of an op's kernel, on tensors without contents.
type Fake struct {
	Seen    Seen   // at the content level, without bytes; no results where it failed
	Open    []Open // sizes, strides and offsets of results that depend on contents
	Missing bool   // the op has none
	Beside  *Fake  // the same call of the op's kernel for the CPU, where the call was on another device
	Guards  []Guard
	Fault   string // how it fails the schema: "raises TypeError: ..."
	Refuses bool   // the fault is an error that a check of its own raises
	Symbols bool   // it raises only where sizes are symbols
	Site    Site   // of the function
	// Elsewhere are the other devices of its returns for tensors on a GPU.
	Elsewhere []string
}

// A Guard is a condition on sizes that a fake sets where these are symbols, and with
// other sizes returns the same.
type Guard struct {
	Arg   int    // in the schema
	Text  string // "x.shape[0] == 4"
	At    string // the line that asks for it
	Other string // "x [5]": sizes for which it returns the same
}

// An Open is a size, a stride or an offset that a fake leaves open.
type Open struct {
	Result, Dim int   // the position in Seen.Results, and the dimension
	Least, Most int64 // of a size
	Stride      bool
	Offset      bool // it is that in the storage, of no dimension
}

// JudgeFake compares the call of an op's fake with that of its kernel: which tensors
// share storage, and the sizes, strides, dtype and device of the returns, and of the
// arguments that the op writes. An op without
// a fake is a note. Where the kernel shares storage against the schema, which Judge
// reports, the two are not compared.
func JudgeFake(op *Op, real *Seen, fake *Fake, policy *Policy) Verdict {
	r, f := newJudge(op, real, policy), newJudge(op, fake.Settled(real), policy)
	f.fake = true
	switch {
	case fake.Missing:
		v := r.reportCall("it has a kernel, and no fake", `register one, torch.library.register_fake("`+op.Name+`"), which makes tensors of the kernel's sizes, strides and dtypes`)
		v.Note = "programs that are not compiled do without: torch.compile and torch.export end at the op"
	case fake.Fault != "":
		v := r.reportCall("the kernel returns, and its fake "+fake.Fault, "make the fake take what the kernel takes, and return what the schema says")
		v.Breaks = stopsCompilers
		if fake.Refuses {
			v.Fix = "let the kernel refuse the arguments too, where the op is not for them; else take the check out of the fake"
		}
		if fake.Symbols {
			v.Symptom = SymbolicSizes
		}
	default:
		compareMeta(r, f)
		r.compareWritten(f)
		v := r.compareNumbers(f, func(a, b float64) bool { return near(a, b, 0) }, "let the fake compute the number as the kernel does; or, where it depends on contents, leave it open: torch.library.get_ctx().new_dynamic_size()")
		if v != nil {
			v.Symptom, v.Breaks = OtherContents, "compiled code goes on with the number of the fake, as a constant"
		}
		for _, g := range fake.Guards {
			r.reportGuard(g)
		}
		if len(fake.Elsewhere) > 0 {
			v := r.reportCall("for tensors on a GPU its fake returns some on "+strings.Join(fake.Elsewhere, ", "), "make tensors on the device of the arguments: x.new_empty(sizes), or torch.empty(sizes, device=x.device)")
			v.Breaks, v.Note = consequences["device"], "a kernel for GPUs may be meant to return tensors there"
		}
	}
	verdict := r.conclude()
	for _, v := range verdict.Violations {
		v.Site = fake.Site
	}
	return verdict
}

// consequences are the effects in compilers of a fake that differs from the kernel, by what differs.
var consequences = map[string]string{
	"sharing": "compiled programs drop a write that the one should see, or move it to where the other does not",
	"dtype":   "compiled code reads the bytes of one dtype as those of the other",
	"device":  "compiled programs copy to, and launch on, another device than the tensor's",
	"sizes":   "the code of inductor asserts the fake's sizes, and where it does not it computes on other elements, or beyond the last",
	"strides": "the code of inductor asserts the fake's strides, and where it does not it computes on other elements",
}

const stopsCompilers = "torch.compile stops at the op, or leaves the graph for it, and torch.export fails"

// compareWritten compares the sizes, strides and dtypes that the two calls leave the
// arguments with that the op writes. Where the kernel changes those of an argument that
// is to keep them, and the fake does not, it is the kernel's fault: OA013.
func (j *judge) compareWritten(m *judge) {
	for _, a := range j.inputs {
		k := slices.IndexFunc(m.inputs, func(b *input) bool { return b.arg == a.arg && b.element == a.element })
		if !a.Write || a.Inside || k < 0 || a.before.Impl != a.after.Impl || !a.after.Defined() {
			continue
		}
		b := m.inputs[k]
		keeps := !a.output() && !j.op.reshapes()
		if keeps && a.reshaped() && !b.reshaped() {
			j.skipped[Skip{Code: MetaAlias, Reason: "the kernel contradicts the schema, the fake does not"}]++
			continue
		}
		if !j.judged(MetaAlias, &a.after, &b.after) {
			continue
		}
		if saw := j.differences(m, &side{a.place(), a.after}, &side{b.place(), b.after}); len(saw) > 0 {
			v := j.reportInput(MetaAlias, a)
			v.Other = b.after
			v.Saw = "after the call it has " + texts(saw)
			v.Breaks = "compiled code goes on with the sizes and strides of the fake, of a tensor that has others by then"
			v.Fix = "let the fake change the argument as the kernel does, such as with resize_; or the kernel leave it as the fake does"
			if keeps && !a.reshaped() {
				v.Fix = "let the fake leave the argument as it is: the kernel keeps its sizes and strides, as an in-place op is to"
			}
		}
	}
}

// compareNumbers compares the numbers that the two calls return, which are to be alike, and
// reports the first that are not.
func (j *judge) compareNumbers(m *judge, alike func(a, b float64) bool, fix string) *Violation {
	kernel, other := j.seen.Numbers, m.seen.Numbers
	for i := range min(len(kernel), len(other)) {
		if a, b := kernel[i], other[i]; a != "" && b != "" && !likeText(a, b, alike) {
			return j.reportCall(fmt.Sprintf("number %s, %s %s", a, m.where(), b), fix)
		}
	}
	return nil
}

// reshaped reports whether the call changed how a tensor lies in its storage.
func (in *input) reshaped() bool {
	b, a := in.before.Content, in.after.Content
	return b != nil && a != nil && len(changedShape(b, a)) > 0
}

// reportCall adds a violation that concerns no particular return.
func (j *judge) reportCall(saw, fix string) *Violation {
	place := Place{Element: -1}
	switch {
	case len(j.plan.results) > 0:
		place = j.plan.results[0].place(true, -1, "")
	case len(j.plan.args) > 0:
		place = j.plan.args[0].place(false, -1, "")
	}
	v := j.report(MetaAlias, place)
	v.Saw, v.Fix = saw, fix
	return v
}

// reportGuard adds a violation about the argument whose size is asked for.
func (j *judge) reportGuard(g Guard) {
	for a := range j.plan.args {
		if plan := &j.plan.args[a]; plan.Index == g.Arg {
			v := j.report(MetaAlias, plan.place(false, NoElement, ""))
			v.Symptom, v.Sizes = SizeGuard, g.Other
			v.Breaks = "torch.compile compiles anew for each such size, and torch.export with a dynamic dimension fails"
			v.Saw = fmt.Sprintf("its fake sets the guard %s (%s), and returns the like for other sizes, such as %s", g.Text, g.At, g.Other)
			v.Fix = "compute with the size as it is, without int, if and range: torch.sym_max and the like; what must be so is for torch._check"
		}
	}
}

// Settled returns the call with unknown values as in the real call, or as close to
// them as the fake allows.
func (f *Fake) Settled(real *Seen) *Seen {
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
		from, to := real.Results[open.Result].Content, seen.Results[open.Result].Content
		switch {
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
