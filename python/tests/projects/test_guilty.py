"""Tests that call an op that breaks rules, in each place where one can."""

import os
import subprocess
import sys
import threading
import unittest

import myops
import pytest
import torch
from myops import bad


def test_good():
    torch.ops.myops.good(torch.ones(3))


def test_bad():
    bad()


def test_caught():
    try:
        bad()
    except Exception:
        pass


@pytest.mark.parametrize("n", [1, 2, 3])
def test_parameter(n):
    if n == 2:
        bad()


@pytest.fixture
def begins():
    bad()


@pytest.fixture
def ends():
    yield
    bad()


@pytest.fixture(scope="module")
def of_module():
    bad()


def test_setup(begins):
    pass


def test_setup_and_call(begins):
    torch.ops.myops.scale(torch.ones(2, 2), 2.0)


def test_teardown(ends):
    pass


def test_module_first(of_module):
    pass


def test_module_second(of_module):
    pass


def test_thread():
    thread = threading.Thread(target=bad)
    thread.start()
    thread.join()


def test_process():
    subprocess.run("%s -c 'import myops; myops.bad()'; true" % sys.executable, shell=True, check=True, cwd=os.path.dirname(__file__))


def test_fork():
    child = os.fork()
    if child == 0:
        bad()
        os._exit(0)
    os.waitpid(child, 0)


@pytest.mark.skip
def test_skipped():
    bad()


def test_skips_itself():
    bad()
    pytest.skip("too late")


@pytest.mark.xfail
def test_expected():
    bad()


@pytest.mark.xfail
def test_expected_and_passes():
    pass


@pytest.mark.opassert("OA009", "OA007")
def test_allowed():
    bad()


@pytest.mark.opassert(allow=["OA009"])
def test_allowed_in_part():
    bad()


@pytest.mark.opassert(allow="myops::scale")
def test_allowed_op():
    bad()


@pytest.mark.opassert(off=True)
def test_off():
    bad()


def test_fails():
    bad()
    assert 0, "by itself"


class Case(unittest.TestCase):
    def test_case_good(self):
        pass

    def test_case_bad(self):
        bad()

    def test_case_fails(self):
        bad()
        self.fail("by itself")

    def test_case_skips(self):
        bad()
        self.skipTest("too late")

    def test_case_subtests(self):
        for n in range(3):
            with self.subTest(n=n):
                if n == 1:
                    bad()


class TestFixtures:
    @pytest.fixture(scope="class")
    def of_class(self):
        yield
        bad()

    def setup_method(self, method):
        if method.__name__ == "test_set_up":
            bad()

    def test_set_up(self):
        pass

    def test_class_first(self, of_class):
        pass

    def test_class_last(self, of_class):
        pass


def test_inner_pytest(tmp_path):
    (tmp_path / "test_inner.py").write_text("import myops\ndef test_inner(): myops.bad()\n")
    assert pytest.main(["--opassert", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(tmp_path)]) == 0


def test_fake():
    myops.half(torch.ones(4))


def test_fake_again():
    myops.half(torch.ones(4))


def test_last():
    pass
