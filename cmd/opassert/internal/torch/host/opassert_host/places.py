"""Texts of exceptions, with the place where they were raised."""

import importlib.util
import json
import os
import sys
import traceback

TORCH = importlib.util.find_spec("torch")
ROOT = os.path.dirname(TORCH.origin) + os.sep if TORCH and TORCH.origin else "<no PyTorch>"  # its folder
NOT_USERS = ROOT, os.path.dirname(__file__) + os.sep, "<"  # how files of PyTorch, opassert and Python's loaders begin
PYTHON = os.path.dirname(os.__file__) + os.sep


def caller(skipped):
    """Returns the file and the line that called the calling function, outside of files whose names begin so."""
    frames = ((frame.f_code.co_filename, line) for frame, line in traceback.walk_stack(sys._getframe(2)))
    return next((place for place in frames if not place[0].startswith(skipped)), ("", 0))


def quoted(text):
    return json.dumps(text, ensure_ascii=False)


def explained(error):
    """Returns an exception in a line, with the place where it was raised."""
    lines = traceback.format_exception_only(type(error), error)
    text = " ".join("".join(lines[-1:] if isinstance(error, SyntaxError) else lines).split()) + raised_at(error)
    if isinstance(error, ModuleNotFoundError):
        folders = [os.path.abspath(f) for f in sys.path if not f.startswith(PYTHON.rstrip(os.sep)) and os.path.isdir(f or ".")]
        text += f" in {', '.join(dict.fromkeys(folders))} or Python's own folders"
    return text


def text_of(error):
    """Returns the first line of an exception, with the place where it was raised."""
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}{raised_at(error)}"


def raised_at(error):
    """Returns the place of an exception in brackets, outside of PyTorch and the standard library if possible."""
    if isinstance(error, SyntaxError):
        return f" ({error.filename}:{error.lineno})"
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith(NOT_USERS[1:]) and f.filename != importlib.__file__]
    frames = [f for f in frames if not f.filename.startswith(ROOT)] or frames
    frames = [f for f in frames if not f.filename.startswith(PYTHON) or "site-packages" in f.filename] or frames
    return f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
