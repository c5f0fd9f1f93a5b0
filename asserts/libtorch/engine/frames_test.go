package engine

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
