"""Two processes with functional collectives, which have their results until these are waited for."""
import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as fc
import torch.multiprocessing as mp
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import Replicate, Shard, distribute_tensor

kept = []


@torch.library.custom_op("good::reduce", mutates_args=())
def reduce(x: torch.Tensor) -> torch.Tensor:
    return torch.ops._c10d_functional.all_reduce(x, "sum", dist.group.WORLD.group_name)


reduce.register_fake(torch.empty_like)


@torch.library.custom_op("bad::keep", mutates_args=())
def keep(x: torch.Tensor) -> torch.Tensor:
    kept.append(x + 1)
    return kept[-1]


@torch.library.custom_op("bad::write", mutates_args=())
def write(pending: torch.Tensor, x: torch.Tensor) -> None:
    x.add_(1)


lib = torch.library.Library("bad", "FRAGMENT")
lib.define("same(Tensor x) -> Tensor")
lib.impl("same", lambda x: x, "CPU")


def collectives(group):
    for i in range(2):
        x = torch.full((1 << 14,), float(i))
        gathered, reduced, scattered = fc.all_gather_tensor(x, 0, group), fc.all_reduce(x, "sum", group), fc.reduce_scatter_tensor(x, "sum", 0, group)
        coalesced = fc.all_reduce_coalesced([x, x + 1], "sum", group)
        (reduced.view(2, -1) + 1).sum().item(), (gathered + scattered.sum()).sum().item(), [t.sum().item() for t in coalesced]
        fc.all_gather_tensor_autograd(x.requires_grad_(), 0, group).sum().item()
        pending = reduce(x.detach())
        pending.view(-1)
        torch.ops._c10d_functional.wait_tensor(pending)


def train(model):
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(2):
        optimizer.zero_grad()
        model(torch.randn(4, 8)).sum().backward()
        optimizer.step()


def data_parallel(group):
    train(nn.parallel.DistributedDataParallel(nn.Linear(8, 4)))


def fully_sharded(group):
    mesh = init_device_mesh("cpu", (2,))
    train(fully_shard(nn.Sequential(fully_shard(nn.Linear(8, 8), mesh=mesh), nn.ReLU(), nn.Linear(8, 4)), mesh=mesh))


def distributed_tensors(group):
    mesh = init_device_mesh("cpu", (2,))
    x = distribute_tensor(torch.randn(8, 8), mesh, [Shard(0)]).requires_grad_()
    y = (x @ distribute_tensor(torch.randn(8, 8), mesh, [Replicate()])).redistribute(mesh, [Replicate()])
    z = (y.t() + 1).redistribute(mesh, [Shard(1)])
    z.sum().backward()
    z.full_tensor().sum().item()


def compiled(group):
    @torch.compile(backend="aot_eager")
    def f(x):
        return (fc.all_gather_tensor(x, 0, group) + 1).sum() + fc.all_reduce(x * 2, "sum", group).sum()

    for i in range(2):
        f(torch.full((64,), float(i))).item()


def faults(group):
    x = torch.ones(64)
    pending = torch.ops._c10d_functional.all_reduce(x, "sum", group.group_name)
    torch.ops.bad.keep(x)  # OA003 bad::keep
    torch.ops.bad.write(pending, x)  # OA009 bad::write
    torch.ops.bad.same(pending)  # OA007 bad::same
    torch.ops._c10d_functional.wait_tensor(pending)
    torch.ops.bad.write(x, pending)  # OA009 bad::write


def main(rank, file, names):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + file, rank=rank, world_size=2)
    for name in names:
        globals()[name](dist.group.WORLD)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    os.environ["USE_LIBUV"] = "0"
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(main, args=(folder + "/store", sys.argv[1:]), nprocs=2)
    print("done")
