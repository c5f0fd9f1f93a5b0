package torch

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"strconv"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/libtorch"
	"github.com/opassert/opassert/asserts/suite/compare"
	"github.com/opassert/opassert/internal/slicesx"
)

// fakeOp is the op that calls the fake of another one, in the Python of the kernels; see opassert_host/fake_calls.py.
const fakeOp = "opassert_host::fake"

// A fakeCall is the answer of opassert_host/fakes.py to a call of a fake.
type fakeCall struct {
	compare.Fake                 // without what it saw
	Op           string          // the op called first: another one if the op decomposes
	Site         [2]any          // of the fake: file and line
	Beside       *fakeCall       // the same call of the kernel for the CPU
	Unknown      string          // why the fake was not called
	Arguments    [][]*fakeTensor // arguments, by position in the schema
	Written      [][]*fakeTensor // tensors of arguments with (a!), after the call
	Results      [][]*fakeTensor
	Numbers      []json.RawMessage // numbers that it returns; a float is a string
}

// A fakeTensor is an argument or a result of a fake; nil is an undefined tensor.
type fakeTensor struct {
	Tensor, Storage asserts.ID
	DType, Device   string
	Sizes           [][2]*int64 // from, to; nil: unbounded
	Strides         []*int64    // nil: it depends on something unknown
	Offset          *int64      // nil: not known
	Bytes           *string     // of the storage, in hexadecimal; nil: not known
}

// NoFake returns the reason why no fake of an op can be called, or "".
func (l *Libtorch) NoFake(op *asserts.Op) string {
	called, err := libtorch.Lookup(op.Name)
	_, without := libtorch.Lookup(fakeOp)
	if err != nil || without != nil || l.out.Autograd {
		return "the kernels are not in a Python with fakes"
	}
	if s, err := Schema(called); err != nil || s.IsMethod() {
		return "a method of a custom class has no fake: torch.library.register_fake_class fakes the class"
	}
	return ""
}

// Fake calls the fake of an op, or returns the reason why it can't.
func (l *Libtorch) Fake(op *asserts.Op, args []any) (*compare.Fake, string) {
	text, err := passTo(fakeOp, op, args)
	if err != nil {
		return nil, "the fake could not be called: " + err.Error()
	}
	return ReadFake(op, text)
}

// FakesProgram is the Python program that calls fakes in a watched process; see opassert_host/replay.py.
func FakesProgram() ([]byte, error) {
	const uncollected = "import gc; gc.disable(); " // saves a third of the imports' time; replay.py enables it again
	program, err := hostProgram("replay", "main(calls, first, to, apart)")
	return []byte(uncollected + program), err
}

// ReadFake reads the answer of opassert_host/fakes.py to a call of an op's fake, or returns
// the reason why there was none, with the call of the kernel for the CPU if there was that.
func ReadFake(op *asserts.Op, text string) (*compare.Fake, string) {
	var call fakeCall
	if err := json.Unmarshal([]byte(text), &call); err != nil {
		return nil, fmt.Sprintf("the answer %q can't be read: %v", text, err)
	}
	switch {
	case call.Unknown != "" && call.Beside != nil:
		return &compare.Fake{Beside: call.Beside.fake(op)}, call.Unknown
	case call.Unknown != "":
		return nil, call.Unknown
	case call.Op != op.Name:
		return nil, "the op decomposes: compilers plan with the ops that it calls"
	}
	return call.fake(op), ""
}

// Named returns the devices among the arguments of a call that ReadFake reads.
func Named(text string) (devices []string) {
	var call struct{ Values []struct{ Device string } }
	_ = json.Unmarshal([]byte(text), &call) // the other values are no objects, or have no device
	for _, v := range call.Values {
		if v.Device != "" {
			devices = append(devices, v.Device)
		}
	}
	return devices
}

func (c *fakeCall) fake(op *asserts.Op) *compare.Fake {
	f := c.Fake
	f.Site.File, _ = c.Site[0].(string)
	if line, ok := c.Site[1].(float64); ok {
		f.Site.Line = int(line)
	}
	f.Seen.Level = asserts.Content
	for _, s := range op.Args {
		n := 0
		if !s.Inside && s.Index < len(c.Arguments) {
			n = c.see(&f.Seen.Before, c.Arguments[s.Index], nil)
			c.see(&f.Seen.After, c.written(s.Index), nil)
		}
		f.Seen.ArgLens = append(f.Seen.ArgLens, n)
	}
	for _, s := range op.Results {
		n := 0
		if !s.Inside && s.Index < len(c.Results) {
			n = c.see(&f.Seen.Results, c.Results[s.Index], &f.Open)
		}
		f.Seen.ResultLens = append(f.Seen.ResultLens, n)
	}
	f.Seen.Number()
	f.Seen.Numbers = append(f.Seen.Numbers, slicesx.Map(c.Numbers, numberText)...)
	if c.Beside != nil {
		f.Beside = c.Beside.fake(op)
	}
	return &f
}

// numberText returns the text of a number that a fake returned, "" for a symbol.
func numberText(n json.RawMessage) string {
	if text, err := strconv.Unquote(string(n)); err == nil {
		f, _ := strconv.ParseFloat(text, 64) // as Python prints it
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return strings.TrimPrefix(string(n), "null")
}

// written returns the tensors of an argument after the call: those before it, unless others are known.
func (c *fakeCall) written(arg int) []*fakeTensor {
	if arg < len(c.Written) && len(c.Written[arg]) == len(c.Arguments[arg]) {
		return c.Written[arg]
	}
	return c.Arguments[arg]
}

// see adds the tensors of a subject, with their unknown sizes and strides, and returns their number.
func (c *fakeCall) see(to *[]asserts.Observation, tensors []*fakeTensor, open *[]compare.Open) int {
	for _, t := range tensors {
		if t == nil {
			*to = append(*to, asserts.Observation{})
			continue
		}
		if open != nil {
			*open = append(*open, t.open(len(*to))...)
		}
		*to = append(*to, t.observation())
	}
	return len(tensors)
}

func (t *fakeTensor) observation() asserts.Observation {
	o := asserts.Observation{Impl: t.Tensor, Storage: t.Storage}
	o.ImplUses, o.StorageUses = asserts.NotCounted, asserts.NotCounted
	if t.Storage == 0 {
		return o
	}
	o.Content = &asserts.Snapshot{DType: t.DType, Device: t.Device}
	for i, size := range t.Sizes {
		o.Content.Sizes = append(o.Content.Sizes, value(size[0], 0))
		o.Content.Strides = append(o.Content.Strides, value(t.Strides[i], 0))
	}
	o.Content.Offset = value(t.Offset, 0)
	if t.Bytes != nil {
		held, _ := hex.DecodeString(*t.Bytes)
		h := fnv.New64a()
		h.Write(held)
		o.Content.Bytes, o.Content.Nbytes, o.Content.Digest = held, int64(len(held)), h.Sum64()
	}
	return o
}

// open returns the unknown sizes, strides and offset of result i.
func (t *fakeTensor) open(i int) []compare.Open {
	var all []compare.Open
	if t.Storage != 0 && t.Offset == nil {
		all = append(all, compare.Open{Result: i, Offset: true})
	}
	for dim, size := range t.Sizes {
		if least, most := value(size[0], 0), value(size[1], math.MaxInt64); least != most {
			all = append(all, compare.Open{Result: i, Dim: dim, Least: least, Most: most})
		}
		if t.Strides[dim] == nil {
			all = append(all, compare.Open{Result: i, Dim: dim, Stride: true, Most: math.MaxInt64})
		}
	}
	return all
}

// value returns a number, or another one where it is not known.
func value(n *int64, otherwise int64) int64 {
	if n == nil {
		return otherwise
	}
	return *n
}
