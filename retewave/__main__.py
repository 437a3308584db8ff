"""`python -m retewave` is the command line."""

from retewave.cli.app import main

if __name__ == "__main__":
    main()
