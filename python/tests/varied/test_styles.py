"""Tests in each style, with each outcome."""

import asyncio
import unittest
import warnings

import pytest
import torch
from myops import bad


@pytest.mark.xfail(raises=ValueError)
def test_other_error():
    raise KeyError


@pytest.mark.xfail(raises=ValueError)
def test_expected_error():
    raise ValueError


@pytest.mark.xfail(run=False)
def test_never_run():
    raise SystemExit


@pytest.mark.xfail(strict=True)
def test_strict():
    pass


@pytest.mark.skipif(torch.ones(1).item() == 1, reason="one")
def test_skipped_if():
    pass


def test_raises():
    with pytest.raises(RuntimeError, match="size"):
        torch.ones(2) + torch.ones(3)


def test_raises_nothing():
    with pytest.raises(RuntimeError):
        pass


def test_raises_bad():
    with pytest.raises(RuntimeError):
        bad()
        raise RuntimeError


def test_warns():
    with pytest.warns(UserWarning):
        warnings.warn("here")


@pytest.mark.filterwarnings("error")
def test_warning_is_an_error():
    warnings.warn("here")


@pytest.mark.filterwarnings("error")
def test_no_warnings():
    torch.ops.myops.good(torch.ones(3))


@pytest.mark.filterwarnings("error")
def test_no_warnings_bad():
    bad()


def test_importorskip():
    pytest.importorskip("no_such_module")


def test_fails_explicitly():
    pytest.fail("so")


def test_exits():
    raise SystemExit(3)


def test_returns():
    assert torch.ones(1) == 1


async def test_coroutine():
    await asyncio.sleep(0)
    torch.ops.myops.good(torch.ones(3))


async def test_coroutine_fails():
    await asyncio.sleep(0)
    raise ValueError


async def test_coroutine_bad():
    await asyncio.gather(asyncio.to_thread(bad), asyncio.sleep(0))


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tensor = torch.ones(3)

    def setUp(self):
        self.addCleanup(lambda: self.assertTrue(True))

    def test_unit(self):
        self.assertEqual(self.tensor.sum(), 3)

    def test_unit_fails(self):
        self.assertEqual(self.tensor.sum(), 4)

    @unittest.expectedFailure
    def test_unit_expected(self):
        self.fail()

    @unittest.expectedFailure
    def test_unit_unexpected(self):
        pass

    @unittest.skip("so")
    def test_unit_skipped(self):
        pass

    def test_unit_bad(self):
        bad()

    def test_unit_cleanup_bad(self):
        self.addCleanup(bad)

    def test_unit_cleanup_fails(self):
        self.addCleanup(self.fail)


class Asynchronous(unittest.IsolatedAsyncioTestCase):
    async def test_asynchronous(self):
        await asyncio.sleep(0)

    async def test_asynchronous_bad(self):
        bad()


class TestBroken:
    def setup_class(cls):
        raise OSError

    def test_of_broken(self):
        pass
