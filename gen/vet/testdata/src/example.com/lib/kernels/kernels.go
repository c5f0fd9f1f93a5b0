package kernels // want package:`add.out fresh max my::twice relu relu_copy sub.out`

type Tensor struct{}

type Library struct{}

//opassert:kernel relu
//opassert:kernel relu_copy
func Relu(self *Tensor) *Tensor { return self } // want Relu:`relu relu_copy`

//opassert:kernel aten::add.out
func AddOut(out, self, other *Tensor) *Tensor { return self } // want AddOut:`add.out`

//opassert:kernel sub.out
func SubOut(gradSelf, b, out *Tensor) *Tensor { return Relu(gradSelf) } // want SubOut:`sub.out`

//opassert:kernel max
func (l *Library) Max(self *Tensor) *Tensor { return self } // want Max:`max`

//opassert:kernel fresh
func Fresh(self *Tensor) *Tensor { return self } // want Fresh:`fresh`

/* opassert:kernel neg */      // want `looks like the mark of a kernel and is not read: it is not spelled as one`
func Neg(self *Tensor) *Tensor { return self }

//opassert:kernel abs // want `want one op behind the mark`
func Abs(self *Tensor) *Tensor { return self }

//opassert:kernel my::twice
func Twice(self *Tensor) *Tensor { return self } // want Twice:`my::twice`

//opassert:kernel sin
func Sin[E any](self *Tensor) *Tensor { return self } // want `kernel Sin for sin has type parameters`

//opassert:kernal cos // want `looks like the mark of a kernel and is not read: it is not spelled as one`
func Cos(self *Tensor) *Tensor { return self }

//opassert:make
func Make(n int) *Tensor { return nil } // want `opassert:make: Make is no func`

func Old(self *Tensor) *Tensor { return self }
