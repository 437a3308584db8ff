"""Kernels: whatever kernel code is edited, the machine code on the disk is no longer used."""

from __future__ import annotations

import ast
from pathlib import Path

from retewave.rete.words.jit import stamped

ROOT = Path(__file__).parents[2]
PACKAGE = ("retewave", "compiler", "epsilon", "rete", "windows", "viz", "bench")


def _decorators(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return {one.id for function in functions for one in function.decorator_list if isinstance(one, ast.Name)}


def test_every_file_with_a_kernel_is_in_the_stamp_of_the_kernel_cache() -> None:
    files = [path.resolve() for part in PACKAGE for path in (ROOT / part).rglob("*.py")]
    with_kernels = {path for path in files if _decorators(path) & {"kernel", "inlined"}}
    assert len(with_kernels) > 15
    assert with_kernels <= {path.resolve() for path in stamped()}
