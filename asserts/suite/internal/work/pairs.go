package work

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/internal/probe"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/tensor"
)

// The maximum numbers of pairs that differ in one thing. An entry may also be a part of the result.
const (
	mostAlike  = 6
	mostUnlike = 1
	mostDTypes = 3
)

// mostPaired is the maximum number of elements in a call of a pair.
const mostPaired = 1 << 12

// ofDType is the thing of pairs that differ in dtype; others are the argument.
const ofDType = -1

// with returns the pairs of an attempt with earlier ones, and skips of those that are left out.
func (p *pairs) with(t *Target, a *attempt) (all []*Calls, left []asserts.Skip) {
	elements := int64(0)
	for _, spec := range a.c.Tensors() {
		elements += tensor.Numel(spec.Sizes)
	}
	if elements > mostPaired {
		return nil, unprobed(probe.EarlierValues, fmt.Sprintf("the call has more than %d elements", mostPaired))
	}
	for thing := ofDType; thing < len(a.c.Args); thing++ {
		key := without(a.c, thing)
		first := p.firsts[key]
		if first == nil {
			p.firsts[key] = a
			continue
		}
		alike := len(probe.Unlike(t.judged, first.calls[0].seen, a.calls[0].seen)) == 0
		if full := p.take(thing, alike); full != "" {
			left = append(left, unprobed(probe.EarlierValues, full)...)
			continue
		}
		pair := &Calls{Made: []Call{{first.c, 0}, {a.c, 0}}, Last: SeenJSON{a.calls[0].seen}}
		if alike {
			pair.Varied = thing + 1
		}
		all = append(all, pair)
	}
	return all, left
}

// take counts a pair, or returns why it is not among the first.
func (p *pairs) take(thing int, alike bool) string {
	count, most, sort := p.unlike, mostUnlike, "another result"
	switch {
	case thing == ofDType:
		most, sort = mostDTypes, "another dtype"
	case alike:
		count, most, sort = p.alike, mostAlike, "the same result"
	}
	if count[thing] == most {
		return fmt.Sprintf("at most %d with %s are", most, sort)
	}
	count[thing]++
	return ""
}

// without returns what is equal for calls that differ in one thing.
func without(c *sample.Case, thing int) string {
	like := c.Clone()
	if thing == ofDType {
		for _, spec := range like.Tensors() {
			spec.DType = ""
		}
	} else if v := &like.Args[thing]; v.Kind == sample.TensorValue {
		v.Tensor.Fill, v.Tensor.Values = sample.Fill{}, nil
	} else {
		*v = sample.Value{}
	}
	return strconv.Itoa(thing) + " " + like.String()
}

// Ordered returns pairs for two processes that have not run the op, in an order in which an entry of a cache
// is not the worker's unless its key has everything. For one they are those of a single case. For the other they
// are a mixed call, which is not compared, and those with equal results, then the others from the last to the first.
func Ordered(pairs []*Calls) (turned, all []*Calls) {
	var alike, others []*Calls
	for _, p := range pairs {
		switch {
		case p.Made[1].Turn != 0:
			turned = append(turned, p)
		case p.Varied != 0:
			alike = append(alike, p)
		default:
			others = append(others, p)
		}
	}
	slices.Reverse(others)
	if len(alike) > 0 {
		call := mixed(alike)
		alike = append([]*Calls{{Made: []Call{call, call}}}, alike...)
	}
	return turned, append(alike, others...)
}

// mixed returns the first call of pairs with equal results, with another value of each of their arguments: an
// entry that it adds to a cache differs from the worker's by whichever the key lacks.
func mixed(pairs []*Calls) Call {
	first := pairs[0].Made[0].Case
	like := first.Clone()
	for _, p := range pairs {
		was, v, other := first.Args[p.Varied-1], &like.Args[p.Varied-1], p.Made[1].Case.Args[p.Varied-1].Clone()
		switch {
		case v.Kind == sample.TensorValue && other.Kind == sample.TensorValue:
			v.Tensor.Fill, v.Tensor.Values = other.Tensor.Fill, other.Tensor.Values
		case v.Kind != sample.TensorValue && other.String() != was.String():
			*v = other
		}
	}
	return Call{Case: like}
}
