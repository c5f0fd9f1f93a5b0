"""docs/start, as its readers follow it."""

import functools
import os
import pathlib
import re
import shlex
import subprocess

import pytest
from opassert import command

PAGES = pathlib.Path(__file__).resolve().parents[2] / "docs/start"
FAKE = """
@scale.register_fake
def _(x):
    return torch.empty_like(x)
"""
TEST = "import mypackage, torch\n\ndef test_scale():\n    mypackage.scale(torch.ones(3), 2.0)\n"


def commands(page):
    """Returns the commands of a page as words, in order."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", page.read_text(), re.M | re.S)
    lines = [line.removeprefix("$ ") for language, block in blocks if language == "" for line in block.splitlines()]
    return [shlex.split(line, comments=True) for line in lines if line.startswith(("opassert ", "pytest "))]


@functools.cache
def flags(name):
    said = subprocess.run([command.path(), name, "-h"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    assert "Usage: opassert " + name in said, said
    return set(re.findall(r"^  (-[\w-]+)", said, re.M))


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda page: page.stem)
def test_flags(page):
    """A page names commands and flags that there are."""
    text = page.read_text()
    spans = [shlex.split(span) for span in re.findall(r"`(opassert [a-z]+[^`\n]*)`", text)]
    for _, name, *words in [words for words in commands(page) + spans if words[0] == "opassert" and words[1] != "help"]:
        own = words[: words.index("--")] if "--" in words else words
        assert {w.partition("=")[0] for w in own if w.startswith("-")} <= flags(name) | {"-h"}, (name, words)


def test_python_page(tmp_path):
    """Its first commands say what is wrong with an op that writes its argument, and whose fake takes another number of them."""
    page = (PAGES / "python.md").read_text()
    operator = re.search(r"^```python\n(# mypackage.py\n.*?)^```", page, re.M | re.S)[1]
    (tmp_path / "mypackage.py").write_text(operator + FAKE)
    (tmp_path / "test_mypackage.py").write_text(TEST)
    variables = {**os.environ, "PATH": os.path.dirname(command.path()) + os.pathsep + os.environ["PATH"], "PYTHONPATH": str(tmp_path)}
    first = [words for words in commands(PAGES / "python.md")[:5] if words[1] != "run"]
    names = ["doctor", "check", "lint", "--opassert"]
    assert [words[1] for words in first] == names
    for words, status, code in zip(first, (0, 1, 1, 1), ("PyTorch", "OA009", "mypackage::scale", "OA009")):
        done = subprocess.run(words, cwd=tmp_path, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert done.returncode == status and code in done.stdout, (words, done.stdout)
        if words[1] == "check":  # as the page shows it
            assert re.search(r"^  error OA009 .*?(?=^  note )", page, re.M | re.S)[0] in done.stdout, done.stdout
