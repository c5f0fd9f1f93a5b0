package golangci

import (
	"testing"

	"github.com/golangci/plugin-module-register/register"
	"golang.org/x/tools/go/analysis"

	"github.com/opassert/opassert/gen/vet"
)

// golangci-lint finds the plugin by its name, and runs the analyzer of opassert vet with types.
func TestPlugin(t *testing.T) {
	made, err := register.GetPlugin("opassert")
	if err != nil {
		t.Fatal(err)
	}
	p, err := made(nil)
	if err != nil {
		t.Fatal(err)
	}
	analyzers, err := p.BuildAnalyzers()
	if err != nil || len(analyzers) != 1 || analyzers[0] != vet.Analyzer || p.GetLoadMode() != register.LoadModeTypesInfo {
		t.Errorf("analyzers %v, error %v, load mode %s", analyzers, err, p.GetLoadMode())
	}
	if err := analysis.Validate(analyzers); err != nil {
		t.Error(err)
	}
}
