package libtorch

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/opassert/opassert/internal/tensor"
)

// A DeviceInfo describes a device that tensors can be made on.
type DeviceInfo struct {
	Name     string // "cuda:0"
	Key      string // the dispatch key of its kernels: "CUDA"
	Fallback bool   // its backend has a kernel for ops that do not
	Resolves bool   // its copy resolves conjugated and negated tensors
}

// places are the devices found so far, by the requested names.
var places sync.Map

// brought is the name of the device that a package brings, if any.
var brought atomic.Pointer[string]

// Bring sets the name of the device that a package brings, in this process or in a watched one. A
// process without one has PyTorch's own name for it, which does not apply to others.
func Bring(name string) {
	if _, own := tensor.Devices.Number(name); !own {
		brought.Store(&name)
	}
}

// FindDevice finds a device by name, including those that a loaded package brings: "cuda",
// "openreg:1". An error tells why it is not available.
func FindDevice(name string) (DeviceInfo, error) {
	return place(name, func() (DeviceInfo, error) {
		return ask("device "+name, crossing{function: fnDevice, data: []byte(name)},
			func(r *reader) DeviceInfo { return r.device(name) })
	})
}

// place returns what was found of a device before, or finds it.
func place(name string, find func() (DeviceInfo, error)) (DeviceInfo, error) {
	if p, ok := places.Load(name); ok {
		return p.(DeviceInfo), nil
	}
	p, err := find()
	if err == nil {
		places.Store(name, p)
	}
	return p, err
}

func (r *reader) device(name string) DeviceInfo {
	typ, index := r.word(), r.word()
	if plain, _, _ := strings.Cut(name, ":"); typ == tensor.DeviceBrought {
		Bring(plain)
	}
	return DeviceInfo{Fallback: r.truth(), Resolves: r.truth(), Key: r.text(), Name: deviceName(typ, index)}
}

func deviceName(typ, index int64) string {
	name := typeName(typ)
	if _, single := tensor.SingleDevices.Number(name); single || index == noIndex {
		return name
	}
	return name + ":" + strconv.FormatInt(index, 10)
}

func typeName(typ int64) string {
	switch own := brought.Load(); {
	case own != nil && typ == tensor.DeviceBrought:
		return *own
	case typ >= 0 && int(typ) < len(tensor.Devices):
		return tensor.Devices[typ]
	}
	return fmt.Sprintf("device type %d", typ)
}

func deviceType(name string) (int64, bool) {
	if own := brought.Load(); own != nil && name == *own {
		return tensor.DeviceBrought, true
	}
	return tensor.Devices.Number(name)
}
