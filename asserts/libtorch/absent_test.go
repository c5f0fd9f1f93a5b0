//go:build !libtorch

package libtorch_test

import (
	"errors"
	"io"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/libtorch"
)

// Without the tag everything says so, and nothing panics.
func TestNotBuilt(t *testing.T) {
	if libtorch.Built {
		t.Fatal("built without the tag, and says otherwise")
	}
	for name, f := range map[string]func() error{
		"Version":      func() error { _, err := libtorch.Version(); return err },
		"Ops":          func() error { _, err := libtorch.Ops(); return err },
		"Lookup":       func() error { _, err := libtorch.Lookup("aten::relu"); return err },
		"LoadLibrary":  func() error { return libtorch.LoadLibrary("x.so") },
		"Make":         func() error { _, err := libtorch.Make(libtorch.Spec{}); return err },
		"NewGenerator": func() error { _, err := libtorch.NewGenerator(1); return err },
		"Seed":         func() error { return libtorch.Seed(1) },
		"MetaTwins":    func() error { _, err := libtorch.MetaTwins(); return err },
		"Dump":         func() error { return libtorch.Dump(io.Discard, "", func([]byte) error { return nil }) },
		"Invoke":       func() error { _, err := libtorch.Invoke(true, &asserts.Op{Name: "aten::relu"}); return err },
	} {
		if err := f(); !errors.Is(err, libtorch.ErrNotBuilt) {
			t.Errorf("%s gave %v", name, err)
		}
	}
	var x libtorch.Tensor
	if err := x.Release(); err != nil {
		t.Errorf("releasing an undefined tensor gave %v", err)
	}
	if o, err := x.See(asserts.Identity); err != nil || o.Defined() {
		t.Errorf("an undefined tensor is seen as %+v, %v", o, err)
	}
}
