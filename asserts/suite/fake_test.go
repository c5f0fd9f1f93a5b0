package suite

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/opassert/opassert/allowlist"
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/gen/plan"
	"github.com/opassert/opassert/internal/tensor"
	"github.com/opassert/opassert/schema"
)

// A fakeTensor is a minimal tensor with which promises can be broken.
type fakeTensor struct {
	impl *fakeImpl
}

type fakeImpl struct {
	id      asserts.ID
	storage *fakeStorage
	spec    engine.Dense
	device  string
	uses    int32
	version uint32
}

type fakeStorage struct {
	id   asserts.ID
	data []byte
	uses int32
}

func newFake(s engine.Dense, device string) *fakeTensor {
	data := slices.Clone(s.Data)
	return &fakeTensor{impl: &fakeImpl{id: asserts.NewID(), spec: s, device: device, uses: 1, storage: &fakeStorage{asserts.NewID(), data, 1}}}
}

func (t *fakeTensor) copy() *fakeTensor {
	return newFake(contiguous(t.impl.spec, t.impl.storage.data), t.impl.device)
}

// contiguous describes a tensor with the elements of another one, in row-major order, as most kernels
// return it.
func contiguous(s engine.Dense, data []byte) engine.Dense {
	size, rows := int64(sample.Element(s.DType).Size()), s
	rows.Strides, rows.Offset, rows.Data = tensor.ContiguousStrides(s.Sizes), 0, nil
	for n := range tensor.Numel(s.Sizes) {
		if at := size * tensor.Position(n, s.Sizes, s.Strides, s.Offset); len(data) > 0 { // meta has none
			rows.Data = append(rows.Data, data[at:at+size]...)
		}
	}
	return rows
}

func (t *fakeTensor) view() *fakeTensor {
	t.impl.storage.uses++
	return &fakeTensor{impl: &fakeImpl{id: asserts.NewID(), spec: t.impl.spec, device: t.impl.device, uses: 1, storage: t.impl.storage}}
}

func (t *fakeTensor) again() *fakeTensor {
	t.impl.uses++
	return &fakeTensor{impl: t.impl}
}

func (t *fakeTensor) write(bump bool) *fakeTensor {
	spec := t.impl.spec
	if !slices.Contains(spec.Sizes, 0) && len(t.impl.storage.data) > 0 { // meta has none
		t.impl.storage.data[spec.Offset*int64(sample.Element(spec.DType).Size())] ^= 1
	}
	if bump {
		t.impl.version++
	}
	return t
}

func (t *fakeTensor) Release() { t.impl.uses-- }

func (t *fakeTensor) Observe(l asserts.Level) asserts.Observation {
	i := t.impl
	o := asserts.Observation{Impl: i.id, Storage: i.storage.id, ImplUses: i.uses, StorageUses: i.storage.uses, Version: i.version}
	if i.device == "meta" {
		o.Traits = asserts.MetaTensor
	}
	if l >= asserts.Content {
		h := fnv.New64a()
		h.Write(i.storage.data)
		o.Content = &asserts.Snapshot{
			DType: i.spec.DType, Device: i.device, Sizes: i.spec.Sizes, Strides: i.spec.Strides, Offset: i.spec.Offset,
			Nbytes: int64(len(i.storage.data)), Digest: h.Sum64(), Bytes: bytes.Clone(i.storage.data),
		}
	}
	return o
}

// fakeOps are the ops of the fake engine; most violate something.
var fakeOps = []struct {
	schema string
	kernel func(e *fakeEngine, args []any) ([]any, error)
}{
	{"good(Tensor self, Tensor other) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		return []any{first(args).copy()}, nil
	}},
	{"good_(Tensor(a!) self) -> Tensor(a!)", func(e *fakeEngine, args []any) ([]any, error) {
		return []any{first(args).write(true).again()}, nil
	}},
	{"good_view(Tensor(a) self) -> Tensor(a)", func(e *fakeEngine, args []any) ([]any, error) {
		return []any{first(args).view()}, nil
	}},
	{"returns_input_when_empty(Tensor self) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		if t := first(args); slices.Contains(t.impl.spec.Sizes, 0) {
			return []any{t.again()}, nil
		}
		return []any{first(args).copy()}, nil
	}},
	{"returns_input_waived(Tensor self) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		return []any{first(args).again()}, nil
	}},
	{"view_copies(Tensor(a) self) -> Tensor(a)", func(e *fakeEngine, args []any) ([]any, error) {
		return []any{first(args).copy()}, nil
	}},
	{"writes(Tensor self) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		return []any{first(args).write(true).copy()}, nil
	}},
	{"no_bump_(Tensor(a!) self) -> Tensor(a!)", func(e *fakeEngine, args []any) ([]any, error) {
		return []any{first(args).write(false).again()}, nil
	}},
	{"meta_disagrees(Tensor self) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		t := first(args)
		if t.impl.device == "meta" {
			s := t.impl.spec
			s.DType = "int8"
			return []any{newFake(s, "meta")}, nil
		}
		return []any{t.copy()}, nil
	}},
	{"wants_five_dims(Tensor self) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		t := first(args)
		if len(t.impl.spec.Sizes) != 5 {
			return nil, &engine.Thrown{Message: "Expected 5-dimensional input for 5-dimensional weight, but got something else"}
		}
		if t.impl.spec.DType != "int64" {
			return nil, &engine.Thrown{Message: "expected scalar type Long but found Float"}
		}
		return []any{t.copy()}, nil
	}},
	{"never(Tensor self) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		return nil, &engine.Thrown{Message: "not today"}
	}},
	{"never_for_three(Tensor self) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		if slices.Equal(first(args).impl.spec.Sizes, []int64{3, 3}) {
			return nil, &engine.Thrown{Message: "not for three"}
		}
		if first(args).impl.spec.DType == "bool" {
			return nil, &engine.Thrown{Message: "ZeroTensors are immutable. Please use the materialized zero tensor"}
		}
		return nil, &engine.Thrown{Message: "There were no tensor arguments to this function (e.g., you passed an empty list of Tensors)"}
	}},
	{"crashes_on_bool(Tensor self) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		crashIf(first(args).impl.spec.DType == "bool")
		return []any{first(args).copy()}, nil
	}},
	{"writes_on_lpu(Tensor self) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		t := first(args)
		if t.impl.device == "lpu" {
			t.impl.version++
		}
		return []any{t.copy()}, nil
	}},
	{"crashes_on_lpu(Tensor self) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		crashIf(first(args).impl.device == "lpu")
		return []any{first(args).copy()}, nil
	}},
	{"crashes_on_meta(Tensor self) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		crashIf(first(args).impl.device == "meta")
		return []any{first(args).copy()}, nil
	}},
	// Once in a process, like a fault that depends on earlier cases.
	{"crashes_late(Tensor self) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		lateCalls++
		crashIf(lateCalls > 5)
		return []any{first(args).copy()}, nil
	}},
	{"crashes_when_smaller(Tensor self) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		spec := first(args).impl.spec
		crashIf(spec.DType == "float32" && slices.Equal(spec.Sizes, []int64{2, 3}))
		return []any{first(args).again()}, nil
	}},
	{"breaks_memory(Tensor self) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		broken = true
		return []any{first(args).copy()}, nil
	}},
	{"finds_it_broken(Tensor self) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		crashIf(broken)
		return []any{first(args).copy()}, nil
	}},
	{"fails_in_opassert(Tensor self) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		panic("our own fault")
	}},
	{"answers_for_the_worker(Tensor self) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		_, err := syscall.Write(replyFile, []byte("so be it\n"))
		return []any{first(args).copy()}, err
	}},
	{"answers_like_the_worker(Tensor self) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		_, err := syscall.Write(replyFile, []byte("end {\"case\":0,\"ran\":true}\ndone\n"))
		return []any{first(args).again()}, err
	}},
	{"dies_in_words(Tensor self) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		_, err := syscall.Write(replyFile, []byte("died SIGSEGV\n"))
		return []any{first(args).again()}, err
	}},
	{"reads_requests(Tensor self) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		_, err := io.ReadAll(os.Stdin)
		return []any{first(args).copy()}, err
	}},
	{"exits(Tensor self) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		os.Exit(3)
		return nil, nil
	}},
	{"hoards_on_bool(Tensor self) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		if first(args).impl.spec.DType == "bool" {
			hoard = make([]byte, 2*memoryLimit)
		}
		return []any{first(args).copy()}, nil
	}},
	{"loses_the_device_on_bool(Tensor self) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		if lost = lost || first(args).impl.spec.DType == "bool"; lost {
			panic(&engine.Lost{Message: "no answer"})
		}
		return []any{first(args).copy()}, nil
	}},
	{"finds_it_lost(Tensor self) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		if lost {
			panic(&engine.Lost{Message: "no answer"})
		}
		return []any{first(args).copy()}, nil
	}},
	{"hangs(Tensor self) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		time.Sleep(time.Minute)
		return nil, nil
	}},
	{"spins(Tensor self) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		for begun := time.Now(); time.Since(begun) < time.Minute; {
		}
		return nil, nil
	}},
	{"leaves_a_file(Tensor self) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		return []any{first(args).copy()}, os.WriteFile(leftFile, nil, 0o666)
	}},
	// These remember calls, and are of a library.
	{"first_call_wins(Tensor self) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		return []any{first(args).copy().filled(remembered("call", first(args)))}, nil
	}},
	{"first_of_a_size_wins_(Tensor(a!) self) -> Tensor(a!)", func(e *fakeEngine, args []any) ([]any, error) {
		t := first(args)
		t.filled(remembered(fmt.Sprint("size", t.impl.spec.DType, t.impl.spec.Sizes), t)).impl.version++
		return []any{t.again()}, nil
	}},
	{"remembers_values(Tensor self) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		return []any{first(args).copy().filled(remembered(fmt.Sprint("values", first(args).impl.storage.data), first(args)))}, nil
	}},
	{"counts_in_vain(Tensor self) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		for i := range remembered("vain", first(args)) {
			memo["vain"][i]++
		}
		return []any{first(args).copy()}, nil
	}},
	{"counts(Tensor self) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		calls := remembered("counts", first(args))
		for i := range calls {
			calls[i]++
		}
		return []any{first(args).copy().filled(calls)}, nil
	}},
	{"warms_up(Tensor self) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		t, warm := first(args), memo["warm"] != nil
		if remembered("warm", t); !warm {
			return []any{t.copy().filled([]byte{1, 2, 3})}, nil
		}
		return []any{t.copy()}, nil
	}},
	{"follows_its_process(Tensor self) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		return []any{first(args).copy().filled(strconv.AppendInt(nil, int64(os.Getpid()), 10))}, nil
	}},
	{"throws_in_its_first_call(Tensor self) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		t, called := first(args), memo["throws"] != nil
		if remembered("throws", t); !called {
			return nil, &engine.Thrown{Message: "not yet"}
		}
		return []any{t.copy()}, nil
	}},
	{"crashes_in_its_first_call(Tensor self) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		usual := fmt.Sprint(remembered("crashes", first(args))) // of the first case, or else of the call that is made apart
		crashIf(strings.HasPrefix(usual, "[181 "))
		return []any{first(args).copy()}, nil
	}},
	// On cpu and meta together twice the time of a case, but only by the clock.
	{"waits_on_bool(Tensor self) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		if first(args).impl.spec.DType == "bool" {
			time.Sleep(caseTime)
		}
		return []any{first(args).copy()}, nil
	}},
}

var (
	hoard     []byte
	lateCalls int
	broken    bool
	lost      bool
)

func crashIf(yes bool) {
	if yes {
		self, _ := os.FindProcess(os.Getpid())
		self.Signal(syscall.SIGSEGV)
		time.Sleep(time.Minute)
	}
}

// remembering are the ops that remember calls.
var remembering = []string{"first_call_wins", "first_of_a_size_wins_", "remembers_values", "counts_in_vain", "counts", "warms_up", "follows_its_process",
	"throws_in_its_first_call", "crashes_in_its_first_call"}

var memo = make(map[string][]byte)

// remembered returns the bytes of the tensor on the CPU that a key was first used with.
func remembered(key string, t *fakeTensor) []byte {
	if t.impl.device != string(engine.CPU) {
		return nil
	}
	if memo[key] == nil {
		memo[key] = append([]byte{0}, t.impl.storage.data...)[1:]
	}
	return memo[key]
}

// filled copies data to a tensor, as far as it has room.
func (t *fakeTensor) filled(data []byte) *fakeTensor {
	copy(t.impl.storage.data, data)
	return t
}

func first(args []any) *fakeTensor { return args[0].(*fakeTensor) }

type fakeEngine struct{ kernels map[string]int }

func newFakeEngine() *fakeEngine {
	e := &fakeEngine{kernels: make(map[string]int)}
	for i, op := range fakeOps {
		name, _, _ := strings.Cut(op.schema, "(")
		e.kernels["aten::"+name] = i
	}
	return e
}

func (e *fakeEngine) Version() string { return "fake 1" }

func (e *fakeEngine) Operators() ([]engine.Operator, error) {
	var all []engine.Operator
	for _, op := range fakeOps {
		parsed, err := schema.ParseOp(op.schema)
		if err != nil {
			return nil, err
		}
		all = append(all, engine.Operator{Schema: parsed, Below: true, Added: slices.Contains(remembering, parsed.Func.Name.String())})
	}
	slices.SortFunc(all, func(a, b engine.Operator) int { return strings.Compare(a.Name(), b.Name()) })
	return all, nil
}

func (e *fakeEngine) Look(engine.Tensor) []asserts.Observation        { return nil }
func (e *fakeEngine) Harmless(*asserts.Op, *asserts.Violation) string { return "" }
func (e *fakeEngine) Operator(name string) (engine.Operator, error) {
	all, err := e.Operators()
	i := slices.IndexFunc(all, func(o engine.Operator) bool { return o.Name() == name })
	return all[i], err
}

func (e *fakeEngine) Subjects(op *asserts.Op) *asserts.Op { return op }
func (e *fakeEngine) Make(d engine.Dense, f engine.Form) (engine.Tensor, error) {
	if f != engine.Strided {
		return nil, &engine.Thrown{Message: "no such tensors here"}
	}
	return newFake(d, "cpu"), nil
}

func (e *fakeEngine) View(engine.Tensor, engine.Dense) (engine.Tensor, error) {
	return nil, &engine.Thrown{Message: "no views here"}
}
func (e *fakeEngine) Generator(int64) (any, error)       { return nil, nil }
func (e *fakeEngine) Object(string, []any) (any, error)  { return nil, errors.New("no objects here") }
func (e *fakeEngine) Storage(engine.Tensor) (any, error) { return nil, errors.New("no storages here") }
func (e *fakeEngine) Seed(int64) error                   { return nil }

func (e *fakeEngine) Devices() []engine.Device {
	return []engine.Device{engine.CPU, engine.Meta, "lpu"}
}

func (e *fakeEngine) Twins(ts []engine.Tensor, on engine.Device) ([]engine.Tensor, error) {
	twins := make([]engine.Tensor, len(ts))
	for i, t := range ts {
		s := t.(*fakeTensor).impl.spec
		if s.Data = t.(*fakeTensor).impl.storage.data; on == engine.Meta {
			s.Data = nil
		}
		twins[i] = newFake(s, string(on))
	}
	return twins, nil
}

func (e *fakeEngine) Call(op string, args []any, level asserts.Level) (engine.Outcome, error) {
	i, ok := e.kernels[op]
	if !ok {
		return engine.Outcome{}, &engine.Thrown{Message: "no op " + op}
	}
	var out engine.Outcome
	out.Seen.Level = level
	for _, a := range args {
		out.Seen.Before = append(out.Seen.Before, a.(*fakeTensor).Observe(level))
	}
	results, err := fakeOps[i].kernel(e, args)
	if err != nil {
		return engine.Outcome{}, err
	}
	for _, a := range args {
		out.Seen.After = append(out.Seen.After, a.(*fakeTensor).Observe(level))
	}
	for _, t := range results {
		out.Seen.Results = append(out.Seen.Results, t.(*fakeTensor).Observe(level))
	}
	out.Results = results
	return out, nil
}

// The test binary is its own worker.
func TestMain(m *testing.M) {
	if os.Getenv(WorkerVariable) == "" {
		os.Exit(m.Run())
	}
	if err := Serve(newFakeEngine(), fakeConfig()); err != nil {
		panic(err)
	}
}

// fakeConfig is the configuration of the fake engine's workers.
func fakeConfig() Config {
	p, err := plan.NewPlanner("full", nil, allowlist.Where{})
	if err != nil {
		panic(err)
	}
	return Config{Level: asserts.Meta, Seed: report.DefaultSeed, Plan: func(op *schema.Op) engine.Checks {
		plan := engine.Checks{Op: p.Plan(op).Asserts(asserts.Meta)}
		if op.Func.Name.Base == "returns_input_waived" {
			plan.Waived = []asserts.Excuse{{Code: asserts.UndeclaredAlias, Reason: "it returns it"}}
		}
		return plan
	}}
}
