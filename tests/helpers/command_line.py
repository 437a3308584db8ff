"""The command line in a test: how it is called, and the small query and stream that lie in its folder."""

from __future__ import annotations

import sys
from pathlib import Path

from typer.testing import CliRunner, Result

from retewave.cli.app import app

EXAMPLES = Path(__file__).parents[2] / "examples"
COMMAND = [sys.executable, "-m", "retewave"]
QUERY = "SELECT ?x ?y WHERE { ?x <http://e/p> ?y }"
LINES = "".join(f"<http://e/s{n}> <http://e/p> <http://e/o> .\n" for n in range(4))


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments, catch_exceptions=False)
