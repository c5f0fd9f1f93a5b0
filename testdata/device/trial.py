"""Tries opassert on a device, as docs/measure/cuda starts it: python trial.py PAGE [openreg].

What a step can't do on openreg is on the page as not tried; a step that fails or does not end in its time is a line of it
too, and the exit status is 1.
"""

import collections
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
OPS, PROGRAMS = "cmd/opassert/internal/torch/testdata/", "cmd/opassert/internal/watch/testdata/"


class NotTried(Exception):
    pass


class Trial:
    """The steps; each returns what its line has, and raises where it fails."""

    def __init__(self, device, work):
        self.device, self.work, self.rows, self.failed, self.end = device, work, "", False, time.monotonic() + 530
        self.package = ["-module", "torch_openreg"] if device == "openreg" else []
        self.env = {**os.environ, "DEVICE": device, "TRITON_INTERPRET": "0", "XDG_CACHE_HOME": str(work), "PYTHONDONTWRITEBYTECODE": "1"}

    def step(self, title, limit, function, *arguments):
        began = time.monotonic()
        # openreg is tried beside other work on the CPU.
        self.limit = began + 4 * limit if self.package else min(began + limit, self.end)
        try:
            text = function(*arguments)
        except NotTried as why:
            text = f"not tried: {why}"
        except Exception as why:  # the next one may work
            text = f"**failed**: {type(why).__name__}: {str(why)[-400:]}"
        self.failed |= "**" in text
        self.rows += f"| {title} | {' '.join(text.split())} | {time.monotonic() - began:.0f} s |\n"
        print(self.rows.splitlines()[-1], flush=True)

    def run(self, *command, statuses=(0,)):
        """Returns what a command writes. When its time is over it is asked to end, as opassert does with a report, and then killed."""
        process = subprocess.Popen([*map(str, command)], cwd=TOP / OPS, env=self.env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        try:
            written, talk = process.communicate(timeout=max(self.limit - time.monotonic(), 1))
        except subprocess.TimeoutExpired:
            self.rows += f"| | **not finished**: {Path(command[0]).name} {Path(command[1]).name} | |\n"
            self.failed = True
            process.send_signal(signal.SIGINT)
            try:
                return process.communicate(timeout=20)[0]
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                return process.communicate()[0]
        if process.returncode not in statuses:
            raise RuntimeError(f"exit status {process.returncode}: {talk or written}")
        return written

    def machine(self):
        import torch

        if self.package:
            import torch_openreg
        backend = getattr(torch, self.device)
        count = backend.device_count()
        name = backend.get_device_name() if self.device == "cuda" else self.device
        self.last, self.kernels = f"{self.device}:{count - 1}", TOP / f"carried/{self.device}-{'.'.join(torch.__version__.split('.')[:2])}.so"
        self.env["DEVICE_OPS"] = str(self.kernels)
        [wheel] = (TOP / "carried").glob("*.whl")
        self.run(sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--ignore-installed", "--prefix", self.work, wheel)
        [self.command] = self.work.glob("**/bin/opassert")
        version = self.run(self.command, "version").splitlines()[0]
        return f"{count} {name}; PyTorch {torch.__version__}, Python {sys.version.split()[0]}, {os.cpu_count()} processors; {version}"

    def compared(self, planted, found, more):
        words = f"{len(planted & found)} of {len(planted)} planted faults found; {more}"
        for name, which in ("missed", planted - found), ("not expected", found - planted):
            words += f"; **{name}**: {', '.join(sorted(which))}" if which else ""
        return words

    def check(self, *flags):
        """Returns the results, and what the run has about each op."""
        *results, last = json.loads(self.run(self.command, "check", "-python", sys.executable, "-json", *flags, statuses=(0, 1)))
        return results, last["run"]["ops"]

    def watch(self, status, *program):
        """Returns the findings, and what the program writes."""
        report = self.work / "findings.json"
        said = self.run(self.command, "run", "-level", "content", "-json", report, "--", sys.executable, *program, statuses=(status,))
        return json.loads(report.read_text()), said

    def expected(self, module):
        return json.loads(self.run(sys.executable, "-c", f"import json, {module} as m; print(json.dumps(m.EXPECTED))"))

    def module(self, name, *flags):
        """Checks the ops of which a module states the check that each breaks, or the error of a device that is lost."""
        want = self.expected(name)
        results, ops = self.check("-device", self.last, "-module", name, *(flag for op in want for flag in ("-op", op)), *flags)
        found = set()
        for r in results:
            fault, words = want.get(r["op"], ""), f"{r.get('code')} {r.get('reason')} {r.get('report')}"
            fails = r["status"] in ("violated", "crashed")
            if fault and fault in words and (fails or r["status"] == "noted" and not r.get("symptom", "").endswith("no-fake")):
                found.add(f"{r['op']} {fault}")
            elif fails and not fault or r["status"] == "crashed":
                found.add(f"{r['op']} {words[:60]}")
        healthy = sum(bool(op.get("ran")) and not want.get(op["op"]) for op in ops)
        return self.compared({f"{op} {fault}" for op, fault in want.items() if fault}, found, f"{healthy} healthy ops called")

    def program(self, name, status):
        """Watches a program, of which comments state the checks that lines break."""
        found, said = self.watch(status, TOP / PROGRAMS / name, self.kernels)
        lines = enumerate((TOP / PROGRAMS / name).read_text().splitlines(), 1)
        planted = {f"line {n} {code}" for n, line in lines for code in re.findall(r"  # (OA\d+)", line) if self.last[-1] != "0" or "SECOND and" not in line}
        got = {f"line {f['site']['line']} {f['code']}": f for f in found}
        return self.compared(planted, {at for at, f in got.items() if at in planted or f["status"] == "violated"}, f"it writes {said.strip() or 'nothing'}")

    def graph(self):
        if self.package:
            raise NotTried("openreg has no graphs. Where it imitates the capture of one: " + self.program("captured.py", 1))
        return self.program("captured.py", 1)

    def triton(self):
        if self.package:
            raise NotTried("Triton does not compile for openreg")
        checked = self.module("python_triton", "-n", "24", "-op", "right_triton::*")
        found = {f"{f['op'].split('.')[0]} {f['code']}" for f in self.watch(1, "python_triton.py", self.device)[0] if f["status"] == "violated"}
        return f"`check`: {checked}; `run`: {self.compared({' '.join(row) for row in self.expected('python_triton').items()}, found, 'all called')}"

    def aten(self):
        """Checks a tenth of PyTorch's own ops on the device, and on the CPU."""
        sides = []
        for name, flags in (self.device, [*self.package, "-device", self.device]), ("cpu", []):
            began = time.monotonic()
            results, ops = self.check("-n", "8", "-timeout", "5s", "-op", "aten::[im]*", *flags)
            count = collections.Counter(r["status"] if r["status"] != "violated" else r["code"] for r in results)
            errors = ", ".join(f"{n} {code}" for code, n in sorted(count.items()) if code.startswith("OA")) or "none"
            ran = f"{sum(bool(op.get('ran')) for op in ops)} of {len(ops)} ops ran in {sum(op.get('ran', 0) for op in ops)} calls"
            sides.append(f"{name}: {ran}, errors: {errors}, {count['noted']} notes, {count['crashed']} crashes, {time.monotonic() - began:.0f} s")
        return "<br>".join(sides)

    def training(self):
        return self.run(sys.executable, TOP / "docs/measure/watch-costs", self.command, sys.executable, "8", self.device).strip().replace("\n", "<br>")

    def page(self):
        self.step("machine", 60, self.machine)
        self.step("`check -device` of test ops", 160, self.module, "device_ops", "-n", "14", "-tolerance", "1e-3")
        self.step("`run` of test ops", 60, self.program, "device.py", 1)
        self.step("`run` of a device that fails", 40, self.program, "uncopied.py", 2)
        self.step("a captured graph", 40, self.graph)
        self.step("Triton", 80, self.triton)
        self.step("`check -device` of a tenth of aten", 200, self.aten)
        self.step("a training step, watched", 80, self.training)
        imitates = "openreg is PyTorch's example of a device, in the CPU's memory: nothing here was tried on a GPU. A step has four times the limit.\n\n" * bool(self.package)
        return f"# opassert on {self.device}\n\nWritten by `docs/measure/cuda`.\n\n{imitates}| step | result | time |\n|---|---|---|\n{self.rows}"


def main(page, device="cuda"):
    with tempfile.TemporaryDirectory() as work:
        trial = Trial(device, Path(work))
        Path(page).write_text(trial.page())
    return int(trial.failed)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
