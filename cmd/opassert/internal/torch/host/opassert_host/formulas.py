"""The formulas of ops for autograd, and their rules for vmap and autocast, called beside the kernels."""

import contextlib
import json
import re

import torch
from torch._library.custom_ops import OPDEFS
from torch._library.simple_registry import singleton
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten_with_path, tree_unflatten

from .fakes import held
from .gradcheck import GradientChecks, bytes_of, changed, differs, distinct, precise
from .places import ROOT, explained, text_of
from .registrations import is_written, registered, site
from .shim import captured_whole

# Errors of formulas without a gradient; for a kernel that lacks a dtype 2.6 raises RuntimeError.
REFUSES = re.compile(
    r"no autograd formula was registered|\bnot (yet |currently )?(implemented|supported)\b|\bunsupported\b"
    r"|\b(does not|doesn't) support\b|differentiate twice", re.I,
)
# Errors of Python about mistakes, in similar words.
MISTAKES = re.compile(r"unsupported (operand|format string|callable)|not supported between|object does(n't| not) support|object not supported")


def dispatch_rules(name):
    """Returns the rules of an op for classes with __torch_dispatch__."""
    custom = OPDEFS.get(name.partition(".")[0])
    return custom._torch_dispatch_fns if custom else singleton.find(name).torch_dispatch_rules._data


class Rules(GradientChecks):
    """Calls the functions registered for an op besides its kernels, and collects their faults."""

    def __init__(self, function, args, kwargs, all):
        self.all = all  # else a formula that a user registered, and rules
        self.function, self.schema, self.name = function, function._schema, function.name()
        self.faults, self.unmade, self.graded_ran = [], [], False
        arguments = {a.name: a for a in self.schema.arguments}
        paths, self.spec = tree_flatten_with_path({**dict(zip(arguments, args)), **kwargs})
        self.leaves = [leaf for _, leaf in paths]
        self.named = {i: path[0].key for i, (path, leaf) in enumerate(paths) if isinstance(leaf, torch.Tensor)}
        self.tensors = list(self.named)
        self.devices = {self.leaves[i].device.type for i in self.tensors} - {"cpu", "meta"}
        keys = ["Autograd" + torch._C._dispatch_key_for_device(d) for d in sorted(self.devices)]
        has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
        kernels = [k for k in ("Autograd", "AutogradCPU", *keys) if has_kernel(self.name, k)]
        # The dispatch key of a kernel that is registered for autograd on one of the devices alone, or None.
        self.device_rule = next((k for k in kernels if k in keys), None)
        # torch.manual_seed records a stack for each driver that is not started.
        self.seed = torch.manual_seed if self.devices else torch.default_generator.manual_seed
        self.written = [i for i, n in self.named.items() if is_written(arguments[n])]
        optional = [i for i, n in self.named.items() if str(arguments[n].type) == "Optional[Tensor]"]
        self.optional = [i for i in optional if i not in self.written]
        dtypes = {i: self.leaves[i].dtype for i in self.tensors}
        # PyTorch lacks kernels for complex32.
        self.graded = [i for i, d in dtypes.items() if d.is_floating_point or d in (torch.complex64, torch.complex128)]
        users = registered.formula(self.name)[0]
        known = users or registered.rules.get(self.name) or dispatch_rules(self.name)
        self.cpp = kernels and not users and self.name not in registered.before  # of a library that a module loaded
        self.has = bool(known or self.cpp or self.device_rule)  # a formula or rules: else only the kernel is left

    def add(self, saw, fix="", argument="", note="", symptom=""):
        if not any(f["argument"] == argument for f in self.faults):
            file, line = self.place
            self.faults.append({"argument": argument, "saw": saw, "symptom": symptom, "fix": fix, "note": note, "file": file, "line": line})

    def call(self, replace=lambda i, t: t):
        """Calls the op with copies of its tensors, or with replacements."""
        leaves = [replace(i, v.detach().clone()) if isinstance(v, torch.Tensor) else v for i, v in enumerate(self.leaves)]
        given = tree_unflatten(leaves, self.spec)
        self.seed(0)
        values = self.function(**given)
        self.graded_ran |= any(getattr(leaf, "requires_grad", False) for leaf in leaves)
        return leaves, values

    # Autograd.

    def differentiated(self, of, replace=lambda i, t: t):
        leaves, values = self.call(lambda i, t: replace(i, t).requires_grad_(i in of))
        return leaves, [t for t in held(values) if t is not None]

    def gradients(self, results, leaves, of, given, create_graph=False):
        self.seed(0)
        ends, given = zip(*[(t, g) for t, g in zip(results, given) if t.requires_grad and g is not None])
        kept = {"retain_graph": True, "create_graph": create_graph, "allow_unused": True}
        return torch.autograd.grad(ends, [leaves[i] for i in of], given, **kept)

    def check_formula(self):
        try:
            leaves, results = self.differentiated(self.graded)
        except Exception:
            return  # as in the call itself
        if not any(t.requires_grad for t in results):
            lost = self.place[0] or self.on_cpu([distinct(t) for t in results])[0]
            if lost and any(t.is_floating_point() for t in results) and not registered.marked:
                self.add("its formula is lost: an argument requires grad, and no result does" + ", on the CPU one does" * (not self.place[0]), "return results that autograd records")
            return
        given = [distinct(t) for t in results]
        tensors = [(f"argument {self.named[i]}", leaves[i]) for i in self.tensors]
        tensors += [("what the op returned", t) for t in results]
        kept = [(n, t, bytes_of(t)) for n, t in tensors + [("the gradient that it is given", t) for t in given]]
        try:
            first = self.gradients(results, leaves, self.graded, given)
        except Exception as error:
            if self.cpp and str(error).startswith("derivative for "):  # of autogradNotImplementedFallback
                if not self.on_cpu(given)[0]:
                    return self.unmade.append("its kernel for autograd raises that there is no gradient")
                saw = f"on {min(self.devices)} its kernel for autograd raises that there is no gradient, and on the CPU there is one"
                return self.add(saw, "register the formula for the device, too", note="no result is silently wrong", symptom="backward")
            return self.add_raised("its backward raises", error, symptom="backward")
        for name, tensor, was in kept:
            if changed(tensor, was):
                return self.add(f"its backward writes {name}", "let backward work on a copy")
        self.check_gradients(first, tensors)
        first = [g if g is None else g.clone() for g in first]  # a formula may write its earlier result
        self.check_again(first, leaves, results, given)
        if not self.faults:
            self.check_linear(first, leaves, results, given)
            self.check_saved(first, given)
        if not self.faults and self.device_rule:
            self.check_beside(first, results, given)
        if not self.faults:
            self.check_slopes(first, [g * t.requires_grad for t, g in zip(results, given)])

    def add_raised(self, what, error, argument="", symptom=""):
        note = ""
        if isinstance(error, NotImplementedError) or REFUSES.search(str(error)) and not MISTAKES.search(str(error)):
            note = "it raises that it has no gradient: no result is silently wrong"
        elif len({t.is_complex() for t in map(self.leaves.__getitem__, self.tensors) if t.is_floating_point() or t.is_complex()}) == 2:
            note = "arguments are real and complex: a product has a complex gradient for both, and PyTorch rejects that of a real one"
        self.add(f"{what} {text_of(error)}", "accept the arguments of the kernel, and return its results", argument, note, symptom)

    def on_cpu(self, given):
        """Calls the op with copies of its tensors on the CPU; returns its results and gradients, two times () if there are none."""
        with contextlib.suppress(Exception):  # there is no kernel or no formula for the CPU
            leaves, results = self.differentiated(self.graded, lambda i, t: t.cpu())
            return results, self.gradients(results, leaves, self.graded, [g.cpu() for g in given])
        return (), ()

    def compare(self, of, gradients, others, saw, fix):
        """Compares gradients of arguments; {} in what is said stands for an argument's name."""
        for i, a, b in zip(of, gradients, others):
            if differs(a, b):
                self.add(saw.format(self.named[i]), fix, self.named[i])

    def check_beside(self, first, results, given):
        """Compares the gradients with those on the CPU, if the results are the same there."""
        there, gradients = self.on_cpu(given)
        if len(there) == len(results) and not any(differs(a.detach(), b.detach()) for a, b in zip(results, there)):
            self.compare(self.graded, first, gradients, "its gradient of {} is not that on the CPU", "return the gradient that the formula for the CPU returns")

    def check_gradients(self, gradients, tensors):
        storages = {t.untyped_storage()._cdata: n for n, t in tensors}
        for i, gradient in zip(self.graded, gradients):
            if shares := gradient is not None and gradient.numel() and storages.get(gradient.untyped_storage()._cdata):
                saw = f"the gradient of {self.named[i]} shares storage with {shares}: accumulating into it writes that"
                self.add(saw, "return a clone", self.named[i])
        if self.place[0] and all(g is None for g in gradients):
            self.add("its backward returns no gradient at all", symptom="no-gradient")

    def check_again(self, first, leaves, results, given):
        """Calls the formula a second time, for gradients with other strides, for one argument, and for one result."""
        second = "called a second time, as with retain_graph,"
        expanded = [t.detach().new_ones(()).expand(t.shape) for t in results]
        strided = [torch.stack((g, -g), -1).select(-1, 0) for g in given]
        ways = [
            (second, self.graded, given),
            ("for a gradient that is expanded, as that of sum()", self.graded, expanded),
            ("for a gradient that is not contiguous", self.graded, strided),
        ]
        if len(self.graded) > 1:
            ways += [(f"where {self.named[i]} alone requires grad", [i], given) for i in self.graded]
        recorded = [n for n, t in enumerate(results) if t.requires_grad]
        for n in recorded if len(recorded) > 1 else ():
            alone = [g if m == n else None for m, g in enumerate(given)]
            ways.append((f"where result {n} alone has a gradient", self.graded, alone))
        for what, of, gradients in ways:
            fix = "compute the gradient from the incoming one's values, whatever its strides"
            try:
                if what is second:
                    fix = "do not write saved tensors"
                else:
                    leaves, results = self.differentiated(of)
                if not any(t.requires_grad and g is not None for t, g in zip(results, gradients)):
                    continue
                got = self.gradients(results, leaves, of, gradients)
                want = self.gradients(results, leaves, of, [torch.ones_like(t) for t in results]) if gradients is expanded else first
            except Exception as error:
                self.add_raised(f"{what} its backward raises", error)
                continue
            if None not in gradients:
                want = [g for i, g in zip(self.graded, want) if i in of]
                self.compare(of, got, want, what + " its backward returns another gradient of {}", fix)

    def check_call(self):
        """Compares calls through a kernel for autograd with the schema, also with elements of both signs."""
        for replace in (lambda i, t: t, lambda i, t: distinct(t) if i in self.graded else t):
            with contextlib.suppress(Exception):  # as in the call itself
                leaves, values = self.call(replace)
                kept = {i: (leaves[i], bytes_of(replace(i, self.leaves[i]))) for i in self.tensors}
                self.check_kept("called through autograd it", kept, held(values))

    def check_absent(self):
        """Calls the formula without each optional tensor, if the kernel accepts that."""
        for absent in self.optional:
            of = [i for i in self.graded if i != absent]
            try:
                self.call(lambda i, t: None if i == absent else t)
            except Exception:
                continue
            try:
                leaves, values = self.call(lambda i, t: None if i == absent else t.requires_grad_(i in of))
                results = [t for t in held(values) if t is not None]
                if of and any(t.requires_grad for t in results):
                    self.gradients(results, leaves, of, [distinct(t) for t in results])
            except Exception as error:
                self.add_raised(f"without {self.named[absent]}, which the kernel accepts, its formula raises", error, self.named[absent], symptom="without-tensor")

    def check_in_place(self):
        """Checks that the graph of a written argument has the op's formula."""
        before = {}

        def passed(i, t):
            if i in self.graded and i in self.written:
                t = t.requires_grad_().clone()  # not a leaf, which may not be written
                before[i] = t.grad_fn
            return t

        with contextlib.suppress(Exception):  # as in the call itself
            leaves, _ = self.call(passed)
            for i, node in before.items():
                ours = self.place[0] or self.cpp
                if ours and leaves[i].grad_fn is node and changed(leaves[i], bytes_of(self.leaves[i])):
                    said = f"its formula is lost: {self.named[i]} is written, and its gradient is that of the old value"
                    self.add(said, "name it in ctx.mark_dirty()", self.named[i])

    # vmap and autocast.

    def check_kept(self, rule, given, results):
        """Compares the changes of a rule to tensors with the schema; before has their bytes, by position."""
        for i, (tensor, was) in given.items():
            if i not in self.written and changed(tensor, was):
                return self.add(f"{rule} writes {self.named[i]}", "work on a copy", self.named[i])
        storages = {tensor.untyped_storage()._cdata: i for i, (tensor, _) in given.items()}
        for t in () if any(r.alias_info for r in self.schema.returns) else results:
            if t is not None and t.numel() and t.layout == torch.strided and (i := storages.get(t.untyped_storage()._cdata)) is not None:
                return self.add(f"{rule} returns the storage of {self.named[i]}", "return a clone", self.named[i])

    def check_vmap(self):
        rolled = [self.leaves[i].flatten().roll(1).view(self.leaves[i].shape) for i in self.tensors]
        promoted = None
        ways = [(self.tensors, 0), (self.tensors, -1)] + [([i], 0) for i in self.tensors if len(self.tensors) > 1]
        for of, dim in ways:
            sides = {i: (self.leaves[i], r) for i, r in zip(self.tensors, rolled) if i in of}
            try:
                want = [held(self.call(lambda i, t: sides[i][n].clone() if i in sides else t)[1]) for n in range(2)]
                again = held(self.call()[1])
            except Exception:
                continue  # the kernel accepts no other values
            if any(map(differs, want[0], again)) or len(want[0]) != len(want[1]) or any(a is None or a.shape != b.shape for a, b in zip(*want)):
                continue

            def one(*tensors):
                given = dict(zip(of, tensors))
                return tuple(held(self.call(lambda i, t: given.get(i, t))[1]))

            batched = [torch.stack(sides[i], dim) for i in of]
            kept = {i: (t, bytes_of(t)) for i, t in zip(of, batched)}
            where = f"of {', '.join(dict.fromkeys(self.named[i] for i in of))} batched at dimension {dim}"
            try:
                got = torch.vmap(one, in_dims=dim, randomness="different")(*batched)
            except Exception as error:
                return self.add_raised(f"its rule for vmap, {where}, raises", error, self.named[of[0]], symptom="vmap")
            pairs = [(g, w, n) for n in range(2) for g, w in zip(got, want[n])]
            if any(g.shape[:1] != (2,) or differs(g[n], w) for g, w, n in pairs):
                fault = f"its rule for vmap, {where}, does not return the results of separate calls", "", self.named[of[0]]
                if not all(g.shape[:1] == (2,) and not differs(g[n].to(w.dtype), w) for g, w, n in pairs):
                    return self.add(*fault, symptom="vmap")
                promoted = promoted or fault
                continue
            self.check_kept(f"its rule for vmap, {where},", kept, got)
        if promoted:
            self.add(*promoted, symptom="promoted")

    def check_autocast(self, dtype):
        under, first = f"under torch.autocast of {dtype} it", self.named[self.graded[0]]
        try:
            given, plain = self.call()
            with torch.autocast("cpu", dtype=dtype):
                casted, cast = self.call()
            plain, cast = held(plain), held(cast)
        except Exception as error:
            return self.add_raised(f"{under} raises", error, first)
        for i in self.written:
            if changed(given[i], bytes_of(self.leaves[i])) and not changed(casted[i], bytes_of(self.leaves[i])):
                fix = "cast read arguments only: a write to a copy is lost"
                return self.add(f"{under} does not write {self.named[i]}", fix, self.named[i])
        if [t is None or t.shape for t in plain] != [t is None or t.shape for t in cast]:
            self.add(f"{under} returns other sizes", "only cast arguments, and call the kernel", first)
        self.check_kept(under, {i: (casted[i], bytes_of(self.leaves[i])) for i in self.tensors}, cast)

    def check_ambient(self):
        """Looks for results of another dtype under autocast: the op has no rule, and its kernel calls ops with one."""
        with contextlib.suppress(Exception):  # as in the call itself
            with torch.autocast("cpu"):
                cast = [t.dtype for t in held(self.call()[1]) if t is not None]
            plain = [t.dtype for t in held(self.call()[1]) if t is not None]
            if torch.bfloat16 in cast and torch.bfloat16 not in plain:
                saw = "under torch.autocast it returns torch.bfloat16, and has no rule: compiled programs call it outside"
                self.add(saw + " of autocast", symptom="autocast")

    def check_dispatch(self, kind, rule):
        """Calls a rule for a class of modes, or of tensors, made from the plain ones."""
        self.place, plain = site(rule), {i: self.leaves[i].detach().clone() for i in self.tensors}
        kept, what = {i: (t, bytes_of(t)) for i, t in plain.items()}, f"its rule for {kind.__name__}"
        mode = issubclass(kind, TorchDispatchMode)
        try:
            entered = kind() if mode else contextlib.nullcontext()
            made = {i: t if mode else kind(t) for i, t in plain.items()}
        except Exception as error:
            return self.unmade.append(f"no {kind.__name__} can be made from {'no argument' if mode else 'a tensor'}: {explained(error)}")
        try:
            with entered:
                results = held(self.call(lambda i, t: made[i])[1])
        except Exception as error:
            return self.add(f"{what} raises {text_of(error)}", symptom="dispatch")
        inside = [v for r in results for v in ([r] if type(r) is torch.Tensor else getattr(r, "__dict__", {}).values()) if isinstance(v, torch.Tensor)]
        self.check_kept(what, kept, inside)

    def check_composite(self):
        """Checks that autograd records an op that decomposes, by the ops that it calls."""
        try:
            results = self.differentiated(self.graded)[1]
        except Exception as error:
            return self.add(f"where an argument requires grad it raises {text_of(error)}", symptom="composite")
        given = [distinct(t) for t in results]
        for i in self.graded if any(map(torch.is_floating_point, results)) and not any(t.requires_grad for t in results) else ():
            if precise([self.leaves[i], *given]) and self.slope(i, given):
                saw = f"its results depend on {self.named[i]}, which requires grad, and none of them requires it: the op decomposes, and autograd does not see its calls"
                return self.add(saw, argument=self.named[i], symptom="composite-lost")

    def check_grad(self, formula, place):
        self.place = place
        if formula and self.written:
            self.check_in_place()
        elif formula:
            self.check_formula()
            self.check_absent()
        self.place = registered.kernel(self.name)
        if not self.written and (self.all or formula):
            self.check_modes()
        if not self.written and registered.decomposes(self.name):
            self.check_composite()

    def check(self):
        rules = registered.rules.get(self.name, {})
        custom = OPDEFS.get(self.name.partition(".")[0])
        vmap = custom and custom._vmap_fn or rules.get("FuncTorchBatched")
        cast = getattr(custom, "_autocast_dtype", {"cpu": getattr(custom, "_autocast_cpu_dtype", None)})
        autocast = cast.get("cpu") or rules.get("AutocastCPU") and torch.bfloat16
        users, own = registered.formula(self.name)[0], registered.formula(self.name, self.device_rule)
        formula = self.has and (self.all or self.cpp or self.device_rule or users and not users.startswith(ROOT))
        with torch.random.fork_rng(devices=[]):
            if self.graded:
                with torch.enable_grad():
                    self.check_grad(formula, own)
            self.place = own
            if self.device_rule or not custom and ("Autograd" in rules or "AutogradCPU" in rules):
                self.check_call()
            self.place = site(vmap)
            if vmap and not self.written and self.tensors:
                self.check_vmap()
            for kind, rule in dispatch_rules(self.name).items():
                self.check_dispatch(kind, rule)
            self.place = registered.kernel(self.name)
            if formula and not (self.graded_ran or vmap or autocast or dispatch_rules(self.name)):
                self.unmade.append("no argument can require grad, or the call raises where one does")
            if not self.graded or any(self.leaves[i].dtype != torch.float32 for i in self.graded):
                return
            if autocast:
                self.check_autocast(autocast)
            elif not registered.decomposes(self.name):
                self.check_ambient()


def rules(request, op, all=True):
    """Calls the formula and the rules of an op with the arguments of a request, and returns their faults."""
    call = captured_whole(request, op)
    if call is None:
        return '{"why": "the request makes no call"}'
    registered.marked = False
    checked = Rules(*call, all)
    checked.check()
    why = "; ".join(checked.unmade)
    if not checked.has and not checked.faults:
        why = "nothing is registered for autograd, vmap or autocast"
    return json.dumps({"why": why, "faults": checked.faults})
