"""What a user would pick for events instead: loops by hand, engines of the JVM and of Prolog; skipped where absent."""

__all__: list[str] = []
