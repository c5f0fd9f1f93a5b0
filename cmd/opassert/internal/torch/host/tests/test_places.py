"""Exceptions, with their places: the module needs no PyTorch."""

import json
import os

import pytest
from opassert_host import places


def test_place_of_users_code():
    def ask():
        json.loads("{")  # which raises inside of the standard library

    with pytest.raises(ValueError) as caught:
        ask()
    line = ask.__code__.co_firstlineno + 1
    assert places.explained(caught.value) == (
        "json.decoder.JSONDecodeError: Expecting property name enclosed in double quotes: "
        f"line 1 column 2 (char 1) ({__file__}:{line})"
    )


def test_place_of_opasserts_code_is_not_said(monkeypatch):
    with pytest.raises(ValueError) as caught:
        json.loads("{")
    monkeypatch.setattr(places, "NOT_USERS", (places.ROOT, os.path.dirname(__file__) + os.sep, "<"))
    assert __file__ not in places.raised_at(caught.value)


def test_syntax_error():
    with pytest.raises(SyntaxError) as caught:
        compile("\nx = = 1\n", "/users/module.py", "exec")
    assert places.explained(caught.value) == "SyntaxError: invalid syntax (/users/module.py:2)"


def test_missing_module(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError) as caught:
        import no_such_module  # noqa: F401
    text = places.explained(caught.value)
    assert text.startswith(f"ModuleNotFoundError: No module named 'no_such_module' ({__file__}:")
    assert f" in {tmp_path}, " in text and text.endswith(" or Python's own folders")


def test_quoted():
    assert places.quoted('a\t"é"\n') == '"a\\t\\"é\\"\\n"'
