"""The command, which the wheel brings."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from pathlib import Path


def path() -> str:
    """Returns the file of the command; FileNotFoundError lists the searched folders."""
    name = "opassert" + (".exe" if os.name == "nt" else "")
    around = Path(os.path.abspath(__file__)).parents
    user = sysconfig.get_preferred_scheme("user") if hasattr(sysconfig, "get_preferred_scheme") else os.name + "_user"
    folders = [sysconfig.get_path("scripts"), os.path.dirname(sys.executable)]
    folders += [str(around[n] / "bin") for n in (2, 1)]  # of pip install --target
    folders.append(sysconfig.get_path("scripts", scheme=user))
    for file in *(os.path.join(folder, name) for folder in folders), name:
        if found := shutil.which(file):
            return found
    raise FileNotFoundError("no command opassert in %s, or on the path: pip install opassert" % ", ".join(folders))
