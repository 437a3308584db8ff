"""What the documents show is run: the Python blocks of README.md and docs/, and the doctests of every module.

The blocks of one file share their names, and run in order, in an empty folder beside a link to `examples`.
A block fenced as `output` is what the Python block before it prints.  A comment `<!-- skip: reason -->` in
the line above a block leaves it out.
"""

from __future__ import annotations

import doctest
import importlib
import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
FRONT = "retewave"  # the folder whose modules have no part's name before their own
PARTS = ("compiler", "epsilon", "rete", "windows", "viz", "bench")
OPTIONAL = {
    "pyspark",
    "starlette",
    "uvicorn",
    "graphviz",
    "pygraphviz",
    "matplotlib",
    "psutil",
    "pandas",
}  # what the extras bring
FENCE = re.compile(r"^ {0,3}```\s*(\w*)")
SKIP = re.compile(r"<!-- skip(?:: *(.*\S))? *-->")


@dataclass(frozen=True)
class Block:
    """A fenced block of a document."""

    language: str  # the word after the fence
    line: int  # of the block's first line, from 1
    text: str
    skip: str | None  # the reason of a skip mark; "" when it gives none; None when there is no mark


def blocks_of(document: str) -> Iterator[Block]:
    lines = document.splitlines()
    opened: int | None = None
    for number, line in enumerate(lines):
        fence = FENCE.match(line)
        if fence is None:
            continue
        if opened is None:
            opened = number
            continue
        mark = SKIP.search(lines[opened - 1]) if opened else None
        language = FENCE.match(lines[opened])[1]  # type: ignore[index]
        text = "\n".join(lines[opened + 1 : number]) + "\n"
        yield Block(language, opened + 2, text, None if mark is None else mark[1] or "")
        opened = None


def run_blocks(blocks: list[Block], source: str) -> None:
    """Run the Python blocks; compare what one prints with the output block behind it."""
    names: dict[str, object] = {"__name__": "__main__"}
    printed = ""
    for block in (block for block in blocks if block.skip is None):
        if block.language == "python":
            code = compile("\n" * (block.line - 1) + block.text, source, "exec")
            with redirect_stdout(StringIO()) as out:
                exec(code, names)
            printed = out.getvalue()
        elif block.language == "output":
            assert printed == block.text, f"{source}:{block.line} is not what the block above prints"


def documents() -> list[Path]:
    return [path for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))] if path.exists()]


@pytest.mark.parametrize("path", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_document_shows_what_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    blocks = list(blocks_of(path.read_text()))
    assert [block.line for block in blocks if block.skip == ""] == [], "a skipped block gives its reason"
    run_blocks(blocks, str(path))


# Doctests


def modules_with_doctests() -> Iterator[str]:
    for part in (FRONT, *PARTS):
        for path in sorted((ROOT / part).rglob("*.py")):
            if ">>>" in path.read_text():
                names = path.relative_to(ROOT).with_suffix("").parts
                yield ".".join(names if part == FRONT else (FRONT, *names)).removesuffix(".__init__")


def doctests_of(module: ModuleType) -> Iterator[doctest.DocTest]:
    """Find the doctests of a module, also those of jitted functions, which doctest does not look into."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    yield from finder.find(module)
    for name, value in vars(module).items():
        jitted = type(value).__module__.startswith("numba.")
        if jitted and hasattr(value, "py_func") and value.py_func.__module__ == module.__name__:
            yield from finder.find(value.py_func, f"{module.__name__}.{name}", globs=vars(module).copy())


@pytest.mark.parametrize("name", list(modules_with_doctests()))
def test_doctests_of_module_hold(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as e:
        if e.name is None or e.name.split(".")[0] not in OPTIONAL:
            raise
        pytest.skip(f"needs {e.name}, which an extra brings")
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    report = StringIO()
    for test in doctests_of(module):
        runner.run(test, out=report.write)
    assert runner.summarize(verbose=False).failed == 0, report.getvalue()
    assert runner.tries > 0, "the module has doctests, and none of them was found"


# The collector itself

DOCUMENT = """# A document
```python
x = 20 + 1
print(x)
```
```output
21
```
<!-- skip: needs a cluster -->
```python
raise RuntimeError
```
```python
print(x + 1)
```
"""


def test_collector_finds_the_blocks_with_their_lines_and_marks() -> None:
    found = [(block.language, block.line, block.skip) for block in blocks_of(DOCUMENT)]
    assert found == [
        ("python", 3, None),
        ("output", 7, None),
        ("python", 11, "needs a cluster"),
        ("python", 14, None),
    ]


def test_collector_runs_the_blocks_in_order_without_the_skipped() -> None:
    run_blocks(list(blocks_of(DOCUMENT)), "document")


def test_collector_sees_an_output_that_differs() -> None:
    with pytest.raises(AssertionError, match="document:7 is not what the block above prints"):
        run_blocks(list(blocks_of(DOCUMENT.replace("21", "22"))), "document")


def test_error_in_a_block_points_at_the_documents_line() -> None:
    with pytest.raises(NameError) as failed:
        run_blocks(list(blocks_of("\n\n```python\n\nnowhere\n```\n")), "document")
    assert failed.traceback[-1].lineno == 4  # counted from 0
