package plan

import (
	"maps"
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/schema"
)

// views113 is the hand-written map in PyTorch 1.13 from a view's base name to the argument that it views.
//
// Source: tools/autograd/gen_inplace_or_view_type.py, VIEW_FUNCTIONS, with gen_variable_type.py's
// additions.
var views113 = viewsOfSelf(map[string]string{
	"sparse_coo_tensor_with_dims_and_tensors": "values",
},
	"numpy_T", "alias", "as_strided", "diagonal", "expand", "permute", "select", "slice", "split",
	"split_with_sizes", "squeeze", "t", "transpose", "unfold", "unsqueeze", "flatten", "view", "unbind",
	"_indices", "_values", "indices", "values", "crow_indices", "col_indices", "ccol_indices", "row_indices",
	"_reshape_alias", "view_as_complex", "view_as_real", "_conj", "_neg_view", "_nested_view_from_buffer",
	"_unsafe_view",
)

var views26 = viewsOfSelf(views113,
	"slice_inverse", "_test_autograd_multiple_dispatch_view", "_nested_get_values", "_nested_view_from_jagged")

func viewsOfSelf(others map[string]string, names ...string) map[string]string {
	views := maps.Clone(others)
	for _, name := range names {
		views[name] = "self"
	}
	return views
}

// manual lists the ops whose autograd kernels are written by hand in PyTorch, without these asserts.
//
// Source: tools/autograd/gen_variable_type.py, MANUAL_AUTOGRAD.
var manual = map[string]bool{
	"_backward": true, "_fw_primal": true, "_make_dual": true, "_version": true, "copy_": true, "data": true,
	"detach": true, "detach_": true, "is_leaf": true, "output_nr": true, "requires_grad_": true,
	"resize_": true, "resize_as_": true, "retain_grad": true, "set_data": true,
}

// pytorch plans the asserts that PyTorch's code generator emits for an op with a generated autograd
// kernel. derivatives.yaml has the list of these; for other ops, it plans what they would get. The
// faults of the original are reproduced: nothing without a checked argument, no optional tensors,
// no lists of results, only base names in the view map.
//
// Source: tools/autograd/gen_variable_type.py, check_tensorimpl_and_storage.
func pytorch(views map[string]string) func(*schema.Op, *asserts.Op) []asserts.Check {
	return func(op *schema.Op, data *asserts.Op) []asserts.Check {
		if op.Decomposes || manual[op.Func.Name.Root()] {
			return nil
		}
		var checks []asserts.Check
		for i := range data.Args {
			if listKind(&data.Args[i]) != "opttensor" {
				on := asserts.ArgRef(i)
				checks = append(checks, asserts.Check{Code: asserts.InputStorage, On: on},
					asserts.Check{Code: asserts.InputImpl, On: on})
			}
		}
		if k := op.Kind(); len(checks) == 0 || k == schema.Inplace || k == schema.Out {
			return checks
		}
		storage := asserts.Check{Code: asserts.FreshStorage}
		viewed := views[op.Func.Name.Base]
		if base := slices.IndexFunc(data.Args, func(s asserts.Subject) bool { return s.Name == viewed }); base >= 0 {
			storage = asserts.Check{Code: asserts.ViewStorage, Against: asserts.ArgRef(base)}
		}
		for i := range data.Results {
			if listKind(&data.Results[i]) == "none" {
				storage.On = asserts.ResultRef(i)
				checks = append(checks, storage, asserts.Check{Code: asserts.FreshImpl, On: storage.On})
			}
		}
		return checks
	}
}
