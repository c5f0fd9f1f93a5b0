"""Functions of the package that compute with what they are given."""

import ast
import functools
import math

import pytest

torch = pytest.importorskip("torch", reason="what is tested computes with tensors and schemas")

from opassert_host import conditions, fakes, gradcheck, parameters, registrations, state, texts  # noqa: E402


def schema(text):
    return torch._C.parse_schema(text)


@pytest.mark.parametrize(
    "function, faults",
    [
        (lambda x, n=1, *, scale=2.0: x, []),
        (lambda *args, **keywords: None, []),
        (lambda x: x, ["too many positional arguments"]),
        (lambda x, n, *, scale=2.0: x, ["its n has no default, and the schema's n=1 is left out of calls"]),
        (lambda x, n=3, *, scale=2.0: x, ["its n=3 is not the schema's n=1"]),
        (lambda n, x=1, *, scale=2.0: x, ["its n is in the position of the schema's x"]),
        (lambda x, n=1: x, ["got an unexpected keyword argument 'scale'"]),
        (lambda x, n, m, *, scale=2.0: x, ["missing a required argument: 'm'"]),
    ],
)
def test_faults_of(function, faults):
    arguments = schema("a::op(Tensor x, int n=1, *, float scale=2.0) -> Tensor").arguments
    assert list(parameters.faults_of(parameters.signature(function), arguments))[:1] == faults


def test_written_is_the_users_function():
    def kernel(x):
        return x

    @functools.wraps(kernel)
    def wrapped(x):
        return kernel(x)

    assert registrations.written(functools.partial(wrapped, 1)) is kernel
    assert registrations.site(wrapped) == (__file__, kernel.__code__.co_firstlineno)


@pytest.mark.parametrize(
    "returns, values, said",
    [
        ("Tensor", 1, "returns int, and the schema a Tensor"),
        ("()", None, ""),
        ("()", 1, "returns int, and the schema nothing"),
        ("(Tensor, int)", (None, 1), ""),
        ("(Tensor, int)", (None,), "returns 1 values, and the schema 2"),
    ],
)
def test_unlike(returns, values, said):
    assert fakes.unlike(schema(f"a::op(Tensor x) -> {returns}"), values) == said


def test_unlike_plain_tensor():
    assert fakes.unlike(schema("a::op() -> Tensor"), torch.zeros(1)) == "returns a tensor that is not a FakeTensor"


def test_slope_is_none_where_not_smooth():
    assert gradcheck.slope(lambda step: 3 * step) == pytest.approx(3)
    assert gradcheck.slope(abs) is None
    assert gradcheck.slope(lambda step: 1) == 0
    assert gradcheck.slope(lambda step: math.nan) is None


def test_differs_up_to_rounding():
    one = torch.ones(3)
    assert not gradcheck.differs(one, one + 1e-6)
    assert gradcheck.differs(one, one + 1)
    assert gradcheck.differs(one, one.double())
    assert gradcheck.differs(one, None) and not gradcheck.differs(None, None)
    assert not gradcheck.differs(one * math.nan, one)


@pytest.mark.parametrize(
    "test, negation",
    [
        ("a == b", "a != b"),
        ("a < b", "a >= b"),
        ("not a", "a"),
        ("a and b < c", "not a or b >= c"),
        ("1 < a < 3", "1 >= a or a >= 3"),
    ],
)
def test_denied(test, negation):
    assert ast.unparse(conditions.denied(ast.parse(test, mode="eval").body)) == negation


def test_condition_of_the_line_that_raised(tmp_path):
    kernel = tmp_path / "kernel.py"
    kernel.write_text("def kernel(x):\n    n, m = x.shape\n    if m > 3:\n        raise ValueError\n")
    assert conditions.wanted(((str(kernel), 4, "kernel"),)) == "x.shape[1] <= 3"
    assert conditions.wanted(((str(kernel), 2, "kernel"),)) == "x.ndim == 2"


@pytest.mark.parametrize(
    "condition, fits",
    [
        ("x.dtype in FEW", "x.dtype == torch.int8"),
        ("SIZES[x.dtype]", "x.dtype == torch.float16"),
        ("x.dtype.is_complex", "x.dtype.is_complex"),
        ("x.dtype == y.dtype", "x.dtype == torch.float32 and y.dtype == torch.float32"),
        ("torch.can_cast(x.dtype, torch.uint8)", "x.dtype == torch.int64"),
        ("known(x.dtype)", "known(x.dtype)"),
        ("OF[x.dtype]", "OF[x.dtype]"),
    ],
)
def test_dtype_that_fits(condition, fits):
    class Effects:
        def __getitem__(self, dtype):
            pytest.fail("a function was called")

    scope = {"torch": torch, "FEW": (torch.int8,), "SIZES": {torch.float16: 2}, "known": Effects().__getitem__, "OF": Effects()}
    assert conditions.fitting(ast.parse(condition, mode="eval").body, scope) == fits


def test_texts_of_a_kernel():
    def kernel(x, mode):
        return x if mode in ("sum", "mean") else None

    assert {"sum", "mean"} <= set(texts.texts(kernel, set()))


def test_shown_changes_only():
    assert state.shown({"a": 1, "b": 2}, {"a": 1, "b": 3}) == "b was 2 and is 3"
    assert state.shown((1, 2), (1, 3)) == "2 became 3"
    assert state.shown([1], [1, 2]) == "it had 1 entries and has 2"


def test_refill():
    values = {"a": 1, "b": 2}
    state.refill(values, {"b": 3})
    assert values == {"b": 3}


def test_seeded_twister_drew_other_numbers():
    import random

    generator = random.Random(1)
    was = generator.getstate()[1][:-1]
    for _ in range(700):
        generator.random()
    assert not state.seeded_twister(was, generator.getstate()[1][:-1])
    generator.seed(2)
    assert state.seeded_twister(was, generator.getstate()[1][:-1])
