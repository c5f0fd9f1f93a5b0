"""Tests that pytest's plugins, other frameworks and PyTorch's own test classes run."""

import asyncio
import concurrent.futures
import multiprocessing
import unittest

import hypothesis
import pytest
import pytest_asyncio
import torch
from hypothesis.strategies import integers
from myops import bad
from torch.testing._internal.common_device_type import dtypes, instantiate_device_type_tests
from torch.testing._internal.common_utils import TestCase, instantiate_parametrized_tests, parametrize


@pytest_asyncio.fixture
async def ends_bad():
    yield
    bad()


@pytest.mark.asyncio
async def test_async():
    await asyncio.sleep(0)
    torch.ops.myops.good(torch.ones(3))


@pytest.mark.asyncio
async def test_async_bad():
    await asyncio.sleep(0)
    bad()


@pytest.mark.asyncio
async def test_async_thread_bad():
    await asyncio.to_thread(bad)


@pytest.mark.asyncio
async def test_async_fixture_bad(ends_bad):
    pass


@hypothesis.settings(max_examples=20, deadline=None, database=None)
@hypothesis.given(integers(1, 9))
def test_given(n):
    torch.ops.myops.good(torch.ones(n))


@hypothesis.settings(max_examples=20, deadline=None, database=None)
@hypothesis.given(integers(1, 9))
def test_given_bad(n):
    bad()


@hypothesis.settings(max_examples=20, deadline=None, database=None)
@hypothesis.given(integers(1, 9))
def test_given_fails(n):
    assert n < 5


def test_benchmark(benchmark):
    benchmark.pedantic(lambda: torch.ops.myops.good(torch.ones(3)), rounds=5)


def test_benchmark_bad(benchmark):
    benchmark.pedantic(bad, rounds=3)


def test_mocked(mocker):
    mocker.patch("os.getpid", return_value=1)
    mocker.patch("time.time", return_value=1)


def test_mocked_bad(mocker):
    mocker.patch("os.getpid", return_value=1)
    bad()


@pytest.mark.timeout(300)
def test_in_time():
    pass


@pytest.mark.timeout(300, method="thread")
def test_in_time_bad():
    bad()


def spawned():
    bad()


def test_spawned_bad():
    process = multiprocessing.get_context("spawn").Process(target=spawned)
    process.start()
    process.join()
    assert process.exitcode == 0


def test_pool_bad():
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        pool.submit(spawned).result()


class TestDevices(TestCase):
    @dtypes(torch.float32, torch.float64)
    def test_sum(self, device, dtype):
        self.assertEqual(torch.ones(3, device=device, dtype=dtype).sum(), 3)

    @dtypes(torch.float32)
    def test_sum_bad(self, device, dtype):
        bad()


class TestParameters(TestCase):
    @parametrize("n", [1, 2])
    def test_n(self, n):
        self.assertEqual(n, n)

    @parametrize("n", [1, 2])
    def test_n_bad(self, n):
        bad()


class TestAsync(unittest.IsolatedAsyncioTestCase):
    async def test_isolated(self):
        await asyncio.sleep(0)

    async def test_isolated_bad(self):
        bad()


instantiate_device_type_tests(TestDevices, globals(), only_for="cpu")
instantiate_parametrized_tests(TestParameters)
