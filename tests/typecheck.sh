#!/bin/sh
# mypy wants the package as it is imported (retewave/rete, ...): give it a tree of links.
set -eu
tree=build/types
rm -rf "$tree"
mkdir -p "$tree"
here=$(pwd)
cp -rs "$here/retewave" "$tree/retewave"
for part in rete epsilon windows compiler viz bench; do
    cp -rs "$here/$part" "$tree/retewave/$part"
done
find "$tree" -name __pycache__ -prune -exec rm -rf {} +
MYPYPATH="$tree" "$1" --config-file pyproject.toml -p retewave
MYPYPATH="$tree:tests" "$1" --config-file pyproject.toml --explicit-package-bases tests
