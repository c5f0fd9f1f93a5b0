#!/bin/sh
# Makes the conformance table of a PyTorch release from its Python wheel:
#
#   testdata/conformance/regen/regen.sh 2.15.0
#
# The code generator and the files that it reads lie in every wheel of PyTorch
# 2.1 and later; that for macOS is the smallest. Nothing of PyTorch is
# installed or run but torchgen. Needs python3 with venv, and unzip.
set -eu
version=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q pyyaml typing_extensions
"$work/venv/bin/pip" download -q --no-deps --only-binary=:all: --python-version 3.11 --implementation cp \
	--abi cp311 --abi none --platform macosx_11_0_arm64 --platform macosx_14_0_arm64 -d "$work" "torch==$version"
unzip -q "$work"/torch-*.whl 'torchgen/*' -d "$work/site"
"$work/venv/bin/python" "$here/torchgen_facts.py" "$work/site" "$here/../$version"
