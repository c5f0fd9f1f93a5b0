package watch

import (
	"testing"

	"github.com/opassert/opassert/asserts"
)

// A mode invalidates the checks that it declares; one without a declaration may keep
// results, unless it is one of PyTorch's own that is known not to.
func TestModes(t *testing.T) {
	const own = "torch.utils._python_dispatch._TorchDispatchStackMode"
	for line, want := range map[string]asserts.Mode{
		"m.Logging":                       {Name: "m.Logging", Invalidates: fresh},
		"m.Logging\x1f":                   {Name: "m.Logging"},
		"m.Logging\x1fOA004 OA999 OA003":  {Name: "m.Logging", Invalidates: asserts.CodesOf(asserts.ViewStorage, asserts.FreshImpl)},
		own:                               {Name: own},
		own + "\x1f" + "undeclared-alias": {Name: own, Invalidates: asserts.CodesOf(asserts.UndeclaredAlias)},
	} {
		if got := mode(line); got != want {
			t.Errorf("%q is %+v, want %+v", line, got, want)
		}
	}
}
