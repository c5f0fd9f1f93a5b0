"""Checks that PyTorch operators keep the promises of their schemas."""

from importlib.metadata import PackageNotFoundError, version

from . import testing
from .checking import Report, check, check_op, lint, parametrize
from .findings import Finding, OpassertError, OpassertWarning
from .watching import watch

try:
    __version__ = version("opassert")
except PackageNotFoundError:  # in a clone that is not installed
    __version__ = "0"
__all__ = ["Finding", "OpassertError", "OpassertWarning", "Report"]
__all__ += ["check", "check_op", "lint", "parametrize", "testing", "watch"]
