package c10

import "github.com/opassert/opassert/asserts"

var _ asserts.Tensor = (*Tensor)(nil)

// Observe fills in the tensor's present state. An undefined or released tensor does not
// change o. Below the content level it allocates nothing, except for the parts of
// a sparse or wrapping tensor. The observer takes no reference: IDs are serial numbers.
func (t *Tensor) Observe(o *asserts.Observation, level asserts.Level) {
	if t == nil || t.impl == nil {
		return
	}
	x := t.impl
	o.Impl, o.ImplUses, o.Traits = x.id, x.uses.Load(), x.traits()
	if s := x.storage; s != nil {
		o.Storage, o.StorageUses = s.id, s.uses.Load()
	}
	if level >= asserts.Content || x.inner != nil || x.sparse != nil {
		x.observeMore(o, level)
	}
}

// observeMore is a function of its own, so that observing a plain tensor at the identity level is cheap.
func (x *TensorImpl) observeMore(o *asserts.Observation, level asserts.Level) {
	parts := x.parts(o, level)
	if level >= asserts.Content {
		o.Look(func() { x.observeContents(o) })
	}
	o.With(parts...)
}

// parts observes the tensors inside: the members of a sparse tensor, and the inner tensor of a wrapper subclass.
func (x *TensorImpl) parts(o *asserts.Observation, level asserts.Level) []asserts.Part {
	switch {
	case x.inner != nil:
		return []asserts.Part{o.Inside("inner", x.inner, level)}
	case x.sparse != nil && x.sparse.cols != nil:
		return []asserts.Part{
			o.Inside("crow_indices", x.sparse.rows, level),
			o.Inside("col_indices", x.sparse.cols, level),
			o.Inside("values", x.sparse.values, level),
		}
	case x.sparse != nil:
		return []asserts.Part{o.Inside("indices", x.sparse.rows, level), o.Inside("values", x.sparse.values, level)}
	}
	return nil
}

// observeContents adds the observations of the content level: the metadata alone without bytes.
func (x *TensorImpl) observeContents(o *asserts.Observation) {
	if x.version != nil {
		o.Version = x.version.Load()
	}
	s := x.storage
	if s == nil {
		o.Content = &asserts.Snapshot{DType: x.dtype.String(), Device: x.device.String(), Sizes: x.sizes,
			Layout: x.layoutText()}
		return
	}
	asserts.ReadSlice(o, s.data, x.sizes, x.strides, x.offset)
	c := o.Content
	c.DType, c.Device, c.Layout, c.Nbytes = x.dtype.String(), x.device.String(), x.layoutText(), s.nbytes
	if s.data == nil {
		c.Digest, c.Memory, c.Bytes = 0, 0, nil
	}
}

func (x *TensorImpl) layoutText() string {
	if x.sparse != nil && x.sparse.coalesced {
		return x.layout.String() + " coalesced"
	}
	return x.layout.String()
}
