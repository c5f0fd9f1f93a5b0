package c10

// Wrap makes a wrapper subclass around a plain tensor, which it keeps a
// reference to. The wrapper has a storage of its own, a stand-in without
// bytes; kind says whether its views share that one and so report themselves.
//
// Source: torch/csrc/autograd/python_variable.cpp, THPVariable_make_wrapper_subclass.
func Wrap(inner *Tensor, kind Kind) *Tensor {
	x := inner.get()
	Check(kind.wraps(), "a %v does not wrap", kind)
	Check(x.kind == Plain && x.layout == Strided, "only a plain, strided tensor is wrapped here")
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
