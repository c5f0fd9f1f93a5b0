"""action.yml and the hooks for pre-commit, as their hosts run them."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]

RIGHT = """import torch

@torch.library.custom_op("hosted::twice", mutates_args=())
def twice(x: torch.Tensor, n: int) -> torch.Tensor:
    return x * n

@twice.register_fake
def _(x, n):
    return x * n
"""
WRONG = RIGHT.replace("return x * n", "return x.mul_(n).clone()", 1).replace("def _(x, n)", "def _(x)")


def run(command, folder, **variables):
    path = os.environ["PATH"] + os.pathsep + os.environ["OPASSERT_HOST_PATH"]
    variables = {**os.environ, "PATH": path, "PYTHONPATH": str(folder), "GITHUB_ACTIONS": "true", "CI": "true", **variables}
    return subprocess.run(command, cwd=folder, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def act(folder, **inputs):
    """Runs the steps of the action as a runner of GitHub does, until one fails."""
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    assert action["runs"]["using"] == "composite" and inputs.keys() <= action["inputs"].keys()
    given = {name: inputs.get(name, about.get("default", "")) for name, about in action["inputs"].items()}
    steps = 0
    for step in action["runs"]["steps"]:
        assert step.keys() == {"if", "shell", "env", "run"} and step["shell"] == "bash"
        assert "${{" not in step["run"]  # where an input would be a part of the script
        if given[re.fullmatch(r"inputs\.(\w+) != ''", step["if"])[1]] == "":
            continue
        steps += 1
        variables = {name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda m: given[m[1]], value) for name, value in step["env"].items()}
        done = run(["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]], folder, **variables)
        if done.returncode != 0:
            break
    assert steps == len(inputs) or done.returncode != 0
    return done


def test_action(tmp_path):
    wheel = os.environ["OPASSERT_WHEELS"] + "/opassert-*.whl"
    (tmp_path / "hosted.py").write_text(RIGHT)
    (tmp_path / "test_hosted.py").write_text("import hosted, torch\ndef test_twice(): hosted.twice(torch.ones(2), 3)\n")
    done = act(tmp_path, wheel=wheel, check="-module hosted", pytest="test_hosted.py")
    assert done.returncode == 0, done.stdout
    assert json.loads((tmp_path / "opassert.sarif").read_text())["runs"][0]["results"] == []
    assert 'failures="0"' in (tmp_path / "opassert.xml").read_text()

    (tmp_path / "hosted.py").write_text(WRONG)
    done = act(tmp_path, check="-module hosted ; touch $HOME/run")
    assert done.returncode == 2 and 'unknown argument ";"' in done.stdout, done.stdout
    done = act(tmp_path, check="-module hosted")
    assert done.returncode == 1, done.stdout
    results = json.loads((tmp_path / "opassert.sarif").read_text())["runs"][0]["results"]
    assert {"OA009"} <= {r["ruleId"] for r in results}
    done = act(tmp_path, pytest="test_hosted.py")
    assert done.returncode == 1 and "OA009" in (tmp_path / "opassert.xml").read_text(), done.stdout


def test_hooks(tmp_path):
    """In a repository whose settings name the hooks of this one, of what is committed."""
    project = tmp_path / "project"
    shutil.copytree(ROOT / "testdata/example", project)
    module = (project / "go.mod").read_text()
    (project / "go.mod").write_text(module.replace("=> ../..", "=> %s" % ROOT))
    (project / "hosted.py").write_text(RIGHT)
    hooks = [{"id": "opassert-lint", "args": ["-module", "hosted"]}, {"id": "opassert-gen", "args": ["-schema", "ops.yaml", "-kernels", "./kernels", "-out", "ops"]}]
    head = run(["git", "rev-parse", "HEAD"], ROOT).stdout.strip()
    (project / ".pre-commit-config.yaml").write_text(json.dumps({"repos": [{"repo": str(ROOT), "rev": head, "hooks": hooks}]}))
    assert run(["git", "init", "--quiet"], project).returncode == 0

    def commit():
        """Returns what each hook says of all files, by its name."""
        assert run(["git", "add", "--all"], project).returncode == 0
        done = run([sys.executable, "-m", "pre_commit", "run", "--all-files", "--color=never"], project, PRE_COMMIT_HOME=str(tmp_path / "hooks"), GIT_CONFIG_COUNT="1", GIT_CONFIG_KEY_0="safe.directory", GIT_CONFIG_VALUE_0="*")
        return dict(re.findall(r"^(opassert .*?)\.+(\w+)$", done.stdout, re.M)), done.stdout

    outcomes, said = commit()
    assert outcomes == {"opassert lint": "Passed", "opassert gen -check": "Passed"}, said
    (project / "hosted.py").write_text(WRONG)
    schemas = project / "ops.yaml"
    schemas.write_text(schemas.read_text().replace("Scalar min", "Scalar low"))
    outcomes, said = commit()
    assert outcomes == {"opassert lint": "Failed", "opassert gen -check": "Failed"}, said
    assert "hosted::twice" in said, said


def test_module_is_the_command(tmp_path):
    program = "import os, sys; print(sys.executable, os.environ.get('VIRTUAL_ENV')); sys.exit(3)"
    variables = {**os.environ, "PATH": str(tmp_path), "VIRTUAL_ENV": str(tmp_path)}
    python = tmp_path / "python3"
    python.write_text("#!/bin/sh\nexit 4\n")
    python.chmod(0o755)
    done = subprocess.run([sys.executable, "-m", "opassert", "run", "--", "python3", "-c", program], env=variables, stdout=subprocess.PIPE, text=True)
    assert (done.returncode, done.stdout) == (3, f"{os.path.dirname(sys.executable)}/python3 None\n")
