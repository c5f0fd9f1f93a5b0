"""What the package's functions find, in a process of their user's."""

import subprocess
import sys

import opassert
import pytest
import torch

# Ops that are right, and one that writes its argument, for one value, and one whose kernel always throws.
MODULE = """import torch

def healthy(x: torch.Tensor, factor: float) -> torch.Tensor:
    return x * factor

def rare(x: torch.Tensor, factor: float) -> torch.Tensor:
    return x.mul_(factor).clone() if factor == 7.25 else x * factor

def refuses(x: torch.Tensor, factor: float) -> torch.Tensor:
    raise ValueError("for no arguments")

for function in healthy, rare, refuses:
    op = torch.library.custom_op("NAME::" + function.__name__, function, mutates_args=())
    op.register_fake(lambda x, factor: torch.empty_like(x * factor))
healthy = torch.library.custom_op("NAME::other", healthy, mutates_args=())
healthy.register_fake(lambda x, factor: torch.empty_like(x * factor))
library = torch.library.Library("NAME", "FRAGMENT")
library.define("defined(Tensor x) -> Tensor")
library.impl("defined", lambda x: x + 1, "CompositeExplicitAutograd")
torch.library.register_fake("NAME::defined", lambda x: torch.empty_like(x + 1))
"""
TESTS = """import opassert

@opassert.parametrize("NAME", ops=["*::[hr]*"], flags=["-cases=cases.json", "-n=3"])
def test_op(report):
    report.raise_for_errors()

def test_op_again():
    opassert.check("NAME", ops=["*::healthy"], flags=["-n=3"]).raise_for_errors()
"""
CASES = '[{"ops": ["NAME::rare"], "cases": [{"factor": "7.25"}]}]'


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A module that this process has imported."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "apiops.py").write_text(MODULE.replace("NAME", "apiops"))
    sys.path.insert(0, str(folder))
    import apiops

    yield apiops
    sys.path.remove(str(folder))


def test_check_op(made):
    """A case of the user's is called, as tensors or as text, and all forms of an op have its name."""
    for op in torch.ops.apiops.rare, torch.ops.apiops.rare.default, "apiops::rare":
        for case in (torch.ones(3), 7.25), {"x": "t[2, 3]", "factor": "7.25"}:
            report = opassert.check_op(op, cases=[case], flags=["-n=1"])
            assert [(f.code, f.op, f.status) for f in report.errors] == [("OA009", "apiops::rare", "violated")]
    with pytest.raises(opassert.OpassertError, match="^OA009 apiops::rare: the kernel writes") as raised:
        report.raise_for_errors()
    assert raised.value.findings == report.errors
    assert "OA009 apiops::rare: the kernel writes" in report._repr_html_()
    for op in made.healthy, torch.ops.apiops.defined:
        report = opassert.check_op(op, flags=["-n=3"])
        report.raise_for_errors()
        assert str(report) == "no findings" and any(row["status"] == "passed" for row in report.rows)


def test_no_module(made):
    here = torch.library.Library("apihere", "DEF")
    here.define("f(Tensor x) -> Tensor")
    with pytest.raises(TypeError, match="is no op"):
        opassert.check_op(made)
    source = "import opassert, torch; torch.library.define('apimain::f', '(Tensor x) -> Tensor')\n"
    source += "opassert.check_op(torch.ops.apimain.f)"
    done = subprocess.run([sys.executable, "-c", source], stderr=subprocess.PIPE, text=True)
    assert "ValueError: apimain::f is registered by no module that another process could import" in done.stderr


def test_nothing_checked(made):
    with pytest.raises(RuntimeError, match="No module named 'apimissing'"):
        opassert.check("apimissing")
    with pytest.raises(RuntimeError, match="apimissing"):
        opassert.parametrize("apimissing")
    with pytest.raises(RuntimeError, match="unknown flag|not defined: -nonsense"):
        opassert.check("apiops", flags=["-nonsense"])


def test_lint(made, tmp_path, monkeypatch):
    opassert.lint("apiops").raise_for_errors()
    (tmp_path / "apilint.py").write_text(MODULE.replace("NAME", "apilint").replace("lambda x, factor", "lambda x"))
    monkeypatch.syspath_prepend(tmp_path)
    report = opassert.lint("apilint")
    assert {(f.code, f.op) for f in report.errors} == {("OA011", "apilint::" + op) for op in ("healthy", "rare", "refuses", "other")}
    assert "the fake does not accept the schema's arguments" in report.findings[0].title and not report.notes


@pytest.mark.parametrize("flags", ["", "--opassert", "-n2"])
def test_parametrize(project, flags):
    """Each op is a test of its own, also where the tests are watched, and in processes of xdist."""
    files = {"paraops": MODULE.replace("NAME", "paraops"), "test_para": TESTS.replace("NAME", "paraops")}
    outcome = project(**files, cases__json=CASES.replace("NAME", "paraops"))(*flags.split(), status=1)
    want = {"healthy": "passed", "rare": "failure", "refuses": "failure"}
    want = {"test_op[paraops::%s]" % op: outcome for op, outcome in want.items()}
    assert outcome.tests == {**want, "test_op_again": "passed"}, outcome.stdout
    assert "OA009 paraops::rare: the kernel writes" in outcome.texts["test_op[paraops::rare]"]
    assert "for no arguments" in outcome.texts["test_op[paraops::refuses]"]


def test_parametrize_selected(project):
    """Only the ops of the tests that are selected are called."""
    module = MODULE.replace("NAME", "paraops").replace("return x * factor\n\ndef rare", "os.kill(0, 9)\n\ndef rare")
    files = {"paraops": "import os\n" + module, "test_para": TESTS.replace("NAME", "paraops")}
    outcome = project(**files, cases__json=CASES.replace("NAME", "paraops"))("-k", "rare", status=1)
    assert outcome.tests == {"test_op[paraops::rare]": "failure"}, outcome.stdout
    assert "crash" not in outcome.stdout
