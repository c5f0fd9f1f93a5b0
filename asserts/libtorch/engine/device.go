package engine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/libtorch"
)

// On makes the tensors of cases lie on a device, by its name.
func (l *Libtorch) On(name string) error {
	found, err := libtorch.FindDevice(name)
	var thrown *libtorch.Error
	switch {
	case errors.As(err, &thrown):
		return fmt.Errorf("device %s is not there: %s", name, thrown.Message)
	case err != nil:
		return err
	}
	l.place = place{found}
	return nil
}

// A place is the device of the tensors of cases.
type place struct{ libtorch.Place }

// below reports whether an op has a kernel below autograd for the device, or one that
// serves all.
func (p place) below(op *libtorch.Op) bool {
	return slices.ContainsFunc(op.Kernels, func(key string) bool {
		return key == p.Key || key != "CPU" && slices.Contains(below, key)
	})
}

// has reports whether an op runs on the device without a fallback.
func (p place) has(op *libtorch.Op) bool {
	return p.below(op) || slices.Contains(op.Kernels, "CompositeImplicitAutograd") || op.Autograd && len(op.Runs) == 0
}

// hostTwins returns tensors on the CPU that are to each other what ts are: the same
// bytes, sizes, strides and offsets, and one storage where two share one.
func hostTwins(ts ...libtorch.Tensor) ([]libtorch.Tensor, error) {
	twins := make([]libtorch.Tensor, len(ts))
	on := make(map[asserts.ID]libtorch.Tensor)
	for i, t := range ts {
		seen, err := t.See(asserts.Content)
		if err == nil && !seen.Defined() {
			continue
		}
		if same := slices.Index(ts[:i], t); same >= 0 {
			twins[i] = twins[same]
			continue
		}
		if err == nil {
			twins[i], err = hostTwin(t, &seen, on[seen.Storage])
		}
		if err != nil {
			libtorch.ReleaseAll(twins...)
			return nil, err
		}
		if !on[seen.Storage].Defined() {
			on[seen.Storage] = twins[i]
		}
	}
	return twins, nil
}

// hostTwin returns the twin of one, which shares the storage of another where that is a
// tensor.
func hostTwin(t libtorch.Tensor, seen *asserts.Observation, of libtorch.Tensor) (libtorch.Tensor, error) {
	c := seen.Content
	dtype, known := libtorch.ParseDType(c.DType)
	if !known || c.Layout != "Strided" || c.Strides == nil && len(c.Sizes) > 0 {
		return libtorch.Tensor{}, &libtorch.Error{Op: "twins", Refused: true, Message: "a tensor that is not a plain strided one has none on the CPU"}
	}
	spec := libtorch.Spec{DType: dtype, Sizes: c.Sizes, Strides: c.Strides, Offset: c.Offset, Of: of}
	if !of.Defined() {
		var err error
		if spec.Bytes, err = t.Bytes(); err != nil {
			return libtorch.Tensor{}, err
		}
	}
	return libtorch.Make(spec)
}
