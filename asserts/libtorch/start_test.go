package libtorch

import (
	"errors"
	"strings"
	"testing"
)

func TestBuiltForAnother(t *testing.T) {
	for _, tt := range []struct {
		symbol  string
		another bool
	}{
		{"_ZNK3c108SymFloat11guard_floatEPKcl", true},
		{"_ZN2at4_ops5empty4callEv", true},
		{"_ZTIN5torch8autograd4NodeE", true},
		{"_Z6squareN2at6TensorE", false}, // the library's own
		{"cblas_sgemm", false},
	} {
		given := errors.New("load library: a.so: undefined symbol: " + tt.symbol)
		if err := builtForAnother(given, "2.6.0"); strings.Contains(err.Error(), "another PyTorch than 2.6.0") != tt.another || !errors.Is(err, given) {
			t.Errorf("%s: %v", tt.symbol, err)
		}
	}
}
