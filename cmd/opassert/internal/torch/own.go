package torch

import (
	"slices"
	"strings"
)

// Own are the namespaces of PyTorch itself, in all versions up to 2.15.
var Own = []string{
	"_c10d_functional", "_c10d_functional_autograd", "_caffe2", "_dtensor", "_inductor_debug", "_inductor_test",
	"_native", "_native_aot", "_quantized", "_test", "ao", "aten", "aten_optimized", "bucketing", "c10d",
	"c10d_functional", "coor", "cplib", "cuda", "debug_mode_ops", "debugprims", "device_mesh", "export", "flex_gemm",
	"flex_lib", "fsdp", "inductor", "inductor_prims", "mempool", "metal", "metal_prepack", "mkl", "mkldnn",
	"mkldnn_prepacked", "nvprims", "onednn", "onnx", "onnx_symbolic", "pippy", "prepacked", "prim", "prims", "profiler",
	"quantization", "quantized", "quantized_decomposed", "rngprims", "semi_structured", "sparse", "static_runtime",
	"streams", "symm_mem", "torch_attn", "torch_vendor_quack", "triton", "vulkan", "vulkan_prepack", "xnnpack",
}

// Custom reports whether an op, by its name, is not PyTorch's own.
func Custom(op string) bool {
	namespace, _, _ := strings.Cut(op, "::")
	return !slices.Contains(Own, namespace)
}

// OwnSources are parts of the paths of PyTorch's own sources. Its C++ libraries record the paths
// on the machine that built them.
var OwnSources = []string{"/aten/src/ATen/", "/torch/csrc/", "/caffe2/", "/c10/", "/xpu/ATen/", "/torch-xpu-ops/"}

// ownSource reports whether a source is one of those.
func ownSource(file string) bool {
	return slices.ContainsFunc(OwnSources, func(part string) bool { return strings.Contains("/"+file, part) })
}
