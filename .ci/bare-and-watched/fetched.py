"""What CI fetches of PyTorch besides its wheels: the tests in its source packages."""

import os
import subprocess

from suites import SOURCES

CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "opassert-ci")

FETCH = """set -e
trap 'rm -rf "$3.tar.xz" "$3.part"' EXIT
mkdir -p "$3.part"
curl --fail --silent --show-error --location --output "$3.tar.xz" "$1"
echo "$2  $3.tar.xz" | sha256sum --check --quiet
tar --extract --file "$3.tar.xz" --directory "$3.part" --strip-components 1 --wildcards --no-wildcards-match-slash '*/test'
mv "$3.part" "$3"
"""


class Absent(Exception):
    """Something that could not be had."""


def sources(torch, fetch):
    """PyTorch's folder test/."""
    url, digest = SOURCES[torch]
    folder = os.path.join(CACHE, "source-" + digest[:12])
    if not os.path.exists(folder):
        if not fetch:
            raise Absent("%s is not there; -fetch brings it" % folder)
        fetched = subprocess.run(["sh", "-c", FETCH, "sh", url, digest, folder], stderr=subprocess.PIPE, text=True)
        if fetched.returncode:
            raise Absent("%s: %s" % (url, fetched.stderr.strip()))
    return os.path.join(folder, "test")
