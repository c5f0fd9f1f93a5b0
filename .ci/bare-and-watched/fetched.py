"""What CI fetches of PyTorch besides its wheels: the tests in its source packages."""

import hashlib
import http.client
import io
import os
import shutil
import tarfile
import urllib.request

from suites import SOURCES

CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "opassert-ci")


class Absent(Exception):
    """Something that could not be had."""


def sources(torch, fetch):
    """PyTorch's folder test/."""
    url, digest = SOURCES[torch]
    folder = os.path.join(CACHE, "source-" + digest[:12])
    if not os.path.exists(folder):
        if not fetch:
            raise Absent("%s is not there; -fetch brings it" % folder)
        part = folder + ".part"
        shutil.rmtree(part, ignore_errors=True)
        with tarfile.open(fileobj=io.BytesIO(download(url, digest))) as archive:
            for member in archive:
                _, _, member.name = member.name.partition("/")
                if member.name.startswith("test/"):
                    archive.extract(member, part, filter="data")
        os.rename(part, folder)
    return os.path.join(folder, "test")


def download(url, digest):
    try:
        with urllib.request.urlopen(url, timeout=60) as response:
            package = response.read()
    except (OSError, http.client.HTTPException) as e:
        raise Absent("%s: %s" % (url, e))
    if hashlib.sha256(package).hexdigest() != digest:
        raise Absent("%s has not the SHA-256 %s" % (url, digest))
    return package
