import sys

sys.excepthook = lambda *raised: sys.__excepthook__(*raised) or sys.exit(2)

import torch


def tensors(values):
    """Returns the tensors among values, in order."""
    return [t for t in torch.utils._pytree.tree_flatten(values)[0] if isinstance(t, torch.Tensor)]


def replaced(values, by):
    """Returns values with each tensor and device replaced by the result of by."""
    return torch.utils._pytree.tree_map(lambda v: by(v) if isinstance(v, (torch.Tensor, torch.device)) else v, values)


def batched(function, args, kwargs):
    """Returns in what torch.vmap of two calls differs from separate ones, with all tensors in batches and with each alone, or ""."""
    given = tensors([args, kwargs])
    for of, dim in [(given, 0), (given, -1), *(([t], 0) for t in given)]:

        def call(*values):
            torch.manual_seed(0)
            passed = dict(zip(map(id, of), values))
            new_args, new_kwargs = replaced((args, kwargs), lambda t: passed.get(id(t), t))
            return tuple(tensors([function(*new_args, **new_kwargs)]))

        sides = [[t.detach().clone() for t in of], [t.detach().flatten().roll(1).view(t.shape) for t in of]]
        try:
            separate = [call(*side) for side in sides]
        except Exception:
            continue  # the kernel accepts no other values
        try:
            together = torch.vmap(call, in_dims=dim, randomness="different")(*(torch.stack(pair, dim) for pair in zip(*sides)))
        except Exception as e:
            return f"at dimension {dim}: it raises {e}"
        for n, results in enumerate(separate):
            for one, both in zip(results, together):
                if both.shape != (2, *one.shape):
                    return f"at dimension {dim}: the sizes are {list(both.shape)}, for two calls that return {list(one.shape)}"
                if not torch.allclose(both[n].to(torch.complex128), one.to(torch.complex128), 1e-2, 1e-3, equal_nan=True):
                    return f"at dimension {dim}: result {n} has other elements"
    return ""


self = torch.tensor([0.05882353, 0.47058824], dtype=torch.float32)
args, kwargs = (lambda *args, **kwargs: (args, kwargs))(self)
try:
    torch.ops.x.f.default(*args, **kwargs)
except Exception as e:
    print("the call raises:", e)
    sys.exit(2)
said = batched(torch.ops.x.f.default, args, kwargs)
print("vmap:", said)
if said:
    print("the fault is there: torch.vmap does not return what separate calls do")
    sys.exit(1)
print("the fault is not there")
