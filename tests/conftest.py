"""What all tests share: where CI is set, property tests try the same cases in every run.

A failure there is then the change's own.  Everywhere else the cases are random, and `make test-long` tries ten times
as many.
"""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")
