"""Checks of one op, called as PyTorch's own."""

import copy

from .findings import OpassertError
from .watching import watch


def opcheck(op, args, kwargs=None, *, raise_exception=True, **others):
    """Runs the tests of torch.library.opcheck, with the same arguments, and checks a call of the op against its schema.

    Returns the dict of torch.library.opcheck; its entry "opassert" is "SUCCESS", or the
    OpassertError, which is raised with raise_exception=True, or what the op has raised.
    The arguments stay as they are. RuntimeError is raised in a process that can't be watched: see opassert.watch.
    """
    import torch

    def leaf(tensor):
        return tensor.detach().requires_grad_(tensor.requires_grad)

    # A deep copy has the storages that are shared, and the strides.
    copies = copy.deepcopy(torch.utils._pytree.tree_map_only(torch.Tensor, leaf, (tuple(args), dict(kwargs or {}))))
    refused = None
    with watch("opcheck of %s" % op) as watched:
        try:
            op(*copies[0], **copies[1])
        except Exception as error:  # torch.library.opcheck reports it
            refused = error
    error = OpassertError(watched.findings) if watched.findings else refused
    if watched.findings and raise_exception:
        raise error
    results = torch.library.opcheck(op, args, kwargs, raise_exception=raise_exception, **others)
    return {**results, "opassert": error or "SUCCESS"}
