"""The sdist, as pip builds it where less is installed than here."""

import glob
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile

from test_hosts import WRONG

[SDIST] = glob.glob(os.environ["OPASSERT_WHEELS"] + "/opassert-*.tar.gz")


def build(tmp_path, *commands, source=SDIST):
    """Builds a wheel where of what is installed besides Python only these commands are on the path."""
    for name in commands:
        (tmp_path / name).symlink_to(shutil.which(name, path=os.environ["OPASSERT_HOST_PATH"]))
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-index", "--no-build-isolation"]
    command += ["--wheel-dir", tmp_path / "out", source]
    variables = {**os.environ, "PATH": str(tmp_path), "GOPROXY": "off"}
    return subprocess.run(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_without_go(tmp_path):
    done = build(tmp_path)
    assert done.returncode == 1, done.stdout
    assert "opassert is built with Go 1.26.0 or newer, and there is no go on the path: install it" in done.stdout


def test_old_go(tmp_path):
    go = tmp_path / "go"
    go.write_text("#!/bin/sh\n[ $1 = version ] && echo go version go1.19.8 linux/amd64\n")
    go.chmod(0o755)
    done = build(tmp_path)
    assert done.returncode == 1, done.stdout
    assert "opassert is built with Go 1.26.0 or newer, and here is go version go1.19.8" in done.stdout


def test_folder_of_the_package(tmp_path):
    """The folder python of a clone builds what the clone does."""
    with tarfile.open(SDIST) as sdist:
        sdist.extractall(tmp_path / "clone")
    [source] = glob.glob(str(tmp_path / "clone/*/python"))
    done = build(tmp_path, "go", source=source)
    assert done.returncode == 0, done.stdout
    [wheel] = glob.glob(str(tmp_path / "out/*.whl"))
    with zipfile.ZipFile(wheel) as z:
        names = {name.rpartition("/")[2] for name in z.namelist()}
    assert {"opassert", "pytest_plugin.py", "entry_points.txt", "LICENSE"} <= names


def test_go_alone(tmp_path):
    """Without compilers the wheel has the command alone, which lints the modules of any PyTorch."""
    (tmp_path / "hosted.py").write_text(WRONG)
    done = build(tmp_path, "go")
    assert done.returncode == 0, done.stdout
    [wheel] = glob.glob(str(tmp_path / "out/*.whl"))
    with zipfile.ZipFile(wheel) as z:
        [script] = [name for name in z.namelist() if name.endswith(".data/scripts/opassert")]
        assert not [name for name in z.namelist() if "/lib/" in name]
        command = z.extract(script, tmp_path)
    os.chmod(command, 0o755)
    lint = [command, "lint", "-module", "hosted", "-python", sys.executable]
    done = subprocess.run(lint, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert done.returncode == 1 and "OA011 hosted::twice" in done.stdout, done.stdout
