"""fbgemm_pack_gemm_matrix_fp16 and quantized::linear_prepack_fp16 overwrite the weight that
they pack

Values beyond float16 are saturated in the caller's float32 tensor, which the schema
says is only read, and no version is raised.

Who is hurt: whoever goes on with the weights after dynamic quantization to float16, say to
compare the two models.

Fix: saturate a copy. The only trace today is the warning "FOUND weight out of range".

Threads: no thread was found that names it; https://github.com/pytorch/pytorch/pull/42147
moved the code that saturates in place.
"""

import sys

import torch

weight = torch.tensor([[1e6, 1.0], [1.0, -1e6]])
before = weight.clone()
torch.ops.quantized.linear_prepack_fp16(weight)
if torch.equal(weight, before):
    print("the fault is not there")
    sys.exit(0)
print("the fault is there: the weight was", before.tolist(), "and is", weight.tolist())
sys.exit(1)
