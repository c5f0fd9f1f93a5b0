package compare_test

import (
	"fmt"
	"slices"
	"sync"

	"github.com/opassert/opassert/allowlist"
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/gen/plan"
	"github.com/opassert/opassert/internal/usual"
	"github.com/opassert/opassert/schema"
)

var planner = sync.OnceValues(func() (*plan.Planner, error) { return plan.NewPlanner("full", nil, allowlist.Where{}) })

// tabled are the checks that these tests' tables cover.
const tabled = asserts.Codes(1<<12 - 2)

// opOf makes an op with every check of the tables that its schema calls for.
func opOf(text string) *asserts.Op {
	op := wholeOp(text)
	op.Checks = slices.DeleteFunc(op.Checks, func(c asserts.Check) bool { return !tabled.Has(c.Code) })
	return op
}

// wholeOp makes an op with every check that its schema calls for, and tags. Checks whose usual
// facts are Asked are new, and have tests of their own.
func wholeOp(text string, tags ...string) *asserts.Op {
	op, err := schema.ParseDispatcher("aten::" + text)
	if err != nil {
		panic(err)
	}
	p, err := planner()
	if err != nil {
		panic(err)
	}
	op.Tags = tags
	planned := p.Plan(op).Asserts(asserts.Meta)
	planned.Checks = slices.DeleteFunc(planned.Plan(), func(c asserts.Check) bool { return c.Code.Usual().Has(usual.Asked) })
	return &planned
}

// A mod changes an observation.
type mod func(*asserts.Observation)

// see is a tensor with these numbers as impl and storage, and one reference to each.
func see(impl, storage asserts.ID, mods ...mod) asserts.Observation {
	o := asserts.Observation{Impl: impl, Storage: storage, ImplUses: 1, StorageUses: 1}
	for _, m := range mods {
		m(&o)
	}
	return o
}

var undefined = asserts.Observation{}

func uses(impl, storage int32) mod {
	return func(o *asserts.Observation) { o.ImplUses, o.StorageUses = impl, storage }
}

func traits(t asserts.Traits) mod {
	return func(o *asserts.Observation) { o.Traits = t }
}

// holding makes the tensor a vector of these bytes.
func holding(bytes string) mod {
	return func(o *asserts.Observation) {
		o.Content = &asserts.Snapshot{
			DType: "uint8", Device: "cpu", Sizes: []int64{int64(len(bytes))}, Strides: []int64{1},
			Nbytes: int64(len(bytes)), Digest: digest(bytes), Bytes: []byte(bytes),
		}
	}
}

func digest(bytes string) uint64 {
	d := uint64(14695981039346656037)
	for _, b := range []byte(bytes) {
		d = (d ^ uint64(b)) * 1099511628211
	}
	return d
}

// shaped changes the metadata set by holding.
func shaped(change func(*asserts.Snapshot)) mod {
	return func(o *asserts.Observation) { change(o.Content) }
}

type list = []asserts.Observation

// said returns a violation in a line: code, subject, the place it is compared with, and the
// evidence.
func said(v *asserts.Violation) string {
	line := fmt.Sprintf("%v %v", v.Code, v.Subject)
	if v.Against.Name != "" {
		line += " / " + v.Against.String()
	}
	if v.Symptom != "" {
		line += " (" + string(v.Symptom) + ")"
	}
	return line + ": " + v.Saw
}
