package asserts

import (
	"cmp"
	"slices"

	"github.com/opassert/opassert/internal/slicesx"
	"github.com/opassert/opassert/internal/usual"
)

// A Verdict is the result of judging one call.
type Verdict struct {
	Violations []*Violation // arguments first, then returns, each in schema order
	Skips      []Skip       // in order of code and reason
	Judged     Counts       // number of tensors judged, by check
}

// A Skip is a check that was not judged for some tensors.
type Skip struct {
	Code    Code
	Symptom Symptom `json:",omitempty"` // of a violation that an allowlist waives
	Reason  string
	Count   int // tensors
}

// Judge applies the op's checks to a call that need one call alone. It depends on its arguments and accepts any Seen.
//
// One fault is one violation. Where one fault breaks several rules, the violation is of the rule that names the fault:
// a storage that came with another TensorImpl is OA001 and not OA002; an output that shares storage with an argument
// is OA007 and not OA005; a view or an in-place result that is another tensor is OA004 or OA006 and not OA007. A
// tensor passed twice is reported for the first argument.
func Judge(op *Op, seen *Seen, policy *Policy) Verdict {
	op, seen = unfold(op, seen)
	j := newJudge(op, seen, policy)
	j.reportBroken()
	for _, row := range judging() {
		if row.judgedOn(seen) {
			row.judges(j)
		}
	}
	return j.conclude()
}

// NotThere is the reason for a skip of a check without a tensor to judge.
const NotThere = "there is no tensor, or another check has reported it"

// Unheld returns a skip for each planned check that the verdict neither judged nor skipped.
func (v *Verdict) Unheld(op *Op, seen *Seen) []Skip {
	var said, planned Codes
	for _, s := range v.Skips {
		said |= CodesOf(s.Code)
	}
	for _, check := range op.Plan() {
		planned |= CodesOf(check.Code)
	}
	var skips []Skip
	for code := range (planned &^ said).All() {
		row := code.check()
		versions := row.usual.Has(usual.Counted) // which a library in Go may not have
		if v.Judged[code] == 0 && !(versions && seen.Plain) && row.judges != nil && row.judgedOn(seen) {
			skips = append(skips, Skip{Code: code, Reason: NotThere, Count: 1})
		}
	}
	return skips
}

type judge struct {
	op     *Op
	seen   *Seen
	plan   *plan
	policy *Policy

	inputs  []*input
	outputs []*output

	// The inputs by their impls and storages before and after.
	byImpl, byStorage map[ID][]*input
	// The outputs by impl and storage.
	outByImpl, outByStorage map[ID][]*output

	broken []broken

	verdict Verdict
	skipped map[Skip]int // keys have Count 0
}

type input struct {
	*subjectPlan
	arg           int // in Op.Args
	element       int // in the list, or NoElement
	called        string
	before, after Observation
	late          Observation // some milliseconds later, if observed again
	newImpl       bool        // reported as OA001
	newStorage    bool        // reported as OA002
}

type output struct {
	*subjectPlan
	Observation
	late    Observation // some milliseconds later, if observed again
	result  int         // in Op.Results
	element int         // in the list, or NoElement
	called  string
	wrong   bool // reported as OA004 or OA006: not the declared tensor
	aliased bool // OA007 or OA008 named the tensor that it shares with
}

func newJudge(op *Op, seen *Seen, policy *Policy) *judge {
	j := &judge{
		op:           op,
		seen:         seen,
		plan:         op.resolve(),
		policy:       policy,
		byImpl:       make(map[ID][]*input),
		byStorage:    make(map[ID][]*input),
		outByImpl:    make(map[ID][]*output),
		outByStorage: make(map[ID][]*output),
		skipped:      make(map[Skip]int),
	}
	j.takeInputs(seen)
	j.takeOutputs(seen)
	j.setAside()
	j.file()
	return j
}

func (j *judge) takeInputs(seen *Seen) {
	before, after, _ := seen.Split(j.op)
	late, _ := seen.late(j.op)
	for a := range j.plan.args {
		plan := &j.plan.args[a]
		for e := range max(len(before[a]), len(after[a])) {
			j.inputs = append(j.inputs, &input{
				subjectPlan: plan, arg: a, element: plan.element(e), called: slicesx.Nth(slicesx.Nth(seen.ArgNames, a), e),
				before: slicesx.Nth(before[a], e).marked(), after: slicesx.Nth(after[a], e).marked(), late: slicesx.Nth(late[a], e),
			})
		}
	}
}

func (j *judge) file() {
	for _, in := range j.inputs {
		index(j.byImpl, in, in.before.Impl, in.after.Impl)
		index(j.byStorage, in, in.before.Storage, in.after.Storage)
	}
	for _, out := range j.outputs {
		index(j.outByImpl, out, out.Impl)
		index(j.outByStorage, out, out.Storage)
	}
}

func index[T any](m map[ID][]*T, t *T, ids ...ID) {
	for _, id := range ids {
		m[id] = append(m[id], t)
	}
	delete(m, 0)
}

func (j *judge) takeOutputs(seen *Seen) {
	_, late := seen.late(j.op)
	for r, run := range split(seen.Results, seen.ResultLens, j.op.Results) {
		plan := &j.plan.results[r]
		for e := range run {
			j.outputs = append(j.outputs, &output{
				subjectPlan: plan, result: r, element: plan.element(e), called: slicesx.Nth(slicesx.Nth(seen.ResultNames, r), e),
				Observation: run[e].marked(), late: slicesx.Nth(late[r], e),
			})
		}
	}
}

func (s *subjectPlan) element(i int) int {
	if s.List {
		return i
	}
	return NoElement
}

// marked adds the trait that the judge derives.
func (o Observation) marked() Observation {
	if o.Storage == 0 {
		o.Traits |= Storageless
	}
	return o
}

// passesOver reports whether the policy skips a check for these tensors, and counts the skip.
func (j *judge) passesOver(code Code, tensors ...*Observation) bool {
	reason, skip := j.policy.Skips(code, j.seen.Modes, tensors...)
	if skip {
		j.skipped[Skip{Code: code, Reason: reason}]++
	}
	return skip
}

// judged reports whether a check applies to these tensors, and counts it as judged or skipped.
func (j *judge) judged(code Code, tensors ...*Observation) bool {
	if j.passesOver(code, tensors...) {
		return false
	}
	j.verdict.Judged[code]++
	return true
}

// seesContents is judged for a check on an argument's contents.
func (j *judge) seesContents(code Code, in *input) bool {
	if j.passesOverContents(code, in) {
		return false
	}
	j.verdict.Judged[code]++
	return true
}

// passesOverContents is passesOver for a check on an argument's contents, which may not have been observed.
func (j *judge) passesOverContents(code Code, in *input) bool {
	if j.passesOver(code, &in.before, &in.after) {
		return true
	}
	unseen := in.before.Content == nil || in.after.Content == nil
	if unseen {
		j.skipped[Skip{Code: code, Reason: "contents not observed"}]++
	}
	return unseen
}

func (j *judge) conclude() Verdict {
	for s, n := range j.skipped {
		if s.Count = n; j.seen.Plain {
			s.Reason = goWords.Replace(s.Reason)
		}
		j.verdict.Skips = append(j.verdict.Skips, s)
	}
	j.verdict.Conclude(j.op)
	return j.verdict
}

// Conclude sorts the verdict, removes what the op waives and what repeats another violation, and adds the fixes.
func (v *Verdict) Conclude(op *Op) {
	waived := CodesOf(op.Waived...)
	v.Skips = slices.DeleteFunc(v.Skips, func(s Skip) bool { return waived.Has(s.Code) })
	sortSkips(v.Skips)
	v.Violations = slices.DeleteFunc(slices.Clone(v.Violations), v.saidOfWhole)
	for c := range waived.All() {
		v.Judged[c] = 0
	}
	v.Violations = slices.DeleteFunc(v.Violations, func(v *Violation) bool {
		return waived.Has(v.Code) || reasonFor(v, op.Excused) != ""
	})
	slices.SortStableFunc(v.Violations, func(a, b *Violation) int {
		return cmp.Or(
			comparePlaces(a.Subject, b.Subject),
			cmp.Compare(a.Code, b.Code),
		)
	})
	for _, found := range v.Violations {
		found.Skipped = v.Skips
		found.Fix = found.Code.check().fixes(op, found)
		found.Note = cmp.Or(found.Note, found.Symptom.In(found.Code).Note, op.note(found))
		found.inGo()
	}
}

// saidOfWhole reports whether a violation of a part repeats one of the tensor itself.
func (v *Verdict) saidOfWhole(found *Violation) bool {
	part := found.Subject
	return part.Inside && slices.ContainsFunc(v.Violations, func(w *Violation) bool {
		whole := w.Subject
		return w.Code == found.Code && !whole.Inside && whole.Index == part.Index
	})
}

func comparePlaces(a, b Place) int {
	order := func(p Place) []int {
		role := 0
		if p.Return {
			role = 1
		}
		return []int{role, p.Index, p.Element}
	}
	return slices.Compare(order(a), order(b))
}

func (j *judge) report(code Code, about Place) *Violation {
	v := &Violation{Code: code, Op: j.op.Name, Schema: j.op.Schema, Subject: about, Plain: j.seen.Plain}
	j.verdict.Violations = append(j.verdict.Violations, v)
	return v
}

func (j *judge) reportInput(code Code, in *input) *Violation {
	v := j.report(code, in.place())
	v.Before, v.After = in.before, in.after
	v.locate(in.before.Content)
	return v
}

func (j *judge) reportOutput(code Code, out *output) *Violation {
	v := j.report(code, out.place())
	v.After = out.Observation
	v.locate(out.Content)
	return v
}

func (in *input) place() Place { return in.Subject.Place(false, in.element, in.called) }

func (out *output) place() Place { return out.Subject.Place(true, out.element, out.called) }

// Place returns the place of a tensor of the subject: its index in a list or NoElement, and the name of a part or "".
func (s *Subject) Place(returned bool, element int, called string) Place {
	return Place{
		Return: returned, Index: s.Index, Name: s.Name, Type: s.Type, Element: element,
		Aliased: s.aliased(), Inside: s.Inside, Called: called,
	}
}

// holder returns the other tensor of the call with this TensorImpl or StorageImpl: an argument first, then a return.
func (j *judge) holder(asks Place, impl, storage ID) (who Place, what string, seen Observation) {
	if who, seen = j.other(asks, j.byImpl[impl], j.outByImpl[impl]); who.Name != "" {
		return who, "TensorImpl", seen
	}
	if who, seen = j.other(asks, j.byStorage[storage], j.outByStorage[storage]); who.Name != "" {
		return who, "StorageImpl", seen
	}
	return Place{}, "", Observation{}
}

func (j *judge) other(asks Place, ins []*input, outs []*output) (Place, Observation) {
	if len(ins) > 0 {
		return ins[0].place(), ins[0].after
	}
	for _, out := range outs {
		if p := out.place(); p != asks {
			return p, out.Observation
		}
	}
	return Place{}, Observation{}
}
