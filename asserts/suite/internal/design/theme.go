package design

import (
	"math/rand/v2"

	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/tensor"
)

// A theme holds the properties that the tensors of a case have in common.
type theme struct {
	dtype       string
	sizes       []int64
	arrangement tensor.Arrangement
	form        engine.Form
	same        bool // compatible tensors are one tensor
	edge        bool // arguments have the values with which many ops do nothing
	vary        bool // arguments with a default have other values
	outs        outSize
}

type outSize uint8

// Themes are those of the first cases: plain ones, so that most ops run, and edge cases, which find most.
var Themes = []theme{
	{dtype: "float32", sizes: []int64{3, 3}},
	{dtype: "float32", sizes: []int64{3, 3}, edge: true, outs: sizedOut},
	{dtype: "float32", sizes: []int64{2, 3, 4, 4}},
	{dtype: "int64", sizes: []int64{3}},
	{dtype: "float32", sizes: []int64{0, 3}},
	{dtype: "float32", sizes: []int64{1, 1}, edge: true},
	{dtype: "float32", sizes: []int64{}},
	{dtype: "float32", sizes: []int64{3, 3}, same: true, outs: sizedOut},
	{dtype: "float32", sizes: []int64{3, 3}, arrangement: tensor.Transposed, edge: true},
	{dtype: "float64", sizes: []int64{2, 3}, arrangement: tensor.Sliced},
	{dtype: "float32", sizes: []int64{3, 3}, arrangement: tensor.Expanded},
	{dtype: "bool", sizes: []int64{2, 3}},
	{dtype: "complex64", sizes: []int64{3, 3}},
	{dtype: "bfloat16", sizes: []int64{2, 3, 4}},
	{dtype: "float32", sizes: []int64{2, 3, 4, 4}, arrangement: tensor.ChannelsLast, edge: true},
	{dtype: "float32", sizes: []int64{3, 3}, form: engine.COO},
	{dtype: "float32", sizes: []int64{3, 3}, form: engine.CSR},
	{dtype: "float32", sizes: []int64{2, 3, 4, 4}, form: engine.Quantized},
	{dtype: "float32", sizes: []int64{2, 3, 4, 4}, form: engine.Mkldnn},
	{dtype: "float32", sizes: []int64{3, 3}, form: engine.Functional},
	{dtype: "int32", sizes: []int64{3, 3}, vary: true},
	{dtype: "uint8", sizes: []int64{3, 3}, edge: true},
	{dtype: "complex64", sizes: []int64{3, 3}, form: engine.Conjugate},
	{dtype: "float32", sizes: []int64{3, 3}, form: engine.Named},
	{dtype: "float32", sizes: []int64{3, 3}, form: engine.Nested},
	{dtype: "float32", sizes: []int64{2, 3, 4}, vary: true},
	{dtype: "float32", sizes: []int64{1, 2, 3, 4, 4}, vary: true},
	{dtype: "float64", sizes: []int64{0}, vary: true},
	{dtype: "float32", sizes: []int64{2, 3, 3}, form: engine.NestedEven},
	{dtype: "float32", sizes: []int64{3, 3}, form: engine.COOUncoalesced},
	{dtype: "float32", sizes: []int64{3, 3}, form: engine.COOHybrid},
}

const (
	emptyOut outSize = iota // resized by the op
	sizedOut                // of the theme's sizes
)

var (
	commonDTypes = []string{"float32", "float32", "float32", "float64", "bfloat16", "int64", "int32", "bool",
		"uint8", "complex64"}
	shapes = [][]int64{{}, {3}, {3, 3}, {2, 3}, {2, 3, 4}, {2, 3, 4, 4}, {1, 2, 3, 4, 4}, {0}, {1}, {2, 0, 3}, {1, 1},
		{4, 4}, {2, 3, 3}}
	commonForms = []engine.Form{engine.Strided, engine.Strided, engine.Strided, engine.Strided, engine.Strided, engine.COO,
		engine.COOUncoalesced, engine.CSR, engine.Quantized, engine.Mkldnn, engine.Functional, engine.Zero, engine.Inference,
		engine.Negative}
)

func themeOf(r *rand.Rand, number int) theme {
	if number < len(Themes) {
		return Themes[number]
	}
	th := theme{
		dtype: sample.Pick(r, commonDTypes), sizes: sample.Pick(r, shapes), form: sample.Pick(r, commonForms),
		same: sample.OneIn(r, 8), edge: sample.OneIn(r, 2), vary: sample.OneIn(r, 2), outs: outSize(r.IntN(2)),
	}
	if th.form == engine.Strided {
		th.arrangement = tensor.Arrangement(r.IntN(int(tensor.Padded))) // it has a class of its own
	}
	return th
}
