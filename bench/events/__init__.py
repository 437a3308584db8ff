"""Event workloads: prices that fall and recover, requests that nobody answers, A then C with no B between.

`python -m retewave.bench events` plays them to retewave, to hand-written loops and to engines for events.
Importing this package loads nothing; each module says what it needs.
"""

__all__: list[str] = []
