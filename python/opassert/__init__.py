"""Checks that PyTorch operators keep the promises of their schemas."""

from .findings import Finding, OpassertError, OpassertWarning
from .watching import watch

__all__ = ["Finding", "OpassertError", "OpassertWarning", "watch"]
