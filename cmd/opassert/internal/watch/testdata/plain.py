"""Loads libtorch by plain names, without Python's torch, and calls two ops through its C functions."""
import ctypes

ctypes.CDLL("libtorch_python.so")
c = ctypes.CDLL("libtorch_cpu.so")
tensor, clone = ctypes.c_void_p(), ctypes.c_void_p()
sizes, strides = (ctypes.c_int64 * 1)(3), (ctypes.c_int64 * 1)(1)
failed = c.aoti_torch_empty_strided(ctypes.c_int64(1), sizes, strides, c.aoti_torch_dtype_float32(), c.aoti_torch_device_type_cpu(), 0, ctypes.byref(tensor))
print("failed", failed + c.aoti_torch_zero_(tensor) + c.aoti_torch_clone(tensor, ctypes.byref(clone)))
