package libtorch

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/tensor"
)

// A Form is a sort of tensor.
type Form = tensor.Form

const (
	Strided           = tensor.Strided
	COO               = tensor.COO // about half of the elements are specified
	COOUncoalesced    = tensor.COOUncoalesced
	COOHybrid         = tensor.COOHybrid
	CSR               = tensor.CSR
	CSC               = tensor.CSC
	BSR               = tensor.BSR
	BSC               = tensor.BSC
	MKLDNN            = tensor.Mkldnn
	Quantized         = tensor.Quantized
	QuantizedChannel  = tensor.PerChannel
	Named             = tensor.Named
	Nested            = tensor.Nested
	NestedEven        = tensor.NestedEven
	Zero              = tensor.Zero
	Conj              = tensor.Conjugate
	Neg               = tensor.Negative
	Inference         = tensor.Inference
	RequiresGrad      = tensor.Grad
	FunctionalWrapper = tensor.Functional
	Subclass          = tensor.Subclass
)

// A Spec describes a tensor to be made, as plain data. Equal specs make tensors with equal bytes.
type Spec struct {
	DType   DType
	Sizes   []int64
	Strides []int64 // in elements, for forms with strides; nil: contiguous; 0 expands
	Offset  int64   // in elements
	Meta    bool    // on the meta device, without bytes. Only Strided and Inference
	Device  string  // the device: "cuda", "openreg:1", as for [FindDevice]; "": the CPU
	Form    Form

	// Of, if defined, is the tensor whose storage and version this one shares, like a view.
	Of Tensor

	// The contents of the storage: Bytes, or else Values as elements, or else random numbers from Seed, at least Low
	// and below High. If both are 0 the range is -1 to 1, and 0 to 10 for integers. The rest is 0.
	Bytes     []byte
	Values    []float64
	Seed      uint64
	Low, High float64
}

// Make makes a tensor.
func Make(spec Spec) (Tensor, error) {
	if err := start(); err != nil {
		return Tensor{}, err
	}
	if err := spec.check(); err != nil {
		return Tensor{}, fmt.Errorf("make a tensor: %w", err)
	}
	t, err := spec.make()
	if err != nil {
		return Tensor{}, fmt.Errorf("make a %s tensor of %v: %w", spec.Form, spec.Sizes, err)
	}
	return t, nil
}

func (s *Spec) check() error {
	if s.Strides != nil && len(s.Strides) != len(s.Sizes) {
		return fmt.Errorf("%d strides for %d sizes", len(s.Strides), len(s.Sizes))
	}
	for _, n := range slices.Concat(s.Sizes, s.Strides, []int64{s.Offset}) {
		if n < 0 {
			return fmt.Errorf("sizes %v, strides %v and offset %d cannot be negative", s.Sizes, s.Strides, s.Offset)
		}
	}
	switch {
	case s.DType.size() == 0:
		return fmt.Errorf("cannot create tensors of dtype %v", s.DType)
	case (s.DType.class() == tensor.Scaled) != (s.Form == Quantized || s.Form == QuantizedChannel):
		return fmt.Errorf("a %s tensor cannot be %v", s.Form, s.DType)
	case s.Form == RequiresGrad && !s.DType.fraction():
		return fmt.Errorf("a tensor of %v can't require grad", s.DType)
	case s.Of != (Tensor{}) && (s.Form != Strided || s.Meta):
		return fmt.Errorf("a view of another tensor's storage is strided, and on the CPU")
	case s.Meta && s.Form != Strided && s.Form != Inference:
		return fmt.Errorf("a %s tensor cannot be on meta", s.Form)
	case slices.Contains([]Form{COOHybrid, Nested, NestedEven, QuantizedChannel}, s.Form) && len(s.Sizes) == 0:
		return fmt.Errorf("a %s tensor has a first dimension", s.Form)
	}
	_, err := s.elements()
	return err
}

// maxElements limits the memory that a spec can require.
const maxElements = 1 << 30

func (s *Spec) elements() (int64, error) {
	if s.Offset > maxElements {
		return 0, fmt.Errorf("the offset %d is more than %d elements", s.Offset, maxElements)
	}
	n := s.Offset
	if slices.Contains(s.Sizes, 0) {
		return n, nil
	}
	n++
	for i, stride := range s.strides() {
		steps := s.Sizes[i] - 1
		if steps > 0 && stride > (maxElements-n)/steps {
			return 0, fmt.Errorf("sizes %v and strides %v span more than %d elements", s.Sizes, s.Strides, maxElements)
		}
		n += steps * stride
	}
	return n, nil
}

func (s *Spec) strides() []int64 {
	if s.Strides != nil {
		return s.Strides
	}
	strides := make([]int64, len(s.Sizes))
	step := int64(1)
	for i := len(strides) - 1; i >= 0; i-- {
		strides[i] = step
		step = min(step*max(s.Sizes[i], 1), maxElements)
	}
	return strides
}

func (s *Spec) make() (Tensor, error) {
	dense := *s
	dense.Form = Strided
	switch s.Form {
	case Strided, Inference, RequiresGrad:
		return s.strided()
	case COO:
		return dense.sparse("aten::to_sparse")
	case COOUncoalesced:
		return dense.uncoalesced()
	case COOHybrid:
		return dense.sparse("aten::to_sparse.sparse_dim", Int(1))
	case CSR:
		return dense.sparse("aten::to_sparse_csr")
	case CSC:
		return dense.sparse("aten::to_sparse_csc")
	case BSR:
		return dense.sparse("aten::to_sparse_bsr", Ints(1, 1))
	case BSC:
		return dense.sparse("aten::to_sparse_bsc", Ints(1, 1))
	case MKLDNN:
		return dense.convert("aten::to_mkldnn")
	case Conj:
		return dense.convert("aten::_conj")
	case Neg:
		return dense.convert("aten::_neg_view")
	case Quantized:
		return dense.quantized()
	case QuantizedChannel:
		return dense.quantizedChannel()
	case Named:
		return dense.convert("aten::rename_", s.names())
	case Nested:
		return dense.nested(1)
	case NestedEven:
		return dense.nested(0)
	case Zero:
		return one("aten::_efficientzerotensor", Ints(s.Sizes...), s.DType.Value())
	case FunctionalWrapper:
		return dense.wrapped()
	case Subclass:
		return dense.marked()
	}
	return Tensor{}, fmt.Errorf("unknown form %s", s.Form)
}

// strided makes the tensors that all others are made from.
func (s *Spec) strided() (Tensor, error) {
	elements, err := s.elements()
	if err != nil {
		return Tensor{}, err
	}
	var data []byte
	nbytes := max(elements*int64(s.DType.size()), int64(len(s.Bytes)))
	c := newScratch()
	defer c.free()
	base, err := c.hold(s.Of.h)
	if err != nil {
		return Tensor{}, err
	}
	if !s.Meta && base == 0 {
		data = s.data(elements)
	}
	device, index, sort := int64(tensor.DeviceCPU), int64(noIndex), int64(makePlain)
	if s.Meta {
		device = tensor.DeviceMeta
	}
	if s.Device != "" {
		place, err := FindDevice(s.Device)
		if err != nil {
			return Tensor{}, err
		}
		device, index, _ = parseDevice(place.Name)
	}
	switch s.Form {
	case Inference:
		sort = makeInference
	case RequiresGrad:
		sort = makeRequiresGrad
	}
	c.put(int64(s.DType), device, index, sort, base, nbytes, s.Offset, int64(len(s.Sizes)))
	c.put(s.Sizes...)
	c.put(s.strides()...)
	cross(crossing{function: fnStrided, data: data}, c.request, c.reply)
	r, err := c.read("make")
	if err != nil {
		return Tensor{}, err
	}
	return newTensor(r.word()), nil
}

func (s *Spec) data(elements int64) []byte {
	if s.Bytes != nil {
		return s.Bytes
	}
	size := int64(s.DType.size())
	data := make([]byte, elements*size)
	put := func(i int64, v float64) { tensor.DType(s.DType).Put(data[i*size:], v, v) }
	if s.Values != nil {
		for i, v := range s.Values[:min(int64(len(s.Values)), elements)] {
			put(int64(i), v)
		}
		return data[:min(int64(len(s.Values)), elements)*size]
	}
	low, high := s.Low, s.High
	if low == 0 && high == 0 {
		low, high = 0, 10
		if s.DType.fraction() {
			low, high = -1, 1
		}
	}
	random := rand.New(rand.NewPCG(s.Seed, uint64(s.DType)))
	for i := range elements {
		v := low + random.Float64()*(high-low)
		if s.DType == BoolType {
			v = float64(random.IntN(2))
		}
		put(i, v)
	}
	return data
}

// one calls an op that returns one tensor.
func one(name string, args ...Value) (Tensor, error) {
	op, err := Lookup(name)
	if err != nil {
		return Tensor{}, err
	}
	var out Outcome
	if err := op.Call(asserts.Off, &out, args...); err != nil {
		return Tensor{}, err
	}
	return out.Results[0].Tensor, nil
}

func (s *Spec) convert(name string, args ...Value) (Tensor, error) {
	base, err := s.strided()
	if err != nil {
		return Tensor{}, err
	}
	defer base.Release()
	return one(name, slices.Concat([]Value{base.Value()}, args)...)
}

func (s *Spec) names() Value {
	names := make([]string, len(s.Sizes))
	for i := range names {
		names[i] = string(rune('A' + i))
	}
	return Dimnames(names...)
}

// sparse makes the tensor sparse, after setting about half of it to zero if its contents are not given.
func (s *Spec) sparse(name string, args ...Value) (Tensor, error) {
	if s.Bytes == nil && s.Values == nil {
		elements, err := s.elements()
		if err != nil {
			return Tensor{}, err
		}
		size := s.DType.size()
		s.Bytes = s.data(elements)
		random := rand.New(rand.NewPCG(s.Seed, 0))
		for i := range int(elements) {
			if random.IntN(2) == 0 {
				clear(s.Bytes[i*size : (i+1)*size])
			}
		}
	}
	return s.convert(name, args...)
}

// uncoalesced makes a sparse tensor from the indices and values of another, all of them twice.
func (s *Spec) uncoalesced() (Tensor, error) {
	once, err := s.sparse("aten::to_sparse")
	if err != nil {
		return Tensor{}, err
	}
	var parts [4]Tensor
	defer func() { ReleaseAll(append(parts[:], once)...) }()
	for i, part := range []string{"aten::_indices", "aten::_values"} {
		if parts[i], err = one(part, once.Value()); err != nil {
			return Tensor{}, err
		}
		if parts[2+i], err = one("aten::cat", Tensors(parts[i], parts[i]), Int(int64(1-i))); err != nil {
			return Tensor{}, err
		}
	}
	return one("aten::_sparse_coo_tensor_unsafe", parts[2].Value(), parts[3].Value(), Ints(s.Sizes...))
}

func (s *Spec) zeroPoint() int64 {
	if s.DType == QUInt8 {
		return 64
	}
	return 0
}

func (s *Spec) quantized() (Tensor, error) {
	dtype, zero := s.DType.Value(), s.zeroPoint()
	s.DType = Float32
	return s.convert("aten::quantize_per_tensor", Float(0.1), Int(zero), dtype)
}

func (s *Spec) quantizedChannel() (Tensor, error) {
	dtype, zero := s.DType.Value(), s.zeroPoint()
	channels := s.Sizes[:1]
	scales, err := (&Spec{DType: Float64, Device: s.Device, Sizes: channels, Low: 0.05, High: 0.2, Seed: s.Seed}).strided()
	if err != nil {
		return Tensor{}, err
	}
	defer scales.Release()
	zeros, err := (&Spec{DType: Int64, Device: s.Device, Sizes: channels, Low: float64(zero),
		High: float64(zero) + 1}).strided()
	if err != nil {
		return Tensor{}, err
	}
	defer zeros.Release()
	s.DType = Float32
	return s.convert("aten::quantize_per_channel", scales.Value(), zeros.Value(), Int(0), dtype)
}

// nested makes as many tensors as the first dimension is long; the last one is shorter than the others.
func (s *Spec) nested(shorter int64) (Tensor, error) {
	var components []Tensor
	defer func() { ReleaseAll(components...) }()
	for i := range s.Sizes[0] {
		c := Spec{DType: s.DType, Device: s.Device, Sizes: slices.Clone(s.Sizes[1:]), Seed: s.Seed + uint64(i),
			Low: s.Low, High: s.High}
		if i == s.Sizes[0]-1 && len(c.Sizes) > 0 && c.Sizes[0] > 1 {
			c.Sizes[0] -= shorter
		}
		t, err := c.strided()
		if err != nil {
			return Tensor{}, err
		}
		components = append(components, t)
	}
	return one("aten::_nested_tensor_from_tensor_list", Tensors(components...))
}

func (s *Spec) wrapped() (Tensor, error) {
	base, err := s.strided()
	if err != nil {
		return Tensor{}, err
	}
	defer base.Release()
	return askOf(base, "wrap", crossing{function: fnWrap}, func(r *reader) Tensor { return newTensor(r.word()) })
}

func (s *Spec) marked() (Tensor, error) {
	t, err := s.strided()
	if err != nil {
		return Tensor{}, err
	}
	_, err = askOf(t, "mark", crossing{function: fnMark}, (*reader).nothing)
	return t, err
}

// Elements returns the tensor's elements in order of their indices, whatever its strides; the real part of complex
// ones, the stored number of quantized ones. It is meant for strided tensors on the CPU.
func (t Tensor) Elements() ([]float64, error) {
	o, err := t.See(asserts.Content)
	if err != nil {
		return nil, err
	}
	if o.Content == nil || o.Content.Strides == nil {
		return nil, fmt.Errorf("libtorch: elements can be read from strided tensors only")
	}
	data, err := t.Bytes()
	if err != nil {
		return nil, err
	}
	c := o.Content
	dtype, _ := ParseDType(c.DType)
	if int64(len(data)) < c.Nbytes {
		return nil, fmt.Errorf("libtorch: the tensor is on %s: its bytes cannot be read", c.Device)
	}
	var elements []float64
	for i := range tensor.Numel(c.Sizes) {
		at := tensor.Position(i, c.Sizes, c.Strides, c.Offset)
		elements = append(elements, tensor.DType(dtype).Get(data[at*int64(dtype.size()):]))
	}
	return elements, nil
}
