package design

import (
	"cmp"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/slicesx"
	"github.com/opassert/opassert/internal/tensor"
	"github.com/opassert/opassert/schema"
)

func candidate(r *rand.Rand, arg schema.Argument, th *theme) sample.Value {
	t := arg.Type
	if t.Kind == schema.Optional {
		if !th.edge && sample.OneIn(r, 2) || th.edge && sample.OneIn(r, 4) {
			return sample.None()
		}
		t = t.Elem[0]
	}
	return ofType(r, arg, t, th)
}

func ofType(r *rand.Rand, arg schema.Argument, t schema.Type, th *theme) sample.Value {
	switch t.Kind {
	case schema.List:
		return listOf(r, arg, t, th)
	case schema.Optional:
		if sample.OneIn(r, 3) {
			return sample.None()
		}
		return ofType(r, arg, t.Elem[0], th)
	case schema.Tuple:
		return sample.Value{Kind: sample.TupleValue, List: slicesx.Map(t.Elem,
			func(e schema.Type) sample.Value { return ofType(r, arg, e, th) })}
	case schema.Dict:
		key := sample.Int(0)
		if t.Elem[0].Name == "str" {
			key = sample.Text("a")
		}
		return sample.Value{Kind: sample.DictValue, List: []sample.Value{key, ofType(r, arg, t.Elem[1], th)}}
	case schema.Base:
		if strings.HasPrefix(t.Name, sample.CustomClasses) {
			return sample.Value{Kind: sample.NewValue, Text: t.Name} // its constructor's errors tell the arguments
		}
		if make, ok := byType[t.Name]; ok {
			return make(r, arg.Name, th)
		}
		if t.Name == "Tensor" {
			return tensorFor(r, arg, th)
		}
	}
	return sample.None()
}

func madeBy(r *rand.Rand, maker *schema.Op, th *theme) sample.Value {
	v := sample.Value{Kind: sample.CallValue, Text: maker.Namespace + "::" + maker.Func.Name.String()}
	for _, arg := range maker.Func.Args {
		v.List = append(v.List, candidate(r, arg, th))
	}
	return v
}

func listOf(r *rand.Rand, arg schema.Argument, t schema.Type, th *theme) sample.Value {
	elem, n := t.Elem[0], t.Size
	switch rank := len(th.sizes); {
	case n == 0 && IsInt(elem):
		return intList(r, arg.Name, th)
	case n == 0 && elem.Name == "Dimname":
		n = rank
	case n == 0:
		n = 2
	case n == 1 && IsInt(elem):
		n = 1
	}
	v := sample.Value{Kind: sample.ListValue}
	for range n {
		e := ofType(r, arg, elem, th)
		if IsInt(elem) && len(v.List) > 0 && arg.Name != "dim" {
			e = v.List[0].Clone()
		}
		if elem.Name == "Dimname" {
			e = dimname(len(v.List))
		}
		v.List = append(v.List, e)
	}
	return v
}

func IsInt(t schema.Type) bool {
	return t.Kind == schema.Base && (t.Name == "int" || t.Name == "SymInt")
}

// intList makes an int[]: sizes, strides, paddings, dims.
func intList(r *rand.Rand, name string, th *theme) sample.Value {
	rank := len(th.sizes)
	switch {
	case strings.Contains(name, "size") || name == "shape":
		return sample.Ints(th.sizes...)
	case name == "stride" && rank <= 3 || name == "strides":
		return sample.Ints(tensor.ContiguousStrides(th.sizes)...)
	case name == "dims" || name == "dim" || name == "permutation":
		all := make([]int64, rank)
		for i := range all {
			all[i] = int64(i)
		}
		if th.edge || sample.OneIn(r, 2) {
			return sample.Ints(all...)
		}
		return sample.Ints(all[:min(1, rank)]...)
	case name == "repeats" || name == "stride" || name == "dilation":
		return same(max(1, rank-2), 1)
	case name == "padding" || name == "output_padding":
		return same(max(1, rank-2), 0)
	case name == "pad":
		return sample.Ints(int64(r.IntN(2)), 0)
	case name == "kernel_size":
		return same(max(1, rank-2), 1+int64(r.IntN(2)))
	}
	return sample.Pick(r, []sample.Value{sample.Ints(0), sample.Ints(1), sample.Ints(0, 1), same(max(1, rank), 1),
		sample.Ints()})
}

func same(n int, v int64) sample.Value {
	return sample.Value{Kind: sample.ListValue, List: slices.Repeat([]sample.Value{sample.Int(v)}, n)}
}

func dimname(i int) sample.Value { return sample.Text("dimname::" + string(rune('A'+i))) }

var byType = map[string]func(r *rand.Rand, name string, th *theme) sample.Value{
	"int":    intFor,
	"SymInt": intFor,
	"float":  floatFor,
	"Scalar": scalarFor,
	"bool":   boolFor,
	"str":    textFor,
	"Any": func(r *rand.Rand, name string, th *theme) sample.Value {
		text := sample.Text(name)
		return sample.Pick(r, []sample.Value{text, {Kind: sample.ListValue, List: []sample.Value{text}},
			sample.Tensor(th.dtype, th.sizes...), sample.Int(1)})
	},
	"ScalarType": func(r *rand.Rand, name string, th *theme) sample.Value {
		if th.edge {
			return sample.Value{Kind: sample.DTypeValue, Text: th.dtype}
		}
		return sample.Value{Kind: sample.DTypeValue, Text: sample.Pick(r, commonDTypes)}
	},
	"Layout": func(*rand.Rand, string, *theme) sample.Value {
		return sample.Value{Kind: sample.LayoutValue, Text: tensor.Layouts[tensor.LayoutStrided]}
	},
	"MemoryFormat": func(r *rand.Rand, _ string, th *theme) sample.Value {
		format := sample.Pick(r, []int{tensor.ContiguousFormat, tensor.PreserveFormat})
		if len(th.sizes) == 4 {
			format = tensor.FormatChannelsLast
		}
		return sample.Value{Kind: sample.FormatValue, Text: tensor.MemoryFormats[format]}
	},
	"Device": func(*rand.Rand, string, *theme) sample.Value {
		return sample.Value{Kind: sample.DeviceValue, Text: tensor.CPU}
	},
	"QScheme": func(*rand.Rand, string, *theme) sample.Value {
		return sample.Value{Kind: sample.QSchemeValue, Text: tensor.QSchemes[0]}
	},
	"Generator": func(r *rand.Rand, _ string, _ *theme) sample.Value {
		if sample.OneIn(r, 2) {
			return sample.None()
		}
		return sample.Value{Kind: sample.GeneratorValue, Int: 7}
	},
	"Dimname": func(r *rand.Rand, _ string, th *theme) sample.Value { return dimname(0) },
	"Storage": func(r *rand.Rand, _ string, th *theme) sample.Value {
		v := sample.Tensor(th.dtype, 4, 4)
		v.Kind = sample.StorageValue
		return v
	},
}

// Names of integers that kernels divide or allocate by.
var positive = regexp.MustCompile(`^(stride|dilation|kernel|pool|groups?\b|num_|n_|n(?:lat|lon|h|w|rows?|cols?|bins?|` +
	`heads?|blocks?|segs?|segments?)(?:_|$)|height|width|channels|batch)|_(h|w|d|height|width|size|groups)$`)

func intFor(r *rand.Rand, name string, th *theme) sample.Value {
	switch rank := int64(len(th.sizes)); {
	case strings.HasPrefix(name, "pad"):
		return sample.Int(int64(r.IntN(2)))
	case positive.MatchString(name):
		return sample.Int(sample.Pick(r, []int64{1, 1, 1, 2}))
	case strings.HasPrefix(name, "dim") || name == "axis":
		if th.edge || rank < 2 {
			return sample.Int(-1 * int64(r.IntN(2)) * min(1, rank))
		}
		return sample.Int(sample.Pick(r, []int64{0, 1, -1}))
	case name == "step":
		return sample.Int(1)
	case name == "reduction":
		return sample.Int(int64(r.IntN(3)))
	case name == "quant_max":
		return sample.Int(127)
	case name == "n" || name == "N" || name == "diagonal" || name == "offset" || name == "k" || name == "start":
		return sample.Int(int64(r.IntN(2)))
	case th.edge:
		return sample.Int(sample.Pick(r, []int64{0, 1, 1, 2}))
	}
	return sample.Int(sample.Pick(r, []int64{1, 2, 0, 3}))
}

// structural are names of integers that determine the form of a call, and are not operands.
var structural = regexp.MustCompile(`^(dim|axis|pad|quant|n$|N$|k$|step$|start|end|offset|diagonal|reduction|index)|` +
	`size|length|mode|type|layout|format|level|version|seed|ndim|_dim|max_|_id`)

// Nontrivial returns a value that changes the results of an op: a number other than one that leaves factors or sums
// unchanged, a tensor with elements instead of an empty one; false if the argument has such a value already.
func Nontrivial(arg schema.Argument, v sample.Value) (sample.Value, bool) {
	if v.Kind == sample.TensorValue {
		return nonEmpty(arg, v)
	}
	if t := Unwrap(arg.Type); t.Kind != schema.Base || t.Name != "float" && t.Name != "Scalar" && !IsInt(t) ||
		positive.MatchString(arg.Name) || structural.MatchString(arg.Name) {
		return v, false
	}
	if v.Kind == sample.DefaultValue {
		f, err := strconv.ParseFloat(arg.Default, 64)
		if err != nil {
			return v, false
		}
		if v = sample.Float(f); Unwrap(arg.Type).Name != "float" && !strings.Contains(arg.Default, ".") {
			v = sample.Int(int64(f))
		}
	}
	switch {
	case v.Kind == sample.IntValue && (v.Int == 0 || v.Int == 1):
		return sample.Int(3), true
	case v.Kind == sample.FloatValue && v.Float == 0:
		return sample.Float(0.25), true
	case v.Kind == sample.FloatValue && v.Float == 1:
		return sample.Float(0.75), true
	}
	return v, false
}

// nonEmpty returns a tensor with elements: with an empty one a kernel accepts nearly anything, and does little.
func nonEmpty(arg schema.Argument, v sample.Value) (sample.Value, bool) {
	if IsOut(arg) || !slices.Contains(v.Tensor.Sizes, 0) {
		return v, false
	}
	v = v.Clone()
	for i, n := range v.Tensor.Sizes {
		v.Tensor.Sizes[i] = cmp.Or(n, 3)
	}
	return v, true
}

func floatFor(r *rand.Rand, name string, th *theme) sample.Value {
	switch {
	case name == "eps":
		return sample.Float(1e-5)
	case name == "p" && th.edge:
		return sample.Float(sample.Pick(r, []float64{0, 1}))
	case th.edge:
		return sample.Float(sample.Pick(r, []float64{0, 1, 1}))
	}
	return sample.Float(sample.Pick(r, []float64{0.5, 1, 0.25, 2}))
}

func scalarFor(r *rand.Rand, name string, th *theme) sample.Value {
	switch {
	case th.edge:
		return sample.Pick(r, []sample.Value{sample.Int(0), sample.Int(1)})
	case sample.Element(th.dtype).Class() == tensor.Floating && sample.OneIn(r, 2):
		return sample.Pick(r, []sample.Value{sample.Float(0.5), sample.Float(2)})
	case sample.Element(th.dtype).Class() == tensor.Boolean && sample.OneIn(r, 2):
		return sample.Bool(true)
	}
	return sample.Pick(r, []sample.Value{sample.Int(1), sample.Int(2), sample.Int(3)})
}

func boolFor(r *rand.Rand, name string, th *theme) sample.Value {
	switch name {
	case "pin_memory", "sparse", "is_coalesced":
		return sample.Bool(false)
	case "output_mask":
		return sample.Bool(!sample.OneIn(r, 4))
	}
	return sample.Bool(sample.OneIn(r, 2))
}

// words are the texts that arguments of a name accept.
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

func textFor(r *rand.Rand, name string, th *theme) sample.Value {
	if known, ok := words[name]; ok {
		return sample.Text(sample.Pick(r, known))
	}
	return sample.Text(sample.Pick(r, []string{"sum", "mean", "none"}))
}

// Names of tensors that hold indices, masks, and one value per channel.
var (
	indexNames = []string{"index", "indices", "indexes", "idx", "offsets", "offset2bag", "bag_size", "maximum_indices",
		"crow_indices", "col_indices", "compressed_indices", "plain_indices", "pivots", "LU_pivots", "repeats", "lengths",
		"max_indices", "unsorted_indices"}
	maskNames    = []string{"mask", "condition", "found_inf_mask"}
	channelNames = []string{"running_mean", "running_var", "bias", "save_mean", "save_var", "save_invstd", "mean", "var",
		"invstd", "scale", "zero_point", "scales", "zero_points"}
)

// Names of tensors that hold the end of each sequence, or the start of each row of a sparse matrix,
// and of those with an integer for each entry of the others.
var (
	ends      = regexp.MustCompile(`^cu_?seq|^cum_seq|indptr$`)
	starts    = regexp.MustCompile(`_(off|offs|offsets|ptr|splits)$`)
	someIndex = regexp.MustCompile(`_(idx|inds?|ids|indices|index)$`)
	eachNames = regexp.MustCompile(`^(seq_?lens?|context_lens|slot_mapping|positions|block_ids|expert_ids)$`)
)

func tensorFor(r *rand.Rand, arg schema.Argument, th *theme) sample.Value {
	v := sample.Tensor(th.dtype, th.sizes...)
	t := v.Tensor
	switch {
	case IsOut(arg):
		if th.outs == emptyOut {
			t.Sizes = []int64{0}
		}
		return v
	case ends.MatchString(arg.Name) && len(th.sizes) > 0:
		t.DType, t.Sizes, t.Fill = "int32", []int64{3}, sample.Fill{Name: "ascending", Value: float64(th.sizes[0])}
		return v
	case starts.MatchString(arg.Name) && len(th.sizes) > 0:
		t.DType, t.Sizes, t.Fill = "int64", []int64{3}, sample.Fill{Name: "ascending", Value: float64(th.sizes[0])}
		return v
	case (eachNames.MatchString(arg.Name) || someIndex.MatchString(arg.Name) && !slices.Contains(indexNames, arg.Name)) &&
		len(th.sizes) > 0:
		t.DType, t.Sizes = "int64", th.sizes[:1:1]
		return v
	case slices.Contains(indexNames, arg.Name):
		t.DType = "int64"
		return v
	case slices.Contains(maskNames, arg.Name) && sample.OneIn(r, 2):
		t.DType = "bool"
	case slices.Contains(channelNames, arg.Name) && len(th.sizes) >= 2:
		t.Sizes = []int64{th.sizes[1]}
		return v
	}
	t.Arrangement, t.Form = th.arrangement, th.form
	t.Legal()
	return v
}

func Unwrap(t schema.Type) schema.Type {
	if t.Kind == schema.Optional {
		return t.Elem[0]
	}
	return t
}

// IsOut reports whether the op writes results into an argument.
func IsOut(arg schema.Argument) bool {
	return arg.Out || strings.HasPrefix(arg.Name, "out") && arg.Alias != nil
}

// OutsOf reports for each tensor of a call whether results are written into it.
func OutsOf(op *schema.Op, c *sample.Case) []bool {
	var outs []bool
	for i, arg := range op.Func.Args {
		for range c.Args[i].AppendTensors(nil) {
			outs = append(outs, IsOut(arg))
		}
	}
	return outs
}
