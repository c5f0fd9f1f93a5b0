package vet

import (
	"fmt"
	"go/token"

	"golang.org/x/tools/go/analysis"

	"github.com/opassert/opassert/gen/internal/bind"
)

// report reports a finding with its code, which a comment may allow.
func report(pass *analysis.Pass, kind *bind.FindingKind, pos token.Pos, format string, args ...any) {
	pass.Report(analysis.Diagnostic{Pos: pos, Category: kind.Code, Message: fmt.Sprintf(format, args...) + " (" + kind.Code + ")"})
}
