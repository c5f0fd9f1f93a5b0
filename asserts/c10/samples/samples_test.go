package samples

import (
	"context"
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/allowlist"
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/c10"
	"github.com/opassert/opassert/asserts/c10/internal/watch"
	"github.com/opassert/opassert/gen/plan"
	"github.com/opassert/opassert/schema"
)

const kernelsDir = "../kernels"

// marks reads which function is marked as the kernel of which op.
func marks(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(kernelsDir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no kernels: %v", err)
	}
	marked := map[string]string{}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parser.ParseFile(token.NewFileSet(), file, src, 0); err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^//opassert:kernel (\S+)\nfunc (\w+)\(`).FindAllStringSubmatch(string(src), -1) {
			marked[m[1]] = m[2]
		}
	}
	return marked
}

// schemas reads the schema of each op, and whether the op is composite.
func schemas(t *testing.T) map[string]schemaText {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(kernelsDir, "ops.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]schemaText{}
	for _, entry := range strings.Split(string(src), "- func: ")[1:] {
		line, rest, _ := strings.Cut(entry, "\n")
		name, _, _ := strings.Cut(line, "(")
		found[name] = schemaText{line, !strings.Contains(rest, "dispatch:")}
	}
	return found
}

type schemaText struct {
	text      string
	composite bool
}

var annotation = regexp.MustCompile(`Tensor\??(\([^)]*\))?(\?|\[\])*`)

// results gives the tensor types that the schema returns.
func (s schemaText) results() []string {
	_, returns, _ := strings.Cut(s.text, ") -> ")
	return annotation.FindAllString(returns, -1)
}

// args gives the tensor types that the schema takes.
func (s schemaText) args() []string {
	args, _, _ := strings.Cut(s.text, ") -> ")
	_, args, _ = strings.Cut(args, "(")
	return annotation.FindAllString(args, -1)
}

func TestTableIsWhatTheMarksSay(t *testing.T) {
	marked, schemas := marks(t), schemas(t)
	for op, fn := range marked {
		kernel, ok := kernelOf[op]
		if !ok {
			t.Errorf("%s has no entry", op)
			continue
		}
		name := runtime.FuncForPC(reflect.ValueOf(kernel).Pointer()).Name()
		if !strings.HasSuffix(name, "."+fn) {
			t.Errorf("%s is %s, marked is %s", op, name, fn)
		}
	}
	for op := range kernelOf {
		if _, ok := marked[op]; !ok {
			t.Errorf("%s is not marked", op)
		}
	}
	for _, op := range slices.Sorted(maps.Keys(schemas)) {
		if _, ok := marked[op]; !ok {
			t.Errorf("%s has a schema and no kernel", op)
		}
	}
	if len(schemas) != len(marked) || len(marked) < 85 {
		t.Errorf("%d schemas, %d kernels", len(schemas), len(marked))
	}
}

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
	if len(sampled) != len(kernelOf) {
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
			o := asserts.Observe(x, asserts.Content)
			fmt.Fprintf(&b, "%d %d %b", o.ImplUses, o.StorageUses, o.Traits)
			if o.Content != nil {
				fmt.Fprintf(&b, "%+v;", *o.Content)
			}
		}
	}
	return b.String()
}

// A subject is a tensor of a call, with the schema's type of what it is in.
type subject struct {
	t     *c10.Tensor
	typ   string
	of    int // the number of the argument or result
	then  asserts.Observation
	valid bool
}

func (s subject) written() bool { return strings.Contains(s.typ, "!") }

// subjects pairs the tensors among values with the types of the schema.
func subjects(t *testing.T, values []reflect.Value, types []string) []subject {
	t.Helper()
	var found []subject
	n := 0
	for _, v := range values {
		ts, holds := watch.Tensors(v.Interface())
		if !holds {
			continue
		}
		if n == len(types) {
			t.Fatalf("more tensors than %v", types)
		}
		for _, x := range ts {
			found = append(found, subject{t: x, typ: types[n], of: n, then: asserts.Observe(x, asserts.Content), valid: x != nil})
		}
		n++
	}
	if n != len(types) {
		t.Fatalf("%d values with tensors for %v", n, types)
	}
	return found
}

var errorType = reflect.TypeFor[error]()

// TestKernelsKeepTheirPromises calls every kernel with every sample, and holds
// what it did against the schema. This is not the judge, on purpose: the
// engine and the kernels must stand without it.
func TestKernelsKeepTheirPromises(t *testing.T) {
	schemas := schemas(t)
	calls := 0
	for _, s := range All() {
		t.Run(s.Op+"/"+s.Name, func(t *testing.T) {
			call(t, s, schemas[s.Op])
		})
		calls++
	}
	if calls < 2000 {
		t.Errorf("only %d calls", calls)
	}
}

func call(t *testing.T, s Sample, schema schemaText) {
	kernel := reflect.ValueOf(kernelOf[s.Op])
	var in []reflect.Value
	for i, arg := range s.Args() {
		v := reflect.New(kernel.Type().In(i)).Elem()
		v.Set(reflect.ValueOf(arg))
		in = append(in, v)
	}
	args := subjects(t, in, schema.args())
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
	results := subjects(t, out, schema.results())
	checkArgs(t, args)
	for _, r := range results {
		checkResult(t, s, schema, r, args)
	}
	checkLeaks(t, s, args, results)
}

// checkArgs holds arguments against what they were: the same TensorImpl; what
// is not written keeps its bytes; what changed has a higher version.
func checkArgs(t *testing.T, args []subject) {
	for _, a := range args {
		now := asserts.Observe(a.t, asserts.Content)
		if now.Impl != a.then.Impl {
			t.Errorf("argument %d is another TensorImpl", a.of)
		}
		if now.Content == nil || sharesWithWritten(a, args) {
			continue
		}
		changed := now.Content.Digest != a.then.Content.Digest
		switch {
		case !a.written() && (changed || !slices.Equal(now.Content.Sizes, a.then.Content.Sizes)):
			t.Errorf("argument %d was written", a.of)
		case a.written() && changed && now.Version == a.then.Version && now.Traits&asserts.NoVersion == 0:
			t.Errorf("argument %d changed, and its version did not", a.of)
		}
	}
}

func sharesWithWritten(a subject, args []subject) bool {
	return !a.written() && slices.ContainsFunc(args, func(w subject) bool {
		return w.written() && w.then.Storage == a.then.Storage
	})
}

// keepsArgument lists the ops whose result is their argument, by design.
var keepsArgument = []string{"lift"}

func checkResult(t *testing.T, s Sample, schema schemaText, r subject, args []subject) {
	switch {
	case r.written():
		if !slices.ContainsFunc(args, func(a subject) bool { return a.written() && a.t == r.t }) {
			t.Errorf("result %d is not the handle of a written argument", r.of)
		}
	case !r.valid:
		t.Errorf("result %d is undefined", r.of)
	case schema.composite || slices.Contains(keepsArgument, s.Op):
	case r.then.ImplUses != 1:
		t.Errorf("result %d has %d references", r.of, r.then.ImplUses)
	case strings.Contains(r.typ, "("):
		if !sharesAny(r, args) && !strings.HasSuffix(s.Name, string(wrapper)) {
			t.Errorf("result %d is no view of an argument", r.of)
		}
	case r.then.Storage != 0 && r.then.StorageUses != 1:
		t.Errorf("result %d has a storage with %d references", r.of, r.then.StorageUses)
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
			return a.t.Values().SharesStorage(r.t) || a.t.CrowIndices().SharesStorage(r.t) || a.t.ColIndices().SharesStorage(r.t)
		}
	})
}

// checkLeaks releases the results, and expects the arguments to have the
// references that they had.
func checkLeaks(t *testing.T, s Sample, args, results []subject) {
	for _, r := range results {
		if !r.written() {
			r.t.Release()
		}
	}
	if strings.HasPrefix(s.Op, "set_") {
		return
	}
	for _, a := range args {
		now := asserts.Observe(a.t, asserts.Identity)
		if now.ImplUses != a.then.ImplUses || now.StorageUses != a.then.StorageUses {
			t.Errorf("argument %d has %d and %d references, had %d and %d", a.of,
				now.ImplUses, now.StorageUses, a.then.ImplUses, a.then.StorageUses)
		}
	}
}

// A sort that changes no value must not change a result.
func TestSortsAgree(t *testing.T) {
	values := map[string]string{}
	for _, s := range All() {
		name, kind, _ := strings.Cut(s.Name, "/")
		if kind == string(meta) || kind == string(expanded) || strings.HasPrefix(name, "refused") || s.Op == "native_dropout" || s.Op == "dropout" {
			continue
		}
		if strings.HasPrefix(s.Op, "as_strided") || s.Op == "_reshape_alias" || strings.HasPrefix(s.Op, "resize_") {
			continue // they look at the storage, which differs
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
	printed := watch.Call(kernelOf[s.Op], args, asserts.Off).Results
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

// The judge finds nothing in any sample, and holds each check against some.
func TestJudgeIsSilent(t *testing.T) {
	file, err := schema.Load(filepath.Join(kernelsDir, "ops.yaml"), "")
	if err != nil {
		t.Fatal(err)
	}
	planner, err := plan.NewPlanner("full", nil, allowlist.Where{})
	if err != nil {
		t.Fatal(err)
	}
	planned := map[string]*asserts.Op{}
	for _, op := range file.Ops {
		made := planner.Plan(op).Asserts(asserts.Content)
		planned[op.Func.Name.String()] = &made
	}
	var judged asserts.Counts
	for _, s := range All() {
		record := watch.Call(kernelOf[s.Op], s.Args(), asserts.Content)
		if err := record.Fits(planned[s.Op]); err != nil {
			t.Fatalf("%s/%s: %v", s.Op, s.Name, err)
		}
		verdict := asserts.Judge(planned[s.Op], record.Seen, asserts.Aware())
		for _, v := range verdict.Violations {
			t.Errorf("%s/%s:\n%v", s.Op, s.Name, v)
		}
		for code, n := range verdict.Judged {
			judged[code] += n
		}
	}
	for code := range asserts.AllCodes.All() {
		if code.OnCall() && judged[code] < 100 {
			t.Errorf("%v was judged %d times", code, judged[code])
		}
	}
}

// A call on meta gives the sizes, strides, types and aliases of the call on CPU.
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
	if compared < 250 {
		t.Errorf("only %d calls compared", compared)
	}
}

// shapeOf calls a kernel and prints the metadata of its results and arguments,
// and which of them are on one storage.
func shapeOf(s Sample) string {
	record := watch.Call(kernelOf[s.Op], s.Args(), asserts.Content)
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
