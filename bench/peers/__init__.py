"""The tools that a user would pick instead: a small adapter each, skipped with its reason where not installed."""

__all__: list[str] = []
