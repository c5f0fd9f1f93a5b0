"""A kernel that ends some calls' processes and aliases in the others, in a module that
counts how often it is imported."""

import ctypes
import os

import torch

with open(os.environ["IMPORTS"], "a") as imports:
    imports.write("imported\n")
library = torch.library.Library("ends", "DEF")
library.define("sometimes(Tensor x) -> Tensor")


def sometimes(x):
    if x.dim() == 2:
        ctypes.string_at(8)
    return x


library.impl("sometimes", sometimes, "CPU")
