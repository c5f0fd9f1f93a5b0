"""Holds PyTorch operators to what their schemas promise."""
