"""The tests that the gate runs, and where they come from."""

import os

HERE = os.path.dirname(os.path.abspath(__file__))

# The source packages whose tests fit the wheels best, of those that can be had:
# Debian's unstable and Ubuntu's newest list newer ones, which their mirrors lack.
SOURCES = {
    "torch-2.6": (
        "http://deb.debian.org/debian/pool/main/p/pytorch/pytorch_2.6.0+dfsg.orig.tar.xz",
        "099a9601bc40d67656e75735c44abedb0fbe92d08817852ab7472eebb7e6ddff",
    ),
    "torch-new": (
        "http://archive.ubuntu.com/ubuntu/pool/universe/p/pytorch/pytorch_2.9.1+dfsg.orig.tar.xz",
        "28fdfe67285a4f638dd586679cf36db32656b24efde38230d0860b6a59720aee",
    ),
}

# What the tests need beside PyTorch; for all PyTorches alike, as none of it is linked to one.
PACKAGES = ["pytest", "expecttest", "parameterized", "pyyaml", "psutil"]

# PyTorch's own test files, under test/, that need nothing of its own build. Those of one subject stand together.
PYTORCH = """
    test_view_ops
    test_subclass
    test_python_dispatch dynamo/test_subclasses
    test_custom_ops test_schema_check
    higher_order_ops/test_invoke_subgraph higher_order_ops/test_invoke_quant higher_order_ops/test_with_effects
    functorch/test_control_flow inductor/test_control_flow test_out_dtype_op
    dynamo/test_higher_order_ops inductor/test_flex_attention
    test_functionalization test_functionalization_of_rng_ops inductor/test_auto_functionalize
    functorch/test_aotdispatch dynamo/test_aot_autograd
    test_autograd test_autograd_fallback autograd/test_functional autograd/test_complex autograd/test_logging
    export/test_hop
    test_fake_tensor test_proxy_tensor
    functorch/test_eager_transforms functorch/test_vmap functorch/test_ac test_legacy_vmap
    test_dispatch test_multiprocessing
""".split()
