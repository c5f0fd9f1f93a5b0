package libtorch_test

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/libtorch"
	"github.com/opassert/opassert/asserts/suite/compare"
	"github.com/opassert/opassert/internal/dev/libtorchtest"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/schema"
)

const oplib = "../../testdata/oplib"

// TestMain runs one op in a process that a test expects to crash.
func TestMain(m *testing.M) {
	if op := os.Getenv("OPLIB_RUN"); op != "" {
		callOnce(op)
		return
	}
	os.Exit(m.Run())
}

// loadOplib loads the op library and returns its file.
func loadOplib(t testing.TB) string {
	t.Helper()
	path := libtorchtest.Library(t, "oplib", oplib, "oplib.cpp")
	must.Do(t, libtorch.LoadLibrary(path))
	return path
}

func callOnce(name string) {
	x, err := libtorch.Make(libtorch.Spec{DType: libtorch.Float32, Sizes: []int64{2}})
	if err != nil {
		panic(err)
	}
	if err := libtorch.LoadLibrary(os.Getenv("OPLIB")); err != nil {
		panic(err)
	}
	op, err := libtorch.Lookup(name)
	if err != nil {
		panic(err)
	}
	fmt.Println("calling", name)
	var out libtorch.Outcome
	fmt.Println(op.Call(asserts.Identity, &out, x.Value()))
}

func oplibOp(t testing.TB, name string) *libtorch.Op {
	t.Helper()
	loadOplib(t)
	return lookup(t, "oplib::"+name)
}

func lookup(t testing.TB, name string) *libtorch.Op {
	t.Helper()
	return must.Get(libtorch.Lookup(name))(t)
}

func tensor(t testing.TB, spec libtorch.Spec) libtorch.Tensor {
	t.Helper()
	x := must.Get(libtorch.Make(spec))(t)
	t.Cleanup(func() { x.Release() })
	return x
}

// planned returns the op with every check that its schema calls for.
func planned(t testing.TB, op *libtorch.Op) *asserts.Op {
	t.Helper()
	text := op.Schema
	if op.Namespace == "aten" {
		text = "aten::" + text
	}
	parsed := must.Get(schema.ParseDispatcher(text))(t)
	parsed.CompositeImplicit = op.Composite && op.Namespace == "aten"
	return libtorchtest.Planned(t, parsed)
}

// floats makes a matrix of n rows without zeros.
func floats(t testing.TB, rows int64) libtorch.Value {
	return tensor(t, libtorch.Spec{DType: libtorch.Float32, Sizes: []int64{rows, 2}, Low: 1, High: 2}).Value()
}

type opCase struct {
	op   string
	args []libtorch.Value
	want []string // code, subject, the place that it is compared with
}

func opCases(t testing.TB) []opCase {
	half := libtorch.Float(0.5)
	transposed := tensor(t, libtorch.Spec{DType: libtorch.Float32, Sizes: []int64{2, 3}, Strides: []int64{1, 2}}).Value()
	sparse := tensor(t, libtorch.Spec{DType: libtorch.Float32, Sizes: []int64{2, 3}, Form: libtorch.COO, Low: 1, High: 2, Seed: 3}).Value()
	sliced := func() libtorch.Value {
		return tensor(t, libtorch.Spec{DType: libtorch.Float32, Sizes: []int64{3}, Strides: []int64{2}, Offset: 1, Low: 1, High: 2}).Value()
	}
	vector := func(offset int64) libtorch.Value {
		return tensor(t, libtorch.Spec{DType: libtorch.Float32, Sizes: []int64{4}, Strides: []int64{1}, Offset: offset, Low: 1, High: 2}).Value()
	}
	images := func(channels int64) libtorch.Value {
		return tensor(t, libtorch.Spec{DType: libtorch.Float32, Sizes: []int64{4, channels, 3, 3}, Low: 1, High: 2}).Value()
	}
	sparseOther := tensor(t, libtorch.Spec{DType: libtorch.Float32, Sizes: []int64{2, 3}, Form: libtorch.COO, Low: 1, High: 2, Seed: 4}).Value()
	x := func() libtorch.Value { return floats(t, 3) }
	doubles := tensor(t, libtorch.Spec{DType: libtorch.Float64, Sizes: []int64{3, 2}, Low: 1, High: 2}).Value()
	list := func() libtorch.Value { return libtorch.Tensors(x().Tensor, x().Tensor) }
	of := map[string]func() libtorch.Value{"": x, "slice": sliced, "vector": func() libtorch.Value { return vector(0) }}
	return append(actCases(t, of), []opCase{
		{"scale", []libtorch.Value{x(), half}, nil},
		{"scale_", []libtorch.Value{x(), half}, nil},
		{"scale.out", []libtorch.Value{x(), half, x()}, nil},
		{"scale.out", []libtorch.Value{x(), half, floats(t, 0)}, nil},
		{"first", []libtorch.Value{x()}, nil},
		{"rows", []libtorch.Value{x()}, nil},
		{"sum_and_size", []libtorch.Value{list()}, nil},

		{"scale_fast", []libtorch.Value{x(), half}, nil},
		{"scale_fast", []libtorch.Value{x()}, []string{"OA007 result self"}},
		{"row", []libtorch.Value{x(), libtorch.Int(1)}, []string{"OA007 result self"}},
		{"sparse_scale", []libtorch.Value{sparse, half}, []string{"OA007 result.parts.indices self.parts.indices"}},
		{"flat", []libtorch.Value{x()}, nil},
		{"flat", []libtorch.Value{transposed}, []string{"OA004 result self"}},
		{"chunks", []libtorch.Value{x(), libtorch.Int(3)}, nil},
		{"chunks", []libtorch.Value{x(), libtorch.Int(2)}, []string{"OA004 result self"}},
		{"sin_cos", []libtorch.Value{x()}, []string{"OA008 result1 result0"}},
		{"windows", []libtorch.Value{floats(t, 2)}, nil},
		{"windows", []libtorch.Value{x()}, []string{"OA008 result result"}},
		{"total", []libtorch.Value{list()}, []string{"OA001 tensors", "OA001 tensors"}},
		{"pick", []libtorch.Value{x(), libtorch.List(x(), libtorch.None())}, []string{"OA001 indices"}},
		{"pick", []libtorch.Value{x(), libtorch.List(libtorch.None())}, nil},
		{"pad_list", []libtorch.Value{libtorch.Tensors(x().Tensor), list()}, []string{"OA001 tensors"}},
		{"pad_list", []libtorch.Value{list(), libtorch.Tensors(x().Tensor)}, nil},
		{"accumulate", []libtorch.Value{x(), x()}, []string{"OA009 buffer"}},
		{"as_column", []libtorch.Value{x()}, []string{"OA009 self"}},
		{"train", []libtorch.Value{x()}, []string{"OA009 self"}},
		{"flip_sign", []libtorch.Value{x()}, []string{"OA009 self"}},
		{"touch", []libtorch.Value{x()}, []string{"OA009 self"}},
		{"double_", []libtorch.Value{x()}, []string{"OA009 self"}},
		{"negate_", []libtorch.Value{x()}, []string{"OA006 result self"}},
		{"grow_", []libtorch.Value{x()}, []string{"OA006 result self"}},
		{"replace_", []libtorch.Value{x(), x()}, []string{"OA002 self"}},
		{"replace_", []libtorch.Value{x(), floats(t, 1)}, []string{"OA002 self"}},
		{"replace_", []libtorch.Value{doubles, x()}, []string{"OA002 self", "OA017 result"}},
		{"stretch.out", []libtorch.Value{x(), x()}, nil},
		{"stretch.out", []libtorch.Value{x(), floats(t, 1)}, []string{"OA006 result out"}},
		{"ones_into.out", []libtorch.Value{x(), x()}, []string{"OA010 out"}},
		{"ones_into.out", []libtorch.Value{x(), floats(t, 0)}, []string{"OA010 out"}},
		{"ones_into.out", []libtorch.Value{floats(t, 1<<15), floats(t, 1<<15)}, []string{"OA010 out"}},
		{"ones_into.out", []libtorch.Value{floats(t, 1<<15), floats(t, 1<<14)}, []string{"OA010 out"}},
		{"own_memory", []libtorch.Value{x()}, nil},
		{"adopt_", []libtorch.Value{sparse, sparseOther}, []string{"OA007 result.parts.values other.parts.values"}},
		{"sorted", []libtorch.Value{list()}, []string{"OA007 result tensors", "OA007 result tensors"}},
		{"raw_view", []libtorch.Value{x()}, []string{"OA007 result self"}},
		{"raw_view", []libtorch.Value{floats(t, 0)}, nil},
		{"two_views", []libtorch.Value{x()}, []string{"OA008 result1 result0"}},
		{"negate_all_", []libtorch.Value{list()}, []string{"OA006 result self", "OA006 result self"}},
		{"memo_count", []libtorch.Value{x()}, []string{"OA005 result"}},
		{"set_grad", []libtorch.Value{x()}, []string{"OA009 self"}},
		{"as_number", []libtorch.Value{tensor(t, libtorch.Spec{DType: libtorch.Float32}).Value()}, []string{"OA009 self"}},
		{"relocate", []libtorch.Value{x()}, []string{"OA009 self"}},
		{"relocate", []libtorch.Value{floats(t, 0)}, nil},
		{"mark_coalesced", []libtorch.Value{sparse}, []string{"OA009 self"}},
		{"write_rows.out", []libtorch.Value{x(), x()}, nil},
		{"write_rows.out", []libtorch.Value{sliced(), sliced()}, []string{"OA015 out"}},
		{"clone_twice", []libtorch.Value{x()}, []string{"OA008 result1 result0"}},
		{"clone_of", []libtorch.Value{x()}, []string{"OA007 result self"}},
		{"default_list", []libtorch.Value{x(), list()}, nil},
		{"default_list", []libtorch.Value{x(), libtorch.Tensors()}, []string{"OA001 tensors"}},
		{"grouped_conv2d", []libtorch.Value{images(2), images(2), vector(0), libtorch.Int(1)}, nil},
		{"grouped_conv2d", []libtorch.Value{images(4), images(2), vector(0), libtorch.Int(2)}, []string{"OA009 bias"}},
		{"split_even", []libtorch.Value{x()}, []string{"OA011 result"}},
		{"pad_even", []libtorch.Value{floats(t, 2)}, nil},
		{"pad_even", []libtorch.Value{x()}, []string{"OA011 result"}},
		{"scale_once", []libtorch.Value{x(), libtorch.Bool(true)}, nil},
		{"scale_once", []libtorch.Value{x(), libtorch.Bool(false)}, []string{"OA007 result self"}},
		{"oversteps_", []libtorch.Value{x()}, nil},
		{"overreaches", []libtorch.Value{x()}, nil},
		{"in_buffer", []libtorch.Value{floats(t, 0)}, nil},
		{"retains_given", []libtorch.Value{x()}, nil},
	}...)
}

// actCases calls each act of oplib at each of its places, and a healthy twin with the same
// arguments, with the tensor that shows it.
func actCases(t testing.TB, of map[string]func() libtorch.Value) []opCase {
	var cases []opCase
	for _, e := range libtorchtest.Expectations(t, oplib) {
		if e.Act == "" {
			continue
		}
		tensor := of[e.Of]
		args := func() []libtorch.Value {
			switch {
			case strings.HasSuffix(e.Op, "_given"):
				return []libtorch.Value{floats(t, 3), tensor()}
			case e.Placed != "returned" && strings.Contains(e.Op, "_list"):
				return []libtorch.Value{libtorch.Tensors(tensor().Tensor)}
			}
			return []libtorch.Value{tensor()}
		}
		cases = append(cases, opCase{e.Op, args(), []string{e.Code + " " + e.On}}, opCase{e.Twin, args(), nil})
	}
	return cases
}

// Every broken op is reported for the right checks, and no other op is.
func TestOplib(t *testing.T) {
	libtorchtest.Need(t)
	for i, c := range opCases(t) {
		t.Run(fmt.Sprintf("%d_%s", i, c.op), func(t *testing.T) {
			op := oplibOp(t, c.op)
			if diff := cmp.Diff(c.want, judged(t, op, c.args)); diff != "" {
				t.Errorf("%v: violations (-want +got):\n%s", c.args, diff)
			}
		})
	}
}

// judged calls an op on the CPU, and on meta if it can run there, and returns the violations.
func judged(t *testing.T, op *libtorch.Op, args []libtorch.Value) []string {
	t.Helper()
	checks := planned(t, op)
	must.Do(t, checks.Validate())
	twins, twinsErr := onMeta(t, args)
	var out, meta libtorch.Outcome
	earlier := earlierOf(t, op, args)
	must.Do(t, op.Call(asserts.Content, &out, args...))
	defer out.Release()
	out.Seen.Alone, out.Seen.Earlier = true, earlier()
	violations := asserts.Judge(checks, &out.Seen, asserts.Aware()).Violations
	if op.Meta && twinsErr == nil && slices.Contains(op.Kernels, "Meta") {
		must.Do(t, op.Call(asserts.Content, &meta, twins...))
		defer meta.Release()
		violations = append(violations, compare.Twins(checks, &out.Seen, &meta.Seen, "meta", asserts.Aware()).Violations...)
	}
	var got []string
	for _, v := range violations {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%v %s %s", v.Code, nameOf(v.Subject), nameOf(v.Against))))
	}
	return got
}

// earlierOf makes a first call of an op that fills a buffer, and returns a function that observes
// its results again.
func earlierOf(t *testing.T, op *libtorch.Op, args []libtorch.Value) func() []asserts.Earlier {
	if !strings.Contains(op.Name, "buffer") {
		return func() []asserts.Earlier { return nil }
	}
	var first libtorch.Outcome
	must.Do(t, op.Call(asserts.Content, &first, args...))
	t.Cleanup(func() { first.Release() })
	results := first.Results[0].Tensors
	if first.Results[0].Kind == libtorch.KindTensor {
		results = []libtorch.Tensor{first.Results[0].Tensor}
	}
	look := func() (seen []asserts.Observation) {
		for _, r := range results {
			seen = append(seen, asserts.Observe(r, asserts.Content))
		}
		return seen
	}
	then := look()
	return func() (all []asserts.Earlier) {
		for i, now := range look() {
			all = append(all, asserts.Earlier{Then: then[i], Now: now})
		}
		return all
	}
}

// Calls through autograd distinguish ops whose results autograd loses from correct ones, and judge
// nothing else.
func TestAutogradKernels(t *testing.T) {
	libtorchtest.Need(t)
	must.Do(t, libtorch.LoadLibrary(libtorchtest.Library(t, "autograd", oplib, "autograd.cpp")))
	plain := libtorch.Spec{DType: libtorch.Float32, Sizes: []int64{2}}
	spec := func(change func(*libtorch.Spec)) libtorch.Value {
		s := plain
		change(&s)
		return tensor(t, s).Value()
	}
	grad := func() libtorch.Value { return spec(func(s *libtorch.Spec) { s.Form = libtorch.RequiresGrad }) }
	whole := spec(func(s *libtorch.Spec) { s.DType = libtorch.Int64 })
	const (
		none   = "an argument requires grad, result does not, and the op has no kernel for autograd"
		called = "result requires grad through the ops that a backend's kernel calls: the op has no kernel for autograd"
		dtype  = "a tensor of its dtype can't require grad"
		meant  = "the op's kernel for autograd, or its decomposition, has no gradient"
	)
	in := func(place, saw string) string { return strings.Replace(saw, "result", place, 1) }
	type args []libtorch.Value
	for _, c := range []struct {
		op   string
		args args
		want []string // the evidence
		skip string
	}{
		{"ungraded::twice", args{grad()}, []string{none}, ""},
		{"ungraded::calls_autograd", args{grad()}, []string{called}, ""},
		{"ungraded::all", args{libtorch.Tensors(tensor(t, plain), grad().Tensor)}, []string{in("result[0]", none), in("result[1]", none)}, ""},
		{"ungraded::bias", args{whole, grad()}, []string{none}, ""},
		{"ungraded::bias", args{whole}, nil, "no argument requires grad"},
		{"ungraded::sorted", args{grad()}, []string{in("result values", none)}, dtype},
		{"ungraded::flat", args{grad()}, []string{none}, ""},
		{"ungraded::scale_", args{tensor(t, plain).Value(), grad()}, []string{none}, ""},
		{"ungraded::twice.out", args{grad(), tensor(t, plain).Value()}, []string{none}, ""},
		{"ungraded::twice.out", args{grad(), grad()}, nil, "the argument that is written required grad before the call"},
		{"ungraded::leaf", args{grad()}, []string{"result is a leaf that requires grad: its history does not lead to the argument that requires grad"}, ""},
		{"ungraded::forgets", args{grad()}, nil, meant},
		{"ungraded::twice", args{tensor(t, plain).Value()}, nil, "no argument requires grad"},
		{"ungraded::twice", args{whole}, nil, dtype},
		{"graded::twice", args{grad()}, nil, ""},
		{"graded::of_backend", args{grad()}, nil, ""},
		{"graded::no_gradient", args{grad()}, nil, ""},
		{"graded::with_sign", args{grad()}, nil, meant},
		{"graded::flat", args{grad()}, nil, ""},
		{"graded::whole_parts", args{libtorch.Tensors(grad().Tensor)}, nil, dtype},
		{"graded::zeros", args{libtorch.Int(2)}, nil, "no argument requires grad"},
		{"graded::composite", args{grad()}, nil, ""},
		{"graded::rank", args{grad()}, nil, dtype},
		{"graded::of_whole", args{whole}, nil, "no argument requires grad"},
		{"graded::zero_", args{tensor(t, plain).Value()}, nil, "no argument requires grad"},
	} {
		op := lookup(t, c.op)
		checks := planned(t, op)
		checks.Autograd = op.Autograd
		out := libtorch.Outcome{Autograd: true}
		must.Do(t, op.Call(asserts.Content, &out, c.args...))
		verdict := asserts.Judge(checks, &out.Seen, asserts.Aware())
		var got []string
		for _, v := range verdict.Violations {
			if v.Code != asserts.AutogradKernel {
				t.Errorf("%s: %v", c.op, v)
			}
			got = append(got, v.Saw)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.op, diff)
		}
		if skipped := len(verdict.Skips) > 0; skipped != (c.skip != "") || skipped && verdict.Skips[0].Reason != c.skip {
			t.Errorf("%s: skips %v, want %q", c.op, verdict.Skips, c.skip)
		}
		out.Release()
	}
}

// An op that only has a kernel for autograd is called there, and judged like others.
func TestAutogradAlone(t *testing.T) {
	libtorchtest.Need(t)
	must.Do(t, libtorch.LoadLibrary(libtorchtest.Library(t, "autograd", oplib, "autograd.cpp")))
	op := lookup(t, "graded::alone")
	self := tensor(t, libtorch.Spec{DType: libtorch.Float32, Sizes: []int64{2}})
	if got := judged(t, op, []libtorch.Value{self.Value()}); !slices.Equal(got, []string{"OA009 self"}) {
		t.Errorf("%s: %q, want its write of self", op.Name, got)
	}
}

// onMeta returns the arguments with meta twins of their tensors.
func onMeta(t *testing.T, args []libtorch.Value) ([]libtorch.Value, error) {
	var all []libtorch.Tensor
	for _, v := range args {
		all = append(all, v.Tensors...)
		if v.Kind == libtorch.KindTensor {
			all = append(all, v.Tensor)
		}
	}
	twins, err := libtorch.MetaTwins(all...)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { libtorch.ReleaseAll(twins...) })
	args = slices.Clone(args)
	for i := range args {
		n := len(args[i].Tensors)
		if args[i].Kind == libtorch.KindTensor {
			args[i], twins = twins[0].Value(), twins[1:]
		} else if n > 0 {
			args[i], twins = libtorch.Tensors(twins[:n]...), twins[n:]
		}
	}
	return args, nil
}

func TestLoadLibrary(t *testing.T) {
	libtorchtest.Need(t)
	if err := libtorch.LoadLibrary("no/such.so"); err == nil || !strings.Contains(err.Error(), "no/such.so") {
		t.Errorf("a library that does not exist gave %v", err)
	}
	add := lookup(t, "aten::add.Tensor")
	scale := oplibOp(t, "scale")
	if err := libtorch.LoadLibrary(loadOplib(t)); err != nil {
		t.Errorf("loading a library again gave %v", err)
	}
	if lookup(t, "aten::add.Tensor") != add || lookup(t, "oplib::scale") != scale {
		t.Error("listing anew made other Ops of those that were there")
	}
}

// nameOf names a place as in expect.yaml: elements by name, not by number.
func nameOf(p asserts.Place) string {
	if p.Called != "" {
		return p.Name + "." + p.Called
	}
	return p.Name
}

// expect.yaml, which other tests read, agrees with the table above.
func TestOplibExpectations(t *testing.T) {
	libtorchtest.Need(t)
	want := make(map[string]bool)
	for _, c := range opCases(t) {
		for _, w := range c.want {
			want[c.op+" "+w] = true
		}
	}
	want["double_ OA012 self"] = true // only the schema
	want["sized OA011 result"] = true // only many calls
	got := make(map[string]bool)
	for _, e := range libtorchtest.Expectations(t, oplib) {
		if e.Code != "" {
			got[strings.TrimSpace(e.Op+" "+e.Code+" "+e.On+" "+e.Against)] = true
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("expect.yaml (-the test's table +the file):\n%s", diff)
	}
}

func TestThrows(t *testing.T) {
	libtorchtest.Need(t)
	x := floats(t, 1)
	for _, tt := range []struct{ op, want string }{
		{"complain", "oplib::complain: complain: there is always something"},
		{"complain_oddly", "oplib::complain_oddly: an exception that is not a std::exception"},
	} {
		var out libtorch.Outcome
		err := oplibOp(t, tt.op).Call(asserts.Identity, &out, x)
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s gave %v, want %s", tt.op, err, tt.want)
		}
	}
}

// A kernel's effects on its process are visible from outside.
func TestDeadly(t *testing.T) {
	libtorchtest.Need(t)
	path := loadOplib(t)
	run := func(op string) *exec.Cmd {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "OPLIB_RUN="+op, "OPLIB="+path)
		return cmd
	}
	out, err := run("oplib::crash").CombinedOutput()
	// Go's runtime reports the signal, unless a library has installed a handler.
	if err == nil || !strings.Contains(string(out)+err.Error(), "SIGSEGV") && !strings.Contains(err.Error(), "segmentation fault") {
		t.Errorf("crash ended with %v:\n%s", err, out)
	}
	hang := run("oplib::hang")
	stdout := must.Get(hang.StdoutPipe())(t)
	must.Do(t, hang.Start())
	buf := make([]byte, 64)
	if _, err := stdout.Read(buf); err != nil { // the call follows
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- hang.Wait() }()
	select {
	case err := <-ended:
		t.Errorf("hang came back: %v", err)
	case <-time.After(200 * time.Millisecond):
		hang.Process.Kill()
		<-ended
	}
}

// For a conj, neg or zero tensor in a list the dispatcher may have replaced it: OA001 is a skip
// there, and judged for other tensors.
func TestLazyElements(t *testing.T) {
	libtorchtest.Need(t)
	op := oplibOp(t, "sum_and_size")
	var out libtorch.Outcome
	lazy := tensor(t, libtorch.Spec{DType: libtorch.Complex64, Sizes: []int64{2}, Form: libtorch.Conj})
	must.Do(t, op.Call(asserts.Identity, &out, libtorch.Tensors(lazy, floats(t, 1).Tensor)))
	defer out.Release()
	verdict := asserts.Judge(planned(t, op), &out.Seen, asserts.Aware())
	if len(verdict.Violations) > 0 || verdict.Judged[asserts.InputImpl] != 1 || len(verdict.Skips) != 1 || verdict.Skips[0].Code != asserts.InputImpl {
		t.Errorf("%v; judged %d, skips %v", verdict.Violations, verdict.Judged[asserts.InputImpl], verdict.Skips)
	}
}
