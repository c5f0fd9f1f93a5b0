package design

import (
	"testing"

	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/schema"
)

// A number that leaves factors or sums unchanged is replaced, unless it is a dimension, a size or a
// mode; so is a tensor without elements, unless results are written to it.
func TestLively(t *testing.T) {
	for _, tt := range []struct{ arg, value, want string }{
		{"int by", "0", "3"},
		{"int by", "1", "3"},
		{"SymInt by", "1", "3"},
		{"int? by", "1", "3"},
		{"int by", "2", ""},
		{"int by=1", "default", "3"},
		{"int by=5", "default", ""},
		{"int by", "default", ""},
		{"float scale", "1.0", "0.75"},
		{"float momentum", "0.0", "0.25"},
		{"float scale", "0.5", ""},
		{"float scale=1", "default", "0.75"},
		{"Scalar alpha=1", "default", "3"},
		{"Scalar alpha=1.0", "default", "0.75"},
		{"Scalar alpha", "1.0", "0.75"},
		{"Scalar alpha", "true", ""},
		{"bool keep", "true", ""},
		{"str mode='1'", "default", ""},
		{"int[] by", "[1]", ""},
		{"int dim", "1", ""},
		{"int dim0", "0", ""},
		{"int kernel_size", "1", ""},
		{"int stride", "1", ""},
		{"int reduction", "1", ""},
		{"int end", "0", ""},
		{"Tensor index", "int64[0]", "int64[3]"},
		{"Tensor? index", "int64[2, 0]", "int64[2, 3]"},
		{"Tensor index", "int64[2]", ""},
		{"Tensor(a!) out", "int64[0]", ""},
	} {
		op := must.Get(schema.ParseOp("f(" + tt.arg + ") -> ()"))(t)
		v := must.Get(sample.ParseValue(tt.value, sample.NewSymbols(0)))(t)
		got, ok := Nontrivial(op.Func.Args[0], v)
		if want := tt.want; ok != (want != "") || ok && got.String() != want {
			t.Errorf("%s %s: %v %v, want %s", tt.arg, tt.value, got, ok, want)
		}
	}
}
