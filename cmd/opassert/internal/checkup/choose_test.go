package checkup

import "testing"

// A pattern may leave out an op's namespace, its overload, or both.
func TestMatches(t *testing.T) {
	for pattern, want := range map[string]bool{
		"aten::add.Tensor": true, "add.Tensor": true, "aten::add": true, "add": true, "a*": true, "aten::*": true, "*.Tensor": true,
		"aten": false, "add.out": false, "mylib::add": false, "": false, "dd": false,
	} {
		if Matches(pattern, "aten::add.Tensor") != want {
			t.Errorf("%q matches aten::add.Tensor: %v", pattern, !want)
		}
	}
	if !Matches("mylib.aten::add", "mylib.aten::add.Tensor") {
		t.Error("a namespace with a dot counts as an overload")
	}
}
