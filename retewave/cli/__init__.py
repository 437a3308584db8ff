"""The command line: a module a command, the options they share, and what they tell on stderr."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command that the arguments of the process name."""
    from retewave.cli.app import main as run  # loads what only a command needs

    run()
