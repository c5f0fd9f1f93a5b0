package asserts

import "slices"

// An Op is one operator overload: its schema as plain data. The generator writes it as code; the libtorch engine builds
// it from the live schema. An Op must not change once a call has been judged.
type Op struct {
	Name      string    // "aten::add.Tensor"
	Schema    string    // "add.Tensor(Tensor self, ...) -> Tensor"
	Args      []Subject // the arguments that hold tensors, in schema order
	Results   []Subject // the returns that hold tensors
	Composite bool      // CompositeImplicit: it decomposes and may return its argument
	// callers of its kernel raise versions, even of unwritten arguments; set only if an argument is never written
	Raises   bool
	Autograd bool     // it has a kernel for autograd, or decomposes; set only for calls through autograd
	Declared string   // what has its schema, for fixes: [CustomOp], "m.def at ops.cpp:12", "ops.yaml"; "" if unknown
	Tags     []string // the schema's, sorted
	Waived   []Code   // the checks that an allowlist waives
	Excused  []Excuse // symptoms that an allowlist waives, of other checks
	Notes    []Excuse // what an allowlist makes notes

	// Checks, unless nil, replaces the checks that the schema calls for: a preset's plan.
	Checks []Check

	plan *plan // made at the first call, see resolve
}

// CustomOp is the Declared of an op of torch.library.custom_op, whose schema has its writes and no views.
const CustomOp = "torch.library.custom_op"

// A Subject is an argument or a return that holds tensors. Its alias sets are data: no check parses Type.
type Subject struct {
	Index  int      // position among all arguments, or all returns, of the schema
	Name   string   // "self"; a return's is "result", or "result0", ... unless the schema names it
	Type   string   // as the schema writes it, alias annotation included: "Tensor(a!)[]"
	Suffix string   // the rest of the type after Tensor, without annotations: "[]"
	Before []string // alias sets before the call, of the tensors and of the lists around them; "*" is the wildcard
	After  []string // alias sets after the call, nil unless the schema writes "->"
	Write  bool     // annotated (a!), on the tensors or on a list around them
	Out    bool     // an out argument
	List   bool     // any number of tensors rather than one

	// Inside marks the tensors inside the ones with that index, such as the values of a sparse tensor: no schema has them.
	Inside bool
}

// A Check is one line of a plan: a code, its subject, and of a check about a pair the subject compared with it.
type Check struct {
	Code    Code
	On      Ref
	Against Ref // 0 for checks about one subject
}

// A Ref is the position of a subject, as names can coincide: 1, 2, ... in Op.Args, -1, -2, ... in Op.Results; 0: none.
type Ref int

// ArgRef returns the Ref of Op.Args[i].
func ArgRef(i int) Ref { return Ref(1 + i) }

// ResultRef returns the Ref of Op.Results[i].
func ResultRef(i int) Ref { return Ref(-1 - i) }

// Arg returns the position in Op.Args, and whether r refers to an argument.
func (r Ref) Arg() (i int, ok bool) { return int(r) - 1, r > 0 }

// Result returns the position in Op.Results, and whether r refers to a return.
func (r Ref) Result() (i int, ok bool) { return -1 - int(r), r < 0 }

// Subject returns the subject that r refers to, or nil.
func (op *Op) Subject(r Ref) *Subject { return referred(r, op.Args, op.Results) }

func referred[T any](r Ref, args, results []T) *T {
	if i, ok := r.Arg(); ok && i < len(args) {
		return &args[i]
	}
	if i, ok := r.Result(); ok && i < len(results) {
		return &results[i]
	}
	return nil
}

func (op *Op) at(p Place) *Subject {
	subjects := op.Args
	if p.Return {
		subjects = op.Results
	}
	i := slices.IndexFunc(subjects, func(s Subject) bool { return s.Index == p.Index && s.Inside == p.Inside })
	if i < 0 {
		return nil
	}
	return &subjects[i]
}

// Plan returns the op's checks: Checks, or those that the schema calls for, without the waived ones.
func (op *Op) Plan() []Check {
	return slices.DeleteFunc(slices.Clone(op.lines()), func(c Check) bool { return slices.Contains(op.Waived, c.Code) })
}

// Thrown returns the op with only those of the codes, which hold for a call that threw, too.
func (op *Op) Thrown(hold Codes) *Op {
	thrown := *op
	thrown.plan = nil
	thrown.Checks = slices.DeleteFunc(op.Plan(), func(c Check) bool { return !hold.Has(c.Code) })
	return &thrown
}

// Codes returns the codes of Checks.
func (op *Op) Codes() (codes Codes) {
	for _, check := range op.Checks {
		codes |= CodesOf(check.Code)
	}
	return codes
}

// lines returns the checks that are judged, waived ones included: a waived check still prevents
// checks that come after it from reporting the same fault.
func (op *Op) lines() []Check {
	if op.Checks != nil {
		return op.Checks
	}
	return op.Calls()
}

// Calls returns the checks that the schema calls for, in the order of the subjects and then of the
// codes. An op that decomposes may return its argument, so its returns promise nothing.
func (op *Op) Calls() []Check {
	checks := make([]Check, 0, 3*len(op.Args)+len(op.Results)*(3+len(op.Args)))
	for i := range op.Args {
		for _, row := range onArguments() {
			checks = row.plan(checks, op, ArgRef(i))
		}
	}
	if op.Composite {
		return checks
	}
	for i := range op.Results {
		for _, row := range onReturns() {
			checks = row.plan(checks, op, ResultRef(i))
		}
	}
	return checks
}

func (c *checkRow) plan(lines []Check, op *Op, on Ref) []Check {
	subject := op.Subject(on)
	if c.about&(AgainstArgument|AgainstReturn) == 0 {
		if c.plans(op, subject, nil) {
			lines = append(lines, Check{Code: c.code, On: on})
		}
		return lines
	}
	against := func(about About, all []Subject, ref func(int) Ref) {
		for i := range all {
			if c.about&about != 0 && c.plans(op, subject, &all[i]) {
				lines = append(lines, Check{c.code, on, ref(i)})
			}
		}
	}
	against(AgainstArgument, op.Args, ArgRef)
	against(AgainstReturn, op.Results, ResultRef)
	return lines
}
