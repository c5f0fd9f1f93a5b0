package kernels

import "github.com/opassert/opassert/asserts/maker"

type Tensor struct{}

type Library struct{}

//opassert:kernel relu
//opassert:kernel relu_copy
func Relu(self *Tensor) *Tensor { return self }

//opassert:kernel aten::add.out
func AddOut(out, self, other *Tensor) *Tensor { return self }

//opassert:kernel sub.out
func SubOut(gradSelf, b, out *Tensor) *Tensor { return Relu(gradSelf) }

//opassert:kernel max
func (l *Library) Max(self *Tensor) *Tensor { return self }

//opassert:kernel fresh
func Fresh(self *Tensor) *Tensor { return self }

/* opassert:kernel neg */      // want `looks like a kernel's mark but is not read: it is not written like one`
func Neg(self *Tensor) *Tensor { return self }

//opassert:kernel abs // want `want one op, and after it`
func Abs(self *Tensor) *Tensor { return self }

//opassert:kernel my::twice
func Twice(self *Tensor) *Tensor { return self }

//opassert:kernel sin
func Sin[E any](self *Tensor) *Tensor { return self } // want `kernel Sin for sin has type parameters`

//opassert:kernal cos // want `looks like a kernel's mark but is not read: it is not written like one`
func Cos(self *Tensor) *Tensor { return self }

// op-assert:kernel tan // want `it is not written like one`
func Tan(self *Tensor) *Tensor { return self }

// Exp2 comes close to a mark.
// opassert:kernel=exp2 // want `it is not written like one`
func Exp2(self *Tensor) *Tensor { return self }

/* opasert:kernel(sqrt) */      // want `it is not written like one`
func Sqrt(self *Tensor) *Tensor { return self }

// opassert/kernel cube // want `it is not written like one`
func Cube(self *Tensor) *Tensor { return self }

// The mark of a kernel is opassert:kernel add.Tensor in prose, as is
// opassert:kernel in this line, and //part:of is another tool's.
//
//	//opassert:kernel cube
func Prose(self *Tensor) *Tensor { return self }

// A Maxer is what programs hold.
type Maxer interface{ Max(self *Tensor) *Tensor }

var _ Maxer = new(Library) // the kernels' own package may

func Within(x *Tensor) *Tensor {
	var m Maxer = new(Library)
	return m.Max(x)
}

func New() Maxer { return new(Library) } // want `\*kernels.Library is converted to kernels.Maxer, through which calls of Max, the kernel of max, bypass`

func hidden() Maxer { return new(Library) } // no other package calls it

func wrapped() func() Maxer {
	return func() Maxer { return new(Library) }
}

//opassert:options
func Options() []maker.Option { return nil }

//opassert:make
func Make(n int) *Tensor { return nil } // want `opassert:make: Make is not a func`

func Old(self *Tensor) *Tensor { return self }

// Call is a function in a variable.
var Call = Relu
