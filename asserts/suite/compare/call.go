package compare

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/slicesx"
)

// A call is one of the two calls that are compared. The first has the verdict.
type call struct {
	op                 *asserts.Op
	seen               *asserts.Seen
	policy             *asserts.Policy
	fake               bool   // it is the call of a fake
	on                 string // the device of the second call
	arguments, returns []*side
	verdict            asserts.Verdict
}

// A side is a tensor as one of the calls had it and left it; a return has only what is after.
type side struct {
	*asserts.Subject
	of            int // position in Op.Args or Op.Results
	at            asserts.Place
	before, after asserts.Observation
}

func newCall(op *asserts.Op, seen *asserts.Seen, policy *asserts.Policy) *call {
	c := &call{op: op, seen: seen, policy: policy}
	before, after, results := seen.Split(op)
	for i := range op.Args {
		for e := range max(len(before[i]), len(after[i])) {
			s := newSide(&op.Args[i], i, e, false, seen.ArgNames)
			s.see(slicesx.Nth(before[i], e), slicesx.Nth(after[i], e))
			c.arguments = append(c.arguments, s)
		}
	}
	for i := range op.Results {
		for e, o := range results[i] {
			s := newSide(&op.Results[i], i, e, true, seen.ResultNames)
			s.see(asserts.Observation{}, o)
			c.returns = append(c.returns, s)
		}
	}
	return c
}

func newSide(subject *asserts.Subject, of, element int, returned bool, names [][]string) *side {
	called := slicesx.Nth(slicesx.Nth(names, of), element)
	if !subject.List {
		element = asserts.NoElement
	}
	return &side{Subject: subject, of: of, at: subject.Place(returned, element, called)}
}

// see sets the observations, unless observing the tensor panicked after the call.
func (s *side) see(before, after asserts.Observation) {
	if after.Content == nil || after.Content.Panic == "" {
		s.before, s.after = before, after
	}
}

func (c *call) returned(result int) []*side {
	return slices.DeleteFunc(slices.Clone(c.returns), func(s *side) bool { return s.of != result })
}

func (c *call) planned(result int) bool {
	return slices.ContainsFunc(c.op.Plan(), func(line asserts.Check) bool {
		return line.Code == asserts.MetaAlias && line.On == asserts.ResultRef(result)
	})
}

func (c *call) skip(reason string) {
	i := slices.IndexFunc(c.verdict.Skips, func(s asserts.Skip) bool { return s.Reason == reason })
	if i < 0 {
		i = len(c.verdict.Skips)
		c.verdict.Skips = append(c.verdict.Skips, asserts.Skip{Code: asserts.MetaAlias, Reason: reason})
	}
	c.verdict.Skips[i].Count++
}

func (c *call) passesOver(tensors ...*asserts.Observation) bool {
	reason, skip := c.policy.Skips(asserts.MetaAlias, c.seen.Modes, tensors...)
	if skip {
		c.skip(reason)
	}
	return skip
}

// judged reports whether tensors are compared, and counts them as judged or skipped.
func (c *call) judged(tensors ...*asserts.Observation) bool {
	if c.passesOver(tensors...) {
		return false
	}
	c.verdict.Judged[asserts.MetaAlias]++
	return true
}

func (c *call) report(at asserts.Place) *asserts.Violation {
	v := &asserts.Violation{Code: asserts.MetaAlias, Op: c.op.Name, Schema: c.op.Schema, Subject: at, Plain: c.seen.Plain}
	c.verdict.Violations = append(c.verdict.Violations, v)
	return v
}

func (c *call) reportSide(s *side) *asserts.Violation {
	v := c.report(s.at)
	v.Before, v.After = s.before, s.after
	content := s.before.Content
	if s.at.Return {
		content = s.after.Content
	}
	if content != nil {
		v.Device, v.DType = content.Device, content.DType
	}
	return v
}

// reportCall adds a violation that concerns no particular return.
func (c *call) reportCall(saw, fix string) *asserts.Violation {
	at := asserts.Place{Element: asserts.NoElement}
	switch {
	case len(c.op.Results) > 0:
		at = c.op.Results[0].Place(true, asserts.NoElement, "")
	case len(c.op.Args) > 0:
		at = c.op.Args[0].Place(false, asserts.NoElement, "")
	}
	v := c.report(at)
	v.Saw, v.Fix = saw, fix
	return v
}

func (c *call) conclude() asserts.Verdict {
	c.verdict.Conclude(c.op)
	return c.verdict
}

// holds reports whether an argument is, or was, an object, or is on a storage.
func (s *side) holds(id asserts.ID, of func(asserts.Observation) asserts.ID) bool {
	return id != 0 && (of(s.before) == id || of(s.after) == id)
}

func implOf(o asserts.Observation) asserts.ID    { return o.Impl }
func storageOf(o asserts.Observation) asserts.ID { return o.Storage }

const withNothing = "shares with nothing"

// shares describes which earlier tensor of the call a return is or shares storage with.
func (c *call) shares(s *side) string {
	earlier := func(out *side) bool {
		return s.at.Return && cmp.Or(cmp.Compare(out.at.Index, s.at.Index), cmp.Compare(out.at.Element, s.at.Element)) < 0
	}
	for _, with := range []struct {
		words string
		of    func(asserts.Observation) asserts.ID
	}{{"is ", implOf}, {"shares storage with ", storageOf}} {
		id := with.of(s.after)
		if i := slices.IndexFunc(c.arguments, func(in *side) bool { return in.holds(id, with.of) }); i >= 0 {
			return with.words + c.arguments[i].at.String()
		}
		if i := slices.IndexFunc(c.returns, func(out *side) bool { return out.holds(id, with.of) && earlier(out) }); i >= 0 {
			return with.words + c.returns[i].at.String()
		}
	}
	return withNothing
}

// beside describes a return of the two calls, or what they left of an argument.
func (c *call) beside(did string, first, second any) string {
	if c.fake {
		return fmt.Sprintf("the kernel %s %v, its fake %v", did, first, second)
	}
	return fmt.Sprintf("%v, on %s %v", first, c.on, second)
}

func (c *call) kernel() string {
	if c.fake {
		return "the fake"
	}
	return "the " + c.on + " kernel"
}

func (c *call) breaks(at asserts.Place) asserts.Code {
	seen := *c.seen
	seen.Level = asserts.Identity
	for _, v := range asserts.Judge(c.op, &seen, c.policy).Violations {
		if v.Subject.Return && v.Subject.Index == at.Index && v.Subject.Element == at.Element {
			return v.Code
		}
	}
	return 0
}
