package tensor

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// The devices that engines have in common, by number.
const (
	CPU           = "cpu"
	Meta          = "meta" // its tensors have no bytes
	DeviceCPU     = 0
	DeviceMeta    = 14
	DeviceBrought = 20 // PrivateUse1, which a package may name
)

type device struct {
	name      string
	key       string // the dispatch key of its kernels, "" if schema files may not use it
	addresses bool   // pointers to its memory are addresses, and not handles
}

// devices are those of c10::DeviceType, by number, which all versions share.
//
// Source: c10/core/DeviceType.h; torchgen/model.py, BACKEND_COMPONENTS.
var devices = []device{
	DeviceCPU: {CPU, "CPU", true}, {"cuda", "CUDA", true}, {name: "mkldnn"}, {name: "opengl"}, {name: "opencl"},
	{name: "ideep"}, {"hip", "HIP", true}, {name: "fpga"}, {name: "ort", key: "MAIA"}, {name: "xla", key: "XLA"},
	{name: "vulkan"}, {name: "metal"}, {"xpu", "XPU", true}, {name: "mps", key: "MPS"},
	DeviceMeta: {name: Meta, key: "Meta"}, {name: "hpu", key: "HPU"}, {name: "ve", key: "VE"},
	{name: "lazy", key: "Lazy"}, {name: "ipu", key: "IPU"}, {name: "mtia", key: "MTIA"},
	DeviceBrought: {"privateuseone", "PrivateUse1", true},
}

var (
	// Devices are the names of devices.
	Devices Names

	// SingleDevices are those without an index.
	SingleDevices = Names{CPU, Meta}

	// DeviceKeys are the dispatch keys of devices in schema files.
	DeviceKeys []string

	// Addressed has a bit for each device whose pointers are addresses.
	Addressed int

	// Libraries are the names of PyTorch's own libraries.
	Libraries = []string{"libtorch.so", "libtorch_python.so", "libtorch_cuda_linalg.so", "libc10.so"}
)

// deviceForm matches names of devices: a type, with or without an index.
var deviceForm = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*(:(0|[1-9][0-9]*))?$`)

// CheckDevice returns an error for a name that can't be a device's: neither PyTorch's nor one that a package may bring.
func CheckDevice(name string) error {
	if !deviceForm.MatchString(name) {
		return fmt.Errorf("unknown device %q: a device is a type, such as cuda, with or without an index, such as "+
			"openreg:1", name)
	}
	typ, _, _ := strings.Cut(name, ":")
	for _, d := range devices {
		if d.name != typ && strings.EqualFold(d.name, typ) {
			return fmt.Errorf("unknown device %q; did you mean %s?", name, d.name)
		}
	}
	return nil
}

// DeviceTypes returns the names of a device's type: a type that a package brings is also PyTorch's privateuseone.
func DeviceTypes(name string) []string {
	typ, _, _ := strings.Cut(name, ":")
	if typ == "" || slices.Contains(Devices, typ) {
		return []string{typ}
	}
	return []string{typ, devices[DeviceBrought].name}
}

func init() {
	for i, d := range devices {
		Devices = append(Devices, d.name)
		if d.key != "" {
			DeviceKeys = append(DeviceKeys, d.key)
		}
		if d.addresses {
			Addressed |= 1 << i
			Libraries = append(Libraries, "libtorch_"+d.name+".so", "libc10_"+d.name+".so")
		}
	}
}
