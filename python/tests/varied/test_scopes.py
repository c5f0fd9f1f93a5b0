"""Fixtures of each scope, and what fails in them."""

import pytest
import torch
from myops import bad

events = []


@pytest.fixture(scope="module", params=["a", "b"])
def lettered(request):
    events.append(request.param)
    return request.param


@pytest.fixture(scope="class")
def tensor():
    yield torch.ones(3)
    assert True


@pytest.fixture
def fails_before():
    raise KeyError("before")


@pytest.fixture
def fails_after():
    yield
    raise KeyError("after")


@pytest.fixture
def skips():
    pytest.skip("in a fixture")


@pytest.fixture
def finalized(request):
    request.addfinalizer(lambda: events.append("finalized"))
    request.addfinalizer(lambda: torch.ones(2).add_(1))


@pytest.fixture
def sized(request):
    return torch.ones(request.param)


def test_lettered(lettered):
    assert events[-1] == lettered


def test_lettered_again_bad(lettered):
    bad()


class TestOfClass:
    def setup_class(cls):
        cls.seen = 0

    def setup_method(self):
        type(self).seen += 1

    def test_first(self, tensor):
        tensor.add_(1)

    def test_second(self, tensor):
        assert self.seen > 0

    def test_third_bad(self, tensor):
        torch.ops.myops.scale(tensor, 2.0)

    def teardown_class(cls):
        assert cls.seen > 0


def test_fails_before(fails_before):
    pass


def test_fails_before_bad(fails_before_bad):
    pass


@pytest.fixture
def fails_before_bad():
    bad()
    raise KeyError("before")


def test_fails_after(fails_after):
    pass


def test_fails_after_bad(fails_after):
    bad()


def test_skips(skips):
    pass


def test_finalized(finalized):
    pass


@pytest.mark.parametrize("sized", [1, 2, 3], indirect=True)
def test_sized(sized):
    assert sized.numel() != 2


@pytest.mark.usefixtures("finalized")
@pytest.mark.parametrize("n", [0, pytest.param(1, marks=pytest.mark.xfail), pytest.param(2, marks=pytest.mark.skip), pytest.param(3, id="three")])
def test_marked(n):
    assert n != 1


def test_dynamic(request):
    assert request.getfixturevalue("of_session") == "session"


def test_dynamic_fails(request):
    request.getfixturevalue("fails_before")
