package compare

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/tensor"
)

// Tolerance is the default of -tolerance: how far values may be from those of the CPU. More is no rounding error.
const Tolerance = 0.01

// The reasons for not comparing values, or for not reporting those that differ.
const (
	unreadableWhy = "the sizes or the dtype differ, the elements are not numbers, or not all bytes are copied"
	inOrder       = "another order of the same operations may explain the difference, with numbers so " +
		"large, or not finite"
	equalOnes = "they are indices of equal elements: an op may return any of them"
	manyRight = "an op of that name has several right results, as eigenvectors of either sign, or some that " +
		"tiny errors change"
	indexesWhy     = "one is the index of the device, as Tensor.get_device returns it, and -1 that of the CPU"
	writtenInOther = "a written argument lies in another one, so that the results depend on the order of reads and writes"
)

// severalRight are words of the names of such ops.
var severalRight = []string{
	"cholesky", "eig", "eigh", "eigvals", "geqrf", "inv", "inverse", "ldl", "lobpcg", "logdet", "lstsq", "lu", "pinv",
	"qr", "slogdet", "solve", "svd",
}

// severalResults returns the reason why a call may have other right results than those of the CPU, or "".
func (c *call) severalResults() string {
	for _, in := range c.arguments {
		if in.Write && slices.ContainsFunc(c.arguments,
			func(other *side) bool { return other != in && inOneAnother(&in.before, &other.before) }) {
			return writtenInOther
		}
	}
	apart := func(r rune) bool { return !unicode.IsLetter(r) }
	for word := range strings.FieldsFuncSeq(strings.ToLower(c.op.Name), apart) {
		if slices.Contains(severalRight, word) {
			return manyRight
		}
	}
	return ""
}

func inOneAnother(a, b *asserts.Observation) bool {
	if a.Storage == 0 || a.Storage != b.Storage || a.Content == nil || b.Content == nil {
		return false
	}
	first, end, known := a.Content.Extent()
	from, to, too := b.Content.Extent()
	return !known || !too || first < to && from < end
}

// areIndexes reports whether two numbers are the index of a call's device and that of the CPU, as of Tensor.get_device.
func areIndexes(call *asserts.Seen, a, b float64) bool {
	index := fmt.Sprint(":", a)
	return b == -1 && slices.ContainsFunc(call.Before, func(o asserts.Observation) bool {
		return o.Content != nil && strings.HasSuffix(o.Content.Device, index)
	})
}

// Values compares elements of tensors, and numbers, that a call returns or writes with those of the call on the CPU.
func Values(op *asserts.Op, real, twin *asserts.Seen, on string, tolerance float64,
	policy *asserts.Policy) asserts.Verdict {
	of := spreadOf(op, real, twin)
	faults, left := beyondOf(op, real, twin, tolerance, of)
	r, m := newCall(op, real, policy), newCall(op, twin, policy)
	m.on = on
	several := r.severalResults()
	if several != "" {
		faults, left[several] = nil, len(faults)
	}
	r.compareNumbers(m, func(a, b float64) bool {
		switch {
		case near(a, b, tolerance):
			return true
		case areIndexes(real, a, b):
			left[indexesWhy]++
		case of.partial:
			left[unreadableWhy]++
		case of.explains(a, b, tensor.Float64):
			left[inOrder]++
		case several != "":
			left[several]++
		default:
			return false
		}
		return true
	}, "")
	verdict := asserts.JudgeFaults(op, real, faults)
	for _, why := range []string{unreadableWhy, inOrder, equalOnes, manyRight, writtenInOther, indexesWhy} {
		if left[why] > 0 {
			verdict.Skips = append(verdict.Skips, asserts.Skip{Code: asserts.MetaAlias, Reason: "values not compared: " + why,
				Count: left[why]})
		}
	}
	verdict.Violations = append(verdict.Violations, r.conclude().Violations...)
	for _, v := range verdict.Violations {
		v.Tolerance = tolerance
	}
	return verdict
}

// beyondOf returns the returns and written arguments with elements that differ between a call and the same one on the
// CPU by more than a tolerance, relative to 1 + their absolute value, and how many are left out, by reason.
func beyondOf(op *asserts.Op, real, twin *asserts.Seen, tolerance float64,
	of *spread) (faults []asserts.Fault, left map[string]int) {
	left = make(map[string]int)
	for _, d := range Differing(op, real, twin) {
		if of.partial || !readable(d.Tensors[0], d.Tensors[1]) {
			left[unreadableWhy]++
			continue
		}
		switch n, explained, which := beyond(d.Tensors[0], d.Tensors[1], tolerance, of); {
		case n > 0 && !tied(d.Tensors[0], d.Tensors[1], real.Before):
			faults = append(faults, asserts.Fault{
				Code: asserts.MetaAlias, Symptom: asserts.OtherContents, Argument: d.Argument, Return: d.Return,
				Saw: fmt.Sprintf("%d elements differ by more than %g of 1 + their size: %s", n, tolerance, which),
			})
		case n > 0:
			left[equalOnes]++
		case explained > 0:
			left[inOrder]++
		}
	}
	return faults, left
}

func readable(x, y *asserts.Snapshot) bool {
	d, known := tensor.ParseDType(x.DType)
	return known && d.Writable() && x.DType == y.DType && slices.Equal(x.Sizes, y.Sizes) && whole(x) && whole(y)
}

// beyond returns the number of elements of readable tensors that differ by more than a tolerance and are not explained
// by the spread, the number of explained ones, and a description of the first. Integers must be equal.
func beyond(x, y *asserts.Snapshot, tolerance float64, of *spread) (n, explained int, which string) {
	d, _ := tensor.ParseDType(x.DType)
	if d.Class() == tensor.Integral || d.Class() == tensor.Boolean {
		tolerance = 0
	}
	theirs := numbersOf(y, d)
	for i, a := range numbersOf(x, d) {
		switch b := theirs[i]; {
		case near(a, b, tolerance):
		case of.explains(a, b, d):
			explained++
		default:
			if n++; n == 1 {
				which = fmt.Sprintf("number %d is %v, on cpu %v", i/parts(d), a, b)
			}
		}
	}
	return n, explained, which
}

// likeText reports whether two texts are equal, or are numbers that are alike.
func likeText(a, b string, alike func(a, b float64) bool) bool {
	x, unlike := strconv.ParseFloat(a, 64)
	y, also := strconv.ParseFloat(b, 64)
	return a == b || unlike == nil && also == nil && alike(x, y)
}

// whole reports whether all bytes of a tensor are known, and where its elements are: a sparse one has no strides.
func whole(s *asserts.Snapshot) bool {
	return int64(len(s.Bytes)) == s.Nbytes && len(s.Strides) == len(s.Sizes) && s.Within()
}

func parts(d tensor.DType) int {
	if d.Class() == tensor.Complex {
		return 2
	}
	return 1
}

func numbersOf(s *asserts.Snapshot, d tensor.DType) (all []float64) {
	size := d.Size()
	for number := range tensor.Numel(s.Sizes) {
		at := int(tensor.Position(number, s.Sizes, s.Strides, s.Offset)) * size
		for part := range parts(d) {
			all = append(all, d.Get(s.Bytes[at+part*size/parts(d):]))
		}
	}
	return all
}

// near reports whether two numbers are equal within a tolerance. NaN equals NaN, and infinity itself.
func near(a, b, tolerance float64) bool {
	return a == b || math.IsNaN(a) && math.IsNaN(b) || !math.IsInf(b, 0) && math.Abs(a-b) <= tolerance*(1+math.Abs(b))
}
