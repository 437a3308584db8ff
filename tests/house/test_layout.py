"""The rules of the house: which folder may import what, how long a function is, what pip installs."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from importlib.metadata import version
from pathlib import Path

import pytest

from retewave.rete.words import layout

ROOT = Path(__file__).parents[2]
PARTS = ("retewave", "compiler", "epsilon", "rete", "windows", "viz", "bench")  # the folders of the package
LONGEST_FUNCTION, LONGEST_FILE = 60, 400  # lines
LONGEST_TESTS = 450  # lines of a file of tests: they repeat what a test needs to be read alone
LONGEST_MEANING = 200  # lines of a file of the naive meaning: it is read beside its section of MEANING.md

BELOW = {  # the parts that each part may import, besides itself
    "windows": set(),
    "rete": {"windows"},
    "epsilon": {"rete", "windows"},
    "compiler": {"epsilon", "rete", "windows"},
    "viz": {"compiler", "epsilon", "rete", "windows"},
    "retewave": {"viz", "compiler", "epsilon", "rete", "windows"},
    "bench": {"retewave", "viz", "compiler", "epsilon", "rete", "windows"},
}
EVERYWHERE_BUT_WINDOWS = "retewave.errors"  # the one module of the front door that the parts below it import

ONLY_AT = {  # the files that alone may import a library
    "numba": ("rete/*", "bench/*"),
    "rdflib": (
        "retewave/*",
        "epsilon/schema*.py",
        "epsilon/sources.py",
        "epsilon/texts.py",
        "epsilon/owlrl_worker.py",  # owlrl speaks rdflib
        "compiler/expressions/*",
        "bench/*",
    ),
    "owlrl": ("epsilon/*", "bench/ontology/peers.py"),  # what it costs to ask it of each event is measured
    "pyspark": ("retewave/spark/*", "bench/*"),
    "graphviz": ("viz/*",),
    "pygraphviz": ("viz/*",),
    "lark": ("compiler/*",),
}
SLOW_TO_IMPORT = {"numba", "llvmlite", "rdflib", "owlrl", "pyspark", "pandas"}


def sources() -> Iterator[Path]:
    for part in PARTS:
        yield from sorted((ROOT / part).rglob("*.py"))


def part_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0]


def place(path: Path, node: ast.AST) -> str:
    return f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}"


def imports_of(path: Path) -> Iterator[tuple[str, ast.stmt]]:
    """Give every module that a file imports, anywhere in it; `from retewave import x` is retewave.x."""
    for node in ast.walk(ast.parse(path.read_text(), path)):
        if isinstance(node, ast.Import):
            yield from ((name.name, node) for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            if node.module == "retewave":
                yield from ((f"retewave.{name.name}", node) for name in node.names)
            else:
                yield node.module or "", node
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or ""), node


def test_there_are_sources_to_look_at() -> None:
    assert {part_of(path) for path in sources()} == set(PARTS)


# Imports


def imported_part(module: str) -> str | None:
    """Return the part of the package that a module is in, or None when it is not ours."""
    names = module.split(".")
    if names[0] != "retewave":
        return None
    return names[1] if len(names) > 1 and names[1] in PARTS else "retewave"


def test_imports_point_one_way() -> None:
    wrong = [
        f"{place(path, node)} imports {module}"
        for path in sources()
        for module, node in imports_of(path)
        if (part := imported_part(module)) is not None
        and part not in {part_of(path), *BELOW[part_of(path)]}
        and (part_of(path) == "windows" or not module.startswith(EVERYWHERE_BUT_WINDOWS))
    ]
    assert wrong == []


# The rooms of a part: each may import those in the lines above its own, and no others, when it is loaded.
ROOMS = {
    "compiler": (
        {"terms", "regex"},
        {"expressions"},
        {"algebra"},
        {"languages", "rewrite"},
        {"parse", "plan"},
        {"lower", "keys", "rule_keys", "view_keys"},
        {"shares", "view_parts"},
    ),
    "rete": (
        {"words"},
        {"terms", "memory"},
        {"filters", "dispatch", "reports", "written", "pack", "feed"},
        {"operators", "facts", "route", "terminal"},
        {"deciding", "solutions", "stars", "state"},
        {"gather"},
        {"edges"},
        {"network", "kernel"},
        {"memories", "counters"},
        {"finishing"},
        {"runtime"},
    ),
    "viz": ({"explain"}, {"draw"}),
    "retewave": (
        {"errors", "log", "numbering", "detection"},
        {"repetitions"},
        {"io", "construct", "provenance"},
        {"match"},
        {"report"},
        {"query", "notebook"},
        {"views"},
        {"engine"},
        {"why_not"},
        {"inspector"},
        {"cli", "spark"},
    ),
}
DOORS = {"__init__", "__main__"}  # modules that lead into a room from outside


def room_of(module: str) -> tuple[str, str] | None:
    """Return the part and the room of one of our modules; `retewave.errors` is a room of one module."""
    names = [*module.split(".")[1:], ""]
    part, room = ("retewave", names[0]) if names[0] not in PARTS else (names[0], names[1])
    return (part, room) if module.split(".")[0] == "retewave" and room else None


def when_loaded(path: Path) -> Iterator[tuple[str, ast.stmt]]:
    """Give the modules that a file imports when it is itself imported: not in functions, nor for types alone."""
    for node in ast.parse(path.read_text(), path).body:
        if isinstance(node, ast.Import):
            yield from ((name.name, node) for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            whole = node.module == "retewave" or node.module.removeprefix("retewave.") in PARTS
            yield from (
                ((f"{node.module}.{name.name}", node) for name in node.names) if whole else ((node.module, node),)
            )


@pytest.mark.parametrize("part", ROOMS)
def test_rooms_import_only_what_stands_below_them(part: str) -> None:
    rank = {room: place for place, rooms in enumerate(ROOMS[part]) for room in rooms}
    wrong = []
    for path in sorted((ROOT / part).rglob("*.py")):
        own = path.relative_to(ROOT / part).parts[0].removesuffix(".py")
        for module, node in when_loaded(path) if path.stem not in DOORS else ():
            there = room_of(module)
            if there and there[0] == part and there[1] in rank.keys() - {own} and not rank[there[1]] < rank[own]:
                wrong.append(f"{place(path, node)} imports {module}")
    assert wrong == []


def test_every_room_has_its_place_and_says_what_it_is() -> None:
    for part, lines in ROOMS.items():
        there = {
            path.stem for path in (ROOT / part).iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
        }
        assert there - DOORS == set().union(*lines)
    for path in sources():
        if path.name == "__init__.py":
            assert len(ast.get_docstring(ast.parse(path.read_text())) or "") > 20, f"{path} says nothing"


def test_operators_have_the_same_names_in_the_plan_and_in_the_network() -> None:
    plan, rete = ROOT / "compiler" / "plan" / "operators", ROOT / "rete" / "operators"
    assert {path.name for path in plan.glob("*.py")} == {path.name for path in rete.glob("*.py")}


def test_layers_have_no_circle() -> None:
    for part, below in BELOW.items():
        assert all(part not in BELOW[lower] and BELOW[lower] < below for lower in below)


def test_no_part_is_imported_without_its_prefix() -> None:
    bare = set(PARTS) - {"retewave"}
    wrong = [
        f"{place(path, node)} imports {module}"
        for path in [
            *sources(),
            *sorted((ROOT / "tests").rglob("*.py")),
            *sorted((ROOT / "examples").rglob("*.py")),
        ]
        for module, node in imports_of(path)
        if module.split(".")[0] in bare or module.startswith(".")
    ]
    assert wrong == []


def test_no_test_file_imports_another() -> None:
    """What several of them need is in tests/helpers, or in tests/cases if it makes cases."""
    wrong = [
        f"{place(path, node)} imports {module}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        for module, node in imports_of(path)
        if module.split(".")[-1].startswith("test_")
    ]
    assert wrong == []


@pytest.mark.parametrize("library", ONLY_AT)
def test_library_stays_at_its_place(library: str) -> None:
    wrong = [
        f"{place(path, node)} imports {module}"
        for path in sources()
        for module, node in imports_of(path)
        if module.split(".")[0] == library
        and not any(fnmatch(str(path.relative_to(ROOT)), allowed) for allowed in ONLY_AT[library])
    ]
    assert wrong == []


@pytest.mark.parametrize("module", ["retewave", "retewave.windows.order"])
def test_import_loads_nothing_that_is_slow(module: str) -> None:
    code = f"import sys, {module}; print(*{SLOW_TO_IMPORT!r} & sys.modules.keys())"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert loaded.split() == []


def test_what_is_loaded_when_asked_for_is_listed_and_the_listing_loads_nothing() -> None:
    code = f"import sys, retewave; print(*dir(retewave)); print(*{SLOW_TO_IMPORT!r} & sys.modules.keys())"
    listed, loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert {"Engine", "LateItem", "Match", "Query", "Reader", "read"} <= set(listed.split())
    assert loaded == ""


def test_every_name_that_the_front_door_lists_can_be_had() -> None:
    import retewave

    for name in retewave.__all__:
        assert getattr(retewave, name).__doc__ or name == "__version__"


# Names

SHARED_NAMES = {  # public classes that share a name -> why each is called so
    "Candidate": "of why-not: a triple that a user is shown; of the planner: an input that waits to be joined",
    "Join": "of the algebra: what SPARQL says; of the plan: the keyed join that it becomes",
    "Moment": "of the expressions: a point in time; of a branch: the start or the end of an operand",
    "Network": "of the schema, and of joins: each is what its part is about",
    "Node": "of the schema's network, and of the network of joins",
    "Open": "of a text: a group whose filters have no place yet; of the planner: a producer that waits to be joined",
    "Part": "of a branch: one that is joined as a whole; of a file: where it stands in the stream",
    "Probe": "of a branch, of the plan, of the network: one look at what is there, on each of the three floors",
    "Query": "what a user holds, and what its text says",
    "Route": "from an input to an α: in the terms of the schema, and in the numbers of the network",
    "State": "what somebody remembers across networks, and the arrays that a running one works with",
    "Values": "of the algebra: SPARQL's VALUES; of the dictionary: the values of its terms",
    "Waiting": "rows that wait for their turn in time; tuples that wait at a probe for their decision",
    "Within": "of the algebra: WITHIN; of why-not: a combination of rows, of some patterns",
}


def test_public_classes_share_a_name_only_for_a_reason() -> None:
    places: dict[str, list[str]] = {}
    for path in sources():
        for node in ast.parse(path.read_text(), path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(place(path, node))
    shared = {name: found for name, found in places.items() if len(found) > 1}
    assert {name: found for name, found in shared.items() if name not in SHARED_NAMES} == {}
    assert SHARED_NAMES.keys() - shared.keys() == set(), "these need no reason any more"


# Size and marks


def functions_of(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text(), path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def test_no_function_is_longer_than_one_look() -> None:
    wrong = [
        f"{place(path, function)} {function.name} has {length} lines"
        for path in sources()
        for function in functions_of(path)
        if (length := (function.end_lineno or 0) - function.lineno + 1) > LONGEST_FUNCTION
    ]
    assert wrong == []


def test_no_file_is_longer_than_one_idea() -> None:
    assert longer_than(LONGEST_FILE, sources()) == []


def test_no_file_of_tests_is_longer_than_one_idea_and_no_meaning_than_its_section() -> None:
    tests = sorted((ROOT / "tests").rglob("*.py"))
    assert longer_than(LONGEST_TESTS, tests) == []
    assert longer_than(LONGEST_MEANING, (path for path in tests if path.parent.name == "naive")) == []


def longer_than(most: int, files: Iterable[Path]) -> list[str]:
    lengths = {path: len(path.read_text().splitlines()) for path in files}
    return [f"{path.relative_to(ROOT)} has {length} lines" for path, length in lengths.items() if length > most]


def test_nothing_is_marked_as_unfinished() -> None:
    marks = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X|HA" + r"CK)\b")
    endings = {".py", ".lark", ".c", ".rq", ".sh"}
    files = [path for part in (*PARTS, "tests", "examples") for path in (ROOT / part).rglob("*")]
    wrong = [
        f"{path.relative_to(ROOT)}:{number} {line.strip()}"
        for path in files
        if path.suffix in endings
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if marks.search(line)
    ]
    assert wrong == []


# What pip installs

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SETUPTOOLS = PROJECT["tool"]["setuptools"]


def folder_of(package: str) -> Path:
    """Return the folder of a package, by the longest of its prefixes that package-dir knows."""
    names = package.split(".")
    for count in range(len(names), 0, -1):
        folder = SETUPTOOLS["package-dir"].get(".".join(names[:count]))
        if folder is not None:
            return ROOT.joinpath(folder, *names[count:])
    raise AssertionError(f"{package} has no folder in package-dir")


def test_every_folder_with_code_is_a_package_that_pip_installs() -> None:
    assert {path.parent for path in sources()} == {folder_of(package) for package in SETUPTOOLS["packages"]}


def test_every_package_is_below_the_one_import_name() -> None:
    assert {package.split(".")[0] for package in SETUPTOOLS["packages"]} == {"retewave"}


def test_every_data_file_of_a_package_is_installed() -> None:
    installed = {
        path
        for package, patterns in SETUPTOOLS["package-data"].items()
        for pattern in patterns
        for path in folder_of(package).glob(pattern)
    }
    data = {
        path
        for part in PARTS
        for path in (ROOT / part).rglob("*")
        if path.suffix in {".lark", ".rq", ".c", ".html", ".css", ".js", ".typed", ".tpg", ".ttl"}
        and not {"out", "data"} & set(path.relative_to(ROOT).parts)
    }
    assert data <= installed


@pytest.mark.slow
@pytest.mark.skipif(
    int(version("setuptools").split(".")[0]) < 77,
    reason="building the wheel offline needs the build backend that pyproject.toml names: setuptools >= 77",
)
def test_wheel_has_one_top_level_import_name(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    leave_out = shutil.ignore_patterns("__pycache__", "out", "data")
    for part in PARTS:
        shutil.copytree(ROOT / part, tree / part, ignore=leave_out)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree)
    build = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--no-deps",
        "--no-build-isolation",
        "-q",
        "-w",
        str(tmp_path),
    ]
    subprocess.run([*build, str(tree)], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"retewave"}
    installed = {name for name in names if name.endswith(".py")}
    assert len(installed) == len(list(sources()))


def test_no_part_but_rete_knows_the_words_of_the_arena() -> None:
    words = {name for name in vars(layout) if name.startswith(("A_", "S_"))}
    assert len(words) > 25
    for part in PARTS:
        for path in (ROOT / part).rglob("*.py") if part != "rete" else ():
            tree = ast.parse(path.read_text())
            used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
            used |= {name.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for name in node.names}
            assert not used & words, f"{path.relative_to(ROOT)}: ask rete/counters.py"
