package suite

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/opassert/opassert/schema"
)

// candidate returns a value for an argument from its type and its name.
func candidate(r *rand.Rand, arg schema.Argument, th *theme) Value {
	t := arg.Type
	if t.Kind == schema.Optional {
		if !th.edge && oneIn(r, 2) || th.edge && oneIn(r, 4) {
			return none()
		}
		t = t.Elem[0]
	}
	return ofType(r, arg, t, th)
}

func ofType(r *rand.Rand, arg schema.Argument, t schema.Type, th *theme) Value {
	switch t.Kind {
	case schema.List:
		return listOf(r, arg, t, th)
	case schema.Optional:
		if oneIn(r, 3) {
			return none()
		}
		return ofType(r, arg, t.Elem[0], th)
	case schema.Tuple:
		v := Value{Kind: TupleValue}
		for _, e := range t.Elem {
			v.List = append(v.List, ofType(r, arg, e, th))
		}
		return v
	case schema.Dict:
		key := integer(0)
		if t.Elem[0].Name == "str" {
			key = word("a")
		}
		return Value{Kind: DictValue, List: []Value{key, ofType(r, arg, t.Elem[1], th)}}
	case schema.Base:
		if strings.HasPrefix(t.Name, customClasses) {
			return Value{Kind: NewValue, Text: t.Name} // its constructor says what it takes
		}
		if make, ok := byType[t.Name]; ok {
			return make(r, arg.Name, th)
		}
		if t.Name == "Tensor" {
			return tensorFor(r, arg, th)
		}
	}
	return none()
}

func listOf(r *rand.Rand, arg schema.Argument, t schema.Type, th *theme) Value {
	elem, n := t.Elem[0], t.Size
	rank := len(th.sizes)
	switch {
	case n == 0 && isInt(elem):
		return intList(r, arg.Name, th)
	case n == 0 && elem.Name == "Dimname":
		n = rank
	case n == 0:
		n = 2
	case n == 1 && isInt(elem):
		n = 1
	}
	v := Value{Kind: ListValue}
	for range n {
		e := ofType(r, arg, elem, th)
		if isInt(elem) && len(v.List) > 0 && arg.Name != "dim" {
			e = v.List[0].clone()
		}
		if elem.Name == "Dimname" {
			e = dimname(len(v.List))
		}
		v.List = append(v.List, e)
	}
	return v
}

func isInt(t schema.Type) bool {
	return t.Kind == schema.Base && (t.Name == "int" || t.Name == "SymInt")
}

// intList is for int[]: sizes, strides, paddings, dims.
func intList(r *rand.Rand, name string, th *theme) Value {
	rank := len(th.sizes)
	switch {
	case strings.Contains(name, "size") || name == "shape":
		return integers(th.sizes...)
	case name == "stride" && rank <= 3 || name == "strides":
		return integers(contiguousStrides(th.sizes)...)
	case name == "dims" || name == "dim" || name == "permutation":
		all := make([]int64, rank)
		for i := range all {
			all[i] = int64(i)
		}
		if th.edge || oneIn(r, 2) {
			return integers(all...)
		}
		return integers(all[:min(1, rank)]...)
	case name == "repeats" || name == "stride" || name == "dilation":
		return same(max(1, rank-2), 1)
	case name == "padding" || name == "output_padding":
		return same(max(1, rank-2), 0)
	case name == "pad":
		return integers(int64(r.IntN(2)), 0)
	case name == "kernel_size":
		return same(max(1, rank-2), 1+int64(r.IntN(2)))
	}
	return pick(r, []Value{integers(0), integers(1), integers(0, 1), same(max(1, rank), 1), integers()})
}

func same(n int, v int64) Value {
	out := Value{Kind: ListValue}
	for range n {
		out.List = append(out.List, integer(v))
	}
	return out
}

func contiguousStrides(sizes []int64) []int64 {
	return (&TensorSpec{Sizes: sizes}).strides()
}

func dimname(i int) Value { return word("dimname::" + string(rune('A'+i))) }

// byType makes values of the types that hold no tensors.
var byType = map[string]func(r *rand.Rand, name string, th *theme) Value{
	"int":    intFor,
	"SymInt": intFor,
	"float":  floatFor,
	"Scalar": scalarFor,
	"bool":   boolFor,
	"str":    textFor,
	"ScalarType": func(r *rand.Rand, name string, th *theme) Value {
		if th.edge {
			return Value{Kind: DTypeValue, Text: th.dtype}
		}
		return Value{Kind: DTypeValue, Text: pick(r, commonDTypes)}
	},
	"Layout": func(*rand.Rand, string, *theme) Value { return Value{Kind: LayoutValue, Text: "strided"} },
	"MemoryFormat": func(r *rand.Rand, _ string, th *theme) Value {
		format := pick(r, []string{"contiguous_format", "preserve_format"})
		if len(th.sizes) == 4 {
			format = "channels_last"
		}
		return Value{Kind: FormatValue, Text: format}
	},
	"Device":  func(*rand.Rand, string, *theme) Value { return Value{Kind: DeviceValue, Text: "cpu"} },
	"QScheme": func(*rand.Rand, string, *theme) Value { return Value{Kind: QSchemeValue, Text: "per_tensor_affine"} },
	"Generator": func(r *rand.Rand, _ string, _ *theme) Value {
		if oneIn(r, 2) {
			return none()
		}
		return Value{Kind: GeneratorValue, Int: 7}
	},
	"Dimname": func(r *rand.Rand, _ string, th *theme) Value { return dimname(0) },
	"Storage": func(r *rand.Rand, _ string, th *theme) Value {
		v := tensor(th.dtype, 4, 4)
		v.Kind = StorageValue
		return v
	},
}

// Names of whole numbers that kernels divide by or allocate by.
var positive = regexp.MustCompile(`^(stride|dilation|kernel|pool|groups?\b|num_|height|width|channels|batch)|_(h|w|d|height|width|size|groups)$`)

func intFor(r *rand.Rand, name string, th *theme) Value {
	rank := int64(len(th.sizes))
	switch {
	case strings.HasPrefix(name, "pad"):
		return integer(int64(r.IntN(2)))
	case positive.MatchString(name):
		return integer(pick(r, []int64{1, 1, 1, 2}))
	case strings.HasPrefix(name, "dim") || name == "axis":
		if th.edge || rank < 2 {
			return integer(-1 * int64(r.IntN(2)) * min(1, rank))
		}
		return integer(pick(r, []int64{0, 1, -1}))
	case name == "step":
		return integer(1)
	case name == "reduction":
		return integer(int64(r.IntN(3)))
	case name == "quant_max":
		return integer(127)
	case name == "n" || name == "N" || name == "diagonal" || name == "offset" || name == "k" || name == "start":
		return integer(int64(r.IntN(2)))
	case th.edge:
		return integer(pick(r, []int64{0, 1, 1, 2}))
	}
	return integer(pick(r, []int64{1, 2, 0, 3}))
}

func floatFor(r *rand.Rand, name string, th *theme) Value {
	switch {
	case name == "eps":
		return real(1e-5)
	case name == "p" && th.edge:
		return real(pick(r, []float64{0, 1}))
	case th.edge:
		return real(pick(r, []float64{0, 1, 1}))
	}
	return real(pick(r, []float64{0.5, 1, 0.25, 2}))
}

func scalarFor(r *rand.Rand, name string, th *theme) Value {
	switch {
	case th.edge:
		return pick(r, []Value{integer(0), integer(1)})
	case dtypes[th.dtype].class == floating && oneIn(r, 2):
		return pick(r, []Value{real(0.5), real(2)})
	case dtypes[th.dtype].class == boolean && oneIn(r, 2):
		return truth(true)
	}
	return pick(r, []Value{integer(1), integer(2), integer(3)})
}

func boolFor(r *rand.Rand, name string, th *theme) Value {
	switch name {
	case "pin_memory", "sparse", "is_coalesced":
		return truth(false)
	case "output_mask":
		return truth(!oneIn(r, 4))
	}
	return truth(oneIn(r, 2))
}

// words are the texts that arguments of a name take.
var words = map[string][]string{
	"reduce":        {"sum", "prod", "mean", "amax", "amin"},
	"interpolation": {"linear", "lower", "higher", "midpoint", "nearest"},
	"UPLO":          {"L", "U"},
	"approximate":   {"none", "tanh"},
	"padding":       {"same", "valid"},
	"ord":           {"fro", "nuc"},
	"p":             {"fro", "nuc"},
	"mode":          {"reduced", "complete", "r", "constant", "reflect"},
	"norm":          {"backward", "ortho", "forward"},
	"rounding_mode": {"floor", "trunc"},
	"driver":        {"gels", "gelsy", "gelsd", "gelss"},
	"side":          {"left", "right"},
	"indexing":      {"ij", "xy"},
	"pad_mode":      {"reflect", "constant"},
	"equation":      {"ij,jk->ik"},
}

func textFor(r *rand.Rand, name string, th *theme) Value {
	if known, ok := words[name]; ok {
		return word(pick(r, known))
	}
	return word(pick(r, []string{"sum", "mean", "none"}))
}

// Names of tensors that hold indices, masks, and one value a channel.
var (
	indexNames   = []string{"index", "indices", "indexes", "idx", "offsets", "offset2bag", "bag_size", "maximum_indices", "crow_indices", "col_indices", "compressed_indices", "plain_indices", "pivots", "LU_pivots", "repeats", "lengths", "max_indices", "unsorted_indices"}
	maskNames    = []string{"mask", "condition", "found_inf_mask"}
	channelNames = []string{"running_mean", "running_var", "bias", "save_mean", "save_var", "save_invstd", "mean", "var", "invstd", "scale", "zero_point", "scales", "zero_points"}
)

func tensorFor(r *rand.Rand, arg schema.Argument, th *theme) Value {
	v := tensor(th.dtype, th.sizes...)
	t := v.Tensor
	switch {
	case outName(arg):
		if th.outs == emptyOut {
			t.Sizes = []int64{0}
		}
		return v
	case slices.Contains(indexNames, arg.Name):
		t.DType = "int64"
		return v
	case slices.Contains(maskNames, arg.Name) && oneIn(r, 2):
		t.DType = "bool"
	case slices.Contains(channelNames, arg.Name) && len(th.sizes) >= 2:
		t.Sizes = []int64{th.sizes[1]}
		return v
	}
	t.Arrangement, t.Form = th.arrangement, th.form
	t.legal()
	return v
}

// legal takes back what can't be had together.
func (t *TensorSpec) legal() {
	rank := len(t.Sizes)
	c := dtypes[t.DType].class
	if t.Form != Strided && t.Form != Inference && t.Form != Grad {
		t.Arrangement = Contiguous
	}
	q := quantizedDType(t.DType)
	if q && t.Form != PerChannel {
		t.Form = Quantized
	}
	wrong := false
	switch t.Form {
	case CSR, CSC, BSR, BSC:
		wrong = rank != 2 || t.DType == "bfloat16"
	case Mkldnn:
		wrong = rank == 0 || t.DType != "float32"
	case Quantized:
		wrong = t.DType != "float32" && !q
	case PerChannel:
		wrong = t.DType != "float32" && !q || rank == 0
	case Conjugate:
		wrong = c != complexed
	case Grad:
		wrong = c != complexed && c != floating
	case Negative:
		wrong = c == boolean
	case Nested, NestedEven, COOHybrid:
		wrong = rank < 2
	}
	if wrong {
		t.setForm(Strided)
	}
}

// setForm changes the form, and the dtype where that is one of another form.
func (t *TensorSpec) setForm(f Form) {
	if t.Form = f; quantizedDType(t.DType) && f != Quantized && f != PerChannel {
		t.DType = "float32"
	}
}

// quantizedDType reports whether a dtype is one that quantized tensors have.
func quantizedDType(name string) bool { return slices.Contains(quantizedDTypes, name) }
