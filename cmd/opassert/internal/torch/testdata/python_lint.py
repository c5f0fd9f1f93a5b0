"""Ops whose registrations are not what their schemas ask for, with what lint says of each,
and ops beside them that are right. None is called."""

import contextlib
import functools

import torch
from torch import Tensor

wrong = torch.library.Library("lint_wrong", "DEF")
right = torch.library.Library("lint_right", "DEF")
EXPECTED = {}  # op: what lint says


def op(library, schema, kernel, fake=None, says="", key="CPU"):
    name = schema.partition("(")[0]
    library.define(schema)
    library.impl(name, kernel, key)
    if fake:
        torch.library.register_fake(f"{library.ns}::{name}", fake, lib=library)
    if says:
        EXPECTED[f"{library.ns}::{name}"] = says


def one(x):
    return torch.empty_like(x)


def two(x, n):
    return torch.empty_like(x)


def defaulted(x, n=1):
    return torch.empty_like(x)


def other_default(x, n=2):
    return torch.empty_like(x)


def swapped(n, x):
    return torch.empty_like(x)


def by_name(x, *, n):
    return torch.empty_like(x)


def scaled(x, *, scale=1.0):
    return torch.empty_like(x)


def needs_name(x, *, scale, factor):
    return torch.empty_like(x)


def anything(*args, **kwargs):
    return torch.empty_like(args[0])


def pair(x):
    return torch.empty_like(x), torch.empty_like(x)


def triple(x):
    return torch.empty_like(x), torch.empty_like(x), torch.empty_like(x)


op(wrong, "kernel_takes_less(Tensor x, int n) -> Tensor", one, two, "OA012 the kernel for CPU does not accept the schema's arguments: too many positional arguments")
op(wrong, "fake_takes_less(Tensor x, int n) -> Tensor", two, one, "OA011 the fake does not accept the schema's arguments: too many positional arguments")
op(wrong, "fake_needs_more(Tensor x) -> Tensor", one, two, "OA011 the fake does not accept the schema's arguments: missing a required argument: 'n'")
op(wrong, "fake_swaps(Tensor x, int n) -> Tensor", two, swapped, "OA011 the fake does not accept the schema's arguments: its n is in the position of the schema's x")
op(wrong, "without_default(Tensor x, int n=1) -> Tensor", two, defaulted, "OA012 the kernel for CPU does not accept the schema's arguments: its n has no default, and the schema's n=1 is left out of calls")
op(wrong, "other_default(Tensor x, int n=1) -> Tensor", defaulted, other_default, "OA011 the fake does not accept the schema's arguments: its n=2 is not the schema's n=1")
op(wrong, "by_name(Tensor x, int n) -> Tensor", two, by_name, "OA011 the fake does not accept the schema's arguments: too many positional arguments")
op(wrong, "other_name(Tensor x, *, float scale) -> Tensor", anything, needs_name, "OA011 the fake does not accept the schema's arguments: missing a required")
op(wrong, "no_name(Tensor x, *, float scale=1.0) -> Tensor", one, scaled, "OA012 the kernel for CPU does not accept the schema's arguments: got an unexpected keyword argument 'scale'")
op(wrong, "returns(Tensor x) -> (Tensor, Tensor)", pair, triple, "OA011 the fake returns 3 values, and the schema 2")
op(wrong, "returns_pair(Tensor x) -> Tensor", pair, one, "OA012 the kernel for CPU returns 2 values, and the schema 1")
op(wrong, "no_fake(Tensor x) -> Tensor", one, None, "OA011 it has a kernel and no fake")
op(wrong, "void(Tensor x) -> ()", one, one, "OA012 it returns nothing and declares no write")
op(wrong, "in_place_(Tensor x) -> Tensor", one, one, "OA012 in_place_ is in-place by its name, but x is not written")


op(wrong, "kernel_swaps(Tensor x, int n) -> Tensor", swapped, two, "OA012 the kernel for CPU does not accept the schema's arguments: its n is in the position of the schema's x")


@torch.library.custom_op("lint_wrong::returns_nothing", mutates_args=())
def returns_nothing(x: Tensor) -> None:
    x + 1


returns_nothing.register_fake(lambda x: None)
EXPECTED["lint_wrong::returns_nothing"] = "OA012 it returns nothing and declares no write"


@torch.library.custom_op("lint_wrong::other_schema", mutates_args=(), schema="(Tensor x, int n=1) -> Tensor")
def other_schema(x, n=2):
    return x * n


other_schema.register_fake(defaulted)
EXPECTED["lint_wrong::other_schema"] = "OA012 the kernel does not accept the schema's arguments: its n=2 is not the schema's n=1"


class Scaling:
    def __call__(self, x, n):
        return torch.empty_like(x)


op(wrong, "object_takes_more(Tensor x) -> Tensor", Scaling(), one, "OA012 the kernel for CPU does not accept the schema's arguments: missing a required argument: 'n'")
op(wrong, "partial_takes_less(Tensor x, int n) -> Tensor", functools.partial(two, torch.ones(2)), two, "OA012 the kernel for CPU does not accept the schema's arguments: too many positional arguments")


def setup(ctx, inputs, output):
    pass


def custom(name, says, setup_context, backward, vmap=None):
    @torch.library.custom_op(name, mutates_args=())
    def kernel(x: Tensor, n: int = 1) -> Tensor:
        return x * n

    @kernel.register_fake
    def _(x, n=1):
        return torch.empty_like(x)

    kernel.register_autograd(backward, setup_context=setup_context)
    if vmap:
        kernel.register_vmap(vmap)
    if says:
        EXPECTED[name] = says


def setup_of_others(ctx, args, output):
    pass


def gradients(ctx, grad):
    return grad, None


def gradients_of_two(ctx, grad, other):
    return grad, None


def one_gradient(ctx, grad):
    return (grad,)


def three_gradients(ctx, grad):
    return grad, None, grad


def with_none(ctx, grad):
    return grad, None, None


def batched(info, in_dims, x, n=1):
    return x, 0


def batched_without(info, x):
    return x, 0


custom("lint_wrong::setup", "OA014 setup_context takes (ctx, args, output), and is passed ctx, inputs, output by name", setup_of_others, gradients)
custom("lint_wrong::backward", "OA014 backward does not accept ctx and 1 gradients, one for each return: missing a required argument: 'other'", setup, gradients_of_two)
custom("lint_wrong::gradients", "OA014 backward returns 1 gradients, and the op has 2 arguments", setup, one_gradient)
custom("lint_wrong::more_gradients", "OA014 backward returns 3 gradients, and the op has 2 arguments", setup, three_gradients)
custom("lint_wrong::vmap", "OA012 the rule for vmap does not accept the schema's arguments: too many positional arguments", setup, gradients, batched_without)

op(wrong, "formula(Tensor x, int n) -> Tensor", two, two, "OA014 backward returns 1 gradients, and the op has 2 arguments")
torch.library.register_autograd("lint_wrong::formula", one_gradient, setup_context=setup, lib=wrong)

custom("lint_wrong::twice", "OA012 its schema is typed twice, as lint_wrong::twice(Tensor x, SymInt n=1) -> Tensor (", setup, gradients)


@torch.library.custom_op("lint_wrong::twice", mutates_args={"x"})
def twice(x: Tensor) -> Tensor:
    return x + 1


twice.register_fake(one)

op(wrong, "again(Tensor x) -> Tensor", one, one, "OA012 its schema is typed twice, as lint_wrong::again(Tensor x) -> Tensor (")
with contextlib.suppress(RuntimeError):
    torch.library.Library("lint_wrong", "FRAGMENT").define("again(Tensor x, int n=1) -> Tensor")

op(right, "same(Tensor x) -> Tensor", one, one)
with contextlib.suppress(RuntimeError):
    right.define("same(Tensor x)->Tensor")
with contextlib.suppress(RuntimeError):
    right.define("spelt(Tensor x, NoType n) -> Tensor")
op(right, "spelt(Tensor x, int n) -> Tensor", two, two)
for library in (torch.library.Library("lint_right", "FRAGMENT"), right):
    library.define("overloaded(Tensor x) -> Tensor" if library is right else "overloaded.n(Tensor x, int n) -> Tensor")
right.impl("overloaded", one, "CompositeExplicitAutograd")
right.impl("overloaded.n", two, "CompositeExplicitAutograd")

custom("lint_right::custom", "", setup, gradients, batched)
custom("lint_right::with_none", "", setup, with_none)
op(right, "plain(Tensor x, int n=1) -> Tensor", defaulted, defaulted)
op(right, "named(Tensor x, *, float scale=1.0) -> Tensor", scaled, scaled)
op(right, "anything(Tensor x, int n=1, *, float scale=1.0) -> Tensor", anything, anything)
op(right, "pair(Tensor x) -> (Tensor, Tensor)", pair, pair)
op(right, "writes(Tensor(a!) x) -> ()", lambda x: None)
op(right, "composite(Tensor x) -> Tensor", one, key="CompositeImplicitAutograd")
op(right, "void_composite(Tensor x) -> ()", one, key="CompositeImplicitAutograd")
op(right, "explicit(Tensor x) -> Tensor", one, key="CompositeExplicitAutograd")
op(right, "other_names(Tensor x, int n) -> Tensor", two, lambda input, count: torch.empty_like(input))
op(right, "optional_more(Tensor x) -> Tensor", one, defaulted)
op(right, "object(Tensor x, int n) -> Tensor", Scaling(), Scaling())
op(right, "partial(Tensor x) -> Tensor", functools.partial(swapped, 2), functools.partial(two, n=2))
