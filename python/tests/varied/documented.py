"""A module with examples.

>>> import torch, myops
>>> torch.ops.myops.good(torch.ones(2))
tensor([2., 2.])
"""


def wrong():
    """
    >>> 1 + 1
    3
    """


def wrong_bad():
    """
    >>> import myops
    >>> myops.bad()
    """
