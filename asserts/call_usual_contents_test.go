package asserts_test

import (
	"slices"
	"testing"

	"github.com/opassert/opassert/asserts"
)

// An edit changes a healthy call so that the judge may report something.
type edit struct {
	name string
	edit func(*asserts.Seen)
}

// at edits the observations of argument i before and after the call.
func at(i int, before, after func(*asserts.Observation)) func(*asserts.Seen) {
	return func(s *asserts.Seen) {
		if i < len(s.Before) {
			before(&s.Before[i])
			after(&s.After[i])
		}
	}
}

func nothing(*asserts.Observation) {}

// contents edits a copy of a snapshot.
func contents(change func(*asserts.Snapshot)) func(*asserts.Observation) {
	return func(o *asserts.Observation) {
		if o.Content != nil {
			c := *o.Content
			change(&c)
			o.Content = &c
		}
	}
}

func returned(change func(*asserts.Observation)) func(*asserts.Seen) {
	return func(s *asserts.Seen) {
		for i := range s.Results[:min(1, len(s.Results))] {
			change(&s.Results[i])
		}
	}
}

func write(c *asserts.Snapshot) { c.Bytes, c.Digest = []byte("wxyz"), digest("wxyz") }

func raise(o *asserts.Observation) { o.Version++ }

func trait(t asserts.Traits) func(*asserts.Observation) {
	return func(o *asserts.Observation) { o.Traits |= t }
}

func uncount(o *asserts.Observation) {
	o.ImplUses, o.StorageUses = asserts.NotCounted, asserts.NotCounted
}

// edits has one for each property that the content level examines.
func edits() []edit {
	all := []edit{
		{"alone", func(s *asserts.Seen) { s.Alone = true }},
		{"alone again", func(s *asserts.Seen) { s.Alone = true }},
		{"other on the storage of self", func(s *asserts.Seen) {
			if len(s.Before) > 1 && s.Before[1].Defined() {
				s.Before[1].Storage, s.After[1].Storage = s.Before[0].Storage, s.Before[0].Storage
			}
		}},
		{"other in the memory of self", at(1, contents(func(c *asserts.Snapshot) { c.Memory = 1001 }), contents(func(c *asserts.Snapshot) { c.Memory = 1001 }))},
		{"self moved by a byte", at(0, nothing, contents(func(c *asserts.Snapshot) { c.Memory++ }))},
		{"result undefined", returned(func(o *asserts.Observation) { *o = asserts.Observation{} })},
		{"result on the storage of self", func(s *asserts.Seen) { returned(func(o *asserts.Observation) { o.Storage = s.Before[0].Storage })(s) }},
		{"result not seen", returned(func(o *asserts.Observation) { o.Content = nil })},
		{"result graded", returned(contents(func(c *asserts.Snapshot) { c.RequiresGrad = true }))},
		{"result somebody's", returned(contents(func(c *asserts.Snapshot) { c.Owner = asserts.ForeignOwner }))},
		{"result nobody's", returned(contents(func(c *asserts.Snapshot) { c.Owner = asserts.NoOwner }))},
		{"result broken", returned(func(o *asserts.Observation) {
			*o = asserts.Observation{Impl: 77, Storage: 78, Content: &asserts.Snapshot{Panic: "gone"}}
		})},
		{"result with parts", returned(contents(func(c *asserts.Snapshot) {
			c.Parts = []asserts.Part{{Name: "values", Observation: see(1, 101, holding("ab"))}}
		}))},
		{"result uncounted", returned(uncount)},
		{"result without the uses of its storage", returned(uses(1, asserts.NotCounted))},
		{"result without those of its impl", returned(uses(asserts.NotCounted, 1))},
		{"result beyond", returned(contents(func(c *asserts.Snapshot) { c.Offset = 1 }))},
		{"result before", returned(contents(func(c *asserts.Snapshot) { c.Offset = -1 }))},
		{"result of an unknown size", returned(contents(func(c *asserts.Snapshot) { c.DType = "qint" }))},
		{"result in the memory of self", returned(contents(func(c *asserts.Snapshot) { c.Memory = 1003 }))},
		{"result behind self", returned(contents(func(c *asserts.Snapshot) { c.Memory = 1004 }))},
		{"counters", func(s *asserts.Seen) {
			counter := contents(func(c *asserts.Snapshot) { c.Counter = 5 })
			at(0, counter, counter)(s)
			returned(counter)(s)
		}},
	}
	for i, name := range []string{"self", "other"} {
		after := func(what string, change func(*asserts.Observation)) {
			all = append(all, edit{name + " " + what, at(i, nothing, change)})
		}
		both := func(what string, change func(*asserts.Observation)) {
			all = append(all, edit{name + " " + what + " before and after", at(i, change, change)})
		}
		after("raised", raise)
		after("written", contents(write))
		after("written and raised", func(o *asserts.Observation) { contents(write)(o); raise(o) })
		both("in a dimension of one too", contents(func(c *asserts.Snapshot) { c.Sizes, c.Strides = []int64{4, 1}, []int64{1, 7} }))
		both("of less than none", contents(func(c *asserts.Snapshot) { c.Sizes, c.Strides = []int64{-2, -2}, []int64{-2, 1} }))
		both("transposed", contents(func(c *asserts.Snapshot) { c.Sizes, c.Strides = []int64{2, 2}, []int64{1, 2} }))
		both("each element twice", contents(func(c *asserts.Snapshot) { c.Sizes, c.Strides = []int64{2, 2}, []int64{0, 1} }))
		both("strided", contents(func(c *asserts.Snapshot) { c.Layout = "Strided" }))
		both("beyond", contents(func(c *asserts.Snapshot) { c.Offset = 1 }))
		both("nothing of an unknown size", contents(func(c *asserts.Snapshot) { c.DType, c.Nbytes, c.Bytes, c.Sizes = "qint", 0, nil, []int64{0} }))
		after("of one digest", contents(func(c *asserts.Snapshot) { c.Bytes = []byte("wxyz") }))
		after("of other sizes", contents(func(c *asserts.Snapshot) { c.Sizes = []int64{2, 2} }))
		after("of other strides", contents(func(c *asserts.Snapshot) { c.Strides = []int64{2} }))
		after("of another offset", contents(func(c *asserts.Snapshot) { c.Offset = 1 }))
		after("of another dtype", contents(func(c *asserts.Snapshot) { c.DType = "int8" }))
		after("of another layout", contents(func(c *asserts.Snapshot) { c.Layout = "strided" }))
		after("of another size", contents(func(c *asserts.Snapshot) { c.Nbytes = 5 }))
		after("conjugated", contents(func(c *asserts.Snapshot) { c.Conj = true }))
		after("negated", contents(func(c *asserts.Snapshot) { c.Neg = true }))
		after("graded", contents(func(c *asserts.Snapshot) { c.RequiresGrad = true }))
		after("with another grad", contents(func(c *asserts.Snapshot) { c.Grad = 9 }))
		after("with names", contents(func(c *asserts.Snapshot) { c.Names = "N" }))
		after("quantized", contents(func(c *asserts.Snapshot) { c.Quantizer = "q" }))
		after("broken", func(o *asserts.Observation) {
			*o = asserts.Observation{Impl: o.Impl, Storage: o.Storage, Content: &asserts.Snapshot{Panic: "gone"}}
		})
		after("not seen", func(o *asserts.Observation) { o.Content = nil })
		after("kept", func(o *asserts.Observation) { o.ImplUses++ })
		after("with its storage kept", func(o *asserts.Observation) { o.StorageUses++ })
		after("uncounted", uncount)
		after("without version", trait(asserts.NoVersion))
		both("not seen", func(o *asserts.Observation) { o.Content = nil })
		both("undefined", func(o *asserts.Observation) { *o = asserts.Observation{} })
		both("uncounted", uncount)
		both("graded", contents(func(c *asserts.Snapshot) { c.RequiresGrad = true }))
		both("without version", trait(asserts.NoVersion))
		both("without version, reporting views", trait(asserts.NoVersion|asserts.ReportsViews))
		both("unread", trait(asserts.Unread))
		both("every other", contents(func(c *asserts.Snapshot) { c.Sizes, c.Strides = []int64{2}, []int64{2} }))
		both("behind the first", contents(func(c *asserts.Snapshot) { c.Sizes, c.Offset = []int64{3}, 1 }))
		both("half", contents(func(c *asserts.Snapshot) { c.Sizes = []int64{2} }))
		both("sparse", contents(func(c *asserts.Snapshot) { c.Layout = "sparse_coo" }))
		both("without strides", contents(func(c *asserts.Snapshot) { c.Strides = nil }))
		both("of an unknown size", contents(func(c *asserts.Snapshot) { c.DType = "qint" }))
		both("not copied", contents(func(c *asserts.Snapshot) { c.Bytes = nil }))
		both("with parts", contents(func(c *asserts.Snapshot) {
			c.Parts = []asserts.Part{{Name: "values", Observation: see(1, 101, holding("ab"))}}
		}))
	}
	return all
}

// healthyCall makes a call of the op that obeys its schema.
func healthyCall(op *asserts.Op) *asserts.Seen {
	seen := &asserts.Seen{Level: asserts.Content}
	tensor := func(n int) asserts.Observation {
		o := see(asserts.ID(n), asserts.ID(100+n), holding("abcd"))
		o.Content.Memory = uintptr(1000 * n)
		return o
	}
	for i := range op.Args {
		seen.Before = append(seen.Before, tensor(i+1))
		seen.ArgLens = append(seen.ArgLens, 1)
	}
	seen.After = slices.Clone(seen.Before)
	for i, r := range op.Results {
		o := tensor(11 + i)
		switch {
		case r.Write:
			o = seen.After[0]
		case len(r.Before) > 0:
			o.Storage, o.Content.Memory, o.StorageUses = seen.After[0].Storage, seen.After[0].Content.Memory, 2
		}
		seen.Results = append(seen.Results, o)
		seen.ResultLens = append(seen.ResultLens, 1)
	}
	return seen
}

// LooksUsual holds for no call that the judge has something to report on, whatever two things are
// unusual about it, and for those with a usual edit.
func TestUsualContents(t *testing.T) {
	all := edits()
	usual := []string{"self uncounted before and after", "self without version before and after", "self in a dimension of one too before and after", "self strided before and after"}
	for text, tt := range map[string]struct{ taken []string }{
		"f(Tensor self) -> Tensor":                         {append(usual, "alone", "result behind self", "result uncounted", "result without the uses of its storage", "result without those of its impl", "result undefined", "alone, result undefined")},
		"f(Tensor self, Tensor other) -> (Tensor, Tensor)": {append(usual, "alone", "result behind self", "result uncounted", "other undefined before and after")},
		"f_(Tensor(a!) self, Tensor other) -> Tensor(a!)":  {append(usual, "alone", "self written and raised")},
		"f(Tensor(a) self) -> Tensor(a)":                   {usual},
		"f(Tensor self) -> Tensor[]":                       {append(usual, "alone", "result uncounted")},
		"f(Tensor[] ts, Tensor(a!) out) -> ()":             {append(usual, "alone", "other written and raised")},
	} {
		op := wholeOp(text)
		if !asserts.LooksUsual(op, healthyCall(op), asserts.Aware()) {
			t.Errorf("%s: a healthy call is not usual: %v", text, asserts.Judge(op, healthyCall(op), asserts.Aware()))
		}
		taken := make(map[string]bool)
		for _, one := range all {
			for _, two := range all {
				seen := healthyCall(op)
				one.edit(seen)
				two.edit(seen)
				verdict := asserts.Judge(op, seen, asserts.Aware())
				usual, skips := asserts.UsualSkips(op, seen, asserts.Aware())
				if usual && (len(verdict.Violations) > 0 || !slices.Equal(verdict.Skips, skips)) {
					t.Errorf("%s, %s, %s: missed %v, and counts the skips %v as %v", text, one.name, two.name, verdict.Violations, verdict.Skips, skips)
				}
				if usual && one.name == two.name {
					taken[one.name] = true
				}
				if usual {
					taken[one.name+", "+two.name] = true
				}
			}
		}
		for _, name := range tt.taken {
			if !taken[name] {
				t.Errorf("%s: a call is not usual that differs only in: %s", text, name)
			}
		}
	}
}

// An op whose argument is written without a rising version counts a skip if the check is planned
// and not waived, and the policy skips it.
func TestUsualUnversioned(t *testing.T) {
	const text = "f_(Tensor(a!) self) -> Tensor(a!)"
	unplanned, waived := wholeOp(text), wholeOp(text)
	unplanned.Checks = slices.DeleteFunc(unplanned.Checks, func(c asserts.Check) bool { return c.Code == asserts.VersionBump })
	waived.Waived = []asserts.Code{asserts.VersionBump}
	for _, tt := range []struct {
		name   string
		op     *asserts.Op
		policy *asserts.Policy
		usual  bool
		skips  int
	}{
		{"planned", wholeOp(text), asserts.Aware(), true, 1},
		{"unplanned", unplanned, asserts.Aware(), true, 0},
		{"waived", waived, asserts.Aware(), true, 0},
		{"judged by the policy", wholeOp(text), &asserts.Policy{}, false, 0},
	} {
		seen := healthyCall(tt.op)
		for _, o := range []*asserts.Observation{&seen.Before[0], &seen.After[0], &seen.Results[0]} {
			o.Traits = asserts.NoVersion
		}
		at(0, nothing, contents(write))(seen)
		if usual, skips := asserts.UsualSkips(tt.op, seen, tt.policy); usual != tt.usual || len(skips) != tt.skips {
			t.Errorf("%s: usual: %v, skips %v", tt.name, usual, skips)
		}
	}
}

// For an argument too large to copy, the written bytes are unknown.
func TestUsualOfLarge(t *testing.T) {
	op := wholeOp("f_(Tensor(a!) self) -> Tensor(a!)")
	seen := healthyCall(op)
	n := int64(asserts.SnapshotLimit + 1)
	large := contents(func(c *asserts.Snapshot) { c.Bytes, c.Nbytes, c.Sizes = make([]byte, n), n, []int64{n} })
	at(0, large, large)(seen)
	if asserts.LooksUsual(op, seen, asserts.Aware()) {
		t.Error("taken for usual")
	}
}

// Where uses are not counted, what is skipped is what they decide: a view's StorageImpl may have other users.
func TestUncountedReturns(t *testing.T) {
	uncounted := uses(asserts.NotCounted, asserts.NotCounted)
	for schema, want := range map[string][]asserts.Code{
		"f(Tensor self) -> Tensor":       {asserts.FreshImpl, asserts.FreshStorage},
		"f(Tensor(a) self) -> Tensor(a)": {asserts.FreshImpl},
	} {
		result := see(5, 6, uncounted)
		if len(want) == 1 {
			result = see(5, 2, uncounted)
		}
		self := list{see(1, 2)}
		seen := &asserts.Seen{Level: asserts.Identity, Before: self, After: self, Results: list{result}}
		usual, skips := asserts.UsualSkips(opOf(schema), seen, asserts.Aware())
		var got []asserts.Code
		for _, s := range skips {
			got = append(got, s.Code)
		}
		if !usual || !slices.Equal(got, want) {
			t.Errorf("%s: usual %v, skips %v", schema, usual, skips)
		}
	}
}
