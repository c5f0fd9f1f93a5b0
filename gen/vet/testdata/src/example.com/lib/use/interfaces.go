package use

import (
	"fmt"

	"example.com/lib/kernels"
)

type own interface {
	Max(*kernels.Tensor) *kernels.Tensor
}

var held own = new(kernels.Library) // want `\*kernels.Library is converted to use.own, through which calls of Max, the kernel of max, bypass its generated wrapper`

func Hold(l *kernels.Library, x *kernels.Tensor) []kernels.Maxer {
	call(l, x)      // want `is converted to use.own`
	generic(l, x)   // want `is converted to use.own`
	later := own(l) // want `is converted to use.own`
	later.Max(x)    // it was one before
	var maybe own   // want `is converted to use.own`
	if x == nil {
		maybe = l // where SSA has no position of its own
	}
	maybe.Max(x)
	f := generic[*kernels.Library]                      // want `is converted to use.own`
	f(l, x)                                             // as a function alone
	fmt.Println(l)                                      // has none of its methods
	return []kernels.Maxer{kernels.Maxer(l), checked{}} // want `is converted to kernels.Maxer`
}

func call(o own, x *kernels.Tensor) { o.Max(x) }

func generic[O own](o O, x *kernels.Tensor) { o.Max(x) }

type checked struct{}

func (checked) Max(x *kernels.Tensor) *kernels.Tensor { return x }

type box[O own] struct{ held O }

var boxed box[*kernels.Library] // a type has no calls of its own
