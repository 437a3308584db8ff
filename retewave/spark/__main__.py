"""`python -m retewave.spark`: the command `retewave spark`, for spark-submit."""

from __future__ import annotations

import sys

from retewave.cli.app import main

if __name__ == "__main__":
    sys.argv.insert(1, "spark")
    main()
