"""Checks that PyTorch operators keep the promises of their schemas."""

from importlib.metadata import version

from . import testing
from .checking import Report, check, check_op, lint, parametrize
from .findings import Finding, OpassertError, OpassertWarning
from .watching import watch

__version__ = version("opassert")
__all__ = [
    "Finding",
    "OpassertError",
    "OpassertWarning",
    "Report",
    "check",
    "check_op",
    "lint",
    "parametrize",
    "testing",
    "watch",
]
