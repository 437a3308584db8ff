"""Compiled kernels on disk: kept, shared by processes, and done without where nothing can be kept."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from retewave.rete.words import kernel_cache
from retewave.rete.words.jit import JIT

pytestmark = pytest.mark.skipif(not JIT, reason="nothing is compiled")

MODULE = """
from retewave.rete.words.jit import kernel, telling_of_compilation

@kernel
def inner(x):
    return x + 1

@kernel
def outer(x):
    return 2 * inner(x)
"""
# Says how many kernels were compiled, and what they compute.
CALL = """
import sys, warnings
from numba.core.event import Listener, install_listener
warnings.simplefilter("always")
class Count(Listener):
    count = 0
    def on_start(self, event): self.count += 1
    def on_end(self, event): pass
count = Count()
import kernels_of_a_test as k
print("ready", flush=True)
sys.stdin.readline()
with k.telling_of_compilation(lambda: None), install_listener("numba:compile", count):
    print(k.outer(1), count.count)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "kernels_of_a_test.py").write_text(MODULE)
    return tmp_path


def process(folder: Path, **environment: str) -> subprocess.Popen[str]:
    plain = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    changed = plain | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"} | environment
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-c", CALL], env=changed, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def called(folder: Path, **environment: str) -> tuple[list[str], str]:
    """What the kernel returns, how many were compiled, and what was said."""
    out, said = process(folder, **environment).communicate("\n", timeout=120)
    return out.split()[1:], said


def nowhere(folder: Path) -> dict[str, str]:
    """An environment in which no cache folder can be made; root may write anywhere, but not below a file."""
    (folder / "file").write_text("")
    (folder / "__pycache__").write_text("")
    below = str(folder / "file" / "below")
    return {"HOME": below, "XDG_CACHE_HOME": below}


def test_a_kernel_is_compiled_once_and_found_by_the_next_process(folder: Path) -> None:
    assert called(folder) == (["4", "2"], "")
    assert called(folder) == (["4", "0"], "")


def test_where_nothing_can_be_kept_kernels_are_compiled_with_one_warning(folder: Path) -> None:
    environment = nowhere(folder)
    for _ in range(2):
        found, said = called(folder, **environment)
        assert found == ["4", "2"]
        assert said.count("RuntimeWarning: there is no folder to keep compiled kernels in") == 1
        assert "NUMBA_CACHE_DIR" in said


def test_a_folder_that_is_named_is_used(folder: Path) -> None:
    environment = nowhere(folder) | {"NUMBA_CACHE_DIR": str(folder / "kept")}
    assert called(folder, **environment) == (["4", "2"], "")
    assert called(folder, **environment) == (["4", "0"], "")


@pytest.mark.skipif(vars(kernel_cache)["fcntl"] is None, reason="this system has no locks")
def test_two_processes_that_begin_at_once_compile_once(folder: Path) -> None:
    both = [process(folder), process(folder)]
    for each in both:
        assert each.stdout is not None and each.stdout.readline() == "ready\n"
    for each in both:
        assert each.stdin is not None
        each.stdin.write("\n")
        each.stdin.flush()
    found = [each.communicate(timeout=120)[0].split() for each in both]
    assert [result for result, _ in found] == ["4", "4"]
    assert sorted(int(count) for _, count in found) in ([0, 2], [1, 1])


def test_a_damaged_file_is_compiled_again(folder: Path) -> None:
    called(folder)
    for path in (folder / "__pycache__").glob("*.nbc"):
        path.write_bytes(b"")
    found, said = called(folder)
    assert found == ["4", "2"]
    assert "cannot be read" in said
    assert called(folder) == (["4", "0"], "")


def test_files_of_other_versions_go_when_they_are_old(folder: Path) -> None:
    cache = folder / "__pycache__"
    cache.mkdir()
    old = [cache / f"f-1.py311.{'0' * 16}.nbi", cache / f"f-1.py311.{'0' * 16}.1.nbc"]
    other = [cache / f"f-1.py311.{'1' * 16}.1.nbc", cache / "of_somebody_else-1.py311.1.nbc"]
    for path in old + other:
        path.write_text("")
    for path in (*old, other[1]):
        os.utime(path, (0, 0))
    called(folder)
    assert [path.exists() for path in old + other] == [False, False, True, True]
