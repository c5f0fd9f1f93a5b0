package asserts

type Op struct{ Name, Schema string }

type Kernel struct {
	Op    *Op
	Func  any
	Order []int
}
