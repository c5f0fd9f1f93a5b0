"""Checks of one op, called as PyTorch's own."""

from .findings import OpassertError
from .watching import watch


def opcheck(op, args, kwargs=None, *, raise_exception=True, **others):
    """Does what torch.library.opcheck does, with the same arguments, and holds a call of
    the op against its schema.

    Returns the dict of torch.library.opcheck; its entry "opassert" is "SUCCESS", or the
    OpassertError, which is raised with raise_exception=True. The arguments stay as they
    are. RuntimeError is raised in a process that is not watched: see opassert.watch.
    """
    import torch

    def copied(tensor):
        return tensor.detach().clone().requires_grad_(tensor.requires_grad)

    copies = torch.utils._pytree.tree_map_only(torch.Tensor, copied, (tuple(args), dict(kwargs or {})))
    with watch("opcheck of %s" % op) as watched:
        op(*copies[0], **copies[1])
    error = OpassertError(watched.findings) if watched.findings else None
    if error and raise_exception:
        raise error
    results = torch.library.opcheck(op, args, kwargs, raise_exception=raise_exception, **others)
    return {**results, "opassert": error or "SUCCESS"}
