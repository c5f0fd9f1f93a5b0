package asserts

import (
	"slices"
	"strings"
)

// An Excuse is a check, or a symptom of it, whose violations by an op an allowlist waives or makes notes, and why.
type Excuse struct {
	Code    Code
	Symptom Symptom `json:",omitempty"` // "": each of the check's
	Reason  string
}

// Covers reports whether violations with a symptom of a check are excused.
func (e Excuse) Covers(c Code, s Symptom) bool {
	return e.Code == c && (e.Symptom == "" || e.Symptom == s)
}

func reasonFor(v *Violation, excuses []Excuse) string {
	for _, e := range excuses {
		if e.Covers(v.Code, v.Symptom) {
			return e.Reason
		}
	}
	return ""
}

// debatable are the violations that are notes: their promise can be read both ways. Those of one op are in allowlists.
var debatable = []struct {
	codes  Codes
	holds  func(*Violation) bool
	reason string
}{
	{1 << VersionBump, ungradable, "a tensor of this dtype can't require grad, so autograd never compares its version"},
	{sharing, members("scales", "zero_points"), "members of a quantizer, which quantized tensors expose and which are " +
		"not meant to be written"},
	{1 << AutogradKernel, forInference, "an op for inference: no op of its namespace that computes has a kernel " +
		"for autograd"},
	{sharing, members("sizes", "strides"), "members of a nested tensor, which are exposed and not meant to be written"},
}

const sharing Codes = 1<<FreshImpl | 1<<FreshStorage | 1<<UndeclaredAlias | 1<<OutputAlias

// note returns the reason why a violation is debatable, or "" if it is an error.
func (op *Op) note(v *Violation) string {
	for _, d := range debatable {
		if d.codes.Has(v.Code) && d.holds(v) {
			return d.reason
		}
	}
	return reasonFor(v, op.Notes)
}

// ungradable reports whether a tensor's dtype is known to be unable to require grad.
func ungradable(v *Violation) bool {
	dtype := v.Before.Content.DType
	return dtype != "" && !gradable(dtype)
}

func gradable(dtype string) bool {
	return slices.ContainsFunc([]string{"float", "bfloat", "complex"},
		func(prefix string) bool { return strings.HasPrefix(dtype, prefix) })
}

// forInference reports whether an op for inference returns a tensor without history. A partial history is an error.
func forInference(v *Violation) bool {
	namespace, _, _ := strings.Cut(v.Op, "::")
	return slices.Contains([]string{"quantized", "mkldnn"}, namespace) && !v.After.Content.RequiresGrad
}

func members(names ...string) func(*Violation) bool {
	is := func(p Place) bool { return slices.Contains(names, p.Part()) }
	return func(v *Violation) bool { return is(v.Subject) || is(v.Against) }
}
