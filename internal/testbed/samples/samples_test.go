package samples

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/testbed/c10"
	"github.com/opassert/opassert/internal/testbed/gentest"
	"github.com/opassert/opassert/internal/testbed/internal/watch"
)

// kernelOf are the library's kernels by op.
var kernelOf = func() map[string]asserts.Kernel {
	kernels := map[string]asserts.Kernel{}
	for _, k := range gentest.Kernels {
		kernels[strings.TrimPrefix(k.Op.Name, "aten::")] = k
	}
	return kernels
}()

func TestEveryOpHasSamples(t *testing.T) {
	sampled := map[string]bool{}
	names := map[string]bool{}
	for _, s := range All() {
		sampled[s.Op] = true
		if names[s.Op+"/"+s.Name] {
			t.Errorf("%s/%s is there twice", s.Op, s.Name)
		}
		names[s.Op+"/"+s.Name] = true
	}
	for op := range kernelOf {
		if !sampled[op] {
			t.Errorf("%s has no samples", op)
		}
	}
	if len(sampled) != len(kernelOf) || len(kernelOf) < 38 {
		t.Errorf("samples of %d ops, %d kernels", len(sampled), len(kernelOf))
	}
}

func TestSamplesAreDeterministic(t *testing.T) {
	for _, s := range All() {
		if a, b := describe(s.Args()), describe(s.Args()); a != b {
			t.Errorf("%s/%s: %s, then %s", s.Op, s.Name, a, b)
		}
	}
}

// describe prints arguments without their identities.
func describe(args []any) string {
	var b strings.Builder
	for _, arg := range args {
		if _, isContext := arg.(context.Context); isContext {
			continue
		}
		if _, isGenerator := arg.(*c10.Generator); isGenerator {
			continue
		}
		ts, holds := watch.Tensors(arg)
		if !holds {
			fmt.Fprintf(&b, "%v;", reflect.Indirect(reflect.ValueOf(arg)))
		}
		for _, x := range ts {
			describeOne(&b, asserts.Observe(x, asserts.Content))
		}
	}
	return b.String()
}

func describeOne(b *strings.Builder, o asserts.Observation) {
	fmt.Fprintf(b, "%d %d %b", o.ImplUses, o.StorageUses, o.Traits)
	if o.Content == nil {
		return
	}
	content := *o.Content
	content.Memory = 0
	content.Parts = nil
	fmt.Fprintf(b, "%+v;", content)
	for _, p := range o.Content.Parts {
		describeOne(b, p.Observation)
	}
}

// A subject is a tensor of a call, with its subject in the schema.
type subject struct {
	asserts.Subject
	t     *c10.Tensor
	then  asserts.Observation
	valid bool
}

// subjects pairs the tensors among values with the schema's subjects.
func subjects(t *testing.T, values []reflect.Value, of []asserts.Subject) []subject {
	t.Helper()
	var found []subject
	n := 0
	for _, v := range values {
		ts, holds := watch.Tensors(v.Interface())
		if !holds {
			continue
		}
		if n == len(of) {
			t.Fatalf("more tensors than %v", of)
		}
		for _, x := range ts {
			found = append(found, subject{Subject: of[n], t: x, then: asserts.Observe(x, asserts.Content), valid: x != nil})
		}
		n++
	}
	if n != len(of) {
		t.Fatalf("%d values with tensors for %v", n, of)
	}
	return found
}

var errorType = reflect.TypeFor[error]()

// TestKernelsKeepTheirPromises calls every kernel with every sample, and compares the
// effects with the schema. It does not use the judge, so that engine and kernels are
// tested independently of it.
func TestKernelsKeepTheirPromises(t *testing.T) {
	calls := 0
	for _, s := range All() {
		t.Run(s.Op+"/"+s.Name, func(t *testing.T) {
			callKernel(t, s, kernelOf[s.Op])
		})
		calls++
	}
	if calls < 1180 {
		t.Errorf("only %d calls", calls)
	}
}

func callKernel(t *testing.T, s Sample, k asserts.Kernel) {
	kernel := reflect.ValueOf(k.Func)
	var in []reflect.Value
	for i, arg := range s.Args() {
		v := reflect.New(kernel.Type().In(i)).Elem()
		v.Set(reflect.ValueOf(arg))
		in = append(in, v)
	}
	args := subjects(t, in, k.Op.Args)
	out := kernel.Call(in)
	if n := len(out); n > 0 && out[n-1].Type() == errorType {
		err, _ := out[n-1].Interface().(error)
		if refused := strings.HasPrefix(s.Name, "refused"); refused != (err != nil) {
			t.Fatalf("error %v", err)
		}
		out = out[:n-1]
		if err != nil {
			checkArgs(t, args)
			return
		}
	}
	results := subjects(t, out, k.Op.Results)
	checkArgs(t, args)
	for _, r := range results {
		checkResult(t, s, k.Op, r, args)
	}
	checkLeaks(t, s, args, results)
}

// checkArgs compares arguments with their state before the call: the TensorImpl is
// the same, an argument that is not written has the same bytes, one that changed a
// higher version.
func checkArgs(t *testing.T, args []subject) {
	for _, a := range args {
		now := asserts.Observe(a.t, asserts.Content)
		if now.Impl != a.then.Impl {
			t.Errorf("argument %d is another TensorImpl", a.Index)
		}
		if now.Content == nil || sharesWithWritten(a, args) {
			continue
		}
		changed := now.Content.Digest != a.then.Content.Digest
		switch {
		case !a.Write && (changed || !slices.Equal(now.Content.Sizes, a.then.Content.Sizes)):
			t.Errorf("argument %d was written", a.Index)
		case a.Write && changed && now.Version == a.then.Version && now.Traits&asserts.NoVersion == 0:
			t.Errorf("argument %d changed, and its version did not", a.Index)
		}
	}
}

func sharesWithWritten(a subject, args []subject) bool {
	return !a.Write && slices.ContainsFunc(args, func(w subject) bool {
		return w.Write && w.then.Storage == a.then.Storage
	})
}

// keepsArgument lists the ops that return their argument, or a view of it, by design.
var keepsArgument = []string{"lift", "contiguous", "dropout", "to.dtype"}

func checkResult(t *testing.T, s Sample, op *asserts.Op, r subject, args []subject) {
	switch {
	case r.Write:
		if !slices.ContainsFunc(args, func(a subject) bool { return a.Write && a.t == r.t }) {
			t.Errorf("result %d is not the handle of a written argument", r.Index)
		}
	case !r.valid:
		t.Errorf("result %d is undefined", r.Index)
	case slices.Contains(keepsArgument, s.Op):
	case r.then.ImplUses != 1:
		t.Errorf("result %d has %d references", r.Index, r.then.ImplUses)
	case r.Before != nil:
		if !sharesAny(r, args) && !strings.HasSuffix(s.Name, string(wrapper)) {
			t.Errorf("result %d is not a view of an argument", r.Index)
		}
	case r.then.Storage != 0 && r.then.StorageUses != 1:
		t.Errorf("result %d has a storage with %d references", r.Index, r.then.StorageUses)
	}
}

func sharesAny(r subject, args []subject) bool {
	return slices.ContainsFunc(args, func(a subject) bool {
		switch {
		case a.t.Layout() == c10.Strided:
			return a.then.Storage == r.then.Storage
		case a.t.Layout() == c10.SparseCOO:
			return a.t.Values().SharesStorage(r.t) || a.t.Indices().SharesStorage(r.t)
		default:
			return a.t.Values().SharesStorage(r.t) || a.t.CrowIndices().SharesStorage(r.t)
		}
	})
}

// checkLeaks releases the results, and checks that the arguments have as many
// references as before.
func checkLeaks(t *testing.T, s Sample, args, results []subject) {
	for _, r := range results {
		if !r.Write {
			r.t.Release()
		}
	}
	if strings.HasPrefix(s.Op, "set_") {
		return
	}
	for _, a := range args {
		now := asserts.Observe(a.t, asserts.Identity)
		if now.ImplUses != a.then.ImplUses || now.StorageUses != a.then.StorageUses {
			t.Errorf("argument %d has %d and %d references, had %d and %d", a.Index,
				now.ImplUses, now.StorageUses, a.then.ImplUses, a.then.StorageUses)
		}
	}
}

// Variants of tensors with equal values give equal results.
func TestSortsAgree(t *testing.T) {
	values := map[string]string{}
	for _, s := range All() {
		name, kind, _ := strings.Cut(s.Name, "/")
		if kind == string(meta) || kind == string(expanded) || strings.HasPrefix(name, "refused") || s.Op == "native_dropout" || s.Op == "dropout" {
			continue
		}
		if s.Op == "resize_" {
			continue // its results depend on the storage
		}
		got := valuesOf(t, s)
		key := s.Op + "/" + name
		if want, seen := values[key]; seen && want != got {
			t.Errorf("%s/%s: %s, plain %s", s.Op, s.Name, got, want)
		} else if !seen {
			values[key] = got
		}
	}
}

// valuesOf calls a kernel and prints its results and its arguments.
func valuesOf(t *testing.T, s Sample) string {
	args := s.Args()
	printed := watch.Call(kernelOf[s.Op].Func, args, asserts.Off).Results
	for _, arg := range args {
		ts, _ := watch.Tensors(arg)
		printed = append(printed, ts...)
	}
	var b strings.Builder
	for _, x := range printed {
		if x != nil && x.Layout() == c10.Strided && x.DType() != c10.Complex64 {
			fmt.Fprintf(&b, "%v:", x.Sizes())
			for i := range x.Numel() {
				fmt.Fprintf(&b, " %v", math.Float32bits(float32(x.Float(i))))
			}
			b.WriteString(";")
		}
	}
	return b.String()
}

// The judge finds nothing in any sample, and judges each check on some.
func TestJudgeIsSilent(t *testing.T) {
	var judged asserts.Counts
	for _, s := range All() {
		k := kernelOf[s.Op]
		record := watch.Call(k.Func, s.Args(), asserts.Content)
		if err := fits(record, k.Op); err != nil {
			t.Fatalf("%s/%s: %v", s.Op, s.Name, err)
		}
		record.Seen.Alone = true
		verdict := asserts.Judge(k.Op, record.Seen, asserts.Aware())
		for _, v := range verdict.Violations {
			t.Errorf("%s/%s:\n%v", s.Op, s.Name, v)
		}
		for code, n := range verdict.Judged {
			judged[code] += n
		}
	}
	for code := range asserts.AllCodes.All() {
		if code.OnCall() && code != asserts.AutogradKernel && judged[code] < 100 { // there is no autograd here
			t.Errorf("%v was judged %d times", code, judged[code])
		}
	}
}

// fits returns what is wrong with the number of subjects in a record, "" if the op
// can judge it.
func fits(r watch.CallRecord, op *asserts.Op) error {
	if args, want := len(r.Seen.ArgLens), len(op.Args); args != want {
		return fmt.Errorf("%d arguments with tensors, the schema has %d", args, want)
	}
	if results, want := len(r.Seen.ResultLens), len(op.Results); r.Err == nil && results != want {
		return fmt.Errorf("%d returns with tensors, the schema has %d", results, want)
	}
	return nil
}

// A call on meta returns the sizes, strides, types and aliases of the call on CPU.
func TestMetaAgrees(t *testing.T) {
	onCPU := map[string]string{}
	compared := 0
	for _, s := range All() {
		name, kind, _ := strings.Cut(s.Name, "/")
		if kind != string(plain) && kind != string(meta) || strings.HasPrefix(name, "refused") {
			continue
		}
		key, got := s.Op+"/"+name, shapeOf(s)
		switch want, seen := onCPU[key]; {
		case !seen:
			onCPU[key] = got
		case want != got:
			t.Errorf("%s: %s on meta, %s on CPU", key, got, want)
		default:
			compared++
		}
	}
	if compared < 129 {
		t.Errorf("only %d calls compared", compared)
	}
}

// shapeOf calls a kernel and prints the metadata of its results and arguments,
// and which of them share a storage.
func shapeOf(s Sample) string {
	record := watch.Call(kernelOf[s.Op].Func, s.Args(), asserts.Content)
	number := map[asserts.ID]int{}
	var b strings.Builder
	for _, o := range slices.Concat(record.Seen.Before, record.Seen.After, record.Seen.Results) {
		for _, id := range []asserts.ID{o.Impl, o.Storage} {
			if _, seen := number[id]; !seen {
				number[id] = len(number)
			}
		}
		fmt.Fprintf(&b, "%d on %d", number[o.Impl], number[o.Storage])
		if c := o.Content; c != nil {
			fmt.Fprintf(&b, " %s %v %v %d", c.DType, c.Sizes, c.Strides, c.Offset)
		}
		b.WriteString("; ")
	}
	return b.String()
}
