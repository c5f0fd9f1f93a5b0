package libtorch_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts/libtorch"
	"github.com/opassert/opassert/internal/dev/libtorchtest"
	"github.com/opassert/opassert/internal/dev/must"
)

func TestOps(t *testing.T) {
	libtorchtest.Need(t)
	ops := must.Get(libtorch.Ops())(t)
	if !slices.IsSortedFunc(ops, func(a, b *libtorch.Op) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the operators are not sorted")
	}
	count := make(map[string]int)
	for _, op := range ops {
		if op.Namespace == "aten" {
			count["aten"]++
		}
		if op.CPU {
			count["cpu"]++
		}
		if op.Composite {
			count["composite"]++
		}
	}
	// For 1.13 and 2.6; other versions are similar.
	for what, least := range map[string]int{"aten": 2900, "cpu": 2800, "composite": 700} {
		if count[what] < least {
			t.Errorf("there are %d operators in %s, want at least %d", count[what], what, least)
		}
	}
	if _, err := libtorch.Lookup("aten::no_such"); err == nil || !strings.Contains(err.Error(), "no operator aten::no_such") {
		t.Errorf("an operator that does not exist gave %v", err)
	}
}

func TestSchemas(t *testing.T) {
	libtorchtest.Need(t)
	for _, tt := range []struct{ op, schema, key string }{
		{"aten::add.Tensor", "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", "CPU"},
		{"aten::unbind.int", "unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]", "CompositeExplicitAutograd"},
		{"aten::stack.out", "stack.out(Tensor[] tensors, int dim=0, *, Tensor(a!) out) -> Tensor(a!)", "CompositeExplicitAutograd"},
		{"aten::unbind_copy.int_out", "unbind_copy.int_out(Tensor self, int dim=0, *, Tensor(a!)[] out) -> ()", "CompositeExplicitAutograd"},
		{"aten::max_pool2d", "max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> Tensor", "CompositeImplicitAutograd"},
		{"aten::contiguous", "contiguous(Tensor(a) self, *, MemoryFormat memory_format=contiguous_format) -> Tensor(a)", "CompositeImplicitAutograd"},
		{"aten::bucketize.Tensor", "bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor", "CPU"},
		{"aten::batch_norm", "batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps, bool cudnn_enabled) -> Tensor", "CompositeImplicitAutograd"},
	} {
		op := lookup(t, tt.op)
		if op.Schema != tt.schema || !slices.Contains(op.Kernels, tt.key) {
			t.Errorf("%s is\n%s with kernels for %v, want\n%s with one for %s", tt.op, op.Schema, op.Kernels, tt.schema, tt.key)
		}
	}
}

func TestUnpassable(t *testing.T) {
	libtorchtest.Need(t)
	ops := must.Get(libtorch.Ops())(t)
	for _, op := range ops {
		if why := op.Unpassable(); why != "" && op.Namespace == "aten" {
			t.Errorf("%s cannot be called: %s", op.Name, why)
		}
	}
	if why := lookup(t, "quantized::linear").Unpassable(); why != "" {
		t.Errorf("quantized::linear takes an object that linear_prepack makes, and is said not to: %s", why)
	}
	if why := lookup(t, "static_runtime::dict_unpack").Unpassable(); why == "" {
		t.Error("a schema that is open is said to be callable")
	}
}

// Tags have the names of PyTorch's tags.yaml, whichever namespace declares them.
func TestTags(t *testing.T) {
	libtorchtest.Need(t)
	for name, want := range map[string]string{"aten::bernoulli": "nondeterministic_seeded", "aten::nonzero": "dynamic_output_shape"} {
		if tags := lookup(t, name).Tags; !slices.Contains(tags, want) {
			t.Errorf("%s has the tags %q, want %s", name, tags, want)
		}
	}
}
