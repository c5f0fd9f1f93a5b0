package tensor

import (
	"slices"
	"testing"
)

// A device is a type, PyTorch's or one that a package brings, with or without an index.
func TestCheckDevice(t *testing.T) {
	for _, name := range []string{"cpu", "cuda", "cuda:0", "cuda:10", "openreg", "openreg:1", "privateuseone:1", "npu", "lpu_2"} {
		if err := CheckDevice(name); err != nil {
			t.Error(err)
		}
	}
	for name, want := range map[string]string{
		"": "", "openreg:": "", "openreg:x": "", "openreg:-1": "", "openreg:01": "", ":1": "", "cuda:0:1": "", "2lpu": "", "cuda 0": "", "cuda\n": "",
		"CUDA": "cuda", "Xpu:1": "xpu",
	} {
		if err := CheckDevice(name); err == nil || want != "" && err.Error() != `unknown device "`+name+`"; did you mean `+want+`?` {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// The type of a device that a package brings is privateuseone too.
func TestDeviceTypes(t *testing.T) {
	for name, want := range map[string][]string{
		"": {""}, "cpu": {"cpu"}, "cuda:1": {"cuda"}, "openreg": {"openreg", "privateuseone"}, "openreg:1": {"openreg", "privateuseone"}, "privateuseone:0": {"privateuseone"},
	} {
		if got := DeviceTypes(name); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
