"""Holds PyTorch operators to what their schemas promise."""

from .findings import Finding, OpassertError, OpassertWarning
from .watching import watch

__all__ = ["Finding", "OpassertError", "OpassertWarning", "watch"]
