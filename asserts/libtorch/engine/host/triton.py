"""Triton's kernels, which its interpreter runs on the CPU."""

import gc


def interpreted(wrap):
    """Returns wrap_triton that also takes what the interpreter runs, as that of PyTorch 2.6 does not."""

    def wrapped(kernel):
        return kernel if type(kernel).__name__ == "InterpretedFunction" else wrap(kernel)

    return wrapped


def tame_triton():
    """Makes the interpreter launch nothing on fake tensors, which the fakes of traced ops pass, and keep no argument in a cycle."""
    interpreter = sys.modules.get("triton.runtime.interpreter")
    if interpreter is None:
        return
    launch = interpreter.GridExecutor.__call__

    def launched(this, *args, **keywords):
        if any(isinstance(value, FakeTensor) for value in (*args, *keywords.values())):
            return
        try:
            launch(this, *args, **keywords)
        finally:
            gc.collect()

    interpreter.GridExecutor.__call__ = launched
    gc.freeze()  # so that it looks at what calls leave alone


if hasattr(torch.library, "wrap_triton"):
    torch.library.wrap_triton = interpreted(torch.library.wrap_triton)
