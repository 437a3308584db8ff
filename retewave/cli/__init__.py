"""The command line: a module for each command, their common options, and their notes on stderr."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command that the arguments of the process name."""
    from retewave.cli.app import main as run  # loads modules that only a command needs

    run()
