"""`python -m opassert`: the command, over this Python."""

import os
import sys

from . import command


def main() -> None:
    try:
        path = command.path()
    except FileNotFoundError as error:
        sys.exit("python -m opassert: %s" % error)
    other = [name for name in ("VIRTUAL_ENV", "CONDA_PREFIX") if os.environ.get(name) != sys.prefix]
    variables = {name: value for name, value in os.environ.items() if name not in other}
    variables["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", os.defpath)
    os.execve(path, [path, *sys.argv[1:]], variables)


main()
