package torch_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/libtorch"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/cmd/opassert/internal/torch"
	"github.com/opassert/opassert/internal/dev/libtorchtest"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/internal/testbed/faults"
)

// unbroken lists sorts of tensors for which operators of places.cpp break nothing, or not visibly,
// and why.
var unbroken = []struct{ sorts, ops, reason string }{
	{"meta", "OA007_memory_.*|OA009_.*|OA010_.*|OA015_.*", "a meta tensor has no bytes"},
	{"zero", "OA007_memory_of_(dict|tuple)|OA009_of_(dict|tuple)", "a zero tensor has no bytes"},
	{"functional", "OA001.*_of_(list|optionals)", "functionalization has the kernel called with a list of values"},
	{"functional", "OA002_of_(list|optional|optionals|plain)", "the storage is the value's: OA009 says that its bytes changed"},
	{"quantized|per-channel", "OA015_.*", "its elements fill its storage"},
	{"conj|neg|zero", "OA0(02|07|09|10|15|16).*_of_(plain|optional|list|out).*", "the dispatcher's fallback has the kernel called with a copy"},
}

// Every check that calls of libtorch can show is broken in each sort of place, on each sort of
// tensor, and reported, or counted as a skip of that check in that call.
func TestEveryPlaceIsPlanted(t *testing.T) {
	libtorchtest.Need(t)
	must.Do(t, libtorch.LoadLibrary(libtorchtest.Library(t, "places", "../watch/testdata", "places.cpp")))
	all := must.Get(libtorch.Ops())(t)
	ops := slices.DeleteFunc(all, func(op *libtorch.Op) bool { return !strings.HasPrefix(op.Name, "place::OA") })
	planted := asserts.Codes(0)
	for form := libtorch.Strided; form < libtorch.Subclass; form++ { // a suite makes no subclass
		if _, err := libtorch.Lookup("aten::rename_"); form == libtorch.Named && err != nil { // removed in 2.13
			continue
		}
		t.Run(form.String(), func(t *testing.T) { planted |= places(t, ops, form.String(), placeOf(form)) })
	}
	t.Run("meta", func(t *testing.T) {
		places(t, ops, "meta", libtorch.Spec{DType: libtorch.Float32, Sizes: []int64{4}, Offset: 1, Strides: []int64{1}, Meta: true})
	})
	t.Run("undefined", func(t *testing.T) { places(t, ops, "undefined", libtorch.Spec{}) })
	for code := range asserts.AllCodes.All() {
		switch elsewhere := faults.OnLibtorch(code); {
		case planted.Has(code) && elsewhere != "":
			t.Errorf("%v %s: ops of places.cpp break it: remove onLibtorch from its file in internal/testbed/faults, which names %s", code, code.Name(), elsewhere)
		case !planted.Has(code) && elsewhere == "":
			t.Errorf("%v %s: no op of places.cpp breaks it: write some, or as onLibtorch, in its file in internal/testbed/faults, which test breaks it on libtorch", code, code.Name())
		}
	}
}

// placeOf returns a tensor of a form, whose elements do not fill its storage if possible.
func placeOf(form libtorch.Form) libtorch.Spec {
	s := libtorch.Spec{DType: libtorch.Float32, Sizes: []int64{4, 4}, Form: form, Low: 1, High: 2}
	switch form {
	case libtorch.Strided, libtorch.Inference, libtorch.RequiresGrad:
		s.Sizes, s.Strides, s.Offset = []int64{4}, []int64{1}, 1
	case libtorch.Conj:
		s.DType = libtorch.Complex64
	case libtorch.Quantized:
		s.DType = libtorch.QUInt8
	case libtorch.QuantizedChannel:
		s.DType = libtorch.QInt8
	}
	return s
}

// places calls each operator on such tensors, and returns the checks that were found broken.
func places(t *testing.T, ops []*libtorch.Op, sort string, spec libtorch.Spec) (found asserts.Codes) {
	for _, op := range ops {
		name := strings.TrimPrefix(op.Name, "place::")
		code, _ := asserts.ParseCode(name[:len("OA001")])
		if readsResult(sort, op) {
			continue
		}
		switch verdict, err := planted(t, op, spec); {
		case slices.ContainsFunc(verdict.Violations, func(v *asserts.Violation) bool { return v.Code == code }):
			found |= asserts.CodesOf(code)
		case err != nil, slices.ContainsFunc(verdict.Skips, func(s asserts.Skip) bool { return s.Code == code }):
		case !breaksNothing(sort, name):
			t.Errorf("%s: %s is not found, and not skipped: %v, skips %v", name, code, verdict.Violations, verdict.Skips)
		}
	}
	if len(ops) < 100 || found == 0 && sort != "undefined" {
		t.Errorf("%d operators were called, and %b found", len(ops), found)
	}
	return found
}

// readsResult reports whether the fallback for conj and neg tensors reads a result of an operator
// that has none, from beyond the stack.
//
// Source: aten/src/ATen/native/MathBitsFallback.h.
func readsResult(sort string, op *libtorch.Op) bool {
	return (sort == "conj" || sort == "neg") && len(op.Returns) == 0 && op.Args[0].Write && !strings.HasSuffix(op.Args[0].Type, "[]")
}

// planted calls an operator twice, and judges the second call like a suite. An error is the
// kernel's, which then has broken nothing.
func planted(t *testing.T, op *libtorch.Op, spec libtorch.Spec) (verdict asserts.Verdict, err error) {
	checks := libtorchtest.Planned(t, must.Get(torch.Schema(op))(t))
	var outs [2]libtorch.Outcome
	var then []asserts.Observation
	for i := range outs {
		if err := op.Call(asserts.Content, &outs[i], holding(op.Args[0].Type, func() libtorch.Value { return placed(t, spec) })); err != nil {
			return verdict, err
		}
		defer outs[i].Release()
		if i == 0 {
			then = looked(outs[0].Results)
		}
	}
	seen := &outs[1].Seen
	for i, now := range looked(outs[0].Results) {
		seen.Earlier = append(seen.Earlier, asserts.Earlier{Then: then[i], Now: now})
	}
	seen.Alone = true
	verdict = asserts.Judge(checks, seen, asserts.Aware())
	verdict.Skips = append(verdict.Skips, verdict.Unheld(checks, seen)...)
	verdict.Violations = slices.DeleteFunc(verdict.Violations, func(v *asserts.Violation) bool { return libtorch.HarmlessParts(checks, v) != "" })
	for _, u := range unseen(t, op) {
		if slices.ContainsFunc(checks.Plan(), func(c asserts.Check) bool { return c.Code == u.Code && c.On == u.On }) {
			verdict.Skips = append(verdict.Skips, asserts.Skip{Code: u.Code, Reason: u.Reason, Count: 1})
		}
	}
	return verdict, nil
}

func unseen(t *testing.T, op *libtorch.Op) []engine.Unseen {
	parsed := must.Get(torch.Schema(op))(t)
	return torch.Unseen(parsed, op)
}

// placed makes a tensor, or an undefined one.
func placed(t *testing.T, spec libtorch.Spec) libtorch.Value {
	if spec.DType == 0 && spec.Sizes == nil {
		return libtorch.None()
	}
	x := must.Get(libtorch.Make(spec))(t)
	t.Cleanup(func() { x.Release() })
	return x.Value()
}

// looked observes the tensors of results now.
func looked(results []libtorch.Value) (seen []asserts.Observation) {
	for _, r := range results {
		for _, tensor := range append(r.Tensors, r.Tensor) {
			if tensor.Defined() {
				seen = append(seen, asserts.Observe(tensor, asserts.Content))
			}
		}
	}
	return seen
}

// holding returns a value of a type that holds tensors of a sort.
func holding(typ string, one func() libtorch.Value) libtorch.Value {
	switch {
	case strings.HasPrefix(typ, "Dict("):
		return libtorch.Dict(libtorch.String("a"), one(), libtorch.String("b"), one())
	case strings.HasPrefix(typ, "("):
		return libtorch.Tuple(one(), one())
	case strings.Contains(typ, "[]["):
		return libtorch.List(libtorch.List(one(), one()))
	case strings.HasSuffix(typ, "[]"):
		return libtorch.List(one(), one())
	}
	return one()
}

func breaksNothing(sort, op string) bool {
	is := func(pattern, text string) bool { return regexp.MustCompile("^(?:" + pattern + ")$").MatchString(text) }
	return slices.ContainsFunc(unbroken, func(u struct{ sorts, ops, reason string }) bool { return is(u.sorts, sort) && is(u.ops, op) })
}
