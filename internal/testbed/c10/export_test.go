package c10

// Wrap makes a wrapper subclass that holds a reference to a plain tensor. The wrapper
// has its own storage, without bytes; kind says whether its views share that storage.
//
// Source: torch/csrc/autograd/python_variable.cpp, THPVariable_make_wrapper_subclass.
func Wrap(inner *Tensor, kind TensorKind) *Tensor {
	x := inner.get()
	Check(kind.wraps(), "a %v cannot wrap", kind)
	Check(x.kind == Plain && x.layout == Strided, "only a plain, strided tensor can be wrapped")
	o := inner.Options()
	o.Kind = kind
	impl := newImpl(o, x.sizes)
	impl.strides, impl.offset = x.strides, x.offset
	impl.inner = inner.Retain()
	impl.storage = newStorage(nil, x.storage.nbytes)
	return &Tensor{impl}
}

// Inner returns the tensor that a wrapper subclass holds, nil for other tensors. The
// wrapper still owns it.
func (t *Tensor) Inner() *Tensor { return t.get().inner }
