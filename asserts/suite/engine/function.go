package engine

// A Function is a kernel that is a Go function, as a program calls it.
type Function struct {
	Name string // as Go's run time names it: "example.com/vector/kernels.Clamp"

	// Inputs are its parameters, of which a method's receiver is the first.
	Inputs []Input

	Returns  int  // how many values it returns, besides an error
	Fails    bool // it returns an error behind them
	Variadic bool
}

// An Input is a parameter of a Function.
type Input struct {
	Argument int    // of the schema, or [ContextInput] or [ReceiverInput]
	Type     string // in Go, with import paths in quotes: `[]"example.com/vector".Kind`
}

// Inputs that are not arguments of the schema.
const (
	ContextInput  = -1 - iota
	ReceiverInput // what maker.Receiver passes
)
