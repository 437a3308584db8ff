"""What the tests of the command line share."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.command_line import LINES, QUERY


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a new folder, in which a query lies, and a stream of four matches."""
    monkeypatch.chdir(tmp_path)
    Path("q.rq").write_text(QUERY)
    Path("d.nt").write_text(LINES)
    return tmp_path
