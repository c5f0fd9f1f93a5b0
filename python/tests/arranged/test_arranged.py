"""Tests that other things than test functions make: modules and classes of unittest, generated ones, and fixtures of wide scopes."""

import contextlib
import unittest

import pytest
import torch
from myops import bad

made = {}


def setUpModule():
    made["tensor"] = torch.ops.myops.good(torch.ones(3))


def tearDownModule():
    made.clear()


class Sums(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.enterClassContext(contextlib.nullcontext())
        cls.tensor = torch.ones(3)

    @classmethod
    def tearDownClass(cls):
        del cls.tensor

    def test_made(self):
        self.assertEqual(made["tensor"].sum(), 6)

    def test_subtests(self):
        for n in range(4):
            with self.subTest(n=n):
                self.assertNotEqual(n, 2)

    def test_subtests_one_bad(self):
        for n in range(3):
            with self.subTest(n=n):
                if n == 1:
                    bad()

    def test_subtests_fail_too_bad(self):
        for n in range(3):
            with self.subTest(n=n):
                if n == 1:
                    bad()
                self.assertNotEqual(n, 2)

    def test_raises_bad(self):
        with self.assertRaises(RuntimeError):
            bad()
            raise RuntimeError

    def test_logs(self):
        with self.assertNoLogs():
            torch.ops.myops.good(self.tensor)

    def test_of_the_class(self):
        self.assertEqual(torch.ops.myops.good(self.tensor).tolist(), [2, 2, 2])


class ClassBad(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        bad()

    def test_class_is_set_up_bad(self):
        pass


class ClassEndsBad(unittest.TestCase):
    @classmethod
    def tearDownClass(cls):
        bad()

    def test_class_ends_bad(self):
        pass


class ClassSkips(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise unittest.SkipTest("all")

    def test_of_skipped_class(self):
        bad()


class Inherited:
    def test_inherited(self):
        self.assertEqual(torch.ones(1), 1)

    def test_inherited_bad(self):
        bad()


class First(Inherited, unittest.TestCase):
    pass


@pytest.fixture(scope="module")
def loaded():
    yield torch.ops.myops.good(torch.ones(4))
    torch.ones(3).add_(1)


def pytest_generate_tests(metafunc):
    if "generated" in metafunc.fixturenames:
        metafunc.parametrize("generated", [torch.ones(n) for n in range(8)], ids="n{}".format)


def test_generated(generated, loaded):
    assert torch.ops.myops.good(generated).sum() == 2 * generated.numel()


@pytest.mark.parametrize("n", range(8))
def test_loaded(loaded, n):
    assert loaded.sum() == 8 and n % 7 != 6


@pytest.fixture(params=["fine", "wrong"])
def arranged(request):
    if request.param == "wrong":
        bad()
    return request.param


@pytest.mark.parametrize("arranged", ["wrong"], indirect=True)
def test_arranged_bad(arranged):
    assert arranged == "wrong"


def test_finalizer_bad(request):
    request.addfinalizer(bad)


def test_marked_late_bad(request):
    request.node.add_marker(pytest.mark.xfail(reason="is none"))
    request.node.own_markers.clear()
    bad()


def test_nested_contexts_bad():
    with contextlib.ExitStack() as stack:
        stack.callback(bad)
        stack.enter_context(torch.no_grad())


def test_generator_ends_bad():
    def values():
        try:
            yield 1
        finally:
            bad()

    for _ in values():
        break


def test_asserts_and_bad():
    bad()
    x = torch.ones(3)
    assert (x == 2).all()


def test_interrupts_itself_bad():
    with pytest.raises(KeyboardInterrupt):
        bad()
        raise KeyboardInterrupt


def test_twice_bad():
    bad()
    bad()


def test_del_bad():
    class Owner:
        def __del__(self):
            bad()

    Owner()


@pytest.mark.usefixtures("loaded")
class TestMarked:
    pytestmark = pytest.mark.filterwarnings("ignore")

    @pytest.mark.parametrize("a, b", [(a, b) for a in range(3) for b in (1, 5)])
    def test_grid(self, a, b):
        x = torch.ones(a) if a % 3 else pytest.skip("every third")
        assert torch.ops.myops.good(x).numel() == a and b != 5

    @pytest.mark.xfail(raises=AssertionError, strict=True)
    def test_expected(self):
        assert torch.ones(1) == 2
