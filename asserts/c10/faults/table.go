package faults

import (
	"math"
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/c10"
)

// All gives every fault: those of the matrix first, then those known from the
// wild.
func All() []Fault {
	return slices.Concat(inArguments(), inOutArguments(), inVersions(), inReturns(), known())
}

var f32 = c10.Options{DType: c10.Float32}

func vector(values ...float64) *c10.Tensor {
	return c10.FromFloats(values, []int64{int64(len(values))}, f32)
}

func four() *c10.Tensor { return vector(1, -2, 3, -4) }

func one() []any { return []any{four()} }

func two() []any { return []any{four(), four()} }

func withList() []any { return []any{four(), []*c10.Tensor{four(), four(), four()}} }

func withHoles() []any { return []any{four(), []*c10.Tensor{nil, four(), four()}} }

// inArguments gives the faults in arguments that are only read: each act, in
// each class of op, on each kind of argument.
func inArguments() []Fault {
	acts := []struct {
		op   string
		code asserts.Code
		why  string
	}{
		{"rebinds", asserts.InputImpl, "makes the caller's handle refer to a copy"},
		{"swaps_storage", asserts.InputStorage, "puts the tensor onto a copy of its storage"},
		{"writes", asserts.UndeclaredWrite, "writes an element that the schema does not declare as written"},
	}
	classes := []struct {
		suffix string
		class  Class
	}{{"_view", View}, {"_", InPlace}, {"", OutOfPlace}}
	kinds := []struct {
		overload string
		kind     Kind
		element  int
		args     func() []any
	}{
		{"tensor", Tensor, -1, two},
		{"list", List, 1, withList},
		{"optional", Optional, -1, two},
		{"optional_list", OptionalList, 1, withHoles},
	}
	var faults []Fault
	for _, act := range acts {
		for _, c := range classes {
			for _, k := range kinds {
				faults = append(faults, Fault{
					Op:      "fault::" + act.op + c.suffix + "." + k.overload,
					Code:    act.code,
					Class:   c.class,
					Kind:    k.kind,
					Subject: "x",
					Element: k.element,
					Args:    k.args,
					Why:     act.why,
				})
			}
		}
	}
	return faults
}

func inOutArguments() []Fault {
	return []Fault{
		{Op: "fault::rebinds.out", Code: asserts.InputImpl, Class: InPlace, Kind: Out, Subject: "out", Element: -1, Against: "result", Args: two,
			Why: "makes the out handle refer to the result instead of writing it"},
		{Op: "fault::swaps_storage.out", Code: asserts.InputStorage, Class: InPlace, Kind: Out, Subject: "out", Element: -1, Args: two,
			Why: "gives the out tensor the storage of the result instead of writing it"},
		{Op: "fault::copies_result.out", Code: asserts.ReturnedSelf, Class: InPlace, Kind: Out, Subject: "result", Element: -1, Against: "out", Args: two,
			Why: "writes the out tensor and returns a copy of it"},
	}
}

func inVersions() []Fault {
	const why = "writes without a version bump"
	list := func() []any { return []any{[]*c10.Tensor{four(), four(), four()}} }
	holes := func() []any { return []any{four(), []*c10.Tensor{nil, four(), nil}} }
	return []Fault{
		{Op: "fault::forgets_version_.tensor", Code: asserts.VersionBump, Class: InPlace, Kind: Tensor, Subject: "self", Element: -1, Args: one, Why: why},
		{Op: "fault::forgets_version_.list", Code: asserts.VersionBump, Class: InPlace, Kind: List, Subject: "self", Element: 1, Args: list, Why: why + " of one element"},
		{Op: "fault::forgets_version.optional", Code: asserts.VersionBump, Class: InPlace, Kind: Optional, Subject: "running", Element: -1, Args: two, Why: why},
		{Op: "fault::forgets_version.optional_list", Code: asserts.VersionBump, Class: InPlace, Kind: OptionalList, Subject: "running", Element: 1, Args: holes, Why: why},
		{Op: "fault::skips_version.out", Code: asserts.VersionBump, Class: InPlace, Kind: Out, Subject: "out", Element: -1, Args: two, Why: why},
	}
}

// fault gives a fault in a return.
func fault(code asserts.Code, class Class, kind Kind, op, subject string, element int, against string, args func() []any, why string) Fault {
	return Fault{"fault::" + op, code, class, kind, subject, element, against, args, why}
}

func inReturns() []Fault {
	const (
		kept    = "a reference to the result is kept out of sight"
		held    = "a reference to the result's storage is kept out of sight"
		copied  = "a view that is a copy"
		shared  = "a result on the storage of an argument"
		same    = "two results that are one tensor"
		overlap = "two elements of a list on one storage"
	)
	related := func() []any { x := four(); return []any{x, x.Alias()} }
	return []Fault{
		fault(asserts.FreshImpl, View, Single, "keeps_view.single", "result", -1, "", one, kept),
		fault(asserts.FreshImpl, View, Tuple, "keeps_view.tuple", "result1", -1, "", one, kept),
		fault(asserts.FreshImpl, View, Returned, "keeps_view.list", "result", 2, "", one, kept),
		fault(asserts.FreshImpl, OutOfPlace, Single, "keeps.single", "result", -1, "", one, kept),
		fault(asserts.FreshImpl, OutOfPlace, Tuple, "keeps.tuple", "result1", -1, "", one, kept),
		fault(asserts.FreshImpl, OutOfPlace, Returned, "keeps.list", "result", 2, "", one, kept),
		fault(asserts.FreshImpl, InPlace, Single, "keeps_writing.single", "result", -1, "", one, kept),
		fault(asserts.FreshImpl, InPlace, Tuple, "keeps_writing.tuple", "result1", -1, "", one, kept),
		fault(asserts.FreshImpl, InPlace, Returned, "keeps_writing.list", "result", 2, "", one, kept),

		fault(asserts.ViewStorage, View, Single, "copies_view.single", "result", -1, "self", one, copied),
		fault(asserts.ViewStorage, View, Tuple, "copies_view.tuple", "result1", -1, "self", one, copied),
		fault(asserts.ViewStorage, View, Returned, "copies_view.list", "result", 2, "self", one, "a list of views, the third a copy"),
		fault(asserts.ViewStorage, InPlace, Single, "copies_view_writing.single", "result", -1, "self", two, copied),
		fault(asserts.ViewStorage, InPlace, Tuple, "copies_view_writing.tuple", "result1", -1, "self", two, copied),
		fault(asserts.ViewStorage, InPlace, Returned, "copies_view_writing.list", "result", 2, "self", two, "a list of views, the third a copy"),

		fault(asserts.FreshStorage, View, Tuple, "keeps_storage_view.tuple", "result1", -1, "", one, held),
		fault(asserts.FreshStorage, View, Returned, "keeps_storage_view.list", "result1", 2, "", one, held),
		fault(asserts.FreshStorage, OutOfPlace, Single, "keeps_storage.single", "result", -1, "", one, held),
		fault(asserts.FreshStorage, OutOfPlace, Tuple, "keeps_storage.tuple", "result1", -1, "", one, held),
		fault(asserts.FreshStorage, OutOfPlace, Returned, "keeps_storage.list", "result", 2, "", one, held),
		fault(asserts.FreshStorage, InPlace, Single, "keeps_storage_writing.single", "result", -1, "", one, held),
		fault(asserts.FreshStorage, InPlace, Tuple, "keeps_storage_writing.tuple", "result1", -1, "", one, held),
		fault(asserts.FreshStorage, InPlace, Returned, "keeps_storage_writing.list", "result", 2, "", one, held),

		fault(asserts.ReturnedSelf, InPlace, Single, "returns_copy_.single", "result", -1, "self", one, "writes self and returns a copy of it"),
		fault(asserts.ReturnedSelf, InPlace, Tuple, "copies_result.outs", "result1", -1, "high",
			func() []any { return []any{four(), vector(0), vector(0)} }, "writes two out tensors and returns a copy of the second"),

		fault(asserts.UndeclaredAlias, View, Single, "shares_view.single", "result", -1, "x", related, "returns another view of the base, which the caller has"),
		fault(asserts.UndeclaredAlias, View, Tuple, "shares_view.tuple", "result1", -1, "self", one, shared),
		fault(asserts.UndeclaredAlias, View, Returned, "shares_view.list", "result1", 2, "self", one, shared),
		fault(asserts.UndeclaredAlias, OutOfPlace, Single, "shares.single", "result", -1, "x", two, shared),
		fault(asserts.UndeclaredAlias, OutOfPlace, Tuple, "shares.tuple", "result1", -1, "self", one, "returns an argument as it is"),
		fault(asserts.UndeclaredAlias, OutOfPlace, Returned, "shares.list", "result", 2, "x", withList, "an element on the storage of an element of an argument"),
		fault(asserts.UndeclaredAlias, InPlace, Single, "shares_writing.single", "result", -1, "self", one, shared),
		fault(asserts.UndeclaredAlias, InPlace, Tuple, "shares_writing.tuple", "result1", -1, "self", one, shared),
		fault(asserts.UndeclaredAlias, InPlace, Returned, "shares_writing.list", "result", 2, "self", one, shared),

		fault(asserts.OutputAlias, View, Tuple, "twins_view.tuple", "result2", -1, "result1", one, same),
		fault(asserts.OutputAlias, View, Returned, "twins_view.list", "result1", 2, "result1", one, overlap),
		fault(asserts.OutputAlias, OutOfPlace, Tuple, "twins.tuple", "result1", -1, "result0", one, same),
		fault(asserts.OutputAlias, OutOfPlace, Returned, "twins.list", "result", 2, "result", one, overlap),
		fault(asserts.OutputAlias, InPlace, Tuple, "twins_writing.tuple", "result1", -1, "result0", one, same),
		fault(asserts.OutputAlias, InPlace, Returned, "twins_writing.list", "result", 2, "result", one, overlap),
	}
}

// known gives faults that are rare, small or easily missed.
func known() []Fault {
	onX := func(code asserts.Code, op string, args func() []any, why string) Fault {
		return fault(code, OutOfPlace, Tensor, op, "x", -1, "", args, why)
	}
	inList := func(op string, element int, against, why string) Fault {
		return fault(asserts.InputImpl, OutOfPlace, OptionalList, op, "x", element, against, func() []any {
			return []any{four(), []*c10.Tensor{four(), nil, four()}}
		}, why)
	}
	with := func(x func() *c10.Tensor) func() []any { return func() []any { return []any{four(), x()} } }
	part := func(base *c10.Tensor, n, offset int64) *c10.Tensor {
		defer base.Release()
		return base.AsStrided([]int64{n}, []int64{1}, offset)
	}
	nan := with(func() *c10.Tensor { return vector(math.NaN(), 1) })
	matrix := with(func() *c10.Tensor { return c10.FromFloats([]float64{1, 2, 3, 4, 5, 6}, []int64{2, 3}, f32) })
	indices := c10.FromInts([]int64{0, 2}, []int64{1, 2}, f32)
	sparse := func() []any { return []any{c10.NewSparseCOO(indices, vector(1, 2), []int64{4}, true)} }

	return []Fault{
		inList("replaces_element", 2, "", "replaces an element of the caller's own list"),
		inList("fills_in", 1, "", "puts a tensor where the caller's list had none"),
		onX(asserts.InputImpl, "releases", two, "releases the caller's handle"),
		onX(asserts.InputStorage, "recycles", two, "frees the storage and puts another at the same address"),
		onX(asserts.UndeclaredWrite, "flips_bit", two, "changes one bit"),
		onX(asserts.UndeclaredWrite, "negates_zero", with(func() *c10.Tensor { return vector(0, 1) }), "turns 0.0 into -0.0"),
		onX(asserts.UndeclaredWrite, "changes_nan", nan, "changes the payload of a NaN"),
		onX(asserts.UndeclaredWrite, "writes_beside", with(func() *c10.Tensor { return part(four(), 2, 1) }), "writes bytes of the storage outside the view"),
		onX(asserts.UndeclaredWrite, "moves_offset", with(func() *c10.Tensor { return part(vector(5, 5, 5, 5), 2, 1) }), "changes the storage offset to where the values are the same"),
		onX(asserts.UndeclaredWrite, "turns", matrix, "transposes an argument"),
		onX(asserts.UndeclaredWrite, "enlarges", two, "resizes an argument"),
		onX(asserts.UndeclaredWrite, "writes_and_fails", with(func() *c10.Tensor { return vector(1) }), "writes an argument, then returns an error"),
		fault(asserts.UndeclaredWrite, OutOfPlace, Tensor, "writes_in_training", "noise", -1, "", func() []any { return append(two(), true) }, "writes the noise that it drew into an argument, in training only"),
		fault(asserts.UndeclaredAlias, OutOfPlace, Single, "returns_empty", "result", -1, "self", func() []any { return []any{vector()} }, "returns the argument as it is when it is empty"),
		fault(asserts.UndeclaredAlias, OutOfPlace, Single, "returns_unchanged", "result", -1, "self", func() []any { return append(one(), int64(1)) }, "returns the argument as it is when a parameter makes the op a no-op"),
		fault(asserts.FreshImpl, View, Single, "returns_base", "result", -1, "self", one, "returns the base itself in place of a view"),
		fault(asserts.FreshImpl, View, Single, "returns_base", "result", -1, "self", sparse, "returns a sparse base, which has no storage to share, in place of a view"),
	}
}

// A Silent is a call that breaks no rule, although it comes close.
type Silent struct {
	Op   string
	Args func() []any
	Why  string // why there is nothing to report
}

// AllSilent gives calls that must not be reported.
func AllSilent() []Silent {
	related := func() []any { x := four(); return []any{x, x.Alias()} }
	sameStorage := func() []any {
		x, y := four(), four()
		y.SetStorage(x)
		return []any{x, y}
	}
	return []Silent{
		{"fault::adds_", related, "a read argument shares storage with the written one"},
		{"fault::adds_", func() []any { x := four(); return []any{x, x} }, "the written argument is also the read one"},
		{"fault::adds_.list", func() []any { x := four(); return []any{x, []*c10.Tensor{nil, x.Alias(), x}} }, "elements of a read list share storage with the written argument"},
		{"fault::writes_through", sameStorage, "one of two written arguments on one storage was written, and its version says so"},
		{"fault::writes_through", two, "an argument that may be written was not"},
		{"fault::forgets_version.optional", func() []any { return []any{four(), (*c10.Tensor)(nil)} }, "an optional argument is not given"},
		{"fault::forgets_version.optional_list", func() []any { return []any{four(), []*c10.Tensor{nil, nil}} }, "no element of a list is given"},
		{"fault::returns_empty", one, "there is work to do"},
		{"fault::returns_unchanged", func() []any { return append(one(), int64(2)) }, "there is work to do"},
		{"fault::writes_in_training", func() []any { return append(two(), false) }, "outside training nothing is written"},
	}
}

// A Panic is a call whose kernel panics. The panic is passed on, nothing is
// reported, and the arguments have no more references than before.
type Panic struct {
	Op   string
	Args func() []any
	Says string
}

// AllPanics gives calls that panic.
func AllPanics() []Panic {
	return []Panic{
		{"fault::panics_", func() []any { return []any{four(), vector(1)} }, "sizes [4] and [1]"},
		{"fault::rebinds.list", func() []any { return []any{four(), []*c10.Tensor{four()}} }, "index out of range"},
	}
}
