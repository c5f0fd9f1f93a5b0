"""Checks of one op, called as PyTorch's own."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from .findings import OpassertError
from .watching import watch

if TYPE_CHECKING:
    import torch

    from .checking import Op


def opcheck(
    op: Op, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None, *, raise_exception: bool = True, **others: Any
) -> dict[str, Any]:
    """Runs the tests of torch.library.opcheck, with the same arguments, and checks a call of the op against its schema.

    Returns the dict of torch.library.opcheck; its entry "opassert" is "SUCCESS", or the
    OpassertError, which is raised with raise_exception=True, or what the op has raised.
    The arguments stay as they are. RuntimeError is raised in a process that can't be watched: see opassert.watch.
    """
    import torch
    from torch.utils._pytree import tree_map_only

    def leaf(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.detach().requires_grad_(tensor.requires_grad)

    # A deep copy has the storages that are shared, and the strides.
    copies = copy.deepcopy(tree_map_only(torch.Tensor, leaf, (tuple(args), dict(kwargs or {}))))
    refused: Exception | None = None
    with watch("opcheck of %s" % op) as watched:
        try:
            op(*copies[0], **copies[1])
        except Exception as thrown:  # torch.library.opcheck reports it
            refused = thrown
    error = OpassertError(watched.findings) if watched.findings else refused
    if isinstance(error, OpassertError) and raise_exception:
        raise error
    results = torch.library.opcheck(op, args, kwargs, raise_exception=raise_exception, **others)
    return {**results, "opassert": error or "SUCCESS"}
