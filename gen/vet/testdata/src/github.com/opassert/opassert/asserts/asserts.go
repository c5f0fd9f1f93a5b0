package asserts

type Op struct{ Name, Schema string }

type Kernel struct {
	Op    *Op
	Func  any
	Order []int
}

type Observation struct{}

type Level int8
