"""Ops whose formulas for autograd, or rules for vmap and autocast, are wrong, each with
what is said of it, and ops beside them whose are right."""

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

wrong = torch.library.Library("rules", "DEF")
right = torch.library.Library("ruled", "DEF")
EXPECTED = {}  # op: what is said of it


def op(library, schema, kernel, says="", backward=None, setup=None, vmap=None, autocast=None):
    if autocast and not hasattr(torch.library, "register_autocast"):
        return  # before PyTorch 2.7
    name = schema.partition("(")[0]
    library.define(schema)
    library.impl(name, kernel, "CPU")
    qualified = f"{library.ns}::{name}"
    if backward:
        torch.library.register_autograd(qualified, backward, setup_context=setup, lib=library)
    if vmap:
        torch.library.register_vmap(qualified, vmap, lib=library)
    if autocast:
        torch.library.register_autocast(qualified, "cpu", autocast, lib=library)
    if says:
        EXPECTED[qualified] = says


def save(ctx, inputs, output):
    ctx.save_for_backward(*(i for i in inputs if isinstance(i, Tensor)))


def save_no_limit(ctx, inputs, output):
    ctx.limit = None


def save_output(ctx, inputs, output):
    ctx.save_for_backward(output)


def square(x):
    return x * x


def times(x, y):
    return x * y


def times_of_one_dtype(x, y):
    if x.dtype != y.dtype:
        raise TypeError(f"x and y must be of one dtype, not {x.dtype} and {y.dtype}")
    return x * y


def copy(x):
    return x.clone()


# Formulas.


def square_back(ctx, grad):
    (x,) = ctx.saved_tensors
    return 2 * x * grad


def raises(ctx, grad):
    raise ValueError("no gradient here")


def refuses(ctx, grad):
    raise RuntimeError("double backward of refuses is not supported")


def raises_of_doubles(ctx, grad):
    if grad.dtype == torch.float64:
        raise TypeError("no doubles")
    return square_back(ctx, grad)


def lacks_doubles(ctx, grad):
    if grad.dtype == torch.float64:
        raise RuntimeError("\"of_cpu\" not implemented for 'Double'")
    return square_back(ctx, grad)


def raises_of_scalars(ctx, grad):
    (x,) = ctx.saved_tensors
    return 2 * x * grad * (x.shape[0] >= 0)


def saved_itself(ctx, grad):
    return ctx.saved_tensors[0]


def view_of_saved(ctx, grad):
    (x,) = ctx.saved_tensors
    return x.view(x.shape)


def writes_saved(ctx, grad):
    (x,) = ctx.saved_tensors
    x.data.mul_(2)
    return x * grad


def writes_gradient(ctx, grad):
    return grad.mul_(2)


def two(ctx, grad):
    return grad, grad


def one(ctx, grad):
    return (grad,)


def smaller(ctx, grad):
    return grad.flatten()[:0].clone()


def needs_contiguous(ctx, grad):
    (x,) = ctx.saved_tensors
    if 0 in grad.stride() and grad.numel() > 1:
        raise RuntimeError("grad must be dense")
    return 2 * x * grad


def for_first_alone(ctx, grad):
    x, y = ctx.saved_tensors
    return grad * y, grad * x if ctx.needs_input_grad[0] else None


def doubled(ctx, grad):
    x, y = ctx.saved_tensors
    if not ctx.needs_input_grad[1]:
        return 2 * grad * y, None
    return grad * y, grad * x


def without_second(ctx, first, second):
    return first + second


def compares(ctx, grad):
    return grad if grad.dim() < ctx.limit else grad * 2


def assigns(ctx, grad):
    grad.shape[0] = 1
    return grad


def counts(ctx, grad):
    counts.calls = getattr(counts, "calls", 0) + 1
    return grad * counts.calls


op(wrong, "raises(Tensor x) -> Tensor", square, "its backward raises ValueError: no gradient here", raises, save)
op(wrong, "raises_of_doubles(Tensor x) -> Tensor", square, "its backward raises TypeError: no doubles", raises_of_doubles, save)
op(wrong, "lacks_doubles(Tensor x) -> Tensor", square, "note its backward raises RuntimeError", lacks_doubles, save)
op(wrong, "refuses(Tensor x) -> Tensor", square, "note its backward raises RuntimeError: double backward of refuses is not supported", refuses, save)
op(wrong, "raises_of_scalars(Tensor x) -> Tensor", square, "its backward raises IndexError", raises_of_scalars, save)
op(wrong, "saved_itself(Tensor x) -> Tensor", square, "the gradient of x shares storage with argument x", saved_itself, save)
op(wrong, "view_of_saved(Tensor x) -> Tensor", square, "the gradient of x shares storage with argument x", view_of_saved, save)
op(wrong, "view_of_output(Tensor x) -> Tensor", torch.exp, "the gradient of x shares storage with what the op returned", view_of_saved, save_output)
op(wrong, "writes_saved(Tensor x) -> Tensor", square, "its backward writes argument x", writes_saved, save)
op(wrong, "writes_gradient(Tensor x) -> Tensor", lambda x: x * 2, "its backward writes the gradient that it is given", writes_gradient, save)
op(wrong, "more_gradients(Tensor x) -> Tensor", copy, "its backward raises RuntimeError", two, save)
op(wrong, "less_gradients(Tensor x, Tensor y) -> Tensor", times, "its backward raises RuntimeError", one, save)
op(wrong, "smaller(Tensor x) -> Tensor", copy, "its backward raises RuntimeError", smaller, save)
op(wrong, "needs_contiguous(Tensor x) -> Tensor", square, "for a gradient that is expanded, as that of sum() its backward raises RuntimeError", needs_contiguous, save)
op(wrong, "for_first_alone(Tensor x, Tensor y) -> Tensor", times, "where y alone requires grad its backward returns another gradient of y", for_first_alone, save)
op(wrong, "doubled(Tensor x, Tensor y) -> Tensor", times, "where x alone requires grad its backward returns another gradient of x", doubled, save)
op(wrong, "compares(Tensor x) -> Tensor", square, "its backward raises TypeError: '<' not supported between", compares, save_no_limit)
op(wrong, "assigns(Tensor x) -> Tensor", square, "its backward raises TypeError: 'torch.Size' object does not support item assignment", assigns, save)
op(wrong, "counts(Tensor x) -> Tensor", copy, "called a second time, as with retain_graph, its backward returns another gradient of x", counts, save)


# Formulas whose numbers are wrong.


def save_in_attribute(ctx, inputs, output):
    ctx.x = inputs[0]


def save_output_in_attribute(ctx, inputs, output):
    ctx.y = output


def save_doubled(ctx, inputs, output):
    ctx.save_for_backward(2 * inputs[0])


def writes_doubled(ctx, grad):
    (gradient,) = ctx.saved_tensors
    gradient.data.mul_(grad)
    return gradient


def of_memory(ctx, grad):
    (x,) = ctx.saved_tensors
    return 2 * x * grad.as_strided(x.shape, torch.empty(x.shape).stride())


op(wrong, "writes_what_it_returns(Tensor x) -> Tensor", square, "called a second time, as with retain_graph, its backward returns another gradient of x", writes_doubled, save_doubled)
op(wrong, "of_memory(Tensor x) -> Tensor", square, "for a gradient that is not contiguous its backward returns another gradient of x", of_memory, save)
op(wrong, "without_gradient(Tensor x) -> Tensor", square, "for a gradient of zeros its backward does not return zeros of x", lambda ctx, grad: 2 * ctx.saved_tensors[0], save)
op(wrong, "squares_gradient(Tensor x) -> Tensor", torch.sin, "for twice the gradient its backward does not return twice the gradient of x", lambda ctx, grad: grad * grad * ctx.saved_tensors[0].cos(), save)
op(wrong, "in_attribute(Tensor x) -> Tensor", square, "its backward uses argument x, which was written after the call", lambda ctx, grad: 2 * ctx.x * grad, save_in_attribute)
op(wrong, "output_in_attribute(Tensor x) -> Tensor", torch.exp, "its backward uses result 0, which was written after the call", lambda ctx, grad: ctx.y * grad, save_output_in_attribute)



def add_bias(x, bias=None):
    return x * 2 if bias is None else x * 2 + bias


def save_kinds(ctx, inputs, output):
    ctx.kinds = [(t.shape, t.dtype) for t in inputs]


def save_kinds_given(ctx, inputs, output):
    ctx.kinds = [t if t is None else (t.shape, t.dtype) for t in inputs]


def add_bias_back(ctx, grad):
    return tuple(kind and (grad * n).sum_to_size(kind[0]).to(kind[1]) for n, kind in zip((2, 1), ctx.kinds))


op(wrong, "absent(Tensor x, Tensor? bias=None) -> Tensor", add_bias, "without bias, which the kernel accepts, its formula raises AttributeError", add_bias_back, save_kinds)
op(right, "absent(Tensor x, Tensor? bias=None) -> Tensor", add_bias, "", add_bias_back, save_kinds_given)
op(right, "wanted(Tensor x, Tensor? bias=None) -> Tensor", lambda x, bias=None: x * 2 + bias, "", add_bias_back, save_kinds)
op(wrong, "half(Tensor x) -> Tensor", square, "its gradient of x is not the derivative", lambda ctx, grad: grad * ctx.saved_tensors[0], save)
op(wrong, "one(Tensor x) -> Tensor", lambda x: x**0, "its gradient of x is not the derivative: nan", lambda ctx, grad: grad * 0 / (ctx.saved_tensors[0] - ctx.saved_tensors[0]), save)
op(wrong, "of_one(Tensor x, Tensor y) -> Tensor", times_of_one_dtype, "its gradient of y is not the derivative: none", lambda ctx, grad: (grad * ctx.saved_tensors[1], None), save)
op(wrong, "once(Tensor x) -> Tensor", square, "note the gradient of x depends on x and has no graph to it", lambda ctx, grad: grad * 2 * ctx.saved_tensors[0].detach(), save)
op(wrong, "limited(Tensor x) -> Tensor", copy, "note for twice the gradient its backward does not return twice", lambda ctx, grad: grad.clone() if grad.is_complex() else grad.clamp(-1.5, 1.5), save)


@torch.library.custom_op("rules::trains", mutates_args=())
def trains(x: Tensor) -> Tensor:
    return x * (0.5 if x.requires_grad else 1.0)


trains.register_autograd(lambda ctx, grad: grad * 0.5, setup_context=save)
EXPECTED["rules::trains"] = "note result 0 has other elements if an argument requires grad"

# Formulas that save where the next call does.

last = {}


def save_last(ctx, inputs, output):
    last["x"] = inputs[0].detach().clone()


def save_own(ctx, inputs, output):
    ctx.last = last["x"] = inputs[0].detach().clone()


op(wrong, "of_last(Tensor x) -> Tensor", square, "after the op was called with other elements its backward returns another gradient of x", torch.autograd.function.once_differentiable(lambda ctx, grad: grad * 2 * last["x"]), save_last)
op(right, "of_own(Tensor x) -> Tensor", square, "", torch.autograd.function.once_differentiable(lambda ctx, grad: grad * 2 * ctx.last), save_own)

# Formulas of more than one result.


def unmaterialised(ctx, inputs, output):
    ctx.set_materialize_grads(False)


op(wrong, "without_second(Tensor x) -> (Tensor, Tensor)", lambda x: (x.clone(), x * 1), "where result 0 alone has a gradient its backward raises TypeError", without_second, unmaterialised)


@torch.library.custom_op("rules::custom", mutates_args=())
def custom(x: Tensor, n: int = 1) -> Tensor:
    return x * n


custom.register_autograd(lambda ctx, grad: (grad[0], None) if grad.dim() else (grad, None), setup_context=lambda ctx, inputs, output: None)
EXPECTED["rules::custom"] = "its backward raises RuntimeError"


# Formulas that lead nowhere, and results that none can lead to.

op(wrong, "infers(Tensor x) -> Tensor", torch.inference_mode()(copy), "note result is an inference tensor, and no argument is", lambda ctx, grad: grad.clone(), save)
op(wrong, "leaf(Tensor x) -> Tensor", lambda x: x.detach().clone().requires_grad_(x.is_floating_point()), "note result requires grad, and no argument does", lambda ctx, grad: grad.clone(), save)


class Detached(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        with torch._C._AutoDispatchBelowAutograd():
            return torch.ops.rules.lost(x)

    @staticmethod
    def backward(ctx, grad):
        return grad


op(wrong, "lost(Tensor x) -> Tensor", square, "its formula is lost: an argument requires grad, and no result does")
wrong.impl("lost", lambda x: Detached.apply(x.detach()), "Autograd")

class Scaled(torch.autograd.Function):
    """Writes an argument through an op."""

    @staticmethod
    def forward(ctx, x, kernel):
        with torch._C._AutoDispatchBelowAutograd():
            return kernel(x)

    @staticmethod
    def backward(ctx, grad):
        return 2 * grad, None


class ScaledAndMarked(Scaled):
    @staticmethod
    def forward(ctx, x, kernel):
        ctx.mark_dirty(x)
        return Scaled.forward(ctx, x, kernel)


def in_place(library, function, says=""):
    op(library, "scales_(Tensor(a!) x) -> Tensor(a!)", lambda x: x.mul_(2), says)
    kernel = getattr(torch.ops, library.ns).scales_
    library.impl("scales_", lambda x: function.apply(x, kernel), "Autograd")


in_place(wrong, Scaled, "its formula is lost: x is written, and its gradient is that of the old value")
in_place(right, ScaledAndMarked)


# Rules for vmap and autocast.


def unbatched(info, in_dims, x):
    raise RuntimeError("one at a time")


def first_alone(info, in_dims, x):
    return x.movedim(in_dims[0], 0)[:1].expand(info.batch_size, *[s for d, s in enumerate(x.shape) if d != in_dims[0]]).clone(), 0


def other_dimension(info, in_dims, x):
    return x * x, 0


def both_batched(info, in_dims, x, y):
    return x.movedim(in_dims[0], 0) * y.movedim(in_dims[1], 0), 0


def writes_batch(info, in_dims, x):
    return x.mul_(2).clone(), in_dims[0]


def returns_batch(info, in_dims, x):
    return x, in_dims[0]


def takes_floats(x, y):
    if x.dtype == torch.bfloat16:
        raise TypeError("no bfloat16 here")
    return x * y


op(wrong, "vmap_raises(Tensor x) -> Tensor", square, "its rule for vmap, of x batched at dimension 0, raises RuntimeError: one at a time", vmap=unbatched)
op(wrong, "vmap_values(Tensor x) -> Tensor", square, "its rule for vmap, of x batched at dimension 0, does not return the results of separate calls", vmap=first_alone)
op(wrong, "vmap_dimension(Tensor x) -> Tensor", square, "its rule for vmap, of x batched at dimension -1, does not return the results of separate calls", vmap=other_dimension)
op(wrong, "vmap_of_one(Tensor x, Tensor y) -> Tensor", times, "its rule for vmap, of x batched at dimension 0, raises", vmap=both_batched)
op(wrong, "vmap_writes(Tensor x) -> Tensor", lambda x: x * 2, "its rule for vmap, of x batched at dimension 0, writes x", vmap=writes_batch)
op(wrong, "vmap_returns(Tensor x) -> Tensor", copy, "its rule for vmap, of x batched at dimension 0, returns the storage of x", vmap=returns_batch)
op(wrong, "autocast_writes(Tensor x) -> Tensor", square, "under torch.autocast of torch.bfloat16 it writes x")
wrong.impl("autocast_writes", lambda x: square(x.mul_(2)), "AutocastCPU")
op(wrong, "autocast_returns(Tensor x) -> Tensor", copy, "under torch.autocast of torch.bfloat16 it returns the storage of x")
wrong.impl("autocast_returns", lambda x: x, "AutocastCPU")


def add_sum(x, y):
    return x.add_(y.sum().to(x.dtype) + 1)


def casts(library, cast, says=""):
    op(library, "adds_(Tensor(a!) x, Tensor y) -> Tensor(a!)", add_sum, says)
    kernel = getattr(torch.ops, library.ns).adds_

    def below(x, y):
        with torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCPU)):
            return kernel(*cast(x, y))

    library.impl("adds_", below, "AutocastCPU")
    library.impl("adds_", torch.library.fallthrough_kernel, "Autograd")


casts(wrong, lambda x, y: (x.bfloat16(), y), "under torch.autocast of torch.bfloat16 it does not write x")
casts(right, lambda x, y: (x, y.bfloat16()))


def project(x):
    return torch.nn.functional.linear(x, x.new_ones((1, x.shape[-1]))) if x.is_floating_point() else x.clone()


def project_always(x):
    with torch.autocast("cpu", enabled=False):
        return project(x)


def narrow(x):
    return x.to(torch.bfloat16, copy=True) if x.is_floating_point() else x.clone()


def widened(ctx, grad):
    return grad.to(ctx.saved_tensors[0].dtype).expand_as(ctx.saved_tensors[0]) * 1


op(wrong, "ambient(Tensor x) -> Tensor", project, "note under torch.autocast it returns torch.bfloat16, and has no rule", widened, save)
op(right, "ambient(Tensor x) -> Tensor", project_always, "", widened, save)
op(right, "narrow(Tensor x) -> Tensor", narrow, "", widened, save)
op(wrong, "autocast(Tensor x, Tensor y) -> Tensor", takes_floats, "under torch.autocast of torch.bfloat16 it raises TypeError: no bfloat16 here", autocast=torch.bfloat16)


# What is right.


def like(gradient, x):
    return gradient if x.is_complex() or not gradient.is_complex() else gradient.real.clone()


def times_back(ctx, grad):
    x, y = ctx.saved_tensors
    return like(grad * y, x) if ctx.needs_input_grad[0] else None, like(grad * x, y) if ctx.needs_input_grad[1] else None


def times_of_complex_and_real(x, y):
    assert x.dtype == torch.complex64 and y.dtype == torch.float32
    return x * y


def square_batched(info, in_dims, x):
    return x * x, in_dims[0]


def times_batched(info, in_dims, x, y):
    moved = [t if d is None else t.movedim(d, 0) for t, d in zip((x, y), in_dims)]
    rank = max(t.dim() - (d is not None) for t, d in zip((x, y), in_dims))
    moved = [t if d is None else t.reshape(t.shape[0], *[1] * (rank - t.dim() + 1), *t.shape[1:]) for t, d in zip(moved, in_dims)]
    return moved[0] * moved[1], 0


def add_ones(x):
    if x.dim() != 0:
        raise ValueError("x must have 0 dimensions")
    return x + torch.ones(2)


def ones_batched(info, in_dims, x):
    return x.unsqueeze(-1) + torch.ones(2), 0  # where x is float64, this is too


op(wrong, "vmap_promotes(Tensor x) -> Tensor", add_ones, "note its rule for vmap, of x batched at dimension 0, does not return the results of separate calls", vmap=ones_batched)

def times_of_half_complex_and_real(x, y):
    assert x.dtype == torch.complex32 and y.dtype == torch.float32
    return x * y


def times_summed(ctx, grad):
    x, y = ctx.saved_tensors
    return like(grad * y, x).sum_to_size(x.shape), like(grad * x, y).sum_to_size(y.shape)


op(right, "square(Tensor x) -> Tensor", square, backward=square_back, setup=save, vmap=square_batched)
op(wrong, "mixes(Tensor x, Tensor y) -> Tensor", times_of_complex_and_real, "note its backward raises RuntimeError", lambda ctx, grad: tuple(grad * t for t in reversed(ctx.saved_tensors)), save)
op(wrong, "halves(Tensor x, Tensor y) -> Tensor", times_of_half_complex_and_real, "note its backward raises RuntimeError", lambda ctx, grad: tuple(grad * t for t in reversed(ctx.saved_tensors)), save)
op(right, "times(Tensor x, Tensor y) -> Tensor", times_of_one_dtype, backward=times_back, setup=save, vmap=times_batched)
op(right, "summed(Tensor x, Tensor y) -> Tensor", times, backward=times_summed, setup=save)
op(right, "exp(Tensor x) -> Tensor", torch.exp, backward=lambda ctx, grad: grad * ctx.saved_tensors[0], setup=save_output)
op(right, "passes(Tensor x) -> Tensor", copy, backward=lambda ctx, grad: grad, setup=save)
op(right, "reshaped(Tensor x) -> Tensor", lambda x: x.reshape(-1).clone(), backward=lambda ctx, grad: grad.reshape(ctx.saved_tensors[0].shape), setup=save)
op(right, "twice(Tensor x) -> Tensor", torch.sin, backward=torch.autograd.function.once_differentiable(lambda ctx, grad: grad * ctx.saved_tensors[0].detach().cos()), setup=save)
op(right, "positive(Tensor x) -> Tensor", torch.relu, backward=lambda ctx, grad: grad * (ctx.saved_tensors[0] > 0), setup=save)
op(right, "rounds(Tensor x) -> Tensor", torch.round, backward=lambda ctx, grad: grad.clone(), setup=save)
op(right, "copies_in_attribute(Tensor x) -> Tensor", square, backward=torch.autograd.function.once_differentiable(lambda ctx, grad: 2 * ctx.x * grad), setup=lambda ctx, inputs, output: setattr(ctx, "x", inputs[0].clone()))
op(right, "with_norm(Tensor x) -> (Tensor, Tensor, Tensor)", lambda x: (torch.sin(x), x.abs() * 3, x.real.argsort(-1) if x.dim() else torch.zeros((), dtype=torch.int64)), backward=lambda ctx, a, b, c: a * ctx.saved_tensors[0].cos(), setup=lambda ctx, inputs, output: [save(ctx, inputs, output), ctx.mark_non_differentiable(*output[1:])])
op(wrong, "with_places(Tensor x) -> (Tensor, Tensor)", lambda x: (torch.sin(x), x.real.argsort(-1) if x.dim() else torch.zeros((), dtype=torch.int64)), "its gradient of x is not the derivative", lambda ctx, a, b: a * ctx.saved_tensors[0].sin(), save)
op(right, "two(Tensor x) -> (Tensor, Tensor)", lambda x: (x + 1, x * 2), backward=lambda ctx, a, b: a + 2 * b, setup=save)
op(right, "index(Tensor x, int n) -> Tensor", lambda x, n: x * n, backward=lambda ctx, grad: (grad * ctx.n, None), setup=lambda ctx, inputs, output: setattr(ctx, "n", inputs[1]))
op(right, "cast(Tensor x, Tensor y) -> Tensor", times, backward=times_back, setup=save, autocast=torch.bfloat16)


@torch.library.custom_op("ruled::custom", mutates_args=())
def ruled_custom(x: Tensor, scale: float = 2.0) -> Tensor:
    return x * scale


ruled_custom.register_autograd(lambda ctx, grad: (grad * ctx.scale, None), setup_context=lambda ctx, inputs, output: setattr(ctx, "scale", inputs[1]))


@ruled_custom.register_vmap
def _(info, in_dims, x, scale=2.0):
    return torch.ops.ruled.custom(x, scale), in_dims[0]


@torch.library.custom_op("ruled::mark", mutates_args=())
def mark(x: Tensor) -> Tensor:
    return torch.floor(x)


mark.register_autograd(lambda ctx, grad: None, setup_context=lambda ctx, inputs, output: ctx.mark_non_differentiable(output))


# Rules for classes with __torch_dispatch__.


class Holding(torch.Tensor):
    @staticmethod
    def __new__(cls, inner):
        made = torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype, device=inner.device)
        made.inner = inner
        return made

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        raise NotImplementedError(str(function))


class Named(Holding):
    @staticmethod
    def __new__(cls, inner, name):
        return Holding.__new__(cls, inner)


class Counting(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        return function(*args, **(kwargs or {}))


def writes_inner(_, function, types, args, kwargs):
    return Holding(args[0].inner.zero_().clone())


def returns_inner(_, function, types, args, kwargs):
    return Holding(args[0].inner)


def refuses_all(_, function, types, args, kwargs):
    raise ValueError("not here")


def calls_inner(_, function, types, args, kwargs):
    return Holding(function(args[0].inner))


def writes_under_mode(_, function, types, args, kwargs):
    args[0].zero_()
    return function(*args)


def calls_under_mode(_, function, types, args, kwargs):
    return function(*args)


def dispatched(library, name, kind, rule, says=""):
    op(library, f"{name}(Tensor x) -> Tensor", copy, says, lambda ctx, grad: grad.clone(), save)
    torch.library.register_torch_dispatch(f"{library.ns}::{name}", kind, rule, lib=library)


dispatched(wrong, "dispatch_writes", Holding, writes_inner, "its rule for Holding writes x")
dispatched(wrong, "dispatch_returns", Holding, returns_inner, "its rule for Holding returns the storage of x")
dispatched(wrong, "dispatch_refuses", Holding, refuses_all, "note its rule for Holding raises ValueError: not here")
dispatched(wrong, "dispatch_mode", Counting, writes_under_mode, "its rule for Counting writes x")
dispatched(right, "dispatches", Holding, calls_inner)
dispatched(right, "dispatches_named", Named, refuses_all)  # of which none is made of a tensor alone
dispatched(right, "dispatches_mode", Counting, calls_under_mode)


def custom_holding(x: Tensor) -> Tensor:
    return x.clone()


for namespace, rule in (("rules", writes_inner), ("ruled", calls_inner)):
    custom = torch.library.custom_op(f"{namespace}::custom_holding", mutates_args=())(custom_holding)
    custom.register_torch_dispatch(Holding, rule)
    custom.register_autograd(lambda ctx, grad: grad.clone())
EXPECTED["rules::custom_holding"] = "its rule for Holding writes x"


# Kernels for autograd.


def autograd(library, name, kernel, says=""):
    op(library, f"{name}(Tensor x) -> Tensor", copy, says)
    library.impl(name, kernel, "Autograd", with_keyset=True)


class Below(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, keys):
        with torch._C._AutoDispatchBelowAutograd():
            return torch.ops.ruled.below.default.redispatch(keys & torch._C._after_autograd_keyset, x)

    @staticmethod
    def backward(ctx, grad):
        return grad.clone(), None


def below(keys, x):
    return Below.apply(x, keys)


def writes_and_goes_on(keys, x):
    if x.is_floating_point():
        x.zero_()
    return below(keys, x)


autograd(wrong, "autograd_writes", writes_and_goes_on, "called through autograd it writes x")
autograd(wrong, "autograd_returns", lambda keys, x: x.detach(), "called through autograd it returns the storage of x")
autograd(right, "below", below)


# Ops that decompose, of which autograd sees what they call.


def composite(library, name, kernel, says=""):
    library.define(f"{name}(Tensor x) -> Tensor")
    library.impl(name, kernel, "CompositeImplicitAutograd")
    if says:
        EXPECTED[f"{library.ns}::{name}"] = says


def doubled_in_numpy(x):
    return torch.from_numpy(x.detach().contiguous().numpy() * 2) if x.dtype == torch.float32 else x * 2


composite(wrong, "ends_in_numpy", doubled_in_numpy, "its results depend on x, which requires grad, and none of them requires it: the op decomposes")
composite(wrong, "needs_no_grad", lambda x: torch.from_numpy(x.numpy() + 1) if x.dtype == torch.float32 else x * 2, "note where an argument requires grad it raises RuntimeError: Can't call numpy()")
composite(right, "decomposes", lambda x: (x * 2).sum())
composite(right, "counts_in_numpy", lambda x: torch.tensor(float((x.detach().abs() > 0).sum())))
composite(right, "finds_places", lambda x: (x.real > 0).nonzero())
