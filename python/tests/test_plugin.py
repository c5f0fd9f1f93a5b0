"""The plugin, as its users run it."""

import importlib.metadata
import os
import re
import shlex
import subprocess
import sys

import pytest
from opassert import command

GUILTY = """
test_good passed
test_bad failure: OA007 OA009
test_caught failure: OA007 OA009
test_parameter[1] passed
test_parameter[2] failure: OA007 OA009
test_parameter[3] passed
test_setup failure: OA007 OA009
test_setup_and_call failure: OA007 OA009
test_teardown error: OA007 OA009
test_module_first failure: OA007 OA009
test_module_second passed
test_thread failure: OA007 OA009
test_process failure: OA007 OA009
test_fork failure: OA007 OA009
test_skipped skipped
test_skips_itself failure: OA007 OA009
test_expected skipped
test_expected_and_passes passed
test_allowed passed
test_allowed_in_part failure: OA007
test_allowed_op passed
test_off passed
test_fails failure: OA007 OA009
test_case_bad failure: OA007 OA009
test_case_fails failure: OA007 OA009
test_case_good passed
test_case_skips failure: OA007 OA009
test_case_subtests failure: OA007 OA009
test_set_up failure: OA007 OA009
test_class_first passed
test_class_last error: OA007 OA009
test_inner_pytest failure: OA007 OA009
test_fake error: OA011
test_fake_again error: OA011
test_last passed
"""


def shown(outcome):
    """The outcomes in lines, with the codes of what was found."""
    lines = []
    for name, tag in outcome.tests.items():
        text = outcome.texts[name]
        codes = sorted(set(re.findall(r"^  error (OA\d+)", text, re.M)))
        lines.append("%s %s%s" % (name, tag.replace("passed+", ""), ": " + " ".join(codes) if codes else ""))
    return lines


def test_serial(project, files):
    outcome = project(**files)("--opassert", status=1)
    assert shown(outcome) == GUILTY.strip().split("\n"), outcome.stdout + outcome.stderr
    repeats = re.findall(r"  again  (.*)", outcome.texts["test_parameter[2]"])
    assert set(repeats) == {"pytest --opassert 'test_guilty.py::test_parameter[2]'"}
    assert outcome.texts["test_setup_and_call"].count("  error OA009  ") == 2  # of both phases
    assert "by itself" in outcome.texts["test_fails"]
    assert "  call   scale(x=float32[3], f=2.0): " in outcome.texts["test_bad"]
    assert "test_guilty.py::test_bad - OA0" in outcome.stdout  # pytest's own summary
    assert re.search(r"  again  pytest --opassert test_guilty\.py::test_bad\n", outcome.stdout), outcome.stdout


def test_xdist(project, files):
    # Both workers may set the module's fixture up.
    outcome = project(**files)("--opassert", "-n2", "-k", "not module", status=1)
    assert sorted(shown(outcome)) == sorted(line for line in GUILTY.strip().split("\n") if "module" not in line), outcome.stdout + outcome.stderr


# pytest-forked does not know the reports of pytest 9, nor xdist how it keeps node ids.
FORKED = {"PYTHONPATH": os.path.join(sys.prefix, "forked")}
PLUGGED = {"PYTHONPATH": os.path.join(sys.prefix, "plugged")}
GROUPED = """
import myops, pytest
@pytest.mark.xdist_group("one")
@pytest.mark.parametrize("n", ["a@b", 2])
def test_bad(n): myops.bad()
@pytest.mark.xdist_group("two")
def test_good(): pass
@pytest.mark.xdist_group("two")
def test_also_bad(): myops.bad()
"""


def test_grouped(project, files):
    """What repeats a test of a group of xdist's names the test alone."""
    outcome = project(myops=files["myops"], test_grouped=GROUPED)("--opassert", "-n2", "--dist=loadgroup", status=1, **FORKED)
    repeats = {shlex.split(line)[-1] for line in re.findall(r"  again  (.*)", outcome.stdout)}
    assert repeats == {"test_grouped.py::" + name for name in ("test_bad[a@b]", "test_bad[2]", "test_also_bad")}, outcome.stdout


CRASHES = """
import myops, os, pytest
def test_abort():
    myops.bad()
    os.abort()
def test_ends():
    myops.bad()
    os._exit(0)
def test_ends_good():
    os._exit(7)
"""


def test_forked(project, files):
    """Each test runs in a process of its own, and so do its fakes."""
    outcome = project(**files, test_crashes=CRASHES)("--opassert", "--forked", "-k", "not module", status=1, **FORKED)
    want = ["test_abort error: OA007 OA009", "test_ends error: OA007 OA009", "test_ends_good error"]
    want += [line for line in GUILTY.strip().split("\n") if "module" not in line]
    # A class ends with each of its tests.
    want[want.index("test_class_first passed")] = "test_class_first error: OA007 OA009"
    assert shown(outcome) == want, outcome.stdout + outcome.stderr
    assert "EXITED with status 7" in outcome.texts["test_ends_good"] and "CRASHED with signal 6" in outcome.texts["test_abort"]


FAKES = """
import myops, pytest, torch
def half(n=4): return myops.half(torch.ones(n))
def test_good(): torch.ops.myops.good(torch.ones(2))
def test_fake(): half()
def test_caught():
    try: half(6)
    except BaseException: pass
@pytest.mark.parametrize("n", [8, 8, 10])
def test_parameter(n): half(n)
@pytest.mark.xfail
def test_expected():
    half(12)
    assert 0
def test_again(n=[0]):
    half(14)
    n[0] += 1
    assert n[0] == 2
def test_fails():
    half(16)
    assert 0, "by itself"
@pytest.mark.opassert("OA011")
def test_allowed(): half(18)
"""


@pytest.mark.parametrize("flags", ["", "-n2", "--forked", "--reruns=1"])
def test_fakes(project, files, flags):
    """A fake is called when the session ends, or the process of a test, and what it does wrong is an error of each test that called its op."""
    outcome = project(myops=files["myops"], test_fakes=FAKES)("--opassert", *flags.split(), status=1, **(FORKED if flags == "--forked" else {}))
    guilty = {name for name, text in outcome.texts.items() if "  error OA011" in text}
    assert guilty == {*outcome.tests} - {"test_good", "test_allowed", "test_expected"}, outcome.stdout
    assert all({"error", "failure"} & {*outcome.tests[name].split("+")} for name in guilty), outcome.tests
    for name in guilty:
        assert re.search("^ERROR test_fakes.py::%s" % re.escape(name), outcome.stdout, re.M), (name, outcome.stdout)
    assert outcome.tests["test_good"] == outcome.tests["test_allowed"] == "passed" and "skipped" in outcome.tests["test_expected"]
    assert "by itself" in outcome.texts["test_fails"]


def test_crash(project, files):
    """A process that ends in a test: its findings have the test's name, and its status stays."""
    run = project(myops=files["myops"], test_crashes=CRASHES)
    assert shown(run("--opassert", "-n1", "-k", "abort", status=1)) == ["test_abort error: OA007 OA009"]
    for test, status in (("abort", -6), ("ends", 1), ("ends_good", 7)):
        outcome = run("--opassert", "test_crashes.py::test_" + test, status=status)
        repeats = set(re.findall(r"  again  (.*)", outcome.stderr))
        assert repeats == ({"pytest --opassert test_crashes.py::test_" + test} if test != "ends_good" else set()), outcome.stderr


def test_quits(project, files):
    quits = "import myops, pytest\ndef test_quits():\n    myops.bad()\n    pytest.exit('enough', returncode=7)\ndef test_never(): pass\n"
    outcome = project(myops=files["myops"], test_quits=quits)("--opassert", status=7)
    assert "test_quits error: OA007 OA009" in shown(outcome)
    assert "  error OA009  the kernel writes argument x" in outcome.stdout, outcome.stdout


def small(n):
    kinds = [
        "def test_{i}(): torch.ones({i} % 7 + 1).add_(1)",
        "def test_{i}(): assert torch.ones(2).sum() == {i}",
        "@pytest.mark.skip\ndef test_{i}(): pass",
        "@pytest.mark.xfail\ndef test_{i}(): raise ValueError(torch.ones({i} % 5))",
        "@pytest.mark.xfail(strict=True)\ndef test_{i}(): pass",
        "@pytest.mark.parametrize('a', [1, 2])\ndef test_{i}(a): torch.ones(a).view(-1).sum()",
        "def test_{i}(broken): pass",
        "class Test{i}(unittest.TestCase):\n    def test_{i}(self): self.assertEqual({i} % 2, 0)",
        "def test_{i}(): pytest.skip('here')",
        "def test_{i}(good): assert (torch.ops.myops.good(good) == 2).all()",
        "def test_{i}():\n    try: torch.ones(2).view({i} % 4 + 1)\n    except RuntimeError: pass",
        "def test_{i}(subtests):\n    for k in range(3):\n        with subtests.test(k=k): assert k != {i} % 4",
        "class Test{i}(unittest.TestCase):\n    def test_{i}(self):\n        for k in range(3):\n            with self.subTest(k=k): self.assertNotEqual(k, {i} % 4)",
        "@pytest.mark.flaky(reruns=2)\ndef test_{i}(n=[0]):\n    n[0] += 1\n    assert torch.ones(n[0]).sum() > {i} % 4",
        "def test_{i}(ends_badly): torch.ones(2).neg()",
        "class Test{i}:\n    @pytest.fixture(scope='class')\n    def own(self): yield torch.ones({i} % 5)\n    def test_{i}(self, own, packaged, session): assert own.sum() + packaged + session > 3\n    def test_{i}_again(self, own): own.add_(1)",
        "def test_{i}():\n    for k in range({i} % 3): warnings.warn('%d of {i}' % k)\n    torch.ones(2).sum()",
        "def test_{i}(): assert subprocess.call([sys.executable, '-c', 'raise SystemExit({i} % 3)']) == 0",
        "def test_{i}():\n    def work(): sums.append(torch.ones({i} % 7).sum().item())\n    sums, all = [], [threading.Thread(target=work) for _ in range(3)]\n    [t.start() for t in all], [t.join() for t in all]\n    assert sum(sums) < 12",
        "def test_{i}():\n    try: torch.ones(2) @ torch.ones({i} % 4); raise KeyError({i})\n    except BaseException: pass",
        "def test_{i}():\n    async def sums(): await asyncio.sleep(0); return torch.ones({i} % 5).sum()\n    assert asyncio.run(sums()) < 3",
        "def test_{i}(capfd, monkeypatch, tmp_path):\n    monkeypatch.chdir(tmp_path)\n    os.system('echo {i}')\n    assert capfd.readouterr().out == '{i}\\n'; assert {i} % 5",
    ]
    head = """import asyncio, os, pytest, subprocess, sys, threading, torch, unittest, warnings, myops
@pytest.fixture
def broken(): raise KeyError(1)
@pytest.fixture
def ends_badly():
    yield
    raise KeyError(2)
@pytest.fixture(scope='module')
def good(): return torch.ones(2)
@pytest.fixture(scope='package')
def packaged(): return torch.ones(1)
@pytest.fixture(scope='session')
def session():
    yield torch.ones(1)
    torch.ones(2).sum()
"""
    return head + "\n".join(kinds[i % len(kinds)].format(i=i) for i in range(n))


def plain(text):
    """Returns what is the same whenever a test is run, of a report: no addresses, numbers of processes, folders and names of workers."""
    return re.sub(r"0x[0-9a-f]+|pytest-\d+|popen-gw\d|gw\d", "", text)


def counts(outcome, flags):
    """Returns the counts of an outcome, without those of warnings under xdist: they differ between two runs alone, too."""
    return re.sub(r"\d+ warnings, ", "", outcome.counts) if flags == ("-n2",) else outcome.counts


@pytest.mark.parametrize("n, flags", [(300, ()), (300, ("-n2",)), (60, ("--forked",))], ids=["serial", "xdist", "forked"])
def test_others_stay(project, files, n, flags):
    """Outcomes and their texts, counts, order and the exit status are those without the plugin, and so is the time, of the best of OPASSERT_RUNS runs."""
    run = project(myops=files["myops"], test_small=small(n))
    variables = FORKED if "--forked" in flags else {}
    took = []
    for _ in range(int(os.environ.get("OPASSERT_RUNS", "1"))):
        alone, watched = (run(*more, *flags, status=1, **variables) for more in ((), ("--opassert",)))
        assert len(alone.tests) >= n
        assert watched.tests == alone.tests and watched.status == alone.status and counts(watched, flags) == counts(alone, flags)
        assert {name: plain(text) for name, text in watched.texts.items()} == {name: plain(text) for name, text in alone.texts.items()}
        assert watched.timed == alone.timed == {*alone.tests}
        if flags != ("-n2",):
            assert list(watched.tests) == list(alone.tests)
        took.append((alone.took, watched.took))
    alone, watched = map(min, zip(*took))
    print("\n%d tests: %.1f s alone, %.1f s watched: x%.2f" % (n, alone, watched, watched / alone))


@pytest.mark.parametrize("flags", [
    "", "--shuffle=7", "-n2 --dist=loadscope", "-n2 --dist=worksteal", "--reruns=1 --only-rerun=KeyError", "--forked -k 'not warnings'", "-s", "-W error::UserWarning",
    "--doctest-modules documented.py", "--import-mode=importlib -p no:faulthandler", "-x -k 'not bad'", "--maxfail=3 -k 'not bad'",
])
def test_varied(project, varied, flags):
    """In tests of all styles those that call what breaks rules fail for it, by their names, and all others are as they are alone."""
    hold_guilty(project(**varied), shlex.split(flags), FORKED if "--forked" in flags else {})


@pytest.mark.parametrize("flags", ["", "-n2"])
def test_arranged(project, arranged, flags):
    """So are those of unittest's modules and classes, under modes and defaults of PyTorch, and in its threads and processes."""
    hold_guilty(project(**arranged), flags.split(), {})


@pytest.mark.parametrize("flags", ["", "-n2", "--cov=myops --cov-branch"])
def test_plugged(project, plugged, flags):
    """So it is in tests that other plugins run."""
    hold_guilty(project(**plugged), shlex.split(flags), PLUGGED)


def hold_guilty(run, flags, variables):
    alone, watched = (run(*more, *flags, **variables) for more in ((), ("--opassert",)))
    arranged = sorted if "-n2" in flags else list
    assert len(alone.tests) > 1 and arranged(watched.tests) == arranged(alone.tests), watched.stdout + watched.stderr
    for name, outcome in alone.tests.items():
        codes = set(re.findall(r"^(?:E   )?  error (OA\d+)", watched.texts[name], re.M))
        repeats = {shlex.split(line)[-1] for line in re.findall(r"  again  (.*)", watched.texts[name])}
        if "_bad" in name:
            assert codes == {"OA007", "OA009"} and {"failure", "error"} & set(watched.tests[name].split("+")), (name, watched.tests[name], watched.texts[name])
            assert len(repeats) == 1 and repeats.pop().endswith(name.partition("documented.")[2] or name), watched.texts[name]
        else:
            assert (watched.tests[name], codes) == (outcome, set()), (name, alone.texts[name], watched.texts[name])


def test_version():
    said = subprocess.run([command.path(), "version"], capture_output=True, text=True, check=True).stdout
    assert said.startswith("opassert %s go" % importlib.metadata.version("opassert")), said


def test_version_of_python(project, tmp_path):
    """ctypes of Python 3.14 takes no library whose name is bytes."""
    strict = """
import ctypes

class Strict(ctypes.CDLL):
    def __init__(self, name, *args, **keywords):
        if isinstance(name, bytes):
            raise TypeError("endswith first arg must be bytes or a tuple of bytes, not str")
        super().__init__(name, *args, **keywords)

ctypes.CDLL = Strict
"""
    run = project(sitecustomize=strict, test_plain="import ctypes\ndef test_strict(): assert ctypes.CDLL.__name__ == 'Strict'\n")
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    assert run("--opassert", status=0, PYTHONPATH=path).tests == {"test_strict": "passed"}


def test_version_of_pluggy(project):
    """A pytest that is too old to be watched runs as without the package; with --opassert the error names the versions to install."""
    run = project(test_plain="def test_a(): pass\ndef test_b(): assert 0\n")
    others = "-p", "no:xdist", "-p", "no:rerunfailures"
    old = {"PYTHONPATH": os.path.join(sys.prefix, "old")}
    assert run(*others, status=1, **old).tests == {"test_a": "passed", "test_b": "failure"}
    assert "--opassert: pluggy 1.0.0 is too old: install 1.2 or a newer one" in run("--opassert", *others, status=4, **old).stderr


def test_without_pytorch(project):
    run = project(test_plain="import sys\ndef test_a(): assert 'torch' not in sys.modules\ndef test_b(): assert 0\n")
    assert run("--opassert", "-k", "test_a", status=0).tests == {"test_a": "passed"}
    assert run("--opassert", status=1).tests == run(status=1).tests
    assert run("--opassert", "-k", "none", status=5).tests == {}


def test_other_ways(project, files):
    run = project(**files, pyproject__toml="[tool.pytest.ini_options]\nopassert = true\nopassert_fail = 'warn'\nopassert_level = 'identity'\n")
    warned = run("-k", "bad or last", status=0)
    assert set(warned.tests.values()) == {"passed"}
    assert "OpassertWarning: OA007" in warned.stdout and "OA009" not in warned.stdout, warned.stdout
    stopped = run("-x", "--opassert-fail=error", status=1)
    assert list(stopped.tests) == ["test_good", "test_bad"]
    assert "1 failed, 1 passed" in run("-k", "good or caught", "--opassert-fail=error", "--reruns", "1", status=1).stdout.replace(", 25 deselected", "").replace("2 passed", "1 passed")
    assert "test_bad" in run("--collect-only", "-q", status=0).stdout
    assert run("--no-opassert", "-k", "test_bad", status=0).tests == {"test_bad": "passed"}
    assert "want identity or content or meta" in run("-o", "opassert_level=all", status=4).stderr


def test_strict(project):
    """Notes fail a session, or the tests that they are about, where it is strict."""
    run = project(
        test_unwritten="""import torch

@torch.library.custom_op("notes::fill", mutates_args={"out"})
def fill(out: torch.Tensor) -> None: pass

def test_fill():
    for n in range(1, 30): fill(torch.ones(n))
"""
    )
    for how, status in {"error": 0, "warn": 0, "strict": 1}.items():
        outcome = run("--opassert", "--opassert-fail=" + how, status=status)
        assert "note  OA012/unwritten" in outcome.stderr and outcome.tests == {"test_fill": "passed"}, outcome.stderr


def test_allowlist_and_baseline(project, files):
    run = project(**files, allow__yaml="- op: myops::scale\n  checks: [OA007]\n  reason: a test\n")
    assert shown(run("--opassert", "--opassert-allow=allow.yaml", "-k", "test_bad")) == ["test_bad failure: OA009"]
    assert "no-such.yaml" in run("--opassert", "--opassert-allow=no-such.yaml", "-k", "test_bad", status=2).stderr


def test_baseline(project, files, tmp_path):
    """What a baseline knows fails no test, and another op's findings do."""
    other = "import torch\nlibrary = torch.library.Library('other', 'DEF')\nlibrary.define('bump(Tensor x) -> ()')\n"
    other += "library.impl('bump', lambda x: x.add_(1) and None, 'CompositeExplicitAutograd')\ndef test_bump(): torch.ops.other.bump(torch.ones(1))\n"
    run = project(**files, test_other=other, pyproject__toml="[tool.pytest.ini_options]\nopassert_baseline = 'known.json'\n")
    assert "known.json" in run("--opassert", "-k", "test_bad", status=2).stderr
    writes = [command.path(), "run", "-baseline=known.json", "-update", "--", sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "test_bad"]
    done = subprocess.run(writes, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert shown(run("--opassert", "-k", "test_bad or test_bump")) == ["test_bad passed", "test_bump failure: OA009"]
    assert "none.json" in run("--opassert", "--opassert-baseline=none.json", "-k", "test_bad", status=2).stderr


@pytest.mark.parametrize("early, forks", [
    ("import early_none", True), ("import torch", False), ("import threading; threading.Thread(target=threading.Event().wait, daemon=True).start()", False),
    ("import subprocess, sys; child = subprocess.Popen([sys.executable, '-c', 'input()'], stdin=subprocess.PIPE)", False),
])
def test_early(project, files, early, forks, tmp_path):
    """pytest continues in a fork if that has the whole process, or else is started again; another program cannot be."""
    counts = "with open('starts', 'a') as file: file.write('.')\n"
    run = project(**files, early=counts + early, early_none="")
    assert shown(run("-p", "early", "--opassert", "-k", "test_bad", status=1)) == ["test_bad failure: OA007 OA009"]
    assert (tmp_path / "starts").read_text() == ("." if forks else "..")
    program = "import early, pytest, sys; print('ends', pytest.main(['--opassert', '-q', '-k', 'test_bad']))"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if forks:
        assert "  error OA009  " in done.stdout and "ends 1" in done.stdout and done.returncode == 0, done.stdout + done.stderr
    else:
        assert "this process was not started as pytest" in done.stderr and "ends 4" in done.stdout, done.stdout + done.stderr


def test_import(project, files):
    """What the import of a module calls fails by itself, and its tests run."""
    outcome = project(myops=files["myops"], test_imports="from myops import bad\nbad()\ndef test_a(): pass\n")("--opassert", status=1)
    assert shown(outcome) == ["test_a passed", "test_imports.py [opassert] failure: OA007 OA009"], outcome.stdout


def test_opcheck_and_watch(project, files):
    text = """
import opassert, opassert.testing, pytest, torch, typing, myops

def test_opcheck():
    x = torch.ones(3)
    with pytest.raises(opassert.OpassertError, match="OA009"):
        opassert.testing.opcheck(torch.ops.myops.scale, (x, 2.0))
    assert (x == 1).all()
    results = opassert.testing.opcheck(torch.ops.myops.good, (x,), raise_exception=False)
    assert results["opassert"] == "SUCCESS" and "test_schema" in results

def test_opcheck_as_torch():
    # Arguments, results and errors of torch.library.opcheck.
    arranged = []
    @torch.library.custom_op("myops::first", mutates_args=())
    def first(xs: typing.List[torch.Tensor], n: int = 0) -> torch.Tensor:
        arranged.append(xs[0].untyped_storage().data_ptr() == xs[1].untyped_storage().data_ptr() and xs[0].stride() == (1, 2))
        return xs[n].clone()
    first.register_fake(lambda xs, n=0: xs[n].clone())
    base = torch.arange(6.0)
    for op in first, torch.ops.myops.first, torch.ops.myops.first.default:
        for args, kwargs in (([base.view(3, 2).t(), base],), {"n": 1}), (([base.view(3, 2).t(), base], 1), None), (([base.view(3, 2).t(), base],), {}):
            arranged.clear()
            ours = opassert.testing.opcheck(op, args, kwargs, test_utils="test_schema")
            assert arranged[0]  # ours is the first call
            assert ours == {**torch.library.opcheck(op, args, kwargs, test_utils="test_schema"), "opassert": "SUCCESS"}
    for args in (([base.view(3, 2).t(), base], 7),), ((3,),):
        with pytest.raises(Exception) as torchs:
            torch.library.opcheck(first, args)
        with pytest.raises(torchs.type):
            opassert.testing.opcheck(first, args)
    args = [base.view(3, 2).t(), base], 7
    torchs = torch.library.opcheck(first, args, raise_exception=False)
    ours = opassert.testing.opcheck(first, args, raise_exception=False)
    assert isinstance(ours.pop("opassert"), IndexError) and {k: type(v) for k, v in ours.items()} == {k: type(v) for k, v in torchs.items()}
    x = torch.ones(3, requires_grad=True) * 2
    assert opassert.testing.opcheck(torch.ops.aten.sin.default, (x,), test_utils="test_schema")["opassert"] == "SUCCESS"

def test_watch():
    with opassert.watch() as w:
        myops.bad()
    assert {f.code for f in w.findings} == {"OA007", "OA009"}
    assert "<summary><code>OA007 myops::" in w._repr_html_() and "<script" not in w._repr_html_()
    with opassert.watch() as w:
        torch.ops.myops.good(torch.ones(3))
    with opassert.watch("outer") as outer:
        torch.ops.myops.scale(torch.ones(2), 3.0)
        with opassert.watch("inner") as inner:
            myops.bad()
        torch.ops.myops.good(torch.ones(3))
    assert [f.context for f in outer.findings] == ["outer"] * 2 and [f.context for f in inner.findings] == ["inner"] * 2
    assert w.findings == [] and "no findings" in repr(w)
    with pytest.raises(opassert.OpassertError):
        with opassert.watch(fail=True):
            myops.bad()

def test_before():
    myops.bad()
    with opassert.watch() as w:
        torch.ops.myops.good(torch.ones(3))
    assert w.findings == []

def test_after():
    with opassert.watch() as w:
        torch.ops.myops.good(torch.ones(3))
    myops.bad()
"""
    run = project(myops=files["myops"], test_in_process=text)
    outcome = run("--opassert", status=1)
    assert shown(outcome) == ["test_opcheck passed", "test_opcheck_as_torch passed", "test_watch passed", "test_before failure: OA007 OA009", "test_after failure: OA007 OA009"], outcome.stdout
    # Without the flag the process is watched from the first call on, and tests do not fail by themselves.
    assert "5 passed" in run().stdout


def test_watch_ends(project, files):
    """A process that is watched no more does not pass for one without findings."""
    text = """
import opassert, os, pathlib, pytest, signal, time, myops

def test_watch():
    with opassert.watch() as w:
        myops.bad()
    assert w.findings
    [run] = [p for p in pathlib.Path("/proc").glob("[0-9]*/cmdline") if b"-child=%d:" % os.getpid() in p.read_bytes()]
    os.kill(int(run.parent.name), signal.SIGKILL)
    while run.exists() and run.read_bytes():
        time.sleep(0.01)
    with pytest.raises(RuntimeError, match="are not seen: run opassert doctor"):
        with opassert.watch():
            myops.bad()
"""
    assert "1 passed" in project(myops=files["myops"], test_in_process=text)().stdout


EXAMPLES = """
import myops, pytest, torch
from hypothesis import given, settings, strategies as st
@given(st.integers(0, 1000), st.integers(0, 50))
def test_bad(n, m):
    if n > 17: myops.bad()
@given(st.integers(0, 1000))
def test_good(n): torch.ops.myops.good(torch.ones(3))
@pytest.mark.opassert("OA007", "OA009")
@given(st.integers(0, 1000))
def test_allowed(n): myops.bad()
@given(st.integers(0, 1000))
def test_fails(n):
    myops.bad()
    assert n < 5
class TestMethod:
    @given(st.integers(0, 1000))
    def test_method(self, n):
        if n > 3: myops.bad()
"""


def test_hypothesis(project, files):
    """An example has its findings, and hypothesis makes a smaller one of it."""
    outcome = project(myops=files["myops"], test_examples=EXAMPLES)("--opassert", status=1, **PLUGGED)
    want = {"test_bad": "failure", "test_good": "passed", "test_allowed": "passed", "test_fails": "failure"}
    assert outcome.tests == {**want, "test_method": "failure"}, outcome.stdout
    for name, smallest in ("test_bad", "n=18,"), ("test_method", "n=4,"):
        assert smallest in outcome.texts[name] and "  error OA009  " in outcome.texts[name]
        assert outcome.messages[name] == 'OA009 myops::scale: the kernel writes argument x, and the schema does not declare it'


def test_message(project, files):
    """The message of JUnit is one line, also of what comes late, and over workers."""
    tests = "import myops, torch\ndef test_bad(): myops.bad()\ndef test_fake(): myops.half(torch.ones(4))\n"
    for flags in ("--opassert",), ("--opassert", "-n2"):
        outcome = project(myops=files["myops"], test_messages=tests)(*flags, status=1)
        assert set(outcome.messages) == {"test_bad", "test_fake"}
        for name, code in ("test_bad", "OA0"), ("test_fake", " myops::half: "):
            assert code in outcome.messages[name] and "\n" not in outcome.messages[name]
            assert "\n        fix    " in outcome.texts[name]
