"""A user's file, for mypy and pyright."""

import opassert
import torch
from opassert.testing import opcheck


def test_ops() -> None:
    opassert.check("mypackage").raise_for_errors()


@opassert.parametrize("mypackage")
def test_op(report: opassert.Report) -> None:
    report.raise_for_errors()


def test_one(x: torch.Tensor) -> None:
    report = opassert.check_op(torch.ops.mypackage.scale, cases=[(x, 2.0), {"x": "t[2, 3]"}])
    titles: list[str] = [f.title for f in report.findings] + [f.code for f in report.errors + report.notes]
    html: str = report._repr_html_()
    opassert.lint("mypackage").raise_for_errors()
    results: dict[str, object] = opcheck(torch.ops.mypackage.scale.default, (x, 2.0))
    with opassert.watch(fail=True) as seen:
        print(titles, html, results, opassert.__version__)
    assert not seen.findings
