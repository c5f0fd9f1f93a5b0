package asserts_test

import (
	"testing"

	"github.com/opassert/opassert/asserts"
)

func TestThrough(t *testing.T) {
	for _, tt := range []struct {
		code            asserts.Code
		autograd, below bool
	}{
		{asserts.AutogradKernel, true, false},
		{asserts.KeptArgument, false, true},
		{asserts.UndeclaredAlias, false, true},
	} {
		if above, below := tt.code.Through(true), tt.code.Through(false); above != tt.autograd || below != tt.below {
			t.Errorf("%v: %t through autograd, %t below it", tt.code, above, below)
		}
	}
}
