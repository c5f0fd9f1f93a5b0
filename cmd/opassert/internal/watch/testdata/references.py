"""Writes what a kernel sees of the references to its arguments, in lists and not, moved or kept."""
import gc
import sys
import weakref
import torch

storage_uses = getattr(torch._C, "_storage_Use_Count", None)  # 1.13 has none


def write(x):
    storage = storage_uses(x.untyped_storage()._cdata) if storage_uses else ""
    uses = x._use_count() if hasattr(x, "_use_count") else ""
    print(uses, storage, sys.getrefcount(x), len(gc.get_referrers(x)))


def kernel(x):
    write(x)
    return x + 1


def kernel_of_list(x):
    for t in x:
        write(t)
    return x[0] + 1


lib = torch.library.Library("references", "DEF")
for key in "CPU", "Autograd", "CompositeImplicitAutograd":
    lib.define("on_%s(Tensor x) -> Tensor" % key)
    lib.impl("on_%s" % key, kernel, key)
    lib.define("list_on_%s(Tensor[] x) -> Tensor" % key)
    lib.impl("list_on_%s" % key, kernel_of_list, key)
ops = [(getattr(torch.ops.references, "on_" + key), getattr(torch.ops.references, "list_on_" + key)) for key in ("CPU", "Autograd", "CompositeImplicitAutograd")]

if hasattr(torch.library, "custom_op"):
    custom = torch.library.custom_op("references::custom", mutates_args=(), schema="(Tensor x) -> Tensor")(kernel)
    if hasattr(custom._opoverload, "_enable_pyobj_dispatch"):
        custom._opoverload._enable_pyobj_dispatch(False)
    ops.append((custom, torch.ops.references.list_on_CPU))

for op, of_list in ops:
    x = torch.ones(3)
    view, known = x[1:], weakref.ref(x)
    op(x)
    op(view)
    op(torch.ones(3))
    op(torch.nn.Parameter(torch.ones(3)).detach())
    of_list([x, view, torch.ones(3), x])
    of_list([torch.ones(3)])
    del x, view
    print(known() is None)


class Handler(torch.Tensor):
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        for t in args[0] if isinstance(args[0], list) else args[:1]:
            write(t)
        with torch._C._DisableTorchDispatch() if hasattr(torch._C, "_DisableTorchDispatch") else torch.utils._mode_utils.no_dispatch():
            return func(*args, **(kwargs or {}))


x = torch.ones(3).as_subclass(Handler)
x + 1
torch.ops.references.on_CPU(x)
torch.ops.references.list_on_CPU([x, torch.ones(3)])
print("done")
