package vet_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/opassert/opassert/gen/vet"
)

func TestAnalyzer(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), vet.Analyzer, "example.com/lib/kernels", "example.com/lib/ops", "example.com/lib/alone", "example.com/lib/use", "example.com/lib/observed")
}

func TestIsUnit(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want bool
	}{
		{nil, false},
		{[]string{"vet"}, false},
		{[]string{"vet", "./..."}, false},
		{[]string{"-V=full"}, true},
		{[]string{"-flags"}, true},
		{[]string{"-opassert.at=1", "/tmp/vet.cfg"}, true},
	} {
		if got := vet.IsUnit(tt.args); got != tt.want {
			t.Errorf("IsUnit(%q) = %v", tt.args, got)
		}
	}
}
