package asserts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opassert/opassert/internal/slicesx"
)

// MetaAlias is OA011.
const MetaAlias Code = 11

var _ = add(checkRow{
	code:     MetaAlias,
	name:     "meta-alias",
	promise:  Kernels,
	rule:     "the call on Meta, and that of the op's fake, have the alias graph, sizes, strides and dtype of the call on CPU",
	breaks:   "compilers and fake tensors plan memory and views that differ from those of the kernel",
	plain:    "memory that is planned from the Meta call does not fit the results of the kernel",
	level:    Meta,
	about:    Return,
	plans:    func(*Op, *Subject, *Subject) bool { return true },
	compares: compareMeta,
	fixes:    fixMetaAlias,
	skips:    reliable,
})

func compareMeta(real, meta *judge) {
	for i := range real.plan.results {
		if plan := &real.plan.results[i]; plan.codes.Has(MetaAlias) {
			real.compare(meta, plan.place(true, 0, ""), real.returned(i), meta.returned(i))
		}
	}
}

// A callSide is a tensor as one of the two calls left it.
type callSide struct {
	at   Place
	seen Observation
}

func (j *judge) returned(result int) []callSide {
	var sides []callSide
	for _, out := range j.outputs {
		if out.result == result {
			sides = append(sides, callSide{out.place(), out.Observation})
		}
	}
	return sides
}

// compare judges one subject; m is the call on meta.
func (j *judge) compare(m *judge, subject Place, real, meta []callSide) {
	if len(real) != len(meta) {
		subject.Element = NoElement
		v := j.report(MetaAlias, subject)
		v.Saw = fmt.Sprintf("%d tensors, %s %d", len(real), m.where(), len(meta))
		return
	}
	for i := range real {
		a, b := &real[i], &meta[i]
		if !a.seen.Defined() && !b.seen.Defined() {
			continue
		}
		if a.seen.Traits&MetaTensor != 0 {
			j.skipped[Skip{Code: MetaAlias, Reason: "both calls return it on meta"}]++
			continue
		}
		if m.fake && j.breaks(a.at) != 0 && m.breaks(b.at) == 0 {
			j.skipped[Skip{Code: MetaAlias, Reason: "the kernel contradicts the schema, the fake does not"}]++
			continue
		}
		if !j.judged(MetaAlias, &a.seen, &b.seen) {
			continue
		}
		saw := j.differences(m, a, b)
		if len(saw) == 0 {
			continue
		}
		if !m.fake && onDevice(&a.seen) && (j.breaks(a.at) == 0) != (m.breaks(b.at) == 0) {
			j.skipped[Skip{Code: MetaAlias, Reason: "one of the two kernels contradicts the schema"}]++ // which another check reports
			continue
		}
		v := j.report(MetaAlias, a.at)
		v.After, v.Other = a.seen, b.seen
		v.locate(a.seen.Content)
		v.Saw, v.Fix = texts(saw), j.contradicts(m, a.at)
		if m.fake {
			v.Breaks = consequences[saw[0].of]
		}
	}
}

// onDevice reports whether a tensor is on a device other than the CPU.
func onDevice(o *Observation) bool {
	return o.Content != nil && o.Content.Device != "" && o.Content.Device != "cpu"
}

// JudgeDevice reports the returns on another device than all arguments. Where the op's fake returns
// something, JudgeFake compares the devices instead. devices are those that arguments name.
func JudgeDevice(op *Op, real *Seen, fake *Fake, devices []string, policy *Policy) Verdict {
	j := newJudge(op, real, policy)
	if given := j.device(devices); given != "" && (fake == nil || len(fake.Seen.Results) == 0) {
		for _, out := range j.outputs {
			if out.Content != nil && !slices.ContainsFunc(devices, names(out.Content.Device)) {
				j.reportStrayed(out, given)
			}
		}
	}
	return j.conclude()
}

// reportStrayed adds a note about a return that is not on the device of the arguments.
func (j *judge) reportStrayed(out *output, given string) {
	if out.Content.Device == given || !out.codes.Has(MetaAlias) || j.passesOver(MetaAlias, &out.Observation) {
		return
	}
	v := j.reportOutput(MetaAlias, out)
	v.Saw, v.Fix = fmt.Sprintf("it is on %s, and every argument on %s", out.Content.Device, given), "return it on the device of the arguments"
	v.Note = "no schema states the device of a return: fakes and compilers assume that of the arguments"
}

// device returns the device of all arguments. It is "" if they are on several, if one names another
// device, or if one that could name a device does not.
func (j *judge) device(devices []string) (device string) {
	if len(devices) == 0 && strings.Contains(j.op.Schema, "Device") {
		return ""
	}
	for _, in := range j.inputs {
		switch c := in.before.Content; {
		case c == nil:
		case device != "" && c.Device != device:
			return ""
		default:
			device = c.Device
		}
	}
	if len(devices) > 0 && !slices.ContainsFunc(devices, names(device)) {
		return ""
	}
	return device
}

// names returns a function that reports whether a name is the device's, or that of its type, which
// stands for the current device.
func names(device string) func(name string) bool {
	return func(name string) bool { return device == name || strings.HasPrefix(device, name+":") }
}

// contradicts returns which of the two calls contradicts the schema, and the remedy. A schema does
// not speak of sizes, strides and dtypes.
func (j *judge) contradicts(m *judge, at Place) string {
	real, meta := j.breaks(at), m.breaks(at)
	switch {
	case real != 0 && meta == 0:
		return fmt.Sprintf("the kernel that is not %s contradicts the schema (%v), %s does not: make it share as %[3]s does", m.where(), real, m.kernel())
	case real == 0 && meta != 0:
		return fmt.Sprintf("%s contradicts the schema (%v), the other does not: make it share as the other does", m.kernel(), meta)
	case m.fake:
		return "make the fake return the sizes, strides, dtype, device and views that the kernel returns, or the other way round if the fake is right"
	}
	return "the schema does not say which one is right: make " + m.kernel() + " return the sizes, strides, dtype and views of the other, or the other way round"
}

// where names the call that is compared with the first.
func (j *judge) where() string {
	if j.fake {
		return "by its fake"
	}
	return "on " + j.on
}

func (j *judge) kernel() string {
	if j.fake {
		return "the fake"
	}
	return "the " + j.on + " kernel"
}

// breaks returns the first check of the identity level that a return violates.
func (j *judge) breaks(at Place) Code {
	seen := *j.seen
	seen.Level = Identity
	for _, v := range Judge(j.op, &seen, j.policy).Violations {
		if v.Subject.Return && v.Subject.Index == at.Index && v.Subject.Element == at.Element {
			return v.Code
		}
	}
	return 0
}

func fixMetaAlias(_ *Op, v *Violation) string {
	if v.Fix != "" {
		return v.Fix
	}
	return "the schema does not say which one is right: make the meta kernel return the sizes, strides, dtype and views of the other, or the other way round"
}

func (j *judge) differences(m *judge, a, b *callSide) []contrast {
	if a.seen.Defined() != b.seen.Defined() {
		return []contrast{{"definedness", fmt.Sprintf("%s, %s %s", definedness(a), m.where(), definedness(b))}}
	}
	var saw []contrast
	shares, meta := j.shares(a), m.shares(b)
	if shares != meta {
		saw = append(saw, contrast{"sharing", fmt.Sprintf("it %s, %s it %s", shares, m.where(), meta)})
	}
	x, y := a.seen.Content, b.seen.Content
	if x == nil || y == nil {
		j.skipped[Skip{Code: MetaAlias, Reason: "sizes, strides and dtype not observed"}]++
		return saw
	}
	differ := func(what string, real, meta any) {
		saw = append(saw, contrast{what, fmt.Sprintf("%s %v, %s %v", what, real, m.where(), meta)})
	}
	if x.DType != y.DType {
		differ("dtype", x.DType, y.DType)
	}
	if m.fake && x.Device != y.Device {
		differ("device", x.Device, y.Device)
	}
	if !slices.Equal(x.Sizes, y.Sizes) {
		differ("sizes", x.Sizes, y.Sizes)
	} else if !sameStrides(x, y) {
		differ("strides", fmt.Sprintf("%v of sizes %v", x.Strides, x.Sizes), y.Strides)
	} else if !m.fake && shares == meta && shares != withNothing && x.Offset != y.Offset && !slices.Contains(x.Sizes, 0) {
		differ("offset", x.Offset, y.Offset)
	}
	return saw
}

// A contrast is a property in which two calls differ, and how.
type contrast struct{ of, text string }

func texts(all []contrast) string {
	return slicesx.Join(all, "; ", func(c contrast) string { return c.text })
}

func definedness(s *callSide) string {
	if s.seen.Defined() {
		return "a tensor"
	}
	return "undefined"
}

const withNothing = "shares with nothing"

// shares describes which earlier tensor of the call a return is or shares storage with.
func (j *judge) shares(s *callSide) string {
	earlier := func(out *output) bool { return comparePlaces(out.place(), s.at) < 0 }
	for _, with := range []struct {
		words   string
		inputs  []*input
		outputs []*output
	}{{"is ", j.byImpl[s.seen.Impl], j.outByImpl[s.seen.Impl]}, {"shares storage with ", j.byStorage[s.seen.Storage], j.outByStorage[s.seen.Storage]}} {
		if len(with.inputs) > 0 {
			return with.words + with.inputs[0].place().String()
		}
		if i := slices.IndexFunc(with.outputs, earlier); i >= 0 {
			return with.words + with.outputs[i].place().String()
		}
	}
	return withNothing
}

// sameStrides ignores the strides of dimensions of size 1.
func sameStrides(a, b *Snapshot) bool {
	if slices.Contains(a.Sizes, 0) {
		return true
	}
	for i, n := range a.Sizes {
		if n != 1 && stride(a, i) != stride(b, i) {
			return false
		}
	}
	return true
}

func stride(c *Snapshot, dim int) int64 {
	if dim < len(c.Strides) {
		return c.Strides[dim]
	}
	return 0
}
