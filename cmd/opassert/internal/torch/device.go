package torch

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/libtorch"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/tensor"
)

// On makes the tensors of cases lie on a device, by its name.
func (l *Libtorch) On(name string) error {
	found, err := libtorch.FindDevice(name)
	var thrown *libtorch.Error
	switch {
	case errors.As(err, &thrown):
		return fmt.Errorf("device %s is not available: %s", name, thrown.Message)
	case err != nil:
		return err
	}
	l.device = device{found}
	if why := l.device.lost(); why != "" { // starting a driver takes long, which no case should pay for
		return fmt.Errorf("device %s does not keep data: %s", name, why)
	}
	return nil
}

type device struct{ libtorch.DeviceInfo }

// below reports whether an op has a kernel below autograd for the device, or for all devices.
func (p device) below(op *libtorch.Op) bool {
	return slices.ContainsFunc(op.Kernels, func(key string) bool {
		return key == p.Key || key != "CPU" && slices.Contains(below, key)
	})
}

// needs are the ops without which a libtorch has no tensors of a form.
var needs = map[engine.Form]string{engine.Named: "aten::rename_"} // removed in PyTorch 2.13

// lacks returns the reason why tensors of a form cannot be made on the device, or "".
func (p device) lacks(f engine.Form) string {
	if op := needs[f]; op != "" {
		if _, err := libtorch.Lookup(op); err != nil {
			return tensor.Forms[f] + " tensors"
		}
	}
	if p.Name != "" && !p.Resolves && (f == engine.Conjugate || f == engine.Negative) {
		return fmt.Sprintf("%s tensors on %s, whose copies of them never end: aten::_copy_from has no kernel for %s",
			tensor.Forms[f], p.Name, keyOf[f])
	}
	return ""
}

// keyOf are the dispatch keys of forms that PyTorch's fallbacks resolve.
var keyOf = map[engine.Form]string{engine.Conjugate: "Conjugate", engine.Negative: "Negative"}

// lost returns the error of a device that fails to copy bytes, or "". After a sticky
// error, or without memory, it fails until its process ends.
func (p device) lost() string {
	if p.Name == "" {
		return ""
	}
	const mark = 0x5a
	dtype, _ := libtorch.ParseDType("uint8")
	t, err := libtorch.Make(libtorch.Spec{DType: dtype, Device: p.Name, Sizes: []int64{1}, Bytes: []byte{mark}})
	if err != nil {
		return err.Error()
	}
	defer t.Release()
	copied, err := t.Bytes()
	switch {
	case err != nil:
		return err.Error()
	case !bytes.Equal(copied, []byte{mark}):
		return fmt.Sprintf("a byte that is copied to it and back is %x, and was %x", copied, mark)
	}
	return ""
}

// hold ends the worker if the device is lost, with the case that lost it.
func (p device) hold() {
	if why := p.lost(); why != "" {
		panic(&engine.Lost{Message: stamp.ReplaceAllString(why[:min(len(why), longest)], "[$1 ")})
	}
}

func (p device) kernel(op *libtorch.Op) engine.KernelKind {
	switch {
	case slices.Contains(op.Kernels, p.Key) || slices.Contains(op.Kernels, "Autograd"+p.Key):
		return engine.OwnKernel
	case p.below(op) || slices.Contains(op.Kernels, "CompositeImplicitAutograd") || op.Autograd && len(op.Runs) == 0:
		return engine.SharedKernel
	case p.Fallback:
		return engine.FallbackKernel
	}
	return engine.NoKernel
}

// hostTwins returns copies of ts on the CPU with the same bytes, sizes, strides, offsets and sharing of storages.
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

// hostTwin returns the copy of a tensor, on the storage of another one unless that is undefined.
func hostTwin(t libtorch.Tensor, seen *asserts.Observation, of libtorch.Tensor) (libtorch.Tensor, error) {
	c := seen.Content
	dtype, known := libtorch.ParseDType(c.DType)
	if !known || c.Layout != "Strided" || c.Strides == nil && len(c.Sizes) > 0 {
		const why = "a tensor that is not plain and strided has no copy on the CPU"
		return libtorch.Tensor{}, &libtorch.Error{Op: "twins", Refused: true, Message: why}
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
