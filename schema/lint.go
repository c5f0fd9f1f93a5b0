package schema

import "go/token"

// A Finding is one disagreement inside a schema (OA012 schema-lint).
type Finding struct {
	Pos     token.Position
	Op      string // Op.Name
	Message string
	Fix     string // "Tensor self  ->  Tensor(a!) self"
}

// Lint gives the findings for every op of the file, in file order.
func Lint(f *File) []Finding { return nil }

// LintOp gives the findings for one op.
func LintOp(op *Op) []Finding { return nil }
