"""Programs that break no promise; each part is tried, and left out where a version lacks it."""
import copy
import io
import os
import sys
import tempfile
import time
import traceback
import warnings

import torch
import torch.nn.functional as F
from torch import nn

warnings.simplefilter("ignore")
torch.manual_seed(0)
torch.set_num_threads(1)
parts = []


def part(f):
    parts.append(f)
    return f


@part
def training_convolutions():
    net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(inplace=True), nn.MaxPool2d(2),
                        nn.Dropout(0.1), nn.Flatten(), nn.Linear(8 * 16, 10))
    for make in (lambda p: torch.optim.SGD(p, 0.1, momentum=0.9), torch.optim.Adam, torch.optim.AdamW, torch.optim.RMSprop,
                 torch.optim.Adagrad, lambda p: torch.optim.Adam(p, foreach=True), torch.optim.Rprop, torch.optim.NAdam):
        optimizer = make(net.parameters())
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
        for _ in range(2):
            optimizer.zero_grad()
            loss = F.cross_entropy(net(torch.randn(4, 3, 8, 8)), torch.randint(10, (4,)))
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
    optimizer = torch.optim.LBFGS(net.parameters())
    x, y = torch.randn(4, 3, 8, 8), torch.randint(10, (4,))

    def closure():
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        return loss

    optimizer.step(closure)
    net.eval()
    with torch.no_grad():
        net(x)
    with torch.inference_mode():
        net(x).softmax(-1).argmax(-1).tolist()


@part
def training_transformer():
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), 2)
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(2):
        model(torch.randn(2, 5, 16)).sum().backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        model(torch.randn(2, 5, 16))
    if hasattr(F, "scaled_dot_product_attention"):
        q = torch.randn(2, 2, 5, 8, requires_grad=True)
        F.scaled_dot_product_attention(q, q, q, is_causal=True).sum().backward()
        F.scaled_dot_product_attention(q, q, q, attn_mask=torch.zeros(5, 5)).sum().backward()
    nn.MultiheadAttention(16, 2)(torch.randn(3, 1, 16), torch.randn(3, 1, 16), torch.randn(3, 1, 16))[0].sum().backward()


@part
def recurrent():
    for kind in (nn.LSTM, nn.GRU, nn.RNN):
        net = kind(4, 8, 2, bidirectional=True)
        net(torch.randn(5, 3, 4))[0].sum().backward()
        packed = nn.utils.rnn.pack_padded_sequence(torch.randn(5, 3, 4), [5, 3, 2])
        nn.utils.rnn.pad_packed_sequence(net(packed)[0])
    embedding = nn.Embedding(10, 4, sparse=True)
    embedding(torch.tensor([1, 2, 2])).sum().backward()
    torch.optim.SparseAdam(list(embedding.parameters())).step()
    nn.EmbeddingBag(10, 4)(torch.tensor([1, 2, 2, 3]), torch.tensor([0, 2])).sum().backward()
    F.ctc_loss(torch.randn(5, 2, 4).log_softmax(2), torch.ones(2, 2, dtype=torch.long), [5, 5], [2, 2])


@part
def sparse():
    dense = torch.eye(4)
    coo = dense.to_sparse()
    coo.coalesce().indices(), coo.values()
    (coo + coo).to_dense()
    torch.sparse.mm(coo, dense)
    csr = dense.to_sparse_csr()
    csr.crow_indices(), csr.col_indices(), csr.values()
    csr @ dense
    x = torch.randn(4, 4, requires_grad=True)
    torch.sparse.mm(coo, x).sum().backward()
    (coo * 2).transpose(0, 1).coalesce()
    torch.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (4,)).to_dense()


@part
def views_and_indexing():
    x = torch.randn(4, 6, requires_grad=True)
    y = x.clone()
    y[0] = 1
    y[:, 1] += 2
    y[y > 0] = 0
    y.view(2, 12).t().reshape(-1).unfold(0, 2, 1).sum().backward()
    a, b = x.chunk(2)
    torch.stack([a, b]).unbind(0)
    torch.cat(x.split(1)).narrow(0, 0, 2).expand(2, 2, 6).contiguous()
    x.detach().resize_(2, 2)
    torch.as_strided(x.detach(), (2, 2), (1, 2)).fill_(0)
    torch.einsum("ij,kj->ik", x, x).sum().backward()
    torch.view_as_real(torch.randn(3, dtype=torch.cfloat)).sum()
    torch.randn(3, dtype=torch.cfloat).conj().real.add(1)
    torch.fft.fft(torch.randn(8)).abs()
    torch.linalg.svd(torch.randn(3, 3)), torch.linalg.qr(torch.randn(3, 3)), torch.linalg.solve(torch.eye(3), torch.ones(3))
    torch.sort(x), torch.topk(x, 2), x.max(1), x.unique(), x.nonzero(), x.cumsum(0), torch.where(x > 0, x, -x)
    torch.add(x.detach(), 1, out=torch.empty(0))
    torch.from_numpy(x.detach().numpy()).add_(1) if "numpy" in sys.modules else None
    x.detach().to(torch.float64).to(torch.float32).half().float().bool()
    torch.tensor([1, 2]).data_ptr(), torch.arange(5).tolist(), torch.linspace(0, 1, 5), torch.randperm(5), x.detach().item if 0 else None
    x.detach().share_memory_()
    p = nn.Parameter(torch.ones(2))
    p.data = torch.zeros(3)
    p.data.add_(1)


@part
def autocast():
    net = nn.Linear(4, 4)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        net(torch.randn(2, 4)).float().sum().backward()


@part
def script_and_trace():
    @torch.jit.script
    def f(x):
        y = x + 1
        if bool(y.sum() > 0):
            y = y.view(-1)
        return torch.cat([y, y]).relu_()

    for _ in range(4):
        f(torch.randn(2, 3, requires_grad=True)).sum().backward()
    traced = torch.jit.trace(nn.Sequential(nn.Linear(3, 3), nn.ReLU()), torch.randn(2, 3))
    for _ in range(4):
        traced(torch.randn(2, 3)).sum().backward()
    torch.jit.freeze(traced.eval())(torch.randn(2, 3))


@part
def functional():
    if hasattr(torch, "func"):
        from torch.func import functional_call, functionalize, grad, hessian, jacfwd, jacrev, jvp, vjp, vmap
    else:
        from functorch import functionalize, grad, hessian, jacfwd, jacrev, jvp, vjp, vmap
    x = torch.randn(3)
    f = lambda x: (x.sin() * x).sum()
    grad(f)(x), vmap(grad(lambda x: x.sin() ** 2))(x), jacrev(torch.sin)(x), jacfwd(torch.sin)(x), hessian(f)(x)
    vjp(torch.sin, x)[1](x), jvp(torch.sin, (x,), (x,))
    vmap(vmap(lambda a, b: a @ b, in_dims=(0, None)), in_dims=(None, 0))(torch.randn(2, 3, 3), torch.randn(2, 3, 3))

    def mutates(x):
        y = x.clone()
        y.view(-1)[0] = 1
        y.add_(1)
        return y.view(3, 1)

    functionalize(mutates)(x), functionalize(grad(f))(x)
    vmap(lambda x: x.view(1, 3).add_(1))(torch.randn(2, 3))


@part
def forward_mode():
    import torch.autograd.forward_ad as fwAD
    with fwAD.dual_level():
        dual = fwAD.make_dual(torch.randn(3), torch.ones(3))
        fwAD.unpack_dual((dual * 2).view(-1).sin())


@part
def double_backward():
    x = torch.randn(3, requires_grad=True)
    y = (x.exp() * x.tanh()).sum()
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    g.sum().backward()
    torch.autograd.gradcheck(lambda x: x.sin().cos(), torch.randn(3, dtype=torch.float64, requires_grad=True))
    x.register_hook(lambda g: g * 2)
    (x * 2).sum().backward()


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        context.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(context, grad):
        return grad * 2


@part
def own_functions():
    x = torch.randn(3, requires_grad=True)
    Twice.apply(x).sum().backward()
    Twice.apply(x.exp()).view(-1).sum().backward()
    from torch.utils.checkpoint import checkpoint
    checkpoint(lambda x: x.sin().exp(), x, use_reentrant=True).sum().backward()
    try:
        checkpoint(lambda x: x.sin().exp(), x, use_reentrant=False).sum().backward()
    except TypeError:
        pass


@part
def saved():
    net = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
    buffer = io.BytesIO()
    torch.save({"net": net.state_dict(), "t": torch.arange(3), "view": torch.ones(4)[1:]}, buffer)
    buffer.seek(0)
    net.load_state_dict(torch.load(buffer)["net"])
    copy.deepcopy(net)(torch.randn(2, 3)).sum().backward()
    copy.copy(torch.ones(3)), copy.deepcopy(torch.ones(3))
    import pickle
    pickle.loads(pickle.dumps(torch.ones(3)))


@part
def quantized():
    q = torch.quantize_per_tensor(torch.randn(3, 4), 0.1, 0, torch.qint8)
    q.dequantize(), q.int_repr(), q.view(-1), (q.q_scale(), q.q_zero_point())
    torch.quantize_per_channel(torch.randn(3, 4), torch.ones(3), torch.zeros(3), 0, torch.qint8).dequantize()
    try:
        model = torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.Linear(4, 4), nn.ReLU()), {nn.Linear})
        model(torch.randn(2, 4))
    except (RuntimeError, AttributeError):
        pass


@part
def fake_and_modes():
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.utils._python_dispatch import TorchDispatchMode
    with FakeTensorMode() as mode:
        x = torch.empty(3, 4)
        y = x.view(-1).add(1)
        y.add_(1)
        nn.Linear(4, 4)(x).sum()
        x.t(), x[0], torch.cat([x, x]), x.split(1), x.expand(2, 3, 4), x.clone(), x.contiguous()

    class Counting(TorchDispatchMode):
        calls = 0

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            Counting.calls += 1
            return func(*args, **(kwargs or {}))

    class Keeping(TorchDispatchMode):
        def __init__(self):
            super().__init__()
            self.log = []

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            out = func(*args, **(kwargs or {}))
            self.log.append((func, args, out))
            return out

    with Counting(), Keeping():
        x = torch.randn(3, requires_grad=True)
        (x.view(-1) * 2).add_(1).sum().backward()
        torch.cat([x, x]).split(2)
    from torch.fx.experimental.proxy_tensor import make_fx
    make_fx(lambda x: x.view(-1).sin().add_(1))(torch.randn(2, 2))


class Tagged(torch.Tensor):
    pass


@part
def plain_subclasses():
    t = torch.randn(3).as_subclass(Tagged)
    (t + 1).view(-1).add_(1)
    nn.Parameter(torch.ones(2)).mul(2)
    nn.Buffer(torch.ones(2)) if hasattr(nn, "Buffer") else None


class Squares(torch.utils.data.Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        return torch.full((3,), float(i)).pow(2)


@part
def loading():
    for workers in (0, 2):
        for batch in torch.utils.data.DataLoader(Squares(), batch_size=4, num_workers=workers):
            batch.sum()


def wait_for_gloo():
    """Returns once gloo's threads are idle. A collective returns before its thread
    has dropped the tensors, which takes Python's lock: where Python finalizes
    meanwhile, the process aborts, with no watcher too."""
    idle = 0
    while idle < 10:
        time.sleep(0.05)  # without the lock
        states = []
        for task in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{task}/stat") as stat:
                name, state = stat.read().split("(", 1)[1].rsplit(")", 1)
            if "gloo" in name:
                states.append(state.split()[0])
        idle = idle + 1 if set(states) <= {"S"} else 0


def train(rank, store):
    import torch.distributed as dist
    dist.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=2)
    net = nn.parallel.DistributedDataParallel(nn.Linear(4, 4))
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for _ in range(2):
        net(torch.randn(2, 4)).sum().backward()
        optimizer.step()
    t = torch.ones(2)
    dist.all_reduce(t)
    dist.broadcast(t, 0)
    dist.all_gather([torch.empty(2), torch.empty(2)], t)
    dist.barrier()
    wait_for_gloo()
    dist.destroy_process_group()


@part
def distributed():
    import torch.distributed as dist
    import torch.multiprocessing as mp
    if not dist.is_available():
        return
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(train, (os.path.join(folder, "store"),), nprocs=2)


@part
def compiled():
    if not hasattr(torch, "compile"):
        return
    net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.BatchNorm1d(4))

    def f(x):
        y = net(x).view(-1)
        y.add_(1)
        return y * 2

    for backend in ("eager", "aot_eager", "aot_eager_decomp_partition", "inductor"):
        torch._dynamo.reset()
        g = torch.compile(f, backend=backend)
        for _ in range(2):
            g(torch.randn(2, 4, requires_grad=True)).sum().backward()
    torch._dynamo.reset()
    g = torch.compile(lambda x, n: (x.view(-1)[n:] * 2).sum(), backend="aot_eager", dynamic=True)
    for n in (3, 4):
        g(torch.randn(n, 4, requires_grad=True), n).backward()


@part
def threads():
    import threading
    net = nn.Linear(8, 8)

    def work():
        for _ in range(20):
            net(torch.randn(2, 8)).sum().backward()

    all = [threading.Thread(target=work) for _ in range(4)]
    [t.start() for t in all], [t.join() for t in all]


@part
def nested():
    if not hasattr(torch, "nested"):
        return
    n = torch.nested.nested_tensor([torch.randn(2, 3), torch.randn(3, 3)])
    (n * 2).to_padded_tensor(0.0)
    n.unbind()
    if hasattr(torch, "jagged"):
        j = torch.nested.nested_tensor([torch.randn(2, 3), torch.randn(3, 3)], layout=torch.jagged)
        (j * 2).unbind(), j.values(), j.offsets()


@part
def kernels_that_return_views_of_their_own():
    global views
    views = torch.library.Library("own_views", "DEF")

    def complex_of(x):
        return x.to(torch.complex64)

    def rotated(x):
        pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))
        return torch.view_as_real(pairs * torch.ones_like(pairs)).flatten(-2)

    for name, kernel in {
        "turned": lambda x: (x + 1).t(),
        "row": lambda x: (x + 1).select(0, 0),
        "bits": lambda x: (x + 1).view(torch.int32),
        "pairs": lambda x: torch.view_as_real(complex_of(x)),
        "pairs_turned": lambda x: torch.view_as_real(complex_of(x)).transpose(0, 1),
        "doubled": lambda x: torch.view_as_real(complex_of(x)).mul_(2),
        "there_and_back": lambda x: torch.view_as_complex(torch.view_as_real(complex_of(x))),
        "conjugate": lambda x: complex_of(x).conj(),
        "imaginary": lambda x: complex_of(x).imag,
        "of_conjugate": lambda x: complex_of(x).conj().imag,
        "detached": lambda x: torch.view_as_real(complex_of(x).detach()),
        "spectrum": lambda x: torch.view_as_real(torch.fft.fft(x)),
        "rotated": rotated,
    }.items():
        views.define(name + "(Tensor x) -> Tensor")
        views.impl(name, kernel, "CPU")
        if hasattr(torch.library, "register_fake"):
            torch.library.register_fake("own_views::" + name, kernel)
        getattr(torch.ops.own_views, name)(torch.randn(4, 2))
        getattr(torch.ops.own_views, name)(torch.randn(4, 2, requires_grad=True))


def main(chosen):
    failed = 0
    for f in parts:
        if chosen and f.__name__ not in chosen:
            continue
        print(f.__name__, flush=True)
        try:
            f()
        except Exception:
            failed += 1
            traceback.print_exc()
    print("failed", failed, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
