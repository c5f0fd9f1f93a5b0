// Package golangci has the analyzer of `opassert vet` as a module plugin of golangci-lint. It is a module of its own,
// so that opassert does not require the plugin's interface.
package golangci

import (
	"github.com/golangci/plugin-module-register/register"
	"golang.org/x/tools/go/analysis"

	"github.com/opassert/opassert/gen/vet"
)

func init() { register.Plugin("opassert", newPlugin) }

func newPlugin(any) (register.LinterPlugin, error) { return plugin{}, nil }

type plugin struct{}

func (plugin) BuildAnalyzers() ([]*analysis.Analyzer, error) {
	return []*analysis.Analyzer{vet.Analyzer}, nil
}

func (plugin) GetLoadMode() string { return register.LoadModeTypesInfo }
