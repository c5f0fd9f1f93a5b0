"""Checks of formulas that compute: gradients are linear, use the saved tensors, and are the derivative if there is one."""

import contextlib
import math

import torch

from .fakes import held

STEP = 2**-7  # of the elements of an argument, exact in float32
ROUGH = 0.05  # relative error allowed between differences
LARGEST = 64  # element to which a step is added: float32 has digits for both


def differs(a, b):
    """Reports whether two results differ, up to rounding."""
    if a is None or b is None or a.shape != b.shape or a.dtype != b.dtype:
        return a is not b
    a, b = a.cpu(), b.cpu()  # a device does not judge itself
    if a.dtype != torch.complex32 and torch.equal(a, b):  # which has no kernel for it
        return False
    if not (a.is_floating_point() or a.is_complex()):
        return True
    wide = torch.complex128 if a.is_complex() else torch.float64
    sure = a.isfinite() & b.isfinite()  # infinities and NaN depend on how they are computed
    return not torch.allclose(a[sure].to(wide), b[sure].to(wide), 1e-2, 1e-3)


def bytes_of(tensor):
    return tensor.detach().cpu().clone(memory_format=torch.contiguous_format).view(-1).view(torch.uint8) if tensor.numel() else None


def changed(tensor, was):
    return was is not None and not torch.equal(bytes_of(tensor), was)


def distinct(tensor):
    """Returns a gradient for a result: elements that differ from their neighbours, none of them 1."""
    numbers = torch.arange(tensor.numel()).reshape(tensor.shape)
    return torch.empty_like(tensor).copy_((numbers % 4 + 5) / 4 * (1 - numbers % 2 * 2))


def slope(function):
    """Returns the derivative of a function at 0, None where it is not smooth there."""
    below, here, above, half = (function(step) for step in (-STEP, 0, STEP, STEP / 2))
    left, right, near = (here - below) / STEP, (above - here) / STEP, (half - here) / (STEP / 2)
    bound = ROUGH * abs(near)
    agree = bound > 1e-3 * abs(here) and abs(left - near) < bound and abs(right - near) < bound
    return near if agree or left == right == near == 0 else None


def summed(tensors, weights):
    return sum(float((t.detach().double() * w.double()).sum()) for t, w in zip(tensors, weights))


def precise(tensors):
    return all(t.dtype in (torch.float32, torch.float64) or not (t.is_floating_point() or t.is_complex()) for t in tensors)


class GradientChecks:
    def moved(self, at, step):
        return self.differentiated(self.graded, lambda i, t: t + step * distinct(t) if i == at else t)

    def slope(self, at, weights):
        """Returns how the results of the op change with an argument, None if it is not known."""
        with contextlib.suppress(Exception):  # the kernel accepts no other values
            return slope(lambda step: summed(self.moved(at, step)[1], weights))

    def check_modes(self):
        """Compares the results of the op if arguments require grad with those if none does."""
        try:
            plain, again = held(self.call()[1]), held(self.call()[1])
            graded = held(self.call(lambda i, t: t.requires_grad_(i in self.graded))[1])
        except Exception:
            return
        if len(plain) != len(graded) or any(map(differs, plain, again)):
            return
        for n, (a, b) in enumerate(zip(plain, graded)):
            if a is not None and b is not None and a.shape == b.shape and a.dtype == b.dtype and differs(a, b.detach()):
                self.add(f"result {n} has other elements if an argument requires grad", symptom="trains")

    def check_linear(self, first, leaves, results, given):
        for factor, what, times in ((0, "a gradient of zeros", "zeros"), (2, "twice the gradient", "twice the gradient")):
            got = self.gradients(results, leaves, self.graded, [g * factor for g in given])
            for i, a, b in zip(self.graded, first, got):
                if a is not None and b is not None and differs(a * factor, b):
                    symptom = "limited" if factor and bool((b.abs() <= 2 * a.abs()).all()) else ""
                    saw = f"for {what} its backward does not return {times} of {self.named[i]}"
                    fix = "multiply by the gradient that backward is given, once"
                    self.add(saw, fix, self.named[i], symptom=symptom)

    def check_saved(self, first, given):
        """Writes tensors between the call and its backward, which must raise or not need them."""
        ways = [(f"argument {self.named[i]}", self.named[i], lambda leaves, _, i=i: leaves[i]) for i in self.graded]
        ways += [(f"result {n}", "", lambda _, results, n=n: results[n]) for n, t in enumerate(given) if t.is_floating_point()]
        for what, argument, of in ways:
            try:
                leaves, results = self.differentiated(self.graded)
                of(leaves, results).detach().add_(1)
                got = self.gradients(results, leaves, self.graded, given)
            except Exception:
                continue  # as it must
            if any(map(differs, first, got)):
                saw = f"its backward uses {what}, which was written after the call, and does not raise"
                saved = "save tensors by ctx.save_for_backward, which notes their versions"
                self.add(saw, saved + ", not in attributes, nor by .data", argument)
        with contextlib.suppress(Exception):  # the kernel accepts no other values
            leaves, results = self.differentiated(self.graded)
            self.call(lambda i, t: (t * 2 + 1).requires_grad_() if i in self.graded else t)
            saw = "after the op was called with other elements its backward returns another gradient of {}"
            fix = "save by ctx.save_for_backward, or in attributes of ctx, not in memory that calls share"
            self.compare(self.graded, first, self.gradients(results, leaves, self.graded, given), saw, fix)

    def check_slopes(self, first, given):
        arguments = [self.leaves[i] for i in self.graded]
        if not precise([*arguments, *given]) or any(t.numel() and not t.abs().max() <= LARGEST for t in arguments):
            return
        for i, gradient in zip(self.graded, first):
            towards = distinct(self.leaves[i])
            want, got = self.slope(i, given), 0 if gradient is None else summed([gradient], [towards])
            if want is None or want == 0 and math.isfinite(got):
                continue
            if not abs(got - want) < 2 * ROUGH * abs(want):
                found = "none" if gradient is None else format(got, ".4g")
                way = f"{found} along a direction in which the op changes by {want:.4g}"
                saw = f"its gradient of {self.named[i]} is not the derivative: {way}"
                self.add(saw, argument=self.named[i], symptom="derivative")
            else:
                self.check_second(i, given, towards)

    def check_second(self, i, given, towards):
        """Looks for a gradient that depends on an argument without a graph to it."""

        def gradient(step):
            leaves, results = self.moved(i, step)
            return leaves[i], self.gradients(results, leaves, [i], incoming, create_graph=True)[0]

        with contextlib.suppress(Exception):  # as it must
            incoming = [g.clone().requires_grad_(g.is_floating_point()) for g in given]
            argument, first = gradient(0)
            if first.requires_grad:
                first.sum().backward()
            if argument.grad is None and slope(lambda step: summed([gradient(step)[1]], [towards])):
                name = self.named[i]
                saw = f"the gradient of {name} depends on {name} and has no graph to it: second derivatives are zero"
                self.add(saw, argument=name, symptom="second-derivative")
