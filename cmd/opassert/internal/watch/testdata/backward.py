"""Ops with and without formulas for autograd, of which a program asks for gradients.

EXPECTED has the faulty ones, each with words of what is said of it.
"""
import warnings

import torch

warnings.filterwarnings("ignore", message=".*autograd kernel was not registered.*")
library = torch.library.Library("formula", "DEF")
right = torch.library.Library("formulas", "DEF")


class Doubles(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


def op(lib, name, kernel, schema="(Tensor x) -> Tensor", key="CPU"):
    lib.define(name + schema)
    lib.impl(name, kernel, key)
    return getattr(getattr(torch.ops, lib.ns), name)


def custom(name, kernel, **kwargs):
    return torch.library.custom_op(name, kernel, mutates_args=(), **kwargs)


def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def applied(x: torch.Tensor) -> torch.Tensor:
    return Doubles.apply(x.detach().requires_grad_()).clone()


def rounded(x: torch.Tensor) -> torch.Tensor:
    return x.detach().to(torch.int64)


def no_grad_double(x):
    with torch.no_grad():
        return x * 2


# Faults.
plain = op(library, "plain", no_grad_double)
pair = op(library, "pair", lambda x: [no_grad_double(x), no_grad_double(x)], "(Tensor x) -> Tensor[]")
recorded = op(library, "recorded", lambda x: Doubles.apply(x))
calls_ops = op(library, "calls_ops", lambda x: x * 2)
everywhere = op(library, "everywhere", no_grad_double, key="CompositeExplicitAutograd")
raises = custom("formula::raises", double)
function_inside = custom("formula::function_inside", applied)
traced = op(library, "traced", no_grad_double)
torch.library.register_fake("formula::traced", torch.empty_like, lib=library)

EXPECTED = {
    "formula::plain": "the op has no kernel for autograd",
    "formula::pair": "the op has no kernel for autograd",
    "formula::recorded": "through ops that the kernel calls",
    "formula::calls_ops": "through ops that the kernel calls",
    "formula::everywhere": "the op has no kernel for autograd",
    "formula::raises": "raises: the op has no formula",
    "formula::function_inside": "raises: the op has no formula",
    "formula::traced": "the op has no kernel for autograd",
}

# Healthy ones: a backward comes to those that are registered for it alone.
integers = op(right, "integers", lambda x: x.detach().to(torch.int64))
flags = op(right, "flags", lambda x: x.detach() > 0)
metric = op(right, "metric", no_grad_double)
under_no_grad = op(right, "under_no_grad", no_grad_double)
detached = op(right, "detached", no_grad_double)
composite = op(right, "composite", lambda x: Doubles.apply(x), key="CompositeImplicitAutograd")
keyed = op(right, "keyed", no_grad_double)
right.impl("keyed", lambda x: Doubles.apply(x), "Autograd")
late = op(right, "late", no_grad_double)
fallthrough = op(right, "fallthrough", no_grad_double)
right.impl("fallthrough", torch.library.fallthrough_kernel, "Autograd")
registered = custom("formulas::registered", double)
registered.register_autograd(lambda ctx, g: g * 2)
declared = custom("formulas::declared", double)
declared.register_autograd(lambda ctx, g: None)
measured = custom("formulas::measured", rounded)
unused = custom("formulas::unused", double)
mixed = op(right, "mixed", lambda x: (no_grad_double(x), x.detach().argmax()), "(Tensor x) -> (Tensor, Tensor)")
right.impl("mixed", lambda x: (Doubles.apply(x), x.detach().argmax()), "Autograd")
adds = op(right, "add_", lambda x, y: x.detach().add_(y.detach()) and None, "(Tensor(a!) x, Tensor y) -> ()")


def backward(result):
    try:
        sum(t.sum() for t in (result if isinstance(result, (tuple, list)) else [result]) if t.is_floating_point()).backward()
    except RuntimeError as error:
        print("raises", str(error)[:26])


def faults(x):
    for faulty in (plain, pair, recorded, calls_ops, everywhere, raises, function_inside):
        backward(faulty(x) if faulty is not pair else faulty(x) + [x])


def healthy(x):
    integers(x), flags(x), metric(x), unused(x)
    with torch.no_grad():
        under_no_grad(x)
    detached(x.detach())
    for sound in (composite, keyed, late, registered, mixed):
        backward(sound(x))
    backward(x * 2 + measured(x) + integers(x))
    backward(x * 3 + declared(x).detach() + fallthrough(x))
    adds(torch.zeros(()), x.sum())


def compiles(x):
    """Traces a backward as a compiler does, which calls no kernel."""
    from torch._functorch.aot_autograd import aot_function, make_boxed_func

    def unchanged(graph, _):
        return make_boxed_func(graph)

    aot_function(lambda y: traced(y).sum() + y.sum(), fw_compiler=unchanged)(x).backward()


x = torch.ones(3, requires_grad=True)
torch.library.register_autograd("formulas::late", lambda ctx, g: g * 2, lib=right)
faults(x)
compiles(x)
healthy(x)
print(x.grad.tolist())
