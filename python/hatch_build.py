"""Builds the command for a wheel, with Go, and what it would compile at first use.

That is for the PyTorch of the Python that runs this, where a C++ compiler is, or for the folders in
$OPASSERT_LIBTORCH, each one that `opassert check -libtorch` takes. $GOARCH, $CC and $CXX are for another machine.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import platform_tags

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

CLI = "github.com/opassert/opassert/cmd/opassert/internal/cli"

# glibc of the same age as libstdc++ 3.4.N, as the policies of manylinux have them.
GLIBC = {24: (2, 27), 25: (2, 28), 28: (2, 31), 29: (2, 34), 30: (2, 35), 33: (2, 39)}
MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}


def version():
    """Returns that of the commit which is checked out; an sdist has its own in PKG-INFO."""
    command = [sys.executable, os.path.join(ROOT, ".ci/version")]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


class CommandHook(BuildHookInterface):
    def initialize(self, version, build_data):
        self.work = tempfile.mkdtemp()
        command = os.path.join(self.work, "opassert" + (".exe" if os.name == "nt" else ""))
        lib = os.path.join(self.work, "lib")
        os.mkdir(lib)
        linker = "-s -w -buildid= -X %s.packaged=%s" % (CLI, self.metadata.version)
        if sys.platform == "linux":
            linker += " -extldflags=-Wl,--build-id=none"
            self.compile(lib)
        go("build", "-trimpath", "-buildvcs=false", "-ldflags", linker, "-o", command, "./cmd/opassert")
        libraries = sorted(os.path.join(lib, name) for name in os.listdir(lib))
        build_data["tag"] = "py3-none-" + platform([command, *(file for file in libraries if file.endswith(".so"))])
        build_data["pure_python"] = False
        build_data["shared_scripts"][command] = os.path.basename(command)
        build_data["shared_data"].update((file, "lib/opassert/" + os.path.basename(file)) for file in libraries)

    def compile(self, out):
        """Compiles what the command loads into programs and workers."""
        named = os.environ.get("OPASSERT_LIBTORCH")
        torch = os.path.join(sysconfig.get_path("platlib"), "torch")
        folders = [torch] * os.path.isdir(torch) if named is None else filter(None, named.split(os.pathsep))
        if not named and not any(map(shutil.which, (os.environ.get("CXX", "c++"), "g++", "clang++"))):
            self.app.display_warning("without a C++ compiler: what opassert loads into programs is not compiled")
            return
        prebuild = os.path.join(self.work, "prebuild")
        go("build", "-o", prebuild, "./cmd/opassert/internal/prebuild", GOARCH="", CGO_ENABLED="0")
        # What was compiled before may be of other flags.
        variables = {**os.environ, "XDG_CACHE_HOME": os.path.join(self.work, "cache")}
        subprocess.run([prebuild, out, *folders], cwd=ROOT, env=variables, check=True)

    def finalize(self, version, build_data, artifact_path):
        shutil.rmtree(self.work)


def go(*arguments, **variables):
    """Runs Go in the tree of the sources."""
    with open(os.path.join(ROOT, "go.mod")) as module:
        need = "opassert is built with Go %s or newer" % re.search(r"^go ([\d.]+)", module.read(), re.M)[1]
    try:
        subprocess.run(["go", *arguments], cwd=ROOT, env={**os.environ, **variables}, check=True)
    except FileNotFoundError:
        sys.exit(need + ", and there is no go on the path: install it from https://go.dev/dl, or opassert from a wheel")
    except subprocess.CalledProcessError:
        sys.exit("go build failed; %s, and here is %s" % (need, subprocess.getoutput("go version")))


def platform(files):
    """Returns the tag of the oldest platform on which binaries run."""
    machine = os.environ.get("GOARCH")
    if not (sys.platform == "linux" and shutil.which("readelf")):
        return next(platform_tags())
    needed = subprocess.run(["readelf", "-W", "-V", *files], check=True, stdout=subprocess.PIPE, text=True).stdout
    least = (2, 17)
    for name, number in re.findall(r"Name: (GLIBC|GLIBCXX)_([\d.]+)", needed):
        found = tuple(map(int, number.split(".")))
        if name == "GLIBCXX":
            if found > (3, 4, max(GLIBC)):
                sys.exit("no policy for GLIBCXX_" + number)
            found = next(glibc for most, glibc in GLIBC.items() if found <= (3, 4, most))
        least = max(least, found)
    return "manylinux_%d_%d_%s" % (*least, MACHINES[machine] if machine else os.uname().machine)
