package engine

// A GoFunction is a kernel that is a Go function, as a program calls it.
type GoFunction struct {
	Name string // in Go's run time: "example.com/vector/kernels.Clamp"

	// Inputs are its parameters, the first of which may be a method's receiver.
	Inputs []Input

	Returns  int  // number of values that it returns, besides an error
	Fails    bool // it returns an error after them
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
	ReceiverInput // the argument of maker.Receiver
)
