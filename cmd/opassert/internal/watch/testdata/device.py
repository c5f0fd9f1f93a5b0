"""Calls the kernels of a library on a device that the CPU has no access to: $DEVICE, or openreg."""
import os
import sys
import torch

DEVICE, KEY = os.environ.get("DEVICE", "openreg"), "CUDA"
if DEVICE == "openreg":
    import torch_openreg

    KEY = "PrivateUse1"
SECOND = getattr(torch, DEVICE).device_count() > 1

torch.ops.load_library(sys.argv[1])
broken, whole = torch.ops.broken, torch.ops.whole
aten = torch.library.Library("aten", "IMPL")
aten.impl("equal", lambda x, y: x.cpu()[0].equal(y.cpu()[0]), KEY)  # reads the first row


def tensor():
    return torch.arange(12.0).reshape(3, 4).to(DEVICE)


def changed():
    return (torch.arange(12.0) * (torch.arange(12) != 11)).reshape(3, 4).to(DEVICE)


def padded():
    return torch.arange(16.0).to(DEVICE)[:12].view(3, 4)


def faults():
    broken.writes(tensor())  # OA009
    broken.writes_last_byte(tensor())  # OA009
    broken.writes_second(tensor(), tensor())  # OA009
    broken.writes_list([tensor(), tensor()])  # OA009
    broken.writes_optional(tensor(), tensor())  # OA009
    broken.writes_padding(padded())  # OA009
    broken.writes_other(tensor(), tensor())  # OA009
    broken.writes_beside(padded())  # OA015
    broken.keeps_version(tensor())  # below autograd, where openreg calls its kernels, nothing raises versions
    broken.returns_input(tensor())  # OA007
    broken.returns_view(tensor())  # OA007
    broken.returns_memory(tensor())  # OA007
    broken.copies_view(tensor())  # OA004
    broken.same_twice(tensor())  # OA008
    broken.keeps_result(tensor())  # OA003
    broken.keeps_storage(tensor())  # OA005
    broken.keeps_argument(tensor())  # OA016
    broken.swaps_storage(tensor())  # OA002
    broken.returns_other_(tensor())  # OA006
    broken.resizes_(tensor())  # OA013
    broken.strides(tensor())  # OA011
    broken.stays(tensor())  # OA011
    SECOND and broken.strays(tensor())  # OA011
    broken.rows(tensor())  # OA011
    broken.begins(tensor())  # OA011
    broken.drops(tensor())  # OA011
    broken.misses(tensor(), tensor())  # OA011
    broken.makes(tensor(), device=torch.device(DEVICE))  # OA011
    broken.values(tensor())  # OA011
    broken.number(tensor())  # OA011
    tensor().equal(changed())  # OA011
    SECOND and broken.moves(tensor())  # OA009
    getattr(torch, DEVICE).set_device(0)
    try:
        broken.throws_late(tensor())  # OA009
    except RuntimeError:
        pass


def healthy():
    for x, y in ((tensor(), tensor()), (padded(), tensor().t())):
        whole.reads(x)
        whole.reads_padding(x)
        whole.reads_second(x, y)
        whole.reads_list([x, y])
        whole.reads_optional(x)
        whole.reads_optional(x, y)
        whole.writes_and_restores(x)
        whole.reads_other(x, y)
        whole.writes(x)
        whole.writes_both(x, y)
        whole.writes_list([x, y])
        whole.writes_nothing(x)
        whole.returns_view(x)
        whole.returns_views(x)
        whole.returns_two(x)
        whole.returns_list(x)
        whole.returns_undefined(x)
        whole.returns_number(x)
        whole.adds_(x)
        whole.finds(x)
        whole.strides(x)
        whole.reaches_out(x)
        whole.writes_shared(x)
        whole.begins(x)
        whole.drops(x.clone())
        whole.misses(x.clone(), y)
        whole.draws(x.clone())
        whole.reserves(x)
        whole.values(x)
        whole.reads.out(x, out=torch.empty_like(x))
    for t in (tensor(), tensor()[0]):
        try:
            whole.throws(t)
        except RuntimeError:
            pass
    tensor().equal(tensor())
    tensor().logical_not()  # the fallback calls _copy_from_and_resize
    whole.waits(tensor())
    whole.makes(tensor(), device=torch.device(DEVICE))


healthy()
for _ in range(2):
    faults()
