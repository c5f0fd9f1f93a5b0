"""Programs that compilers trace, each a part that prints what it computes: watched or not, the same."""
import logging
import sys
import traceback

import torch
from torch import nn

parts = []


def part(f):
    parts.append(f)
    return f


def compiled(f, **options):
    torch._dynamo.reset()
    return torch.compile(f, **{"backend": "aot_eager", **options})


def show(*values):
    print(*[v.tolist() if isinstance(v, torch.Tensor) else v for v in values], flush=True)


x = torch.arange(6.0).reshape(2, 3)


# Higher-order operators.

@part
def cond():
    f = lambda p, a: torch.cond(p, lambda b: b.sin(), lambda b: b.cos(), (a,))
    show(f(torch.tensor(True), x), f(torch.tensor(False), x), compiled(f)(torch.tensor(True), x))


@part
def cond_backward():
    a = x.clone().requires_grad_()
    torch.cond(a.sum() > 0, lambda b: b.sin(), lambda b: b.cos(), (a,)).sum().backward()
    show(a.grad)


@part
def nested_cond():
    def f(p, q, a):
        inner = lambda b: torch.cond(q, lambda c: c + 1, lambda c: c * 2, (b,))
        return torch.cond(p, inner, lambda b: b - 1, (a,))
    for p in (True, False):
        show(f(torch.tensor(p), torch.tensor(not p), x))


@part
def while_loop():
    from torch._higher_order_ops.while_loop import while_loop
    step = lambda i, a: (i + 1, torch.cond(i > 1, lambda b: b + 1, lambda b: b * 2, (a,)))
    show(*while_loop(lambda i, a: i < 4, step, (torch.tensor(0), x)))


@part
def map_of_cond():
    from functorch.experimental.control_flow import map
    show(map(lambda row, p: torch.cond(p, lambda b: b.sin(), lambda b: b.cos(), (row,)), x, torch.tensor(True)))


@part
def scans():
    from torch._higher_order_ops.associative_scan import associative_scan
    from torch._higher_order_ops.scan import scan
    add = lambda a, b: (a + b, a * b)
    show(*torch.compile(lambda: scan(add, torch.zeros(3), x, dim=0), backend="eager")())
    show(torch.compile(lambda: associative_scan(lambda a, b: a + b, x, 0, combine_mode="generic"), backend="eager")())


@part
def vmapped_cond():
    f = lambda a: torch.cond(a.sum() > 3, lambda b: b.sin(), lambda b: b.cos(), (a,))
    show(torch.vmap(f)(x))


@part
def grad_of_cond():
    f = lambda a: torch.cond(torch.tensor(True), lambda b: b.sin(), lambda b: b.cos(), (a,)).sum()
    show(compiled(lambda a: torch.func.grad(lambda b: (b.sin() * b).sum())(a))(x))
    show(torch.func.grad(lambda a: (torch.func.vmap(torch.sin)(a) ** 2).sum())(x), f(x))


@part
def checkpointed():
    from torch.utils.checkpoint import checkpoint
    a = x.clone().requires_grad_()
    compiled(lambda b: checkpoint(lambda c: c.sin() * c.exp(), b, use_reentrant=False).sum())(a).backward()
    show(a.grad)


@part
def flex():
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention
    q = torch.arange(2 * 16 * 8).reshape(1, 2, 16, 8) / 100.0
    causal = create_block_mask(lambda b, h, i, j: i >= j, None, None, 16, 16, device="cpu")
    show(flex_attention(q, q, q, block_mask=causal).sum())
    show(flex_attention(q, q, q, score_mod=lambda s, b, h, i, j: s + i - j).sum())


@part
def own_operator():
    from torch._ops import HigherOrderOperator

    class Twice(HigherOrderOperator):
        def __init__(self):
            super().__init__("opassert_twice")

        def __call__(self, f, a):
            return super().__call__(f, a)

    twice = Twice()
    twice.py_impl(torch._C.DispatchKey.CompositeExplicitAutograd)(lambda f, a: f(f(a)))
    twice.py_impl(torch._C.DispatchKey.Autograd)(lambda f, a: f(f(a)))
    show(twice(torch.sin, x), twice(torch.sin, x.clone().requires_grad_()))
    with torch._C._AutoDispatchBelowAutograd():
        show(twice(torch.sin, x))
    with torch.inference_mode():
        show(twice(torch.sin, torch.ones(2)))


@part
def included_set():
    show(torch._C._dispatch_tls_local_include_set())
    for i in range(1, 47):
        assert not torch._C._dispatch_tls_is_dispatch_key_included(torch._C.DispatchKey(i)) or i in (11, 12, 19, 21), i
    with torch._C._ForceDispatchKeyGuard(torch._C._dispatch_tls_local_include_set(), torch._C._dispatch_tls_local_exclude_set()):
        show(x + 1, torch._C._dispatch_tls_local_include_set())


@part
def listed():
    """What libtorch says of its keys and kernels."""
    C = torch._C
    own = torch.library.Library("listed", "DEF")
    own.define("none(Tensor x) -> Tensor")
    own.define("parts(Tensor x) -> Tensor")
    own.define("keyed(Tensor x) -> Tensor")
    own.impl("parts", lambda a: a * 2, "CompositeImplicitAutograd")
    show(torch.ops.listed.parts(x))
    for call in (lambda: torch.ops.listed.none(x), lambda: x.to_sparse().as_strided((1,), (1,)), lambda: torch.empty(2, device="hpu")):
        try:
            call()
        except Exception as e:
            print(type(e).__name__, e)
    for name in ("listed::none", "listed::parts", "aten::sin"):
        print(C._dispatch_dump(name), C._dispatch_dump_table(name))
        for key in ("TESTING_ONLY_GenericMode", "TESTING_ONLY_GenericWrapper", "DeferredInit", "Fake", "CPU"):
            print(key, C._dispatch_has_kernel_for_dispatch_key(name, key), C._dispatch_has_computed_kernel_for_dispatch_key(name, key), "listed::parts" in C._dispatch_get_registrations_for_dispatch_key(key))
        print(C._dispatch_has_kernel_for_any_dispatch_key(name, C.DispatchKeySet(C._dispatch_key_parse("TESTING_ONLY_GenericMode"))))

    def autograd(keys, a):
        print(keys, keys.highestPriorityTypeId())
        return torch.ops.listed.keyed.default.redispatch(keys & C._after_autograd_keyset, a)

    own.impl("keyed", autograd, "Autograd", with_keyset=True)
    own.impl("keyed", lambda keys, a: (print(keys), a + 1)[1], "CPU", with_keyset=True)
    show(torch.ops.listed.keyed(x.clone().requires_grad_()))
    print(C._after_autograd_keyset, C._dispatch_keys(x))


@part
def excluded_set():
    from torch.utils._python_dispatch import TorchDispatchMode
    said = lambda: print(torch._C._dispatch_tls_local_include_set(), torch._C._dispatch_tls_local_exclude_set())

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, f, types, args, kwargs=None):
            said()
            return f(*args, **(kwargs or {}))

    def sin(a):
        said()
        with torch._C._ForceDispatchKeyGuard(torch._C._dispatch_tls_local_include_set(), torch._C._dispatch_tls_local_exclude_set()):
            said()
            return a.cos()

    with Mode():
        torch.sin(x)
    aten = torch.library.Library("aten", "IMPL")
    aten.impl("sin", sin, "CPU")
    show(torch.sin(x), torch.sin(x.clone().requires_grad_()))
    with Mode():
        show(torch.sin(x))
    aten._destroy()
    show(torch.sin(x))


@part
def recompiled():
    said = []
    handler = logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage())
    torch._logging.set_logs(recompiles=True)
    logging.getLogger("torch._dynamo.guards.__recompiles").addHandler(handler)
    f = compiled(lambda a: a + 1, backend="eager")
    f(x)
    with torch.inference_mode():
        other = torch.ones(2, 3)
    f(other)
    f(x.clone().requires_grad_())
    torch._logging.set_logs()
    print(*[line for text in said for line in text.splitlines() if "mismatch" in line], sep="\n")


# Custom operators.

lib = torch.library.Library("traced", "DEF")
lib.define("scale_(Tensor(a!) x, float by) -> ()")
lib.define("fill(Tensor x, *, Tensor(a!) out, Tensor(b!)? seen=None) -> Tensor")
lib.define("bump_all(Tensor(a!)[] xs) -> ()")


def scale_(a, by):
    a.mul_(by)


def bump_all(xs):
    for a in xs:
        a.add_(1)


def fill(a, *, out, seen=None):
    out.copy_(a)
    if seen is not None:
        seen.add_(1)
    return a * 2


for kernel in (scale_, bump_all, fill):
    lib.impl(kernel.__name__, kernel, "CompositeExplicitAutograd")


@part
def mutating_ops():
    def f(a):
        b, seen = torch.zeros_like(a), torch.zeros(1)
        torch.ops.traced.scale_(a, 2.0)
        c = torch.ops.traced.fill(a, out=b, seen=seen)
        torch.ops.traced.bump_all([b, c])
        return a + b, c, seen
    for backend in ("aot_eager", "inductor"):
        show(*compiled(f, backend=backend)(x.clone()))


@part
def mutating_custom_op():
    @torch.library.custom_op("traced::sort_into", mutates_args={"out"})
    def sort_into(a: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
        out.copy_(a.sort().values)
        return a.sum()

    sort_into.register_fake(lambda a, out: a.new_empty(()))
    f = lambda a: sort_into(a, out := torch.empty_like(a)) + out
    show(f(-x), compiled(f)(-x), compiled(f, dynamic=True)(-x), compiled(f, backend="inductor")(-x))
    torch.library.opcheck(sort_into, (x, torch.empty_like(x)))


@part
def differentiable_custom_op():
    @torch.library.custom_op("traced::cube", mutates_args=())
    def cube(a: torch.Tensor) -> torch.Tensor:
        return a ** 3

    cube.register_fake(torch.empty_like)
    cube.register_autograd(lambda ctx, g: g * 3 * ctx.saved_tensors[0] ** 2, setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs))
    cube.register_vmap(lambda info, dims, a: (cube(a), dims[0]))
    a = x.clone().requires_grad_()
    (cube(a).sum() + compiled(cube)(a).sum()).backward()
    show(a.grad, torch.vmap(cube)(x))


@part
def functionalized():
    from torch.fx.experimental.proxy_tensor import make_fx

    def f(a):
        b = a.view(-1)
        b.add_(1)
        return a.t().contiguous()
    show(torch.func.functionalize(f)(x.clone()))
    print(make_fx(torch.func.functionalize(f))(x.clone()).code)


# Symbolic sizes.

class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.LayerNorm(4), nn.Linear(4, 2))

    def forward(self, a):
        return self.layers(a)


class Conv(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4)

    def forward(self, a):
        return self.norm(self.conv(a)).flatten(1).mean(1)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(8, 24)

    def forward(self, a):
        b, n, _ = a.shape
        q, k, v = self.qkv(a).reshape(b, n, 3, 2, 4).permute(2, 0, 3, 1, 4)
        return nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, n, 8)


class Views(nn.Module):
    def forward(self, a):
        n = a.shape[0]
        b = torch.cat([a, a]).unsqueeze(1).expand(-1, 2, -1)
        return b.chunk(2, 1)[0], b.select(1, 0).as_strided((n, 3), (3, 1), 3), torch.arange(n) + b.stride(0), a.new_zeros(n, 3).copy_(a).T.flatten()


class Cond(nn.Module):
    def forward(self, a):
        return torch.cond(a.sum() > 0, lambda b: b.sin() + b.shape[0], lambda b: b.cos(), (a,))


class Mutating(nn.Module):
    def forward(self, a):
        b = a.clone()
        torch.ops.traced.scale_(b, 2.0)
        return torch.ops.traced.fill(b, out=torch.empty_like(b))


def exported(model, *inputs, again):
    torch.manual_seed(0)
    model = model().eval()
    batch = torch.export.Dim("batch", min=2, max=1000)
    program = torch.export.export(model, inputs, dynamic_shapes=tuple({0: batch} for _ in inputs))
    program = program.run_decompositions()
    show(sorted(map(str, program.range_constraints.values())), *[out.sum() for out in torch.utils._pytree.tree_leaves(program.module()(*again))])


@part
def export_mlp():
    exported(Mlp, torch.randn(4, 3), again=[torch.ones(7, 3)])


@part
def export_conv():
    exported(Conv, torch.randn(4, 3, 8, 8), again=[torch.ones(7, 3, 8, 8)])


@part
def export_attention():
    exported(Attention, torch.randn(4, 5, 8), again=[torch.ones(7, 5, 8)])


@part
def export_views():
    exported(Views, torch.randn(4, 3), again=[torch.ones(7, 3)])


@part
def export_cond():
    exported(Cond, torch.randn(4, 3), again=[torch.ones(7, 3)])


@part
def export_mutating():
    exported(Mutating, torch.randn(4, 3), again=[torch.ones(7, 3)])


@part
def dynamic():
    net = Mlp()
    torch.manual_seed(0)
    for backend in ("aot_eager", "inductor"):
        counted = []
        g = compiled(lambda a: (counted.append(0), net(a).view(-1)[a.shape[0]:].sum())[1], backend=backend, dynamic=True)
        for n in (3, 4, 5, 9):
            g(torch.ones(n, 3)).backward()
        show(len(counted))


@part
def unbacked():
    torch._dynamo.config.capture_scalar_outputs = True
    torch._dynamo.config.capture_dynamic_output_shape_ops = True

    def f(a):
        n = a.sum().item()
        return a.nonzero().sum() + n, a[a > 2] * 2, a.unique().shape[0]

    show(*compiled(f, fullgraph=True)(x.long()))

    def g(a, k):
        n = k.item()
        torch._check_is_size(n)
        torch._check(n < 100)
        return torch.zeros(n, 3).add_(1).sum(0) + a[0], torch.empty(n).shape[0]
    show(*compiled(g, fullgraph=True)(x, torch.tensor(4)))


@part
def symbolic_trace():
    from torch.fx.experimental.proxy_tensor import make_fx
    f = lambda a: (a.reshape(-1, a.shape[1] * 2).sum(0), torch.cat([a, a]).t(), torch.empty(a.shape[0] + 1).size(0))
    for mode in ("symbolic", "fake", "real"):
        gm = make_fx(f, tracing_mode=mode)(torch.ones(4, 3))
        print(gm.code, sorted(str(g.expr) for g in gm.shape_env.guards) if mode == "symbolic" else "")


@part
def python_dispatcher():
    from torch._dispatch.python import enable_python_dispatcher
    from torch.fx.experimental.proxy_tensor import make_fx
    with enable_python_dispatcher():
        show(x.sin(), torch.ops.aten.native_layer_norm.default(x, [3], None, None, 1e-5)[0], torch.rand(2).shape)
        with torch.inference_mode():
            show(torch.ones(2) + 1)
    with enable_python_dispatcher(), torch._subclasses.FakeTensorMode(allow_non_fake_inputs=True):
        show(nn.functional.scaled_dot_product_attention(torch.ones(1, 2, 4, 8), torch.ones(1, 2, 4, 8), torch.ones(1, 2, 4, 8)).shape)


def main(chosen):
    failed = 0
    for f in parts:
        if chosen and f.__name__ not in chosen:
            continue
        print(f.__name__, flush=True)
        try:
            f()
        except Exception as e:
            failed += 1
            print("  failed", type(e).__name__, str(e).splitlines()[0][:200] if str(e) else "", flush=True)
            traceback.print_exc()
    print("failed", failed, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
