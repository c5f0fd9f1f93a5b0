"""The build backend of this folder, whose project is the folder above."""

import os

from hatchling.build import *  # noqa: F403

os.chdir(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
