package libtorch_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/libtorch"
	"github.com/opassert/opassert/internal/dev/libtorchtest"
	"github.com/opassert/opassert/internal/dev/must"
)

// A generated function returns the results of a good op, reports a broken one at its caller, and
// judges nothing without check.
func TestInvoke(t *testing.T) {
	libtorchtest.Need(t)
	var found asserts.Collector
	defer asserts.SetReporter(&found)()
	x := floats(t, 2)
	good, broken := planned(t, oplibOp(t, "scale")), planned(t, oplibOp(t, "row"))
	for _, tt := range []struct {
		name  string
		check bool
		op    *asserts.Op
		arg   libtorch.Value
		want  string
	}{
		{"good", true, good, libtorch.Float(2), ""},
		{"broken", true, broken, integer(0), "OA007"},
		{"broken and bare", false, broken, integer(0), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found.Reset()
			results := must.Get(libtorch.Invoke(tt.check, tt.op, x, tt.arg))(t)
			if len(results) != 1 || !results[0].Tensor.Defined() {
				t.Fatalf("it gave %v", results)
			}
			results[0].Release()
			var codes []string
			for _, v := range found.Found() {
				codes = append(codes, v.Code.String())
			}
			if got := strings.Join(codes, " "); got != tt.want {
				t.Errorf("violations %q, want %q", got, tt.want)
			}
		})
	}
	var e *libtorch.Error
	if _, err := libtorch.Invoke(true, good, x); !errors.As(err, &e) || !e.Refused {
		t.Errorf("a missing argument gave %v", err)
	}
}

// BenchmarkInvoke is a generated function, bare and checked.
func BenchmarkInvoke(b *testing.B) {
	libtorchtest.Need(b)
	x := ones(b, 3)
	for _, name := range []string{"aten::add.Tensor", "aten::cat"} {
		op := planned(b, lookup(b, name))
		args := []libtorch.Value{x, x}
		if name == "aten::cat" {
			args = []libtorch.Value{libtorch.Tensors(x.Tensor, x.Tensor)}
		}
		for _, check := range []bool{false, true} {
			level := map[bool]string{false: "bare", true: "checked"}[check]
			b.Run(name+"/"+level, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					results, err := libtorch.Invoke(check, op, args...)
					if err != nil {
						b.Fatal(err)
					}
					results[0].Release()
				}
			})
		}
	}
}
