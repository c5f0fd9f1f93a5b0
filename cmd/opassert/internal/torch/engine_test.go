package torch

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/libtorch"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/dev/libtorchtest"
	"github.com/opassert/opassert/internal/dev/must"
)

// A packed linear layer holds its weight and bias invisibly, as intended.
func TestObjectMayHoldArguments(t *testing.T) {
	libtorchtest.Need(t)
	op := must.Get(libtorch.Lookup("quantized::linear_prepack"))(t)
	parsed := must.Get(Schema(op))(t)
	var kept []asserts.Ref
	for _, u := range Unseen(parsed, op) {
		if u.Code == asserts.KeptArgument {
			kept = append(kept, u.On)
		}
	}
	if diff := cmp.Diff([]asserts.Ref{asserts.ArgRef(0), asserts.ArgRef(1)}, kept); diff != "" {
		t.Error(diff)
	}
}

// An op cannot run if it calls one without a kernel for its tensors; a kernel for
// another kind of tensor, or another error, does not prove that.
func TestBeyond(t *testing.T) {
	libtorchtest.Need(t)
	l := new(Libtorch)
	for _, tt := range []struct {
		op, calls string
		want      bool
	}{
		{"aten::_masked_scale.out", "aten::_masked_scale", true}, // only CUDA
		{"aten::_masked_scale.out", "aten::_masked_scale.out", false},
		{"aten::add.out", "aten::add.Tensor", false},
		{"aten::mkldnn_linear.out", "aten::mkldnn_linear", false}, // for mkldnn tensors
		{"aten::add.out", "aten::no_such_op", false},
	} {
		text := "Could not run '" + tt.calls + "' with arguments from the 'CPU' backend. This could be"
		if got := l.Unavailable(tt.op, text); (got != "") != tt.want {
			t.Errorf("%s calls %s: %q", tt.op, tt.calls, got)
		}
	}
	for text, want := range map[string]bool{
		"q, k, and v must be on the same CUDA device":       true,
		"x must be a CUDA tensor":                           true,
		"weight should be on cuda":                          true,
		"inputs must be on a CUDA device":                   true,
		"Expected the device parameter to be a cuda device": true,
		"x must not be a CUDA tensor":                       false,
		"x must be on the CPU":                              false,
	} {
		if got := l.Unavailable("aten::add.out", text); (got != "") != want {
			t.Errorf("%s: the reason is %q", text, got)
		}
	}
	if got := l.Unavailable("aten::add.out", "expected a vector"); got != "" {
		t.Error(got)
	}
	refuses := "add(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad."
	if got := l.Unavailable("aten::add.out", refuses); !strings.Contains(got, "rejects arguments that require grad") {
		t.Error(got)
	}
}

// Tensors of a form are what the library lacks if it lacks the op that makes them.
func TestFormsWithoutTheirOp(t *testing.T) {
	libtorchtest.Need(t)
	needs[engine.Negative], needs[engine.Conjugate] = "aten::absent", "aten::_conj"
	t.Cleanup(func() { delete(needs, engine.Negative); delete(needs, engine.Conjugate) })
	for form, want := range map[engine.Form]string{engine.Negative: "neg tensors", engine.Conjugate: "", engine.Strided: ""} {
		if got := new(device).lacks(form); got != want {
			t.Errorf("%v: it lacks %q, want %q", form, got, want)
		}
	}
}

// The reported error of an op does not depend on the time.
func TestThrownHasNoTime(t *testing.T) {
	for _, tt := range []struct{ message, want string }{
		{"[F1122 04:09:46.508826827 split_cpu.cpp:650] Check failed: T > 0 (-1 vs. 0).", "[F split_cpu.cpp:650] Check failed: T > 0 (-1 vs. 0)."},
		{"[W0101 23:59:59.000001  1234 a.cpp:1] slow", "[W a.cpp:1] slow"},
		{"expected [F112 1:2:3.4 x]", "expected [F112 1:2:3.4 x]"},
	} {
		if got := thrown(&libtorch.Error{Message: tt.message}).Error(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// An exception of a kernel in Python has the frames of its module, and none of those by which PyTorch calls it.
func TestOwnFrames(t *testing.T) {
	const at = "ValueError: no\n\nAt:\n  /src/torch/m.py(5): f"
	text := at + "\n  /lib/torch/_library/custom_ops.py(503): wrapped_fn\n  /lib/torch/_ops.py(9): __call__\n  /src/m.py(7): g"
	if got := ownFrames.ReplaceAllString(text, ""); got != at+"\n  /src/m.py(7): g" {
		t.Errorf("the message is %q", got)
	}
}

// A fix names what registered the schema, and the line where it is known.
func TestDeclared(t *testing.T) {
	for want, tt := range map[string]struct {
		op   libtorch.Op
		line int
	}{
		"torch.library.custom_op":  {op: libtorch.Op{File: "/lib/torch/_library/custom_ops.py", Line: 2}},
		"torch.library.define":     {op: libtorch.Op{File: "/lib/torch/library.py", Line: 2}},
		"Library.define at m.py:2": {op: libtorch.Op{File: "/src/m.py", Line: 2}},
		"m.def at ops.cpp:30":      {op: libtorch.Op{File: "ops.cpp", Line: 20}, line: 30},
		"m.def at other.cpp:20":    {op: libtorch.Op{File: "other.cpp", Line: 20}},
		"native_functions.yaml":    {op: libtorch.Op{Namespace: "aten", File: "x.cpp", Line: 20}},
		"":                         {op: libtorch.Op{Namespace: "my"}},
	} {
		if got := Declared(&tt.op, tt.line); got != want {
			t.Errorf("%+v: %q, want %q", tt, got, want)
		}
	}
}
