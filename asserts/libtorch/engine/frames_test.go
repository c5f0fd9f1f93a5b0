package engine

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestForeign(t *testing.T) {
	const shim, torch = "libtorch-2.6.0-shim-0912.so 0x8 ?", "libtorch_cpu.so 0x17 ?"
	for _, tt := range []struct {
		name string
		raw  []string
		want bool
	}{
		{"a fallback", []string{torch, "libc10.so 0x3 ?", shim, "opassert 0x9 ?"}, true},
		{"an exception in one", []string{"libc.so.6 0x12 ?", "libstdc++.so.6 0x4 ?", torch, shim}, true},
		{"memory that is broken", []string{"libc.so.6 0x12 ?", torch, shim}, false},
		{"a kernel's call of an op", []string{torch, "libmyops.so 0x40 ?", torch, shim}, false},
		{"a library of a like name", []string{"libtorchvision.so 0x40 ?", torch, shim}, false},
		{"another", []string{"libtorch-2.6.0-oplib-12.so 0x40 ?", torch, shim}, false},
		{"of another device", []string{"libc10_cuda.so 0x40 ?", "libtorch_cuda.so 0x4 ?", "libtorch_cpu.so.1.13 0x4 ?", shim}, true},
		{"no call", []string{torch}, false},
		{"opassert's own", []string{shim, torch}, false},
	} {
		if got := Foreign(tt.raw); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
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
