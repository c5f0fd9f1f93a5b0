"""What CI fetches of PyTorch besides its wheels: the tests in its source packages."""

import hashlib
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
        unpack(download(url, digest), folder)
    return os.path.join(folder, "test")


def download(url, digest):
    os.makedirs(CACHE, exist_ok=True)
    path = os.path.join(CACHE, os.path.basename(url))
    try:
        with urllib.request.urlopen(url, timeout=60) as response, open(path, "wb") as f:
            shutil.copyfileobj(response, f)
    except OSError as e:
        raise Absent("%s: %s" % (url, e))
    with open(path, "rb") as f:
        if hashlib.file_digest(f, "sha256").hexdigest() != digest:
            raise Absent("%s has not the SHA-256 %s" % (url, digest))
    return path


def unpack(path, folder):
    """Unpacks the folder test of a source package."""
    part = folder + ".part"
    shutil.rmtree(part, ignore_errors=True)
    with tarfile.open(path) as archive:
        for member in archive:
            top, _, member.name = member.name.partition("/")
            if member.name.startswith("test/"):
                archive.extract(member, part, filter="data")
    os.remove(path)
    os.rename(part, folder)
