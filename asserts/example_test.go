package asserts_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/opassert/opassert/asserts"
)

// The judge accepts observations as plain values.
func ExampleJudge() {
	op := &asserts.Op{
		Name:    "aten::narrow_copy",
		Schema:  "narrow_copy(Tensor self, int dim, SymInt start, SymInt length) -> Tensor",
		Args:    []asserts.Subject{{Index: 0, Name: "self", Type: "Tensor"}},
		Results: []asserts.Subject{{Index: 0, Name: "result", Type: "Tensor"}},
	}
	self := asserts.Observation{Impl: 1, Storage: 2, ImplUses: 1, StorageUses: 2}
	verdict := asserts.Judge(op, &asserts.Seen{
		Level:   asserts.Identity,
		Before:  []asserts.Observation{self},
		After:   []asserts.Observation{self},
		Results: []asserts.Observation{{Impl: 3, Storage: 2, ImplUses: 1, StorageUses: 2}},
	}, asserts.Aware())
	for _, v := range verdict.Violations {
		v.WriteReport(os.Stdout)
	}
	// Output:
	// OA007 undeclared-alias  aten::narrow_copy  return 0 "result"
	//   schema  narrow_copy(Tensor self, int dim, SymInt start, SymInt length) -> Tensor
	//   rule    a return shares nothing with an argument unless the schema declares a common alias set for them
	//   saw     result shares StorageImpl with argument self
	//   breaks  an in-place write to one silently changes the other; compilers assume that they are independent
	//   fix     clone before returning; or annotate: Tensor self  ->  Tensor(a) self, return Tensor  ->  Tensor(a)
	//   waive   {op: narrow_copy, checks: [OA007], reason: ...}
}

// By default a violation is a panic, with an error.
func ExampleViolation() {
	defer func() {
		var v *asserts.Violation
		if err, ok := recover().(error); ok && errors.As(err, &v) {
			fmt.Println(v.Title())
			fmt.Println(v.Fix)
		}
	}()
	binary(newAdd(), aliasing, newTensor(4), newTensor(4))
	// Output:
	// OA007 undeclared-alias  asserts_test.binary  return 0 "result"
	// clone before returning; or annotate: Tensor other  ->  Tensor(a) other, return Tensor  ->  Tensor(a)
}

// A collector stores violations and lets the program continue.
func ExampleCollector() {
	var found asserts.Collector
	ctx := asserts.WithReporter(context.Background(), &found)
	for range 3 {
		binaryContext(ctx, newAdd(), aliasing, newTensor(4), newTensor(4))
	}
	for _, f := range found.Found() {
		fmt.Println(f.Count, f.Title())
	}
	// Output:
	// 3 OA007 undeclared-alias  asserts_test.binaryContext  return 0 "result"
}

// A mode that keeps results declares it, and the two checks for fresh ones are skipped while it is
// active.
func ExampleWithMode() {
	logging := asserts.Mode{
		Name:        "logging",
		Invalidates: asserts.CodesOf(asserts.FreshImpl, asserts.FreshStorage),
	}
	ctx := asserts.WithMode(context.Background(), logging)
	binaryContext(ctx, newAdd(), func(self, other *tensor) *tensor {
		result := newTensor(4)
		result.impl.uses++ // the log holds a reference, too
		return result
	}, newTensor(4), newTensor(4))
	fmt.Println("nothing found")
	// Output: nothing found
}

// A policy is data: this one skips more for meta tensors.
func ExamplePolicy() {
	policy := asserts.Aware().With(asserts.Row{
		Trait:  asserts.MetaTensor,
		Skip:   asserts.CodesOf(asserts.FreshStorage),
		Reason: "storages on meta are pooled",
	})
	for _, line := range policy.Table()[:2] {
		fmt.Printf("%s: %t\n", line.For, line.Skips.Has(asserts.FreshStorage))
	}
	// Output:
	// plain tensor: false
	// meta tensor: true
}
