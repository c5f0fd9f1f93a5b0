"""Writes into demands.txtar what a torchgen says of each file there.

usage: python3 torchgen.py TORCHGEN/.. < demands.txtar

The argument is a folder with the package torchgen, as in PyTorch's wheels.
"""
import os
import re
import sys
import tempfile

sys.path.insert(0, sys.argv[1])
from torchgen import gen  # noqa: E402

TAGS = os.path.join(os.path.dirname(gen.__file__), "packaged/ATen/native/tags.yaml")


def refuses(text):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as f:
        f.write(text)
        f.flush()
        try:
            ops = gen.parse_native_yaml(f.name, TAGS).native_functions
            gen.get_grouped_native_functions(ops)
            gen.get_grouped_by_view_native_functions(ops)
        except Exception:
            return True
    return False


archive = sys.stdin.read()
parts = re.split(r"(?m)^(-- .* --\n)", archive)
print(parts[0], end="")
for mark, body in zip(parts[1::2], parts[2::2]):
    _, _, text = body.partition("\n")
    schemas = "".join(line for line in text.splitlines(True) if not line.startswith("# "))
    print(mark + f"# torchgen {'refuses' if refuses(schemas) else 'takes'} it\n" + text, end="")
