"""What the words of the code point at is there: files and names that docstrings and documents mention."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
CODE = ("retewave", "compiler", "epsilon", "rete", "windows", "viz", "bench", "tests", "examples")
FILES_OF_CODE = [path for part in CODE for path in sorted((ROOT / part).rglob("*.py"))]
SOURCES = {str(path.relative_to(ROOT)): path.read_text() for path in FILES_OF_CODE}
TREES = {file: ast.parse(text) for file, text in SOURCES.items()}
FILES = {*SOURCES, *(f"retewave/{file}" for file in SOURCES)}  # in the repository, and where pip puts them
DOCUMENTS = [path for folder in (ROOT, ROOT / "docs", ROOT / "bench") for path in sorted(folder.glob("*.md"))]
INSIDE = re.compile(
    r"engine\.(?:matcher|registry|order|datasets|terms|seconds)\b|retewave\.(?:compiler|epsilon|rete|viz|windows|io)\."
)
LINKS = re.compile(r"\]\((?!https?:)([\w./-]*)(?:#([\w-]+))?\)")
MARKS = re.compile(r"`(\w+)`")


def _docstrings(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(node) or ""


def _is_a_file(name: str) -> bool:
    return any(file == name or file.endswith("/" + name) for file in FILES)


def test_files_that_docstrings_and_documents_name_exist() -> None:
    named = {
        (file, name)
        for file, tree in TREES.items()
        for text in _docstrings(tree)
        for name in re.findall(r"[\w/]*\w\.py\b", text)
    }
    named |= {(doc.name, name) for doc in DOCUMENTS for name in re.findall(r"`((?:\w+/)+\w+\.py)`", doc.read_text())}
    assert len(named) > 20
    assert not sorted((file, name) for file, name in named if not _is_a_file(name))


def test_documents_for_users_call_nothing_of_the_inside() -> None:
    for_users = [doc for doc in DOCUMENTS if doc.parent.name != "bench" and doc.name != "architecture.md"]
    assert len(for_users) > 10
    assert not [(doc.name, name) for doc in for_users for name in INSIDE.findall(doc.read_text())]


def test_the_files_that_the_readmes_commands_read_are_in_the_folder_in_which_they_run() -> None:
    blocks = re.findall(r"^```sh\n(.*?)^```", (ROOT / "README.md").read_text(), flags=re.MULTILINE | re.DOTALL)
    assert any("cd examples/sensors" in block for block in blocks)
    read = {name for block in blocks for name in re.findall(r"(?<![\w*/.-])[\w-]+\.(?:rq|ttl|nt)\b", block)}
    assert len(read) > 3
    assert sorted(name for name in read if not (ROOT / "examples" / "sensors" / name).exists()) == []


def test_every_page_is_reached_from_the_index_and_from_the_sites_menu() -> None:
    index, menu = (ROOT / "docs" / "index.md").read_text(), (ROOT / "mkdocs.yml").read_text()
    pages = [path.name for path in (ROOT / "docs").glob("*.md") if path.name != "index.md"]
    assert [page for page in pages if f"]({page}" not in index or f": {page}\n" not in menu] == []


def test_links_between_documents_lead_to_files_and_headings() -> None:
    links = [(doc, *link) for doc in DOCUMENTS for link in LINKS.findall(doc.read_text())]
    assert len(links) > 50
    assert [(doc.name, target, heading) for doc, target, heading in links if not _leads(doc, target, heading)] == []


def _leads(doc: Path, target: str, heading: str) -> bool:
    """Tell whether a link's file exists, and has the heading, whose anchor is its words in lower case."""
    file = doc.parent / target if target else doc
    if not heading:
        return file.exists()
    titles = re.findall(r"^#+ (.*)$", file.read_text(), flags=re.MULTILINE)
    return heading in {re.sub(r"[^\w\- ]", "", title).strip().lower().replace(" ", "-") for title in titles}


def test_sections_that_the_naive_meaning_names_are_those_of_its_page() -> None:
    sections = set(
        re.findall(r"^## (\d+)\.", (ROOT / "tests" / "naive" / "MEANING.md").read_text(), flags=re.MULTILINE)
    )
    named = {
        (file, number)
        for file, text in SOURCES.items()
        for marks in re.findall(r"MEANING §+([\d ,and§]*\d)", text)
        for number in re.findall(r"\d+", marks)
    }
    assert {file for file, _ in named if file.startswith("tests/naive/")} > {
        "tests/naive/runs.py",
        "tests/naive/views.py",
    }
    assert sorted((file, number) for file, number in named if number not in sections) == []


def test_names_in_back_ticks_in_module_docstrings_are_names_of_the_code() -> None:
    known = {word for tree in TREES.values() for word in _names(tree)} | {Path(file).stem for file in SOURCES}
    marked = {(file, name) for file, tree in TREES.items() for name in MARKS.findall(ast.get_docstring(tree) or "")}
    assert len(marked) > 50
    assert not sorted((file, name) for file, name in marked if name not in known)


def _names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        for field in ("id", "attr", "name", "arg", "module"):
            if isinstance(word := getattr(node, field, None), str):
                yield from word.split(".")
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
