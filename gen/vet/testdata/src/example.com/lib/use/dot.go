package use

import . "example.com/lib/kernels"

type alias = Library

type embeds struct{ *alias }

func Dot(e embeds, x *Tensor) {
	Relu(x)                            // want `Relu is the kernel of relu, relu_copy`
	e.Max(x)                           // want `Max is the kernel of max`
	(*alias).Max(e.alias, x)           // want `Max is the kernel of max`
	_ = []func(*Tensor) *Tensor{Twice} // want `Twice is the kernel of my::twice`
	defer Fresh(x)                     // want `Fresh is the kernel of fresh`
}
