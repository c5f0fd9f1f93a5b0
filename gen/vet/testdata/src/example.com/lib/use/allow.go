package use

import "example.com/lib/kernels"

func Allowed(l *kernels.Library, x *kernels.Tensor) {
	kernels.Relu(x) //opassert:allow OA201 the kernel alone is looked at
	kernels.Relu(x) // want `Relu is the kernel of relu, relu_copy: .* \(OA201\)`
	//opassert:allow around-wrapper the kernel alone is looked at
	kernels.Relu(kernels.Fresh(x))
	kernels.Relu(x) // want `OA201`

	//opassert:allow OA201 the kernel alone is looked at
	// and so is what it is called through.
	//opassert:allow OA202 it is called nowhere
	l.Max(kernels.Maxer(l).Max(x))

	/* a */         //opassert:allow OA202 it is another finding // want `this allows nothing: line 17 has no finding OA202 hidden-kernel; remove it`
	kernels.Relu(x) // want `OA201`
	kernels.Neg(x)  //opassert:allow OA201 there was one // want `this allows nothing: line 19 has no finding OA201`

	//opassert:allow OA201 it is too far away // want `line 22 has no finding OA201`

	kernels.Relu(x) // want `OA201`

	kernels.Relu( /* want `want a check and the reason after //opassert:allow: OA201 has no reason` */ x) //opassert:allow OA201
}
