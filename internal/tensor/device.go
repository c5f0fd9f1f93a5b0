package tensor

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// The devices that engines have in common, and their numbers.
const (
	CPU           = "cpu"
	Meta          = "meta" // whose tensors have no bytes
	DeviceCPU     = 0
	DeviceMeta    = 14
	DeviceBrought = 20 // PrivateUse1, which a package may name
)

type device struct {
	name      string
	key       string // the dispatch key of its kernels, "" where no schema file may use it
	addresses bool   // pointers to its memory are addresses, and not those of objects
}

// devices are those of c10::DeviceType by number, the same in all versions.
//
// Source: c10/core/DeviceType.h; torchgen/model.py, BACKEND_COMPONENTS.
var devices = []device{
	DeviceCPU: {CPU, "CPU", true}, {"cuda", "CUDA", true}, {name: "mkldnn"}, {name: "opengl"}, {name: "opencl"}, {name: "ideep"},
	{"hip", "HIP", true}, {name: "fpga"}, {name: "ort", key: "MAIA"}, {name: "xla", key: "XLA"}, {name: "vulkan"}, {name: "metal"},
	{"xpu", "XPU", true}, {name: "mps", key: "MPS"}, DeviceMeta: {name: Meta, key: "Meta"}, {name: "hpu", key: "HPU"}, {name: "ve", key: "VE"},
	{name: "lazy", key: "Lazy"}, {name: "ipu", key: "IPU"}, {name: "mtia", key: "MTIA"}, DeviceBrought: {"privateuseone", "PrivateUse1", true},
}

var (
	// Devices are the names of devices.
	Devices Names

	// SingleDevices are those of which there is one: their names have no index.
	SingleDevices = Names{CPU, Meta}

	// DeviceKeys are the dispatch keys of devices that a schema file may use.
	DeviceKeys []string

	// Addressed has a bit for each device whose pointers are addresses.
	Addressed int

	// Libraries are the names of PyTorch's own libraries.
	Libraries = []string{"libtorch.so", "libtorch_python.so", "libtorch_cuda_linalg.so", "libc10.so"}
)

// deviceForm is how devices are named: a type, and the number of one of it.
var deviceForm = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*(:(0|[1-9][0-9]*))?$`)

// CheckDevice returns an error where a name is that of no device, PyTorch's or one that a package
// may bring.
func CheckDevice(name string) error {
	if !deviceForm.MatchString(name) {
		return fmt.Errorf("unknown device %q: a device is a type, such as cuda, or one of it, such as openreg:1", name)
	}
	typ, _, _ := strings.Cut(name, ":")
	for _, d := range devices {
		if d.name != typ && strings.EqualFold(d.name, typ) {
			return fmt.Errorf("unknown device %q; did you mean %s?", name, d.name)
		}
	}
	return nil
}

// DeviceTypes returns the names of the type of a device: that of one which a package brings is
// PyTorch's privateuseone too.
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
