"""The package as it is in the repository."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
