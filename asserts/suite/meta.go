package suite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts"
)

// twins gives the arguments as they are on meta, or why there are none.
func (r *runner) twins(m *maker, c *Case, args []any) ([]any, string) {
	if !c.plain() {
		return nil, "a tensor that is not plain has no twin on meta"
	}
	made, err := r.engine.Twins(m.tensors)
	if err != nil {
		return nil, "no twins: " + clipped(err.Error())
	}
	m.extra = append(m.extra, made...)
	return swap(args, m.tensors, made), ""
}

// swap puts twins where tensors are, and meta where the device is asked for.
func swap(args []any, tensors, twins []Tensor) []any {
	out := make([]any, len(args))
	for i, a := range args {
		switch a := a.(type) {
		case Tensor:
			out[i] = twins[slices.Index(tensors, a)]
		case []any:
			out[i] = swap(a, tensors, twins)
		case Device:
			out[i] = Device("meta")
		default:
			out[i] = a
		}
	}
	return out
}

func (r *runner) callMeta(t *target, a *attempt, twins []any) {
	out, err := r.engine.Call(t.gen.name, twins, asserts.Contents)
	releaseResults(out.Results)
	switch text, _ := message(err); {
	case err == nil:
		a.meta = &out.Seen
	case strings.Contains(text, "Could not run") || strings.Contains(text, "not implemented for 'Meta'"):
		a.why = "no kernel on meta"
	default:
		a.why = "the call on meta threw: " + clipped(err.Error())
	}
}

// compareMeta judges OA011: what the call on meta gave against what the call
// on CPU gave.
func compareMeta(t *target, cpu, meta *asserts.Seen, count *tally) []*asserts.Violation {
	var found []*asserts.Violation
	if len(cpu.Results) != len(meta.Results) || len(cpu.After) != len(meta.After) {
		return append(found, metaViolation(t, 0, -1, fmt.Sprintf("%d tensors on cpu, %d on meta", len(cpu.Results), len(meta.Results))))
	}
	left, right := graph(cpu), graph(meta)
	at := 0
	for i, subject := range t.judged.Results {
		n := 1
		if cpu.ResultLens != nil {
			n = cpu.ResultLens[i]
		}
		for e := range n {
			if !slices.ContainsFunc(t.meta, func(c asserts.Check) bool { return c.On == subject.Name }) {
				continue
			}
			if cpu.Results[at+e].Traits&asserts.MetaTensor != 0 {
				continue // it was on meta already
			}
			count.Judged[asserts.MetaAlias]++
			saw := differences(&cpu.Results[at+e], &meta.Results[at+e])
			if l, r := left[len(cpu.After)+at+e], right[len(cpu.After)+at+e]; l != r {
				saw = append(saw, "on cpu it "+t.describe(cpu, l)+", on meta it "+t.describe(cpu, r))
			}
			if len(saw) > 0 {
				element := e
				if !subject.List {
					element = -1
				}
				v := metaViolation(t, i, element, strings.Join(saw, "; "))
				v.After, v.Other = cpu.Results[at+e], meta.Results[at+e]
				found = append(found, v)
			}
		}
		at += n
	}
	return found
}

func metaViolation(t *target, result, element int, saw string) *asserts.Violation {
	v := &asserts.Violation{Code: asserts.MetaAlias, Op: t.judged.Name, Schema: t.judged.Schema, Saw: saw, Device: "cpu, meta",
		Fix: "make the meta kernel compute what the CPU kernel gives, view or copy alike"}
	if result < len(t.judged.Results) {
		s := t.judged.Results[result]
		v.Subject = asserts.Place{Return: true, Index: s.Index, Name: s.Name, Type: s.Type, Element: element}
	}
	return v
}

// differences tells how sizes, strides and dtype differ.
func differences(cpu, meta *asserts.Observation) []string {
	if cpu.Defined() != meta.Defined() {
		return []string{fmt.Sprintf("defined on cpu: %v, on meta: %v", cpu.Defined(), meta.Defined())}
	}
	a, b := cpu.Content, meta.Content
	if a == nil || b == nil {
		return nil
	}
	var saw []string
	if a.DType != b.DType {
		saw = append(saw, fmt.Sprintf("dtype %s on cpu, %s on meta", a.DType, b.DType))
	}
	switch {
	case !slices.Equal(a.Sizes, b.Sizes):
		saw = append(saw, fmt.Sprintf("sizes %v on cpu, %v on meta", a.Sizes, b.Sizes))
	case !sameStrides(a, b):
		saw = append(saw, fmt.Sprintf("strides %v on cpu, %v on meta, of sizes %v", a.Strides, b.Strides, a.Sizes))
	}
	return saw
}

// sameStrides leaves out the strides that reach no element.
func sameStrides(a, b *asserts.Content) bool {
	if len(a.Strides) != len(b.Strides) || slices.Contains(a.Sizes, 0) {
		return true
	}
	for i, n := range a.Sizes {
		if n > 1 && a.Strides[i] != b.Strides[i] {
			return false
		}
	}
	return true
}

// A relation says which earlier tensor of a call one shares with: impl and
// storage are positions among the arguments and then the results, -1 for
// none.
type relation struct{ impl, storage int }

// graph gives the alias graph of a call.
func graph(s *asserts.Seen) []relation {
	all := slices.Concat(s.After, s.Results)
	out := make([]relation, len(all))
	for i, o := range all {
		out[i] = relation{-1, -1}
		for j, earlier := range all[:i] {
			if out[i].impl < 0 && o.Impl != 0 && o.Impl == earlier.Impl {
				out[i].impl = j
			}
			if out[i].storage < 0 && o.Storage != 0 && o.Storage == earlier.Storage {
				out[i].storage = j
			}
		}
	}
	return out
}

func (t *target) describe(s *asserts.Seen, r relation) string {
	switch {
	case r.impl >= 0:
		return "is " + t.place(s, r.impl)
	case r.storage >= 0:
		return "shares the storage of " + t.place(s, r.storage)
	}
	return "shares nothing"
}

// place names a tensor by its position among arguments and results.
func (t *target) place(s *asserts.Seen, at int) string {
	if name, ok := placeIn(t.judged.Args, s.ArgLens, at); ok {
		return "argument " + name
	}
	name, _ := placeIn(t.judged.Results, s.ResultLens, at-len(s.After))
	return "result " + name
}

func placeIn(subjects []asserts.Subject, lens []int, at int) (string, bool) {
	for i, subject := range subjects {
		n := 1
		if lens != nil {
			n = lens[i]
		}
		if at < n {
			if subject.List {
				return fmt.Sprintf("%s[%d]", subject.Name, at), true
			}
			return subject.Name, true
		}
		at -= n
	}
	return "", false
}
