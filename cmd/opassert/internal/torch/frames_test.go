package torch

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestForeign(t *testing.T) {
	const shim, torch = "libtorch-2.6.0-shim-0912.so 0x8 ?", "libtorch_cpu.so 0x17 ?"
	const fallback = "PyTorch itself ends the process, in a fallback: no function of the op's library is on the stack"
	const grows = "aten::resize_ ends the process, in a kernel of the backend, which the op calls: -op aten::resize_ checks that"
	const inner, resize = "libtorch_cpu.so 0x17 _ZN2at6native16resize_bytes_cpuEPN3c1011StorageImplEm", "libtorch_cpu.so 0x4 _ZN2at4_ops7resize_4callERKNS_6TensorEN3c108ArrayRefINS5_6SymIntEEENS5_8optionalINS5_12MemoryFormatEEE"
	const backend, own = "_C.so 0x3a05d _ZN2at6native7openreg7resize_ERKNS_6TensorE", "libmyops.so 0x40 ?"
	for _, tt := range []struct {
		name string
		raw  []string
		want string
	}{
		{"a fallback", []string{torch, "libc10.so 0x3 ?", shim, "opassert 0x9 ?"}, fallback},
		{"an exception in one", []string{"libc.so.6 0x12 ?", "libstdc++.so.6 0x4 ?", torch, shim}, fallback},
		{"memory that is broken", []string{"libc.so.6 0x12 ?", torch, shim}, ""},
		{"a kernel's call of an op", []string{torch, "libmyops.so 0x40 ?", torch, shim}, ""},
		{"a library of a like name", []string{"libtorchvision.so 0x40 ?", torch, shim}, ""},
		{"another", []string{"libtorch-2.6.0-oplib-12.so 0x40 ?", torch, shim}, ""},
		{"of another device", []string{"libc10_cuda.so 0x40 ?", "libtorch_cuda.so 0x4 ?", "libtorch_cpu.so.1.13 0x4 ?", shim}, fallback},
		{"a backend's kernel that the op calls", []string{inner, torch, backend, resize, own, torch, shim}, grows},
		{"the same, in the backend", []string{"libc.so.6 0x12 ?", backend, resize, own, torch, shim}, grows},
		{"the same, of an op in Python", []string{inner, backend, resize, "libtorch_python.so 0x484cf8 ?", "libpython3.11.so 0x3 ?"}, grows},
		{"the same, where that calls an op", []string{inner, "libtorch_cpu.so 0x4 _ZN2at4_ops5copy_4callEv", backend, resize, own, shim}, grows},
		{"a kernel of PyTorch that the op calls", []string{inner, torch, resize, own, torch, shim}, ""},
		{"the op's kernel, behind which a backend's is", []string{own, shim, backend, resize}, ""},
		{"no call", []string{torch}, ""},
		{"opassert's own", []string{shim, torch}, ""},
	} {
		if got := Foreign(tt.raw); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestFrames(t *testing.T) {
	raw := []string{
		"libc.so.6 0x12 ?",
		"libmyops.so 0x40 _ZN2my6kernelERKN2at6TensorE",
		"libmyops.so 0x17 _ZN3c104impl28wrap_kernel_functor_unboxed_IiLi3EE4callEi",
		"libtorch_cpu.so 0x17 _ZNK3c1010Dispatcher9callBoxedERKNS_14OperatorHandleEPSt6vectorINS_6IValueESaIS5_EE",
		"libtorch-2.6.0-shim-0912.so 0x8 _ZN8opassert3runEv",
		"libtorch_cpu.so 0x99 main_loop",
	}
	want := []string{"my::kernel (libmyops.so)"}
	if diff := cmp.Diff(want, Frames(raw)); diff != "" {
		t.Error(diff)
	}
	thread := []string{
		"libmyops.so 0x40 _ZN2my4deepEi", "libmyops.so 0x60 _ZN2my4deepEi", "libmyops.so 0x60 _ZN2my4deepEi", "libmyops.so 0x7 main",
		"libstdc++.so.6 0xd44a3 ?", "libc.so.6 0x891f5 ?",
	}
	want = []string{"my::deep (libmyops.so), recursive", "main (libmyops.so)"}
	if diff := cmp.Diff(want, Frames(thread)); diff != "" {
		t.Error(diff)
	}
}
