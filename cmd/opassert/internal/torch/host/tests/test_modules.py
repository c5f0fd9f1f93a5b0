"""The modules import each other: each can be the first."""

import importlib
import pathlib
import subprocess
import sys
import zipfile

import pytest

HOST = pathlib.Path(__file__).parents[1]
MODULES = sorted(f.stem for f in (HOST / "opassert_host").glob("*.py") if f.stem != "__init__")


@pytest.mark.parametrize("name", MODULES)
def test_import_first(name, monkeypatch):
    pytest.importorskip("torch", reason="the module imports PyTorch")
    for other in [m for m in sys.modules if m.partition(".")[0] == "opassert_host"]:
        monkeypatch.delitem(sys.modules, other)
    importlib.import_module(f"opassert_host.{name}")


def test_traceback_of_zip_shows_lines(tmp_path):
    """As a debugger does: linecache asks the importer of the zip."""
    with zipfile.ZipFile(tmp_path / "host.zip", "w") as z:
        for file in (HOST / "opassert_host").glob("*.py"):
            z.write(file, f"opassert_host/{file.name}")
    code = f"""
import sys, traceback
sys.path.insert(0, {str(tmp_path / "host.zip")!r})
from opassert_host import places
try:
    places.raised_at(None)
except AttributeError:
    traceback.print_exc()
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stderr
    assert "host.zip/opassert_host/places.py" in said and "    frames = [f for f in traceback.extract_tb(" in said
