"""The command, which the wheel brings."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig


def path() -> str:
    """Returns the file of the command; FileNotFoundError lists the searched folders."""
    name = "opassert" + (".exe" if os.name == "nt" else "")
    package = os.path.dirname(os.path.abspath(__file__))
    folders = [sysconfig.get_path("scripts"), os.path.dirname(sys.executable)]
    folders.append(os.path.join(os.path.dirname(os.path.dirname(package)), "bin"))  # of pip install --target
    folders.append(os.path.join(os.path.dirname(package), "bin"))
    user = sysconfig.get_preferred_scheme("user") if hasattr(sysconfig, "get_preferred_scheme") else os.name + "_user"
    folders.append(sysconfig.get_path("scripts", scheme=user))
    for folder in folders:
        file = os.path.join(folder, name)
        if os.access(file, os.X_OK) and os.path.isfile(file):
            return file
    found = shutil.which(name)
    if not found:
        raise FileNotFoundError("no command opassert in %s, or on the path: pip install opassert" % ", ".join(folders))
    return found
